#!/usr/bin/env python3
"""Runs the golden cases: a command on a tiny input must give exactly the expected bytes.

usage: run.py [--binary PATH] [--update] [--chunks 1,7,100] [PATTERN...]

A case is a folder tests/golden/<area>/<case>/ with

  cmd        one shell line, for example `debrief input --json --no-store -o out`; $CASE is the case's folder
  input/     the files it reads
  input.py   optional: run in the working folder to make inputs that git cannot hold (fifos, loops)
  expected/  stdout; stderr when it is to be compared; rc when it is not 0; and under their own names
             any files that the command writes (expected/out/findings.json)

Each case runs once, in an empty folder with a copy of its input. In the same process every importer reads its
file again in chunks of 1, 7 and 100 bytes, and debrief ends with an internal error when that gives other rows
or diagnostics (DEBRIEF_CHUNK_BYTES). Analyses that had nothing to look at are left out of what is compared.
--update writes what came out into expected/. PATTERN selects cases by a part of their name.
"""
import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
STREAMS = {"stdout", "stderr", "rc"}
DIFF_LINES = 40
TIMEOUT_S = 120
BROKEN_CHUNKS = b"debrief: internal error"  # a later command of the case may hide the exit code


# How many analyses had nothing to look at, and which: a new analysis would change them in every case.
NOT_RUN_COUNT = re.compile(rb"\d+ of \d+ analyses need inputs that are not here")
NOT_RUN_ENTRY = re.compile(rb'\n +\{\n +"name": "\w+",\n +"state": "not run",\n[^{}]*\},?')
DANGLING_COMMA = re.compile(rb",(\n +\])")  # left where the last entry of a list went


def without_what_did_not_run(content):
    left = NOT_RUN_ENTRY.sub(b"", NOT_RUN_COUNT.sub(b"# of # analyses need inputs that are not here", content))
    return DANGLING_COMMA.sub(rb"\1", left) if left != content else left


def find_cases(patterns):
    cases = sorted(path.parent for path in HERE.glob("*/*/cmd"))
    names = {case: case.relative_to(HERE).as_posix() for case in cases}
    return [case for case in cases if not patterns or any(pattern in names[case] for pattern in patterns)]


def environment(case, folder, binary, chunks):
    """Nothing of the caller's environment may change what a case prints."""
    bin_folder = folder / ".bin"
    bin_folder.mkdir()
    (bin_folder / "debrief").symlink_to(binary)
    result = {"PATH": f"{bin_folder}:/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8", "TZ": "UTC",
              "NO_COLOR": "1", "CASE": str(case), "UBSAN_OPTIONS": "print_stacktrace=1"}
    result.update({name: os.environ[name] for name in ("ASAN_OPTIONS", "TSAN_OPTIONS") if name in os.environ})
    if chunks:
        result["DEBRIEF_CHUNK_BYTES"] = chunks
    return result


def run_case(case, binary, chunks, wanted):
    """What the case gives: name -> bytes for stdout, stderr, rc and the `wanted` files (None: not written)."""
    with tempfile.TemporaryDirectory(prefix="golden.") as name:
        folder = Path(name).resolve()
        if (case / "input").exists():
            shutil.copytree(case / "input", folder / "input", symlinks=True)
        if (case / "input.py").exists():
            subprocess.run([sys.executable, case / "input.py"], cwd=folder, check=True)
        done = subprocess.run(["bash", "-c", (case / "cmd").read_text()], cwd=folder, stdin=subprocess.DEVNULL,
                              capture_output=True, env=environment(case, folder, binary, chunks), timeout=TIMEOUT_S)
        result = {"stdout": done.stdout, "stderr": done.stderr, "rc": b"%d\n" % done.returncode}
        for file in wanted:
            result[file] = (folder / file).read_bytes() if (folder / file).is_file() else None
        return {name: content and without_what_did_not_run(content) for name, content in result.items()}


def expected_of(case):
    folder = case / "expected"
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    found.setdefault("rc", b"0\n")
    return found


def difference(name, wanted, got):
    if got is None:
        return f"{name} was not written"
    lines = list(difflib.unified_diff(wanted.decode(errors="backslashreplace").splitlines(),
                                      got.decode(errors="backslashreplace").splitlines(),
                                      f"expected/{name}", f"got/{name}", lineterm="", n=2))
    if not lines:
        return f"{name}: differs in line ends only"
    more = [f"... {len(lines) - DIFF_LINES} more lines"] if len(lines) > DIFF_LINES else []
    return "\n".join(line[:200] for line in lines[:DIFF_LINES] + more)


def check_case(case, binary, chunks):
    """The complaints about a case; an empty list when it passes."""
    expected = expected_of(case)
    if "stdout" not in expected:
        return ["expected/stdout is missing: look at what --update writes"]
    got = run_case(case, binary, chunks, set(expected) - STREAMS)
    wrong = [difference(name, expected[name], got[name]) for name in sorted(expected) if got[name] != expected[name]]
    if BROKEN_CHUNKS in got["stderr"] or (wrong and "stderr" not in expected and got["rc"] != expected["rc"]):
        wrong.append("stderr: " + got["stderr"].decode(errors="backslashreplace")[-3000:])
    return wrong


def update_case(case, binary):
    """Writes stdout always, the others where they are expected already or say something."""
    expected = expected_of(case)
    got = run_case(case, binary, "", set(expected) - STREAMS)
    folder = case / "expected"
    folder.mkdir(exist_ok=True)
    for name in set(expected) | {"stdout"}:
        if got[name] is None or (name == "rc" and got[name] == b"0\n"):
            (folder / name).unlink(missing_ok=True)
        else:
            (folder / name).write_bytes(got[name])
    return []


def attempt(work, case):
    """Runs work(case) and turns what goes wrong with the case itself into a complaint."""
    try:
        return work(case)
    except (OSError, subprocess.SubprocessError) as error:
        return [str(error)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=ROOT / "build/release/debrief", type=Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--chunks", default="1,7,100", help="comma-separated; empty for none")
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args()
    binary, cases = options.binary.resolve(), find_cases(options.patterns)
    if not binary.exists():
        sys.exit(f"{options.binary} does not exist: make build")

    def work(case):
        return update_case(case, binary) if options.update else check_case(case, binary, options.chunks)

    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for case, complaints in zip(cases, pool.map(lambda case: attempt(work, case), cases)):
            if complaints:
                failed += 1
                print(f"FAILED {case.relative_to(HERE)}", *complaints, sep="\n", flush=True)
    print(f"{len(cases) - failed} {'updated' if options.update else 'passed'}, {failed} failed")
    sys.exit(1 if failed or not cases else 0)


main()
