#!/usr/bin/env python3
"""How long debrief compile takes above the floor: writing the same files from memory, on the same disk, in the same run.

usage: compile_bench.py tree DEBRIEF LOG FILES [FLAG...]         one log; FILES is how many files its tree must have
       compile_bench.py linear DEBRIEF SMALL LARGE               cost per byte of a large log against a small one
       compile_bench.py ranks DEBRIEF FOLDER                     all ranks of a folder, with one thread and with one per core
       compile_bench.py summary DEBRIEF LOG COMPILATIONS         every analysis of one log, nothing written
       compile_bench.py stack_log OUT.log                        makes the log of deep stacks

Checks the tree first: number of files, a copy of the log, one line of raw.jsonl for every entry that is no event, all events.
Then prints `name key=value ...`; a wrong result ends with exit code 1 and no time. Memory is that of the command: it runs
before anything is read into this process, because a process begins with the peak of the one that started it.
"""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCRATCH = Path(__file__).resolve().parent.parent / "build/bench-data"
MEMORY_DISK = Path("/dev/shm")  # on a disk the kernel's page cache sets the pace, whatever we do
MIB = 1 << 20
STACKS, DEPTH = 2000, 120


class WrongResult(Exception):
    pass


def run_compile(debrief, source, out, *flags):
    """(wall seconds, user seconds, system seconds, peak MB) of one run."""
    started = time.monotonic()
    words = [debrief, "compile", source, "-o", out, "--no-browser", *flags]
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise WrongResult(f"exit code {process.returncode}")
    return time.monotonic() - started, usage.ru_utime, usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def count_lines(path, pattern):
    """How many lines match, without holding the file."""
    with open(path, "rb") as lines:
        return sum(pattern.search(line) is not None for line in lines)


def files_of(folder):
    return sorted(Path(parent) / name for parent, _, names in os.walk(folder) for name in names)


def check_tree(log, out, files):
    """Raises WrongResult when the tree cannot be that of the log."""
    found = len(files_of(out))
    if files and found != files:
        raise WrongResult(f"{found} files, must be {files}")
    entries = count_lines(log, re.compile(rb'^[^\t\n].*\] \{(?!"str")'))
    events = count_lines(log, re.compile(rb'^[^\t\n].*\] \{"chromium_event"'))
    lines = count_lines(out / "raw.jsonl", re.compile(b""))
    if lines != entries - events + 1:
        raise WrongResult(f"raw.jsonl has {lines} lines, must be {entries - events + 1}")
    if count_lines(out / "chromium_events.json", re.compile(rb"^  \{")) != events:
        raise WrongResult(f"not {events} chromium events")
    if (out / "raw.log").stat().st_size != Path(log).stat().st_size:
        raise WrongResult("raw.log is no copy")


def write_files(folder, contents):
    """Seconds for writing {path: bytes} below a fresh folder."""
    made = set()
    started = time.monotonic()
    os.mkdir(folder)
    for path, content in contents.items():
        parent = os.path.dirname(path)
        if parent and parent not in made:
            os.makedirs(f"{folder}/{parent}", exist_ok=True)
            made.add(parent)
        file = os.open(f"{folder}/{path}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        view = memoryview(content)
        while view:
            view = view[os.write(file, view):]
        os.close(file)
    return time.monotonic() - started


def measure_floor(out):
    """Seconds for writing the tree `out` again, from memory: the better of two, in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        contents = {path.relative_to(out).as_posix(): path.read_bytes() for path in files_of(out)}
        times = []
        for number in range(2):
            times.append(write_files(f"{out}.floor{number}", contents))
            shutil.rmtree(f"{out}.floor{number}")
        os.write(writer, json.dumps(times).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return min(json.loads(text))


def report(name, **values):
    print(name, *(f"{key}={value:.3f}" for key, value in values.items()))


def warm(path):
    """Reads the file once, so that no run pays for the disk."""
    with open(path, "rb") as file:
        while file.read(MIB):
            pass


def bench_tree(scratch, debrief, log, files, *flags):
    """The better of two runs, each against the floor of its own tree."""
    warm(log)
    best, out = None, scratch / "tree"
    for _ in range(2):
        shutil.rmtree(out, ignore_errors=True)
        run = run_compile(debrief, log, out, *flags)
        best = run if best is None or run[0] < best[0] else best
    check_tree(log, out, int(files))
    wall, user, system, peak = best
    floor = measure_floor(out)
    report("tree", above_s=wall - floor, wall_s=wall, floor_s=floor, user_s=user, cpu_s=user + system, peak_mb=peak,
           mb_s=Path(log).stat().st_size / 1e6 / wall)


def bench_summary(scratch, debrief, log, compilations):
    warm(log)
    found = json.loads(subprocess.run([debrief, "compile", log, "--summary", "--json"], stdout=subprocess.PIPE, check=True).stdout)
    if len(found["compilation"]) != int(compilations):
        raise WrongResult(f"{len(found['compilation'])} compilations, must be {compilations}")
    wall, user, system, peak = min(run_compile(debrief, log, scratch / "none", "--summary") for _ in range(3))
    report("summary", wall_s=wall, cpu_s=user + system, peak_mb=peak)


def bench_linear(scratch, debrief, small, large):
    """CPU seconds: the wall time of gigabytes is the disk's. Whether memory stays flat is told by the large run."""
    costs = []
    for log in (small, large):
        warm(log)
        out = scratch / "tree"
        wall, user, system, peak = run_compile(debrief, log, out)
        check_tree(log, out, 0)
        shutil.rmtree(out)
        costs.append((Path(log).stat().st_size, user + system, wall, peak))
    (small_bytes, small_s, _, _), (large_bytes, large_s, wall, peak) = costs
    report("linear", ratio=large_s / (small_s * large_bytes / small_bytes), wall_s=wall, cpu_s=large_s, peak_mb=peak)


def bench_ranks(scratch, debrief, folder):
    for log in Path(folder).iterdir():
        warm(log)
    walls = {}
    for jobs in (1, 0, 1, 0):
        out = scratch / "tree"
        run = run_compile(debrief, folder, out, "--all-ranks-html", "--jobs", jobs)
        walls[jobs] = min(walls.get(jobs, run), run)
        for log in Path(folder).iterdir():
            rank = re.search(r"rank_(\d+)", log.name)[1]
            check_tree(log, out / f"rank_{rank}", 0)
        shutil.rmtree(out)
    wall, user, system, peak = walls[0]
    report("ranks", speedup=walls[1][0] / wall, wall_s=wall, cpu_s=user + system, peak_mb=peak)


def folder_for(kind):
    """How work scales with threads is measured in memory, where that has room for the tree."""
    in_memory = kind == "ranks" and MEMORY_DISK.is_dir() and shutil.disk_usage(MEMORY_DISK).free > 2 << 30
    return MEMORY_DISK if in_memory else SCRATCH


def write_stack_log(path):
    """2,000 compilations, each called through 120 frames of a tree of calls that share most of them."""
    numbers = random.Random(17)
    prefix = "V1115 02:33:{:02}.{:06} 425 torch/_dynamo/convert_frame.py:276] "
    with open(path, "w") as out:
        for index in range(60):
            name = f"/home/user/projects/trainer/layers/module_{index}.py"
            out.write(prefix.format(0, index) + json.dumps({"str": [name, index]}) + "\n")
        stack = []
        for number in range(STACKS):
            del stack[max(0, len(stack) - numbers.randint(1, 30)):]
            while len(stack) < DEPTH:
                stack.append({"line": numbers.randrange(2000), "name": f"forward_{numbers.randrange(500)}",
                              "filename": numbers.randrange(60), "loc": f"hidden = self.block_{numbers.randrange(99)}(hidden, attention)"})
            ids = {"frame_id": number, "frame_compile_id": 0, "attempt": 0}
            metrics = {"co_name": f"f{number}", "co_filename": "/home/user/projects/trainer/train.py",
                       "co_firstlineno": number, "guard_count": 9, "graph_op_count": 3, "graph_node_count": 5,
                       "start_time": 1.7e9 + number, "entire_frame_compile_time_s": 0.5, "restart_reasons": []}
            for entry in ({"dynamo_start": {"stack": stack}}, {"compilation_metrics": metrics}):
                out.write(prefix.format(number // 100 % 60, number) + json.dumps(entry | ids) + "\n")


def main():
    kind, *words = sys.argv[1:]
    if kind == "stack_log":
        write_stack_log(words[0])
        return
    SCRATCH.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="compile_bench.", dir=folder_for(kind)))
    try:
        {"tree": bench_tree, "summary": bench_summary, "linear": bench_linear, "ranks": bench_ranks}[kind](scratch, *words)
    except WrongResult as error:
        print(f"wrong result: {error}", file=sys.stderr)
        sys.exit(1)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
