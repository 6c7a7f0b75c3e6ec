#!/usr/bin/env python3
"""The same input gives the same bytes, whatever the number of threads, the environment and the hour.

usage: same_bytes.py [--binary PATH] [--runs N] [INPUT...]      default: the examples

Every input is read N times, with 1, 2, 3, 5 and 8 threads in turn and an environment of another size each time (which moves
the stack: what is not initialised shows). All files that are written and the answer on stdout must be equal; of the store, which
DuckDB lays out as its threads come, the rows of every table.
"""
import argparse
import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
THREADS = (1, 2, 3, 5, 8)
TIMEOUT_S = 300


def run(binary, words, number, folder):
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(folder), "LC_ALL": "C.UTF-8", "TZ": "UTC",
                   "PAD": "x" * (number * 37 % 4000)}
    return subprocess.run([str(binary), *map(str, words)], cwd=folder, env=environment, capture_output=True, timeout=TIMEOUT_S)


def without_time(text):
    return re.sub(rb"\(\d+\.\d s\)", b"(time)", text)


def store_rows(binary, folder, number):
    """table -> hash of its rows in their order, from the store."""
    names = run(binary, ["query", "out", "SELECT table_name FROM duckdb_tables() ORDER BY 1", "--csv"], number, folder).stdout.decode().split()[1:]
    sql = " UNION ALL ".join(f"SELECT '{name}', md5(string_agg(t::VARCHAR, chr(10))) FROM {name} t" for name in names)
    rows = run(binary, ["query", "out", sql, "--csv"], number, folder).stdout.decode().splitlines()[1:] if names else []
    return {f"run.duckdb: {name}": digest for name, digest in (row.rsplit(",", 1) for row in rows)}


def result_of(binary, path, number, threads, folder):
    """Everything that one run gives: name -> hash."""
    done = run(binary, [path, "-o", "out", "--overwrite", "--parquet", "--markdown", "--jobs", threads], number, folder)
    if done.returncode != 0:
        raise AssertionError(f"{path}: exit code {done.returncode}: {done.stderr[-500:]}")
    result = {"stdout": hashlib.sha256(without_time(done.stdout)).hexdigest()}
    out = folder / "out"
    for each in sorted(out.rglob("*")):
        if each.is_file() and each.suffix not in (".duckdb", ".parquet"):
            result[each.relative_to(out).as_posix()] = hashlib.sha256(each.read_bytes()).hexdigest()
    return result | store_rows(binary, folder, number)


def differing(binary, path, runs):
    """Names of what was not the same in all runs."""
    with tempfile.TemporaryDirectory(prefix="same.") as name:
        folder = Path(name).resolve()
        results = [result_of(binary, path, i, THREADS[i % len(THREADS)], folder) for i in range(runs)]
    names = set().union(*results)
    return sorted(name for name in names if len({result.get(name) for result in results}) > 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=ROOT / "build/release/debrief", type=Path)
    parser.add_argument("--runs", default=6, type=int)
    parser.add_argument("inputs", nargs="*", type=Path)
    options = parser.parse_args()
    inputs = options.inputs or sorted(path for path in (ROOT / "examples").iterdir() if path.is_dir() and
                                      path.name in ("hung-job", "two-rank-profile", "recorded-ops"))
    failed = 0
    for path in inputs:
        names = differing(options.binary.resolve(), path.resolve(), options.runs)
        failed += bool(names)
        print(f"{'FAILED' if names else 'same  '} {path}: {options.runs} runs{': ' + ', '.join(names) if names else ''}", flush=True)
    sys.exit(1 if failed or not inputs else 0)


main()
