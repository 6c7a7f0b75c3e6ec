#!/usr/bin/env python3
"""Checks that no golden input is claimed by two importers, and that one of each case is by the importer of its folder.

usage: check_registry.py [DEBRIEF]      default: build/release/debrief

A golden of an importer is tests/golden/<importer>/<case>/input/; folders of other names (areas such as
`cli`) are not looked at. What else the job of a case left may lie beside.
`debrief sniff FILE...` prints `path<TAB>importer[,importer...]` for every file.
"""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def importers():
    return {path.name for path in (ROOT / "src/inputs").iterdir() if (path / "importer.cc").exists()}


def goldens(names):
    """importer -> its golden inputs"""
    return {name: sorted(path for path in (ROOT / "tests/golden").glob(f"{name}/*/input/**/*")
                         if path.is_file() and not path.is_symlink())
            for name in sorted(names)}


def claims(binary, files):
    """path -> the importers that claim it"""
    done = subprocess.run([binary, "sniff", *files], capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return {row[0]: [name for name in row[1].split(",") if name] for row in rows}


def main():
    binary = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/debrief").resolve()
    problems, count = [], 0
    for name, files in goldens(importers()).items():
        claimed = claims(binary, [str(path) for path in files]) if files else {}
        count += len(files)
        for path in files:
            if len(claimed.get(str(path), [])) > 1:
                problems.append(f"{path.relative_to(ROOT)}:1: must be claimed by one importer; is by {', '.join(claimed[str(path)])}")
        of_case = ROOT / "tests/golden" / name
        for case in sorted({path.relative_to(of_case).parts[0] for path in files}):
            if not any(claimed.get(str(path)) == [name] for path in files if of_case / case in path.parents):
                problems.append(f"tests/golden/{name}/{case}/input:1: {name} must claim one of the files")
    print("\n".join(problems) or f"registry: each of {count} golden inputs is taken by at most one importer, and each case by its own")
    sys.exit(1 if problems else 0)


main()
