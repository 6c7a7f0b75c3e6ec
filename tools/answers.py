#!/usr/bin/env python3
"""Writes build/answers.md: the first screen of every job that is recorded, to be read in one sitting.

usage: answers.py [--binary PATH] [--output FILE]

Jobs are the folders of recorded/jobs, recorded/compile and train, the files of recorded/profiles, and the public dumps and profiles, in the data
beside the checkout (tests/conformance/run.py unpacks it). Who has only this page should be able to say of each: which rank, why, what next.
tests/conformance/test_answers.py has the truth of each.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/conformance"))
from run import find_data  # noqa: E402

SCREEN = 40  # lines
PATTERNS = ("recorded/jobs/*", "recorded/compile/*", "recorded/profiles/*", "train/*", "public/flight_recorder/*", "public/kineto/hta/*", "public/kineto/tracelens/*/*",
            "public_more/dlrm", "public_more/nsys", "public_more/roofline/*/*.json*", "public_more/straggler/timeline-*")
TIMEOUT_S = 600


def jobs(data):
    """Paths below `data`, in the order of the page."""
    for pattern in PATTERNS:
        yield from (path for path in sorted(data.glob(pattern)) if path.suffix != ".md")


def first_screen(binary, path):
    with tempfile.TemporaryDirectory(prefix="answers.") as folder:
        done = subprocess.run([binary, path, "-o", "debrief_out", "--quiet", "--no-report", "--no-store"], cwd=folder, capture_output=True, text=True,
                              env={"PATH": "/usr/bin:/bin", "COLUMNS": "100"}, timeout=TIMEOUT_S)
    lines = (done.stdout + done.stderr).splitlines()
    return lines[:SCREEN] + (["..."] if len(lines) > SCREEN else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/debrief")
    parser.add_argument("--output", type=Path, default=ROOT / "build/answers.md")
    options = parser.parse_args()
    data = find_data()
    if data is None:
        print("skipped: no ../shared/data beside the checkout")
        return 0
    parts, names = ["# Answers", ""], list(jobs(data))
    for path in names:
        screen = [line.replace(str(data) + "/", "") for line in first_screen(options.binary.resolve(), path)]
        parts += [f"## {path.relative_to(data)}", "", "```", *screen, "```", ""]
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text("\n".join(parts))
    print(f"wrote {options.output}: {len(names)} jobs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
