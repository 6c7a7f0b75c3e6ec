#!/usr/bin/env python3
"""Runs the benchmarks and prints what each reached, what it cost and whether that met its aim.

usage: run.py [--build FOLDER] [PATTERN...]

Every benchmark is a process of its own, so CPU seconds and peak memory are its own too. A program
bench/<x>_bench.cc or .py checks its result first and then prints one line `name key=value ...`; when the result is
wrong it ends with another exit code than 0, no time is shown, and this script fails. One that starts other processes
prints the cpu_s and peak_mb of those. An aim that is missed is shown and does not fail: the machine may be busy. A
limit is CPU time or memory that must hold on any machine, in the best of the runs: this script fails where it does not.
Inputs are made once, always the same, in build/bench-data.
"""
import argparse
import functools
import gzip
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "build/bench-data"
MIB = 1 << 20


@dataclass
class Benchmark:
    name: str
    program: str                  # under the build folder; {build} in the arguments is that folder
    arguments: list = field(default_factory=list)
    prepare: object = None        # makes inputs; what it returns is appended to the arguments
    shown: str = "mb_s"           # the value to show: a key of the program's line, wall_ms or peak_mb
    unit: str = "MB/s"
    aim: str = ""                 # "mb_s >= 1000", several with commas between
    limit: str = ""               # likewise; what is beyond it fails
    runs: int = 1                 # wall_ms is the median of so many, cpu_s the least
    check: object = None          # check(stdout): is the result right? for programs that do not check themselves


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


GENERATOR = ROOT.parent / "shared/tools/flight_gen/gen.py"
FLIGHT_FAULTS = ["size", "dtype", "type", "stuck", "gc_skip", "swap", "deadlock", "a2a", "coalesced", "p2p_size",
                 "p2p_missing", "state"]


def flight_dumps(name, fault, *words):
    """Flight Recorder dumps with a planted fault; the folder and the rank to blame."""
    folder = DATA / name
    if not (folder / "truth").exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, GENERATOR, "--out", folder / "dumps", "--fault", fault, *map(str, words)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        (folder / "truth").write_text(str(json.loads(done.stdout.splitlines()[-1])["rank"]))
    return folder / "dumps", int((folder / "truth").read_text())


LIMIT_OF_512 = "cpu_s <= 0.6, peak_mb <= 150"
RUNS_OF_512 = 5


def flight_512():
    return flight_dumps("flight_512", "stuck", "--ranks", 512, "--entries", 2000, "--tp", 8, "--pp", 4, "--frames", 16,
                        "--fault-rank", 301)


def flight_long():
    return flight_dumps("flight_8x20000", "stuck", "--ranks", 8, "--entries", 20000, "--fault-rank", 5)


def flight_4096():
    """The dumps of 512 ranks eight times over, as eight jobs."""
    dumps, _ = flight_512()
    jobs = DATA / "flight_4096"
    for job in range(8):
        jobs.mkdir(exist_ok=True)
        if not (jobs / f"job_{job}").exists():
            (jobs / f"job_{job}").mkdir()
            for dump in dumps.iterdir():
                (jobs / f"job_{job}" / dump.name).symlink_to(dump)
    return jobs


def report_of(folder):
    """Arguments for debrief that analyse a folder without the store, on one thread."""
    return [folder, "--json", "--quiet", "--no-store", "--jobs", 1, "-o", DATA / "out", "--overwrite"]


def blames(rank):
    def check(output):
        findings = json.loads(output)["findings"]
        return bool(findings) and rank in findings[0]["ranks"]
    return check


def flight_benchmarks():
    """Need the generator beside the checkout."""
    if not GENERATOR.exists():
        print("skipped: flight benchmarks, no ../shared beside the checkout")
        return []
    found = [
        Benchmark("flight_512", "debrief", prepare=lambda: report_of(flight_512()[0]), shown="cpu_s", unit="CPU s",
                  limit=LIMIT_OF_512, runs=RUNS_OF_512, check=blames(301)),
        Benchmark("flight_512_alone", "debrief", ["flight", "--json", "--quiet", "--jobs", 1], lambda: [flight_512()[0]],
                  shown="cpu_s", unit="CPU s", limit=LIMIT_OF_512, runs=RUNS_OF_512, check=blames(301)),
        Benchmark("flight_20000", "debrief", prepare=lambda: report_of(flight_long()[0]), shown="cpu_s", unit="CPU s",
                  aim="cpu_s <= 0.15", check=blames(5)),
        Benchmark("flight_4096", "debrief", prepare=lambda: report_of(flight_4096()), shown="cpu_s", unit="CPU s",
                  aim="cpu_s <= 6.4", check=blames(301)),
    ]
    for number, fault in enumerate(FLIGHT_FAULTS):
        rank = 37 + 29 * number
        words = ["--ranks", 512, "--entries", 400, "--tp", 8, "--pp", 4, "--frames", 4, "--fault-rank", rank]
        words += {"a2a": ["--ep"], "coalesced": ["--uneven"]}.get(fault, ["--p2p", "batched"] if "p2p" in fault else [])
        prepare = functools.partial(lambda name, fault, words: report_of(flight_dumps(name, fault, *words)[0]),
                                    f"flight_{fault}", fault, words)
        found.append(Benchmark(f"512_{fault}", "debrief", prepare=prepare, shown="cpu_s", unit="CPU s",
                               aim="cpu_s <= 0.8", check=blames(rank)))
    return found


SCALE_BENCH = ROOT / "bench/flight_scale_bench.py"


def scale_benchmarks():
    """Dumps of very many ranks, one thread each. The largest need room on the disk."""
    def benchmark(mode, shown, unit, limit, aim=""):
        return Benchmark(f"flight_{mode}", sys.executable, [SCALE_BENCH, mode, "{build}/debrief", DATA / "flight_scale"], None, shown,
                         unit, aim, limit)
    found = [benchmark("512x2000", "cpu_s", "CPU s", LIMIT_OF_512 + ", flight_s <= 0.6, flight_mb <= 150"),
             benchmark("4096x200", "ratio", "of 512 x 2,000, an entry", "", "ratio <= 1.3"),
             benchmark("8192_in_one_group", "cpu_s", "CPU s", "", "cpu_s <= 4")]
    if shutil.disk_usage(ROOT).free < DISK_FOR_2_GB:
        print("skipped: dumps of 16,384 ranks, less than 8 GB are free")
        return found
    return [*found, benchmark("16384x60", "cpu_s", "CPU s", "cpu_s <= 2.5"),
            benchmark("16384_healthy", "cpu_s", "CPU s", "", "cpu_s <= 2.5"),
            benchmark("16384x200", "cpu_s", "CPU s", "cpu_s <= 12, peak_mb <= 1500", "page_mb <= 3, data_mb <= 50"),
            benchmark("16384_shards", "reduce_s", "CPU s of reduce", "reduce_s <= 3, reduce_mb <= 600")]


SHARED_DATA = Path(os.environ.get("DEBRIEF_SHARED_DATA", ROOT.parent / "shared/data"))
MAKE_BIG = SHARED_DATA.parent / "tools/make_big.py"
COMPILE_BENCH = ROOT / "bench/compile_bench.py"
DISK_FOR_2_GB = 8e9


def shared_data():
    """The unpacked reference data, where the conformance tests have theirs."""
    target = ROOT / "build/shared-data"
    subprocess.run([SHARED_DATA / "unpack", target], check=True, stdout=subprocess.DEVNULL)
    return target


def big_log(megabytes, pattern="compile/mixed/*.log", name="mixed"):
    """A log made of copies of a recorded one, each with compile ids of its own."""
    def write(path):
        small = max((shared_data() / "recorded").glob(pattern), key=lambda path: path.stat().st_size)
        subprocess.run([sys.executable, MAKE_BIG, "torch_trace", small, str(megabytes), path], check=True)
    return make_file(f"{name}_{megabytes}mb.log", write)


def stack_log():
    command = [sys.executable, COMPILE_BENCH, "stack_log"]
    return make_file("stack.log", lambda path: subprocess.run([*command, path], check=True))


def rank_logs():
    """Eight ranks of 40 MB."""
    (DATA / "compile_ranks").mkdir(parents=True, exist_ok=True)
    for rank in range(8):
        name = f"dedicated_log_torch_trace_rank_{rank}"
        big_log(40, f"jobs/healthy/torch_trace/{name}_*.log", f"compile_ranks/{name}")
    return DATA / "compile_ranks"


def compile_benchmark(name, words, shown, unit, aim):
    """`words` is called for the arguments of compile_bench.py behind its kind."""
    return Benchmark(name, sys.executable, [COMPILE_BENCH, name.removeprefix("compile_").split("_")[0], "{build}/debrief"],
                     words, shown, unit, aim)


def compile_benchmarks():
    """Need the reference data beside the checkout; two gigabytes also need room on the disk."""
    if not MAKE_BIG.exists():
        print("skipped: compile benchmarks, no ../shared beside the checkout")
        return []
    found = [
        Benchmark("compile_import", "bench/import_bench", ["torch_trace"], lambda: [big_log(300)], "wall_s", "s",
                  "wall_s <= 0.8"),
        compile_benchmark("compile_tree", lambda: [big_log(300), 9017], "above_s", "s",
                          "above_s <= 1.5, user_s <= 3, peak_mb <= 250"),
        compile_benchmark("compile_tree_stack", lambda: [stack_log(), 2006, "-p"], "above_s", "s", "above_s <= 0.3"),
        compile_benchmark("compile_summary", lambda: [big_log(300), 600], "wall_s", "s", "wall_s <= 1.2, peak_mb <= 250"),
        compile_benchmark("compile_ranks", lambda: [rank_logs()], "speedup", "x", "speedup >= 1.7"),
    ]
    if shutil.disk_usage(ROOT).free < DISK_FOR_2_GB:
        print("skipped: compile_linear, less than 8 GB are free")
        return found
    return [*found, compile_benchmark("compile_linear", lambda: [big_log(300), big_log(2000)], "ratio", "x",
                                      "ratio <= 1.25, peak_mb <= 250")]


def profile_small():
    return shared_data() / "public/kineto/hta/trace_diff_control.json.gz"


def big_profile():
    """A profile of 470 MB made of copies of a real one, one behind the other."""
    command = [sys.executable, MAKE_BIG, "kineto", profile_small(), "470"]
    return make_file("profile_470mb.json", lambda path: subprocess.run([*command, path], check=True))


def big_ranks():
    """The profiles of the 8 ranks of a recorded job one of which is slow, repeated to 498 MB."""
    return make_file("ranks_498mb", lambda path: subprocess.run(
        [sys.executable, ROOT / "bench/profile_bench.py", "make_ranks", shared_data() / "recorded/jobs/slow_rank", path, "498"], check=True))


def straggler_timeline():
    """A published job of 64 ranks, 44 steps: 117,216 ops."""
    return shared_data() / "public_more/straggler/timeline-AR.json.gz"


def packed_profile():
    def write(path):
        with open(big_profile(), "rb") as source, gzip.open(path, "wb", compresslevel=6) as target:
            shutil.copyfileobj(source, target, 1 << 20)
    return make_file("profile_470mb.json.gz", write)


def profile_benchmarks():
    """Need the reference data beside the checkout. One thread each, but for the last."""
    if not MAKE_BIG.exists():
        print("skipped: profile benchmarks, no ../shared beside the checkout")
        return []

    program = ROOT / "bench/profile_bench.py"

    def benchmark(name, mode, trace, shown, unit, aim):
        return Benchmark(name, sys.executable, [program, mode, "{build}/debrief"], lambda: [profile_small(), trace()], shown, unit, aim)

    def why(name, trace):
        return Benchmark(name, sys.executable, [program, "why", "{build}/debrief"], lambda: [trace()], "added", "of all others", limit="added <= 0.4")
    return [
        why("profile_why", big_profile),
        why("profile_why_ranks", big_ranks),
        Benchmark("what_if_stages", "debrief", ["profile", "what-if", "--json", "--quiet", "--jobs", 1], lambda: [straggler_timeline()], "cpu_s", "CPU s",
                  limit="cpu_s <= 0.2", runs=5, check=lambda output: '"slow_workers"' in output),
        benchmark("profile_breakdown", "breakdown", big_profile, "mb_per_cpu_s", "MB/CPU-s",
                  "mb_per_cpu_s >= 300, memory_ratio <= 0.6"),
        benchmark("profile_breakdown_gz", "breakdown", packed_profile, "mb_per_cpu_s", "MB/CPU-s", "mb_per_cpu_s >= 150"),
        benchmark("profile_all", "all", big_profile, "mb_per_cpu_s", "MB/CPU-s", "mb_per_cpu_s >= 150, memory_ratio <= 0.6"),
        benchmark("profile_roofline", "roofline", big_profile, "added", "of the breakdown", "added <= 0.4"),
        benchmark("profile_two_files", "two", big_profile, "speedup", "x", "speedup >= 1.7"),
    ]


def big_export():
    """The real export of Nsight Systems, repeated to 1 GB."""
    small = shared_data() / "public_more/nsys/perlmutter-cloverleaf-cuda.sqlite"
    return make_file("nsys_1gb.sqlite", lambda path: subprocess.run(
        [sys.executable, ROOT / "bench/nsys_bench.py", "make", small, path, "1000"], check=True))


def nsys_benchmarks():
    """Need the reference data beside the checkout. One thread; libsqlite3 sums up the same columns in the same run."""
    if not MAKE_BIG.exists():
        print("skipped: benchmarks of Nsight Systems, no ../shared beside the checkout")
        return []
    return [Benchmark("nsys_breakdown", sys.executable, [ROOT / "bench/nsys_bench.py", "breakdown", "{build}/debrief"], lambda: [big_export()],
                      "speed_of_sqlite", "x", "speed_of_sqlite >= 0.5, memory_ratio <= 0.6")]


def big_run():
    """A trace with a million events and a log with ten thousand compilations."""
    shared_data()
    folder = DATA / "report_big"
    if not (folder / "dedicated_log_torch_trace_rank_0.log").exists():
        subprocess.run([sys.executable, ROOT / "bench/report_bench.py", "make", folder], check=True)
    return folder


def report_benchmarks():
    """Need the reference data beside the checkout; how a page feels also needs a browser."""
    if not MAKE_BIG.exists():
        print("skipped: report benchmarks, no ../shared beside the checkout")
        return []

    def benchmark(name, mode, words, shown, unit, aim):
        return Benchmark(name, sys.executable, [ROOT / "bench/report_bench.py", mode, "{build}/debrief"], words, shown, unit, aim)
    return [
        benchmark("report_cost", "cost", lambda: [big_profile()], "added", "of the analysis", "added <= 0.3"),
        benchmark("report_feel", "feel", lambda: [big_run()], "first_ms", "ms", "first_ms < 1000, smooth >= 1, heap_mb < 400"),
    ]


def big_flex():
    """A Flex trace of a million events."""
    small = shared_data() / "public/acelyzer/inputs/flexcpu_rank0_job_0.json"
    return make_file("flex_1m.json", lambda path: subprocess.run([sys.executable, MAKE_BIG, "flex", small, "1000000", path],
                                                                  check=True))


def accel_benchmarks():
    """The first needs the reference data beside the checkout."""
    def benchmark(mode, words, shown, unit, aim):
        return Benchmark(f"accel_{mode}", sys.executable, [ROOT / "bench/accel_bench.py", mode, "{build}/debrief"], words, shown,
                         unit, aim)
    found = [benchmark("iterations", None, "cpu_s", "CPU s", "cpu_s <= 1, ratio <= 2.5"),
             benchmark("jobs", None, "cpu_s", "CPU s", "cpu_s <= 1.5")]
    if not MAKE_BIG.exists():
        print("skipped: accel_flex, no ../shared beside the checkout")
        return found
    return [benchmark("flex", lambda: [big_flex()], "above_s", "CPU s above writing", "above_s <= 3, peak_mb <= 700"), *found]


def whole_of(job):
    """Arguments for debrief that analyse, store and report a recorded job, with two threads."""
    DATA.mkdir(parents=True, exist_ok=True)
    return [shared_data() / "recorded/jobs" / job, "--json", "--quiet", "--jobs", 2, "-o", DATA / "whole", "--overwrite"]


def is_healthy(output):
    """All ranks were read, nothing is wrong, and the files are there."""
    run = json.loads(output)
    files = [DATA / "whole" / name for name in ("findings.json", "run.duckdb", "index.html")]
    return (run["jobs"][0]["ranks"] == list(range(8)) and all(file.stat().st_size > 0 for file in files)
            and all(finding["severity"] != "error" for finding in run["findings"])
            and any(one["state"] == "imported" and one["kind"] == "chrome_trace" for one in run["inputs"]))


def whole_benchmarks():
    """Need the reference data beside the checkout."""
    if not MAKE_BIG.exists():
        print("skipped: healthy_whole, no ../shared beside the checkout")
        return []
    return [Benchmark("healthy_whole", "debrief", prepare=lambda: whole_of("healthy"), shown="wall_ms", unit="ms",
                      aim="wall_ms < 2000", runs=3, check=is_healthy)]


BENCHMARKS = [
    Benchmark("start", "debrief", ["--version"], shown="wall_ms", unit="ms", aim="wall_ms < 20", runs=21),
    Benchmark("gunzip", "bench/bytes_bench", ["gunzip"], gzip_input, aim="mb_s >= 1000"),
    Benchmark("newlines", "bench/bytes_bench", ["newlines"], aim="mb_s >= 3000"),
    Benchmark("source", "bench/bytes_bench", ["source"], big_file, aim="peak_mb < 100"),
    Benchmark("op_trace", "bench/import_bench", aim="mb_s >= 300"),
    Benchmark("store", "bench/store_bench", shown="rows_per_s", unit="rows/s", aim="rows_per_s >= 2500000"),
    Benchmark("recorder", "bench/recorder_bench", shown="span_ns", unit="ns above two clock reads",
              aim="span_ns <= 10, op_ns <= 15, instant_ns <= 8, counter_ns <= 8, off_ns <= 1, p999_ns <= 1000, "
                  "first_own_chunk_us <= 50"),
    Benchmark("python_binding", sys.executable, [ROOT / "bench/python_binding_bench.py", "{build}/python"], shown="scope_on_ns",
              unit="ns above a call", aim="scope_on_ns <= 150, scope_off_ns <= 80"),
    Benchmark("flight_timeline", "bench/flight_output_bench", shown="timeline_s", unit="s", aim="timeline_s < 3"),
]


def prepared_inputs(benchmark):
    """The inputs, made by a process that is gone when the benchmark starts: the peak memory of a process
    begins with that of the one that started it, so this one must stay small."""
    if benchmark.prepare is None:
        return []
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, json.dumps([str(word) for word in benchmark.prepare()]).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as words:
        prepared = words.read()
    os.waitpid(child, 0)
    return json.loads(prepared)


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
    command = [str(word).replace("{build}", str(build)) for word in words]
    runs = [run_once(command) for _ in range(benchmark.runs)]
    if any(code != 0 for code, *_ in runs):
        return None
    if benchmark.check and not all(benchmark.check(output) for _, output, *_ in runs):
        return None
    output = runs[-1][1]
    words = [] if benchmark.check else output.split()
    values = {key: float(value) for key, value in (word.split("=", 1) for word in words if "=" in word)}
    measured = {"cpu_s": min(usage.ru_utime + usage.ru_stime for *_, usage, _ in runs),
                "peak_mb": max(usage.ru_maxrss for *_, usage, _ in runs) * 1024 / 1e6,
                "wall_ms": statistics.median(wall for *_, wall in runs) * 1e3}
    values = measured | values
    return Measurement(values, values["cpu_s"], values["peak_mb"])


def met(aims, values):
    return all(met_one(aim, values) for aim in aims.split(", ") if aim)


def met_one(aim, values):
    key, relation, bound = aim.split()
    value = values[key]
    return {"<": value < float(bound), "<=": value <= float(bound), ">=": value >= float(bound)}[relation]


def row(*cells):
    return "{:<18} {:>16} {:>8} {:>9}  {:<18} {}".format(*cells)


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
    wrong, exceeded, missed, count = 0, 0, 0, 0
    print(row("benchmark", "result", "CPU s", "peak MB", "limit or aim", ""))
    for benchmark in [*BENCHMARKS, *flight_benchmarks(), *scale_benchmarks(), *compile_benchmarks(), *profile_benchmarks(),
                      *nsys_benchmarks(), *report_benchmarks(), *accel_benchmarks(), *whole_benchmarks()]:
        if options.patterns and not any(pattern in benchmark.name for pattern in options.patterns):
            continue
        count += 1
        result = measure(benchmark, options.build.resolve())
        if result is None:
            wrong += 1
            print(row(benchmark.name, "WRONG RESULT", "-", "-", benchmark.aim, "FAILED"), flush=True)
            continue
        holds, good = met(benchmark.limit, result.values), met(benchmark.aim, result.values)
        exceeded += not holds
        missed += not good
        digits = 2 if benchmark.unit in ("CPU s", "s", "x") or benchmark.shown in ("ratio", "added") else 0
        shown = f"{result.values[benchmark.shown]:.{digits}f} {benchmark.unit}"
        bounds = ", ".join(filter(None, [benchmark.limit, benchmark.aim]))
        print(row(benchmark.name, shown, f"{result.cpu_s:.2f}", f"{result.peak_mb:.0f}", bounds,
                  "EXCEEDED" if not holds else "met" if good else "MISSED"), flush=True)
    print(f"{count} benchmarks, {missed} missed their aim, {exceeded} exceeded their limit, {wrong} with a wrong result")
    sys.exit(1 if wrong or exceeded else 0)


main()
