#!/usr/bin/env python3
"""Runs the commands of README.md: what it shows is what debrief prints.

usage: run.py [--binary PATH] [--update]

Looked at are the blocks ```console. A line "$ debrief ..." is run in a copy of the examples; the lines below it are the beginning of its
stdout, or all of it when the block does not end with "...". --update writes what comes out, as many lines as there are.
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"^```console\n(\$ [^\n]*)\n(.*?)^```$", re.M | re.S)


def output_of(command, folder):
    done = subprocess.run(command.removeprefix("$ "), shell=True, cwd=folder, capture_output=True, text=True,
                          env={"PATH": f"{folder}/bin:/usr/bin:/bin", "COLUMNS": "100"}, timeout=120)
    return [line.rstrip() for line in done.stdout.splitlines()]


def block_now(match, folder):
    """The block as it should be."""
    command, shown = match[1], match[2].splitlines()
    printed = output_of(command, folder)
    if shown and shown[-1] == "...":
        printed = printed[:max(len(shown) - 1, 1)] + ["..."]
    return "\n".join(["```console", command, *printed, "```"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/debrief")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    text = README.read_text()
    with tempfile.TemporaryDirectory(prefix="readme.") as name:
        folder = Path(name)
        (folder / "bin").mkdir()
        (folder / "bin/debrief").symlink_to(options.binary.resolve())
        shutil.copytree(ROOT / "examples", folder / "examples")
        now = BLOCK.sub(lambda match: block_now(match, folder), text)
    wrong = [match[1] for match, other in zip(BLOCK.finditer(text), BLOCK.finditer(now)) if match[0] != other[0]]
    if options.update:
        README.write_text(now)
        wrong = []
    print("\n".join([*(f"README.md does not show what this prints: {command}" for command in wrong),
                     f"readme: {len(BLOCK.findall(text)) - len(wrong)} commands as shown, {len(wrong)} not"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
