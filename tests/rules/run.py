#!/usr/bin/env python3
"""Reads every kind of finding in one sitting: docs/findings.md has an example of each, and every headline follows the rules.

usage: run.py [--binary PATH] [--update]

Findings come from the inputs of the goldens, the examples and, where they are there, the jobs of ../shared/data. Checked is

  * no headline has more than 100 characters, a sentinel (-2147483648), an empty name ("Ranks  joined", "type Float, rank 2 with "), a raw
    list of lists ([[16, 256]]), a line end, or words that docs/verdict.md replaces;
  * every rule in the sources has an example in docs/findings.md, or is named there as one without;
  * docs/findings.md is what this would write (compared by rule: an example of ../shared/data is only compared when that is there).

--update writes docs/findings.md.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT / "build/shared-data"  # unpacked
PAGE = ROOT / "docs/findings.md"
LONGEST = 100

sys.path.insert(0, str(ROOT / "tests/conformance"))
from run import find_data  # noqa: E402

LITERAL = re.compile(r'"((?:accel|comm_share|compile|compile_ranks|cost|coverage|flight|load_balance|memory|op_summary|profile|recording_end'
                     r'|text_\w+|verdict|what_if)\.[a-z_0-9]+)"')
COMPOSED = ["compile_ranks.order", "compile_ranks.collectives_by_graph", "compile_ranks.tensor_shapes"]
PATTERNS = {
    "a sentinel": re.compile(r"-2147483648|-9223372036854775808|:-\d"),
    "an empty name": re.compile(r"\b[Rr]anks?  |\[\]|(?<!\w)\(\)|\(:|  |[ :,(]$|\bwith $|\bof $"),
    "a raw list": re.compile(r"\[\["),
    "a line end": re.compile(r"[\n\r]"),
    "a replaced word": re.compile(r"works no longer|without a word|never came|ran into (?:its|their) time limit|no computation hides|stacks part|of its own doing"
                                  r"|again and again|is silent|of no job|taken off|\b1 (?:calls|ranks|graph breaks|compilations)\b"),
}
EVIL = ("markdown", "hostile", "escape")  # goldens whose names are attacks: long, and none of ours


def has_shared():
    return SHARED.is_dir()


def jobs():
    """(name, path) of what is read: all in the repository first."""
    for path in sorted([*ROOT.glob("examples/*"), *ROOT.glob("tests/golden/*/*/input")]):
        if path.is_dir() and not any(word in path.as_posix() for word in EVIL):
            yield path.relative_to(ROOT).as_posix(), path
    for folder in ("recorded", "train"):
        if (SHARED / folder).is_dir():
            yield f"shared data: {folder}", SHARED / folder


def findings_of(binary, path):
    with tempfile.TemporaryDirectory(prefix="rules.") as folder:
        done = subprocess.run([binary, path, "--json", "--quiet", "--no-store", "--no-report", "-o", "out"], cwd=folder, capture_output=True, timeout=600)
    return json.loads(done.stdout)["findings"] if done.stdout.startswith(b"{") else []


def gather(binary):
    """Every finding with the job it is of, in a fixed order."""
    names = list(jobs())
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda job: findings_of(binary, job[1]), names))
    return [(name, finding) for (name, _), findings in zip(names, found) for finding in findings]


def wrong_with(headline):
    reasons = [reason for reason, pattern in PATTERNS.items() if pattern.search(headline)]
    return reasons + ([f"{len(headline)} characters"] if len(headline) > LONGEST else [])


def rules_of_sources():
    """Rules that the analyses name, and that are no words to find others by."""
    texts = [path.read_text() for path in sorted((ROOT / "src/analyses").rglob("*.cc"))]
    return sorted({rule for text in texts for rule in LITERAL.findall(text)} | set(COMPOSED))


def section(rule, name, finding):
    clean = [finding[key].replace(str(ROOT) + "/", "").replace(str(SHARED), "shared/data") for key in ("headline", "next_step")]
    lines = [f"### {rule}", "", f"> {finding['severity']}: {clean[0]}", ""]
    if clean[1]:
        lines.append(f"Next: {clean[1].splitlines()[0]}  ")
    for evidence in finding["evidence"][:2]:
        text = evidence["text"].replace(str(ROOT) + "/", "").replace(str(SHARED), "shared/data").split("\n")[0]
        table = f" (`{evidence['table']}`)" if evidence["table"] else ""
        lines.append(f"Evidence: {text[:160]}{table}  ")
    return "\n".join([*lines, f"From: {name}", ""])


def page(found):
    """(text of docs/findings.md, rules whose example is of the shared data)"""
    examples = {}
    for name, finding in found:
        examples.setdefault(finding["rule"], (name, finding))
    known = rules_of_sources()
    missing = [rule for rule in known if rule not in examples]
    parts = ["# Findings, an example of each", "",
             "Written by `tests/rules/run.py --update` from inputs of the tests. What the rules look at: [verdict.md](verdict.md),",
             "[profile.md](profile.md), [compile.md](compile.md), [cost.md](cost.md), [what_if.md](what_if.md), [accel_findings.md](accel_findings.md), [ops.md](ops.md).", ""]
    parts += [section(rule, *examples[rule]) for rule in sorted(examples)]
    parts += ["## Without an example", "", "No input of the tests has: " + ", ".join(missing) + ".", ""]
    return "\n".join(parts), {rule for rule, (name, _) in examples.items() if name.startswith("shared")}


def by_rule(text):
    return dict(part.split("\n", 1) for part in re.split(r"^### ", text.split("## Without")[0], flags=re.M)[1:])


def check(found, text, of_shared):
    """Sentences about what is wrong."""
    for name, finding in found:
        for reason in wrong_with(finding["headline"]):
            yield f"{finding['rule']} of {name}: {reason}: {finding['headline']}"
    written, now = by_rule(PAGE.read_text() if PAGE.exists() else ""), by_rule(text)
    for rule in sorted(now.keys() | written.keys()):
        is_absent = rule not in now and not has_shared() and "shared data" in written[rule]
        if not is_absent and written.get(rule) != now.get(rule):
            yield f"docs/findings.md differs for {rule}: run tests/rules/run.py --update and read what changed"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/debrief")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    find_data()
    found = gather(options.binary.resolve())
    text, of_shared = page(found)
    if options.update:
        PAGE.write_text(text)
    problems = list(check(found, text, of_shared))
    print("\n".join(problems))
    where = "" if has_shared() else "; skipped: the jobs of ../shared/data, which is not there"
    print(f"rules: {len(found)} findings of {len({finding['rule'] for _, finding in found})} rules, {len(problems)} problems{where}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
