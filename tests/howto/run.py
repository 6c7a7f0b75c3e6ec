#!/usr/bin/env python3
"""Follows docs/howto/add-an-importer.md in a scratch copy of the repository and checks what comes out.

The page's blocks that stand under "File `path`:" are written to these paths, and nothing else is changed. Then the copy's
own generators run, what is new or changed is compiled as the release build compiles, and linked in front of that build's library:
a new importer touches nothing else, so nothing else needs to be compiled. The result must list the new importer, read its
golden and show its table.
"""
import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RELEASE = ROOT / "build/release"
PAGE = ROOT / "docs/howto/add-an-importer.md"
BLOCK = re.compile(r"^File `([^`]+)`:[^\n]*\n\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def copy_sources(scratch):
    """The files git knows or would add, with their times kept so that a second run builds little."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
                            cwd=ROOT, check=True, capture_output=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        source, target = ROOT / name, scratch / name
        if not source.exists():
            continue
        if not target.exists() or target.stat().st_mtime != source.stat().st_mtime:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    for linked in ("node_modules", "build/deps"):
        target = scratch / linked
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            target.symlink_to(ROOT / linked)


def follow_page(scratch):
    """Writes the page's files; returns their paths."""
    written = []
    for path, content in BLOCK.findall(PAGE.read_text()):
        target = scratch / path
        assert not (ROOT / path).exists(), f"{path} exists in the repository: the page must only add files"
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text() != content:
            target.write_text(content)
        written.append(path)
    assert len(written) >= 4, f"only {written} found in {PAGE.name}"
    folders = {str(Path(path).parent) for path in written if path.startswith("src/")}
    assert folders == {"src/inputs/tally"}, f"the importer is not one folder: {folders}"
    return written


def new_sources(scratch, generated):
    """What a build of the copy has that the release build has not."""
    for path in sorted(generated.rglob("*.cc")):
        known = RELEASE / "generated" / path.relative_to(generated)
        if not known.exists() or known.read_bytes() != path.read_bytes():
            yield path
    yield from sorted((scratch / "src/inputs/tally").glob("*.cc"))


def compile_like_release(source, scratch, generated):
    """As the build compiles registry/inputs.cc, with the copy's headers."""
    model = str(RELEASE / "generated/registry/inputs.cc")
    commands = json.loads(subprocess.run(["ninja", "-C", RELEASE, "-t", "compdb"], check=True, capture_output=True).stdout)
    command = next(entry["command"] for entry in commands if entry["file"] == model and " -c " in entry["command"])
    words = shlex.split(command)
    words = words[next(i for i, word in enumerate(words) if Path(word).name.startswith(("c++", "g++", "clang++"))):]
    target = generated / (source.stem + ".o")
    for flag, value in (("-o", target), ("-c", source), ("-MF", target.with_suffix(".d")), ("-MT", target)):
        words[words.index(flag) + 1] = str(value)
    swap = {f"-I{ROOT}/src": f"-I{scratch}/src", f"-I{RELEASE}/generated": f"-I{generated}"}
    subprocess.run([swap.get(word, word) for word in words], check=True, cwd=RELEASE)
    return target


def build(scratch):
    generated = scratch / "build/generated"
    for generator in ("gen_tables.py", "gen_registry.py"):
        subprocess.run([sys.executable, scratch / "tools" / generator, scratch, generated], check=True)
    objects = [compile_like_release(source, scratch, generated) for source in new_sources(scratch, generated)]
    commands = subprocess.run(["ninja", "-C", RELEASE, "-t", "commands", "debrief"], check=True, capture_output=True, text=True).stdout
    link = next(line for line in reversed(commands.splitlines()) if " libdebrief_core.a" in line and " -o debrief " in line)
    binary = scratch / "build/debrief"
    new = " ".join(shlex.quote(str(path)) for path in objects)
    link = link.replace(" -o debrief ", f" -o {shlex.quote(str(binary))} ").replace(" libdebrief_core.a", f" {new} libdebrief_core.a", 1)
    subprocess.run(link, shell=True, check=True, cwd=RELEASE, stdout=subprocess.DEVNULL)
    for library in RELEASE.glob("libduckdb*"):
        beside = binary.with_name(library.name)
        if not beside.exists():
            beside.symlink_to(library.resolve())
    return binary


def run(binary, *arguments, cwd):
    return subprocess.run([binary, *arguments], cwd=cwd, check=True, capture_output=True, text=True).stdout


def check(binary, scratch):
    listed = run(binary, "list", "inputs", cwd=scratch)
    assert "tally: names and counts" in listed, listed
    golden = scratch / "tests/golden/tally/good"
    shutil.rmtree(scratch / "out", ignore_errors=True)
    report = json.loads(run(binary, str(golden / "input"), "-o", "out", "--quiet", "--json", cwd=scratch))
    kinds = [(entry["kind"], entry["state"], entry["rows"]) for entry in report["inputs"]]
    assert kinds == [("tally", "imported", 2)], kinds
    rows = json.loads(run(binary, "query", "out", "SELECT name, count FROM tally ORDER BY name", "--json", cwd=scratch))
    assert rows == [{"name": "apples", "count": 3}, {"name": "pears", "count": 12}], rows
    page = (scratch / "build/generated/tables.md").read_text()
    assert "### tally" in page, "the page of tables does not know the table"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scratch", type=Path, default=ROOT / "build/howto")
    options = parser.parse_args()
    os.environ.pop("MAKEFLAGS", None)
    copy_sources(options.scratch)
    follow_page(options.scratch)
    check(build(options.scratch), options.scratch)
    print("howto: 1 passed, 0 failed")


if __name__ == "__main__":
    sys.exit(main())
