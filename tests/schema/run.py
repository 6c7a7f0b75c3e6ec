#!/usr/bin/env python3
"""Checks findings.json against docs/formats: the schema holds, the page names every field, and the schema can fail. And JUnit and SARIF
files of the same runs (ci_files.py).

usage: run.py --binary PATH

The checker knows the part of JSON Schema that docs/formats/findings.schema.json uses, and refuses words it does not
know, so that nothing in the schema goes unchecked. The examples and every expected findings.json of the golden cases
are checked.
"""
import argparse
import copy
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import ci_files

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/formats/findings.schema.json").read_text())
PAGE = (ROOT / "docs/formats/findings_json.md").read_text()
TYPES = {"object": dict, "array": list, "string": str, "null": type(None)}
KNOWN = {"$schema", "$defs", "$ref", "title", "type", "required", "properties", "items", "const", "enum", "pattern",
         "minimum", "maximum"}


def has_type(value, name):
    if name in ("integer", "number"):
        return isinstance(value, int if name == "integer" else (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def problems(value, schema, place="$"):
    """What is wrong with the value, one sentence each. Fields that the schema lacks are wrong, too: they lack docs."""
    assert set(schema) <= KNOWN, f"the checker does not know {set(schema) - KNOWN}"
    if "$ref" in schema:
        yield from problems(value, SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[-1]], place)
        return
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(has_type(value, name) for name in types):
        yield f"{place}: {value!r} is no {' or '.join(types)}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{place}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: {value!r} is none of {schema['enum']}"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{place}: {value!r} does not match {schema['pattern']}"
    low, high = schema.get("minimum"), schema.get("maximum")
    if value is not None and (low is not None and value < low or high is not None and value > high):
        yield f"{place}: {value} is out of range"
    if isinstance(value, dict):
        fields = schema.get("properties", {})
        yield from (f"{place}: {name} is missing" for name in schema.get("required", []) if name not in value)
        yield from (f"{place}: {name} is not in the schema" for name in value if name not in fields)
        for name in value.keys() & fields.keys():
            yield from problems(value[name], fields[name], f"{place}.{name}")
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from problems(item, schema.get("items", {}), f"{place}[{index}]")


def field_names(schema):
    """Every field that the schema names, wherever."""
    for name, field in schema.get("properties", {}).items():
        yield name
        yield from field_names(field)
    for part in schema.get("$defs", {}).values():
        yield from field_names(part)
    if "items" in schema:
        yield from field_names(schema["items"])


def check_page():
    named = set(re.findall(r"`(\w+)(?:\[\])?`", PAGE))
    missing = sorted(set(field_names(SCHEMA)) - named)
    return [f"docs/formats/findings_json.md does not name {name}" for name in missing]


def check_rejects(run):
    """A schema that accepts everything would pass as well."""
    def broken(change):
        worse = copy.deepcopy(run)
        change(worse)
        return worse
    changes = [lambda r: r.update(schema=2), lambda r: r.pop("jobs"), lambda r: r.update(more=1),
               lambda r: r["findings"][0].update(severity="bad"), lambda r: r["findings"][0].update(confidence=1.5),
               lambda r: r["findings"][0]["evidence"][0].update(rows=[-1]), lambda r: r["inputs"][0].update(rank="0")]
    return [f"the schema accepts change {number}" for number, change in enumerate(changes)
            if not list(problems(broken(change), SCHEMA))]


def report_of(binary, path, wrong):
    with tempfile.TemporaryDirectory(prefix="schema.") as folder:
        done = subprocess.run([binary, path, "--json", "--quiet", "-o", f"{folder}/out", "--no-store", "--no-report",
                               "--junit", f"{folder}/junit.xml", "--sarif", f"{folder}/findings.sarif"],
                              check=True, capture_output=True, text=True)
        written = Path(folder, "out/findings.json").read_text()
        findings = json.loads(written)["findings"]
        wrong += [f"{path.name}: {problem}" for problem in ci_files.junit_problems(Path(folder, "junit.xml").read_text(), findings)]
        wrong += [f"{path.name}: {problem}" for problem in ci_files.sarif_problems(Path(folder, "findings.sarif").read_text(), findings)]
    assert written == done.stdout, "findings.json and --json differ"
    return json.loads(written)


def golden_runs():
    """What golden cases expect on stdout or in a file, where that is a whole findings.json."""
    found = {}
    for path in sorted((ROOT / "tests/golden").glob("*/*/expected/**/*")):
        text = path.read_bytes() if path.is_file() else b""
        if text.startswith(b'{\n "schema"') and b'\n "diagnostics"' in text:
            found[str(path.relative_to(ROOT))], _ = json.JSONDecoder().raw_decode(text.decode())
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, type=Path)
    binary = parser.parse_args().binary.resolve()
    ci_files.self_test()
    wrong = []
    runs = {path.name: report_of(binary, path, wrong) for path in sorted((ROOT / "examples").iterdir()) if path.is_dir()}
    wrong += check_page() + check_rejects(next(run for run in runs.values() if run["findings"]))
    runs |= golden_runs()
    if len(runs) < 10:
        wrong.append(f"only {len(runs)} runs were found to check")
    for name, run in runs.items():
        wrong += [f"{name}: {problem}" for problem in problems(run, SCHEMA)][:5]
    print("\n".join(wrong) or f"schema: {len(runs)} runs are as documented")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
