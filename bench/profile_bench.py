#!/usr/bin/env python3
"""What reading and analysing large profiles costs, by the CPU seconds and the memory of the command itself.

usage: profile_bench.py breakdown DEBRIEF SMALL LARGE      one thread, where device time went; LARGE may be .gz
       profile_bench.py all DEBRIEF SMALL LARGE            one thread, every analysis, no store
       profile_bench.py roofline DEBRIEF SMALL LARGE       one thread, the roofline of every op against where device time went
       profile_bench.py make_ranks SMALL FOLDER MB         the profiles of all ranks of the job SMALL, repeated until they have so many MB
       profile_bench.py why DEBRIEF LARGE...               one thread: what roofline, what-if, critical path and memory fit add to all
                                                           other analyses, of one profile or the folder of a job
       profile_bench.py two DEBRIEF SMALL LARGE            two copies of LARGE: two threads against one

LARGE is SMALL repeated (make_big.py kineto). Checked first: the same number of kernels, copies and fills as SMALL has, times
the number of copies; busy and idle time add up to the span; every timeline is there. Then prints `name key=value ...`.
"""
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCRATCH = Path(__file__).resolve().parent.parent / "build/bench-data"


class WrongResult(Exception):
    pass


def run(words, environment=None):
    """(stdout, wall seconds, CPU seconds, peak MB) of one run."""
    with tempfile.TemporaryFile() as out:
        started = time.monotonic()
        process = subprocess.Popen([str(word) for word in words], stdout=out, stderr=subprocess.DEVNULL,
                                   env={**os.environ, **(environment or {})})
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - started
        if os.waitstatus_to_exitcode(status) != 0:
            raise WrongResult(f"exit code {os.waitstatus_to_exitcode(status)}")
        out.seek(0)
        return out.read(), wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def fastest(words):
    """Of three: a ratio of two wall times shows everything else that the machine does."""
    return min((run(words) for _ in range(3)), key=lambda result: result[1])


def breakdown_rows(text):
    sheet = next(sheet for sheet in json.loads(text)["sheets"] if sheet["table"] == "profile_breakdown")
    return [row for row in sheet["rows"] if row["scope"] == "all"]


def json_bytes(path):
    """Size of the JSON; a .gz ends with it."""
    path = Path(path)
    if path.suffix != ".gz":
        return path.stat().st_size
    with open(path, "rb") as file:
        file.seek(-4, os.SEEK_END)
        return int.from_bytes(file.read(4), "little")


def spans_of(path):
    """How often the repeated part stands in a trace: each copy has one span of the profiler."""
    opened = gzip.open(path) if str(path).endswith(".gz") else open(path, "rb")
    with opened as file:
        return sum(chunk.count(b'"Trace"') for chunk in iter(lambda: file.read(1 << 24), b""))


def check(debrief, small, large, rows):
    own = breakdown_rows(run([debrief, "profile", "breakdown", small, "--json"])[0])[0]
    copies = spans_of(large) // max(1, spans_of(small))
    for row in rows:
        if row["kernels"] != own["kernels"] * copies:
            raise WrongResult(f"{row['kernels']} pieces of work, must be {own['kernels']} x {copies}")
        if row["busy_ns"] + row["idle_ns"] != row["total_ns"]:
            raise WrongResult("busy and idle time are not the span")


def breakdown(debrief, small, large):
    text, wall, cpu, peak = run([debrief, "profile", "breakdown", large, "--json", "--jobs", "1"])
    check(debrief, small, large, breakdown_rows(text))
    size = json_bytes(large)
    print(f"profile_breakdown mb_per_cpu_s={size / 1e6 / cpu:.0f} cpu_s={cpu:.2f} wall_s={wall:.2f} peak_mb={peak:.0f} "
          f"memory_ratio={peak / (size / 1e6):.2f}")


def everything(debrief, small, large):
    out = Path(tempfile.mkdtemp(dir=SCRATCH))
    try:
        text, wall, cpu, peak = run([debrief, large, "-o", out / "report", "--no-store", "--json", "--quiet", "--jobs", "1"])
        if json.loads(text)["inputs"][0].get("state") != "imported":
            raise WrongResult("the trace was not imported")
    finally:
        shutil.rmtree(out)
    size = json_bytes(large)
    print(f"profile_all mb_per_cpu_s={size / 1e6 / cpu:.0f} cpu_s={cpu:.2f} wall_s={wall:.2f} peak_mb={peak:.0f} "
          f"memory_ratio={peak / (size / 1e6):.2f}")


def roofline(debrief, small, large):
    """What all of the roofline costs beside reading the trace and dividing device time."""
    _, _, without, _ = fastest([debrief, "profile", "breakdown", large, "--json", "--jobs", "1"])
    text, wall, cpu, peak = fastest([debrief, "profile", "roofline", large, "--json", "--jobs", "1"])
    every = next(sheet for sheet in json.loads(text)["sheets"] if sheet["table"] == "profile_roofline_sum")["rows"]
    if len(every) != 1 or every[0]["kernels"] <= 0:
        raise WrongResult(f"{len(every)} sums of all calls, must be 1")
    print(f"profile_roofline added={cpu / without - 1:.2f} cpu_s={cpu:.2f} wall_s={wall:.2f} peak_mb={peak:.0f}")


# What answers "why is it slow": DEBRIEF_TEST_WITHOUT leaves them out.
WHY = ("what_if", "profile_roofline", "memory_fit", "memory_ranks")


def is_fixed(event):
    """Of the process or the thread, and not at a time."""
    return "ts" not in event or event.get("ph") == "M"


def moved(event, number, span, ids, steps):
    """The event in copy `number`: later, with ids and a number of the step of its own."""
    event = {**event, "ts": event["ts"] + number * span}
    event["args"] = {name: value + number * ids if name in ("correlation", "External id") and isinstance(value, int) else value
                     for name, value in event.get("args", {}).items()}
    if isinstance(event.get("id"), int):
        event["id"] += number * ids
    event["name"] = re.sub(r"(?<=^ProfilerStep#)\d+$", lambda found: str(int(found[0]) + number * steps), event["name"])
    return event


def make_ranks(small, folder, megabytes):
    """All ranks are moved by the same span and as often, so that their collectives meet in every copy."""
    traces = {path.name.removesuffix(".gz"): json.loads(gzip.open(path).read()) for path in sorted(Path(small).glob("profile_rank*.json.gz"))}
    timed = [event for trace in traces.values() for event in trace["traceEvents"] if event.get("ph") == "X"]
    span = max(event["ts"] + event["dur"] for event in timed) - min(event["ts"] for event in timed) + 100
    ids = 1 + max(value for event in timed for name, value in event.get("args", {}).items() if name in ("correlation", "External id"))
    steps = len({event["name"] for event in timed if event["name"].startswith("ProfilerStep#")})
    Path(folder).mkdir(parents=True, exist_ok=True)
    outs = {name: open(Path(folder) / name, "w") for name in traces}
    for name, trace in traces.items():
        outs[name].write(json.dumps({key: value for key, value in trace.items() if key != "traceEvents"})[:-1] + ', "traceEvents": [{}')
    number = 0
    while sum(out.tell() for out in outs.values()) < float(megabytes) * 1e6:
        for name, trace in traces.items():
            events = [event if is_fixed(event) else moved(event, number, span, ids, steps)
                      for event in trace["traceEvents"] if number == 0 or not is_fixed(event)]
            outs[name].write("".join(",\n" + json.dumps(event) for event in events))
        number += 1
    for out in outs.values():
        out.write("]}")
        out.close()


def ran(text):
    return [analysis["name"] for analysis in json.loads(text)["analyses"] if analysis["state"] == "ran"]


def why(debrief, large):
    """In turns, the least of three: what other work on the machine costs both."""
    words = [debrief, large, "--no-report", "--no-store", "--json", "--quiet", "--jobs", "1"]
    without, complete = [], []
    for _ in range(3):
        text, _, cpu, _ = run(words, {"DEBRIEF_TEST_WITHOUT": ",".join(WHY)})
        if set(ran(text)) & set(WHY):
            raise WrongResult("what should be left out did run")
        without.append(cpu)
        text, wall, cpu, peak = run(words)
        complete.append((cpu, wall, peak))
    if "profile_roofline" not in ran(text):
        raise WrongResult("the roofline did not run")
    cpu, wall, peak = min(complete)
    size = sum(json_bytes(path) for path in ([large] if Path(large).is_file() else Path(large).iterdir()))
    print(f"profile_why added={cpu / min(without) - 1:.2f} cpu_s={cpu:.2f} without_cpu_s={min(without):.2f} wall_s={wall:.2f} peak_mb={peak:.0f} "
          f"mb_per_cpu_s={size / 1e6 / cpu:.0f}")


def two(debrief, small, large):
    words = [debrief, "profile", "breakdown", large, large_copy(large), "--json"]
    text, one, _, _ = fastest([*words, "--jobs", "1"])
    rows = breakdown_rows(text)
    if len(rows) != 2:
        raise WrongResult(f"{len(rows)} timelines, must be 2")
    check(debrief, small, large, rows)
    _, both, cpu, peak = fastest([*words, "--jobs", "2"])
    print(f"profile_two_files speedup={one / both:.2f} cpu_s={cpu:.2f} wall_s={both:.2f} peak_mb={peak:.0f}")


def large_copy(large):
    """The same bytes under another name."""
    copy = Path(large).with_name("copy_of_" + Path(large).name)
    if not copy.exists():
        os.link(large, copy)
    return copy


def main():
    mode, *rest = sys.argv[1:]
    try:
        {"breakdown": breakdown, "all": everything, "roofline": roofline, "make_ranks": make_ranks, "why": why, "two": two}[mode](*rest)
    except WrongResult as wrong:
        sys.exit(f"wrong result: {wrong}")


if __name__ == "__main__":
    main()
