#!/usr/bin/env python3
"""Runs the example of docs/torch_trace_library.md: it must give the files that `debrief compile` writes, and whole payloads.

usage: run.py --binary DEBRIEF --example PROGRAM
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INPUTS = ROOT / "tests/conformance/feature_inputs.py"


def made(name, folder):
    subprocess.run([sys.executable, INPUTS, name, folder], check=True)
    return folder


def run(*words):
    return subprocess.run(words, capture_output=True, text=True)


def check_tree(binary, example, folder):
    log = made("one_log", folder / "one") / "a.log"
    answer = run(example, log)
    assert answer.returncode == 0, answer.stderr
    assert run(binary, "compile", log, "-o", folder / "tree", "--no-browser").returncode == 0
    tree = folder / "tree"
    files = sorted(str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file())
    listed = [line for line in answer.stdout.splitlines() if " " not in line]
    assert listed == files, (listed, files)
    assert "0/0 dynamo_output_graph" in answer.stdout and "not whole" not in answer.stdout, answer.stdout


def check_marks(_, example, folder):
    logs = made("mixed_ranks", folder / "mixed")
    whole = [line for rank in range(2) for line in run(example, logs / f"whole/dedicated_log_torch_trace_rank_{rank}.log").stdout.splitlines() if " " in line]
    prefixed = [line for line in run(example, logs / "prefixed.log").stdout.splitlines() if " " in line]
    assert sorted(prefixed) == sorted(whole), prefixed


def check_errors(_, example, folder):
    answer = run(example, folder / "missing.log")
    assert answer.returncode == 1 and "does not exist" in answer.stderr, answer.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--example", type=Path, required=True)
    options = parser.parse_args()
    checks = (check_tree, check_marks, check_errors)
    for check in checks:
        with tempfile.TemporaryDirectory(prefix="library.") as folder:
            check(options.binary.resolve(), options.example.resolve(), Path(folder))
    print(f"library: {len(checks)} passed, 0 failed")


if __name__ == "__main__":
    sys.exit(main())
