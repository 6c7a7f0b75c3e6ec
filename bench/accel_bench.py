#!/usr/bin/env python3
"""What debrief accel costs, by the CPU seconds and the memory of the command itself, one thread.

usage: accel_bench.py flex DEBRIEF TRACE          a Flex trace of a million events; the floor is writing the output's bytes
       accel_bench.py iterations DEBRIEF          32,000 kernels of which none repeats, against half as many
       accel_bench.py jobs DEBRIEF                500 files of one rank each

Checked first: every slice of the input is in the output or counted as a prep, times are in order, and no two files are taken for
one job. Then prints `name key=value ...`.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SCRATCH = Path(__file__).resolve().parent.parent / "build/bench-data"
MHZ = 560


class WrongResult(Exception):
    pass


def run(words, cwd, stdout=subprocess.DEVNULL):
    """(CPU seconds, peak MB) of one run."""
    process = subprocess.Popen([str(word) for word in words], cwd=cwd, stdout=stdout, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise WrongResult(f"exit code {os.waitstatus_to_exitcode(status)}: {words}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def accel(debrief, inputs, cwd):
    return run([debrief, "accel", "-i", inputs, "--freq", f"{MHZ}:800", "--jobs", 1, "--quiet", "-o", "out.json"], cwd)


WRITER = """
import os, sys
file, left, piece = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), int(sys.argv[2]), bytes(1 << 19)
while left > 0:
    left -= os.write(file, piece[:left])
"""


def floor_of(path):
    """CPU seconds of a program that does nothing but write as many bytes, best of three."""
    words = [sys.executable, "-SE", "-c", WRITER, path.with_suffix(".copy"), path.stat().st_size]
    return min(run(words, path.parent)[0] for _ in range(3))


def phases(path):
    """How many events of each phase, and whether their times are in order."""
    found, last, ordered = {}, -1.0, True
    with open(path, encoding="ascii") as file:
        for line in file:
            if line.startswith('            "ph": '):
                phase = line[19]
                found[phase] = found.get(phase, 0) + 1
            elif line.startswith('            "ts": '):
                time = float(line[18:].rstrip(",\n"))
                ordered, last = ordered and time >= last, time
    return found, ordered


def check_flex(trace, output):
    text = Path(trace).read_bytes()
    slices = text.count(b'"ph": "B"') + text.count(b'"ph": "X"')
    preps = len(re.findall(rb'Cmpt Prep", "ph": "[BX]"', text))
    found, ordered = phases(output)
    if found.get("X") != slices - preps or not ordered or not found.get("C"):
        raise WrongResult(f"{slices} slices with {preps} preps became {found}, in order: {ordered}")


def flex(debrief, trace):
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        cpu, peak = accel(debrief, Path(trace).resolve(), folder)
        output = Path(folder) / "out.json"
        check_flex(trace, output)
        floor = floor_of(output)
        print(f"accel_flex cpu_s={cpu:.3f} floor_s={floor:.3f} above_s={cpu - floor:.3f} peak_mb={peak:.0f}"
              f" output_mb={output.stat().st_size / 1e6:.0f}")


def kernel(index, start, name, pid=0):
    """A kernel of 8 us every 10 us."""
    cycles = int(start * MHZ)
    stamps = [cycles - 900, cycles - 800, cycles, cycles + 8 * MHZ, cycles + 8 * MHZ + 60]
    return {"name": f"{name} Cmpt Exec", "ph": "X", "pid": pid, "tid": 7, "ts": start, "dur": 8.0,
            "attr": {f"TS{i + 1}": str(stamp % (1 << 32)) for i, stamp in enumerate(stamps)}}


def write_kernels(path, count, name_of, pid=0, start=1000.0):
    path.write_text(json.dumps([kernel(i, start + 10.0 * i, name_of(i), pid) for i in range(count)]))


def iterations(debrief):
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        cost = {}
        for count in (16_000, 32_000):
            path = Path(folder) / f"kernels_{count}.json"
            write_kernels(path, count, lambda i: f"op{i}_of_no_other_name_x{i * 7919 % 104729}")
            cost[count] = min(accel(debrief, path, folder)[0] for _ in range(3))
            if phases(Path(folder) / "out.json")[0].get("X") != count:
                raise WrongResult(f"not {count} kernels")
        print(f"accel_iterations cpu_s={cost[32_000]:.3f} ratio={cost[32_000] / max(cost[16_000], 0.01):.2f}")


def jobs(debrief):
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        for job in range(500):
            write_kernels(Path(folder) / f"job_{job:03}.json", 100, lambda i: f"k{i % 10}", start=1000.0 + 1100.0 * job)
        cpu, peak = accel(debrief, "job_*.json", folder)
        names = set(re.findall(r'"jobname": "([^"]+)"', (Path(folder) / "out.json").read_text()))
        if len(names) != 500:
            raise WrongResult(f"500 files, {len(names)} jobs")
        print(f"accel_jobs cpu_s={cpu:.3f} jobs={len(names)} peak_mb={peak:.0f}")


def main():
    mode, debrief, *words = sys.argv[1:]
    SCRATCH.mkdir(parents=True, exist_ok=True)
    try:
        {"flex": flex, "iterations": iterations, "jobs": jobs}[mode](Path(debrief).resolve(), *words)
    except WrongResult as error:
        sys.exit(f"wrong result: {error}")


main()
