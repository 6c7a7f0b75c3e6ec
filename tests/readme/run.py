#!/usr/bin/env python3
"""Runs the commands of README.md: what it shows is what debrief prints.

usage: run.py [--binary PATH] [--update]

Looked at are the blocks ```console. A line "$ debrief ..." is run in a copy of the examples; the lines below it are the beginning of its
stdout, or all of it when the block does not end with "...". The picture at the top is the incident picture of the first example.
--update writes what comes out, as many lines as there are, and the picture.
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
PICTURE = ROOT / "docs/hung-job.svg"
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


def picture_now(binary, folder):
    subprocess.run([binary, "examples/hung-job", "-o", "picture", "--quiet", "--no-store"], cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=120)
    return (folder / "picture/report_data/incident_0.svg").read_text()


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
        picture = picture_now(options.binary.resolve(), folder)
        now = BLOCK.sub(lambda match: block_now(match, folder), text)
    wrong = [match[1] for match, other in zip(BLOCK.finditer(text), BLOCK.finditer(now)) if match[0] != other[0]]
    if not PICTURE.exists() or picture != PICTURE.read_text():
        wrong.append("the picture docs/hung-job.svg")
    if options.update:
        README.write_text(now)
        PICTURE.write_text(picture)
        wrong = []
    print("\n".join([*(f"README.md does not show what this gives: {command}" for command in wrong),
                     f"readme: {len(BLOCK.findall(text)) + 1 - len(wrong)} commands and pictures as shown, {len(wrong)} not"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
