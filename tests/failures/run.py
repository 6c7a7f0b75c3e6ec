#!/usr/bin/env python3
"""Failures as ordinary launchers, frameworks, drivers and kernels write them: does the verdict name the rank, the reason and a next step?

usage: run.py [--binary PATH] [-v] [CASE...]

A case is a few small files and what must be said of them: the ranks of the first error (None: any), and a pattern that its headline or its
first evidence has, and perhaps one that its next step has. What peers print after the first death is in many of them and must never be the answer. Healthy texts must give no error.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import clusters  # noqa: E402
import copies  # noqa: E402
import cuts  # noqa: E402
import devices  # noqa: E402
import gloo  # noqa: E402
import healthy  # noqa: E402
import launchers  # noqa: E402
import machines  # noqa: E402
import programs  # noqa: E402
import reasons  # noqa: E402
import services  # noqa: E402
import serving  # noqa: E402
import wrappers  # noqa: E402

CASES = [*machines.CASES, *launchers.CASES, *programs.CASES, *wrappers.CASES, *serving.CASES, *services.CASES,
         *copies.CASES, *cuts.CASES, *clusters.CASES, *devices.CASES, *reasons.CASES, *gloo.CASES, *healthy.CASES]


def first_error(binary, files):
    """The first error finding, None when there is none; and how many jobs were seen."""
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for path, text in files.items():
            (scratch / "job" / path).parent.mkdir(parents=True, exist_ok=True)
            (scratch / "job" / path).write_text(text)
        process = subprocess.run([binary, scratch / "job", "-o", scratch / "out", "--no-store"], capture_output=True, text=True)
        try:
            answer = json.loads((scratch / "out" / "findings.json").read_text())
        except OSError:
            return {"headline": f"no answer, exit {process.returncode}: {process.stderr[-300:]}", "ranks": [], "evidence": []}, 1
    errors = [finding for finding in answer["findings"] if finding["severity"] == "error"]
    return (errors[0] if errors else None), len(answer["jobs"])


def wrong(case, first, jobs):
    """What is wrong with the answer; empty when nothing is."""
    if case.healthy:
        return "an error on a healthy job" if first else ""
    if first is None:
        return "no error"
    said = "\n".join([first["headline"], *(evidence["text"] for evidence in first["evidence"][:1])])
    checks = {"jobs": jobs == 1, "ranks": case.ranks is None or first["ranks"] == case.ranks,
              "reason": re.search(case.reason, said, re.S) is not None,
              "next step": re.search(case.step or ".", first.get("next_step") or "") is not None}
    return ", ".join(name for name, right in checks.items() if not right)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default="build/release/debrief")
    parser.add_argument("-v", action="store_true", help="every answer, not only the wrong ones")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    cases = [case for case in CASES if not options.cases or case.name in options.cases]
    misses = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, (first, jobs) in zip(cases, pool.map(lambda each: first_error(options.binary, each.files), cases)):
            what = wrong(case, first, jobs)
            misses += bool(what)
            if what or options.v:
                print(f"{case.name}: {what or 'right'}: {first['ranks'] if first else ''} {first['headline'] if first else None}")
    print(f"failures: {len(cases) - misses} of {len(cases)} right")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
