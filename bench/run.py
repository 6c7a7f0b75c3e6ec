#!/usr/bin/env python3
"""Runs the benchmarks and prints what each reached, what it cost and whether that met its aim.

usage: run.py [--build FOLDER] [PATTERN...]

Every benchmark is a process of its own, so CPU seconds and peak memory are its own too. A program
bench/<x>_bench.cc checks its result first and then prints one line `name key=value ...`; when the result is
wrong it ends with another exit code than 0, no time is shown, and this script fails. An aim that is missed
is shown and does not fail: the machine may be busy. Inputs are made once, always the same, in build/bench-data.
"""
import argparse
import gzip
import os
import random
import statistics
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "build/bench-data"
MIB = 1 << 20


@dataclass
class Benchmark:
    name: str
    program: str                  # under the build folder
    arguments: list = field(default_factory=list)
    prepare: object = None        # makes inputs; what it returns is appended to the arguments
    shown: str = "mb_s"           # the value to show: a key of the program's line, wall_ms or peak_mb
    unit: str = "MB/s"
    aim: str = ""                 # "mb_s >= 1000"
    runs: int = 1                 # wall_ms is the median of so many


@dataclass
class Measurement:
    values: dict
    cpu_s: float
    peak_mb: float


def make_file(name, write):
    """The file build/bench-data/name, made by write(path) when it is not there."""
    path = DATA / name
    if not path.exists():
        DATA.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        write(partial)
        partial.rename(path)
    return path


def trace_lines(count):
    """Lines as profilers write them: they pack about ten times."""
    numbers = random.Random(17)
    names = [f"aten::{word}" for word in ("mm", "add_", "native_layer_norm", "copy_", "_softmax", "gelu")]
    for index in range(count):
        yield (f'{{"ph": "X", "cat": "cpu_op", "name": "{numbers.choice(names)}", "pid": {numbers.randrange(8)}, "tid": '
               f'{numbers.randrange(64)}, "ts": {index * 17 + numbers.randrange(9)}.{numbers.randrange(999):03}, "dur": '
               f'{numbers.randrange(5000)}, "args": {{"External id": {index}, "Ev Idx": {index + 3}}}}},\n')


def gzip_input():
    """A gzip file of many members with 1 GiB of text or so; its size and number of lines."""
    text = "".join(trace_lines(100_000)).encode()
    members = -(-1024 * MIB // len(text))
    path = make_file("lines.json.gz", lambda path: path.write_bytes(gzip.compress(text, 6, mtime=0) * members))
    return [path, len(text) * members, text.count(b"\n") * members]


def big_file():
    """2 GiB; every MiB begins with its number."""
    def write(path):
        rest = random.Random(17).randbytes(MIB - 8)
        with open(path, "wb") as out:
            for number in range(2048):
                out.write(number.to_bytes(8, "little") + rest)
    return [make_file("big.bin", write)]


BENCHMARKS = [
    Benchmark("start", "debrief", ["--version"], shown="wall_ms", unit="ms", aim="wall_ms < 20", runs=21),
    Benchmark("gunzip", "bench/bytes_bench", ["gunzip"], gzip_input, aim="mb_s >= 1000"),
    Benchmark("newlines", "bench/bytes_bench", ["newlines"], aim="mb_s >= 3000"),
    Benchmark("source", "bench/bytes_bench", ["source"], big_file, aim="peak_mb < 100"),
    Benchmark("op_trace", "bench/import_bench", aim="mb_s >= 300"),
    Benchmark("store", "bench/store_bench", shown="rows_per_s", unit="rows/s", aim="rows_per_s >= 2500000"),
    Benchmark("flight_timeline", "bench/flight_output_bench", shown="timeline_s", unit="s", aim="timeline_s < 3"),
]


def prepared_inputs(benchmark):
    """The inputs, made by a process that is gone when the benchmark starts: the peak memory of a process
    begins with that of the one that started it, so this one must stay small."""
    if benchmark.prepare is None:
        return []
    with ProcessPoolExecutor(1) as pool:
        return pool.submit(benchmark.prepare).result()


def run_once(command):
    """(exit code, stdout, resource usage, wall seconds) of one process."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, output, usage, time.monotonic() - started


def measure(benchmark, build):
    """A Measurement, or None when the result was wrong."""
    words = [build / benchmark.program, *benchmark.arguments, *prepared_inputs(benchmark)]
    command = [str(word) for word in words]
    runs = [run_once(command) for _ in range(benchmark.runs)]
    if any(code != 0 for code, *_ in runs):
        return None
    _, output, usage, _ = runs[-1]
    values = dict(word.split("=", 1) for word in output.split() if "=" in word)
    values = {key: float(value) for key, value in values.items()}
    values["wall_ms"] = statistics.median(wall for *_, wall in runs) * 1e3
    values["peak_mb"] = usage.ru_maxrss * 1024 / 1e6
    return Measurement(values, usage.ru_utime + usage.ru_stime, values["peak_mb"])


def met(aim, values):
    key, relation, bound = aim.split()
    value = values[key]
    return {"<": value < float(bound), "<=": value <= float(bound), ">=": value >= float(bound)}[relation]


def row(*cells):
    return "{:<14} {:>16} {:>8} {:>9}  {:<18} {}".format(*cells)


def check_all_listed():
    listed = {Path(benchmark.program).name for benchmark in BENCHMARKS}
    missing = [path.name for path in (ROOT / "bench").glob("*_bench.cc") if path.stem not in listed]
    if missing:
        sys.exit(f"bench/run.py does not list {', '.join(missing)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=ROOT / "build/release", type=Path)
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args()
    check_all_listed()
    wrong, missed, count = 0, 0, 0
    print(row("benchmark", "result", "CPU s", "peak MB", "aim", ""))
    for benchmark in BENCHMARKS:
        if options.patterns and not any(pattern in benchmark.name for pattern in options.patterns):
            continue
        count += 1
        result = measure(benchmark, options.build.resolve())
        if result is None:
            wrong += 1
            print(row(benchmark.name, "WRONG RESULT", "-", "-", benchmark.aim, "FAILED"), flush=True)
            continue
        good = not benchmark.aim or met(benchmark.aim, result.values)
        missed += not good
        print(row(benchmark.name, f"{result.values[benchmark.shown]:.0f} {benchmark.unit}", f"{result.cpu_s:.2f}",
                  f"{result.peak_mb:.0f}", benchmark.aim, "met" if good else "MISSED"), flush=True)
    print(f"{count} benchmarks, {missed} missed their aim, {wrong} with a wrong result")
    sys.exit(1 if wrong else 0)


main()
