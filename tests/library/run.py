#!/usr/bin/env python3
"""Runs the example of docs/torch_trace_library.md: it must give the files that `debrief compile` writes, and whole payloads.

usage: run.py --binary DEBRIEF --example PROGRAM
"""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import in_folders  # noqa: E402

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
    parser = in_folders.parser(__doc__)
    parser.add_argument("--example", type=Path, required=True)
    options = parser.parse_args()
    tests = [(name, lambda folder, check=check: check(options.binary, options.example.resolve(), folder))
             for name, check in in_folders.named("check_", globals())]
    return in_folders.run_all("library", tests, options.patterns)


if __name__ == "__main__":
    sys.exit(main())
