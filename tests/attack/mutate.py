#!/usr/bin/env python3
"""Runs debrief on thousands of slightly broken inputs of every kind, with every command that reads them.

usage: mutate.py [--binary PATH] [--seconds S] [--runs N] [--seed N] [--kind NAME] [--pieces] [--record FILE]

Inputs are those of the golden cases (a kind is a folder of tests/golden) and the examples. With --pieces every input is read again
in pieces of 1, 7 and 100 bytes, which must change nothing. Of each, one file is changed in one to
three ways (mutations.py) and sometimes renamed. A run fails when debrief ends by a signal or with an exit code that is not
documented, takes longer than 20 s of CPU, takes more memory than ten times its input and 300 MB, says that it has a bug, prints
what moves a cursor or turns text around, or changes its input. What failed stays in build/attack-found/ with its command.
"""
import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from mutations import mutate, rename

ROOT = Path(__file__).resolve().parents[2]
FOUND = ROOT / "build/attack-found"
CODES = {0, 1, 2, 3}  # docs: 0 done, 1 no report, 2 wrong usage, 3 --fail-on
HANG_S = 20
LEAST_MB = 300
OUTPUT_BYTES = 4 << 20  # of what is printed, looked at
SHEETS = ("breakdown", "overlap", "idle", "kernels", "ops", "launches", "comms", "memory", "steps", "ranks", "critical-path", "roofline", "what-if", "devices")
# ESC and the other controls but tab and line end, C1 controls, marks that turn text around.
FORBIDDEN = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")
# Lines that a broken program writes itself. A job's own text may say the same, but is quoted inside a line, and most of it on stdout.
BUG = re.compile(rb"^(debrief: internal error|terminate called|==\d+==|[^ ]+:\d+:\d+: runtime error:|.*: Assertion [`'])", re.MULTILINE)

REPORT = [["in", "-o", "out"], ["in", "-o", "out", "--json", "--no-store"], ["in", "-o", "out", "--markdown", "--single-file"],
          ["in", "-o", "out", "--quiet", "--jobs", "2"], ["list", "jobs", "in"], ["in", "-o", "out", "--no-report", "--fail-on", "error"]]
FLIGHT = [["flight", "in"], ["flight", "in", "--compat", "--allow-incomplete-ranks"], ["flight", "in", "-j"], ["flight", "in", "--details", "--verbose"],
          ["flight", "in", "--json"], ["flight", "in", "-o", "db.json"], ["flight", "in", "--timeline", "t.json"]]
COMPILE = [["compile", "in", "-o", "tree", "--no-browser"], ["compile", "in", "--summary"], ["compile", "in", "--summary", "--json"],
           ["compile", "in", "--collapsed"], ["compile", "in", "--all-ranks-html", "-o", "tree", "--no-browser"], ["compile", "in", "--split-ranks", "logs"],
           ["compile", "in", "--runnable", "py"], ["compile", "in", "-e", "-o", "tree", "--no-browser"], ["compile", "in", "--graph", "0/0"]]
PROFILE = [["profile", sheet, "in", *more] for sheet in SHEETS for more in ([], ["--csv"], ["--definition", "hta"])]
CONVERT = [["convert", "in", "--to", to, "-o", "x." + to] for to in ("chrome", "perfetto", "collapsed", "parquet")]
OPS = [["ops", "in"], ["ops", "in", "--csv"], ["ops", "in", "--json", "--compat"], ["ops", "in", "--flamegraph"]]
ACCEL = [["accel", "-i", "FILE", "-o", "trace.json"], ["accel", "-i", "FILE", "-o", "trace.json", "--compat"], ["accel", "-i", "FILE", "-o", "trace.pftrace"]]
DIFF = [["diff", "in", "whole"], ["diff", "in", "--ranks", "0", "1"], ["profile", "diff", "in", "whole"], ["diff", "whole", "in", "--json"]]
STORE = [["explain", "in"], ["explain", "in", "f1"], ["explain", "in", "f1", "--markdown"], ["query", "in", "SELECT count(*) FROM input"],
         ["query", "in", "--table", "finding", "--csv"], ["query", "in", "SHOW TABLES", "--json"]]
EVERYTHING = REPORT + FLIGHT + COMPILE + PROFILE + CONVERT + OPS + ACCEL + DIFF
TIMELINES = REPORT + PROFILE + CONVERT + DIFF
OF_KIND = {"flight_recorder": REPORT + FLIGHT, "flight": REPORT + FLIGHT, "fr_trace_text": REPORT, "torch_trace": REPORT + COMPILE, "chrome_trace": TIMELINES,
           "perfetto": TIMELINES, "flex": TIMELINES + ACCEL, "aiu_compiler_log": REPORT + ACCEL, "devices": TIMELINES, "op_trace": REPORT + OPS,
           "recording": REPORT + OPS, "ops": REPORT + OPS, "profile": TIMELINES, "convert": TIMELINES, "diff": REPORT + DIFF + COMPILE,
           "memory_snapshot": REPORT + PROFILE, "accel": REPORT + ACCEL, "report": STORE}


class Seed:
    """One input: a folder of files."""

    def __init__(self, kind, name, folder):
        self.kind, self.name, self.folder = kind, name, folder
        self.files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]


def make_report(binary, folder):
    """A report to break: what explain and query read."""
    report = folder / "report"
    subprocess.run([binary, ROOT / "examples/hung-job", "-o", report, "--quiet", "--no-report"], check=True, stdout=subprocess.DEVNULL)
    return Seed("report", "report", report)


def make_inputs(folder):
    """The inputs of golden cases that write theirs; those that cannot be made here are passed over."""
    made = []
    for program in sorted((ROOT / "tests/golden").glob("*/*/input.py")):
        place = folder / "made" / program.parents[1].name / program.parent.name
        place.mkdir(parents=True)
        done = subprocess.run([sys.executable, program], cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if done.returncode == 0 and (place / "input").is_dir():
            made.append(Seed(program.parents[1].name, f"{program.parents[1].name}/{program.parent.name}", place / "input"))
    return made


def find_seeds(binary, folder):
    seeds = make_inputs(folder)
    seeds += [Seed(path.parents[1].name, f"{path.parents[1].name}/{path.parent.name}", path) for path in sorted((ROOT / "tests/golden").glob("*/*/input"))]
    seeds += [Seed("accel" if path.name == "accel" else "example", f"examples/{path.name}", path) for path in sorted((ROOT / "examples").iterdir())
              if path.is_dir() and path.name not in ("record-torch", "tiny-inference")]
    return [seed for seed in [*seeds, make_report(binary, folder)] if seed.files]


def commands_of(dice, seed):
    if seed.kind == "report":
        return STORE
    return EVERYTHING if dice.random() < 0.25 else OF_KIND.get(seed.kind, REPORT)


def few_files():
    resource.setrlimit(resource.RLIMIT_CPU, (HANG_S, HANG_S + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Attack:
    def __init__(self, binary, seeds, folder, pieces):
        self.binary, self.folder, self.pieces = binary, folder, pieces
        self.of_kind = {}  # so that each has its share, however many cases it has
        for seed in seeds:
            self.of_kind.setdefault(seed.kind, []).append(seed)
        self.runs, self.failures = Counter(), []
        self.cpu_s = 0.0
        self.most_mb = 0

    def prepare(self, dice, seed):
        """The input with one file changed; what changed, and the file."""
        work = self.folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        shutil.copytree(seed.folder, work / "in", symlinks=True)
        (work / "whole").symlink_to(seed.folder)
        target = work / "in" / dice.choice(seed.files).relative_to(seed.folder)
        other = dice.choice(dice.choice(self.of_kind[seed.kind]).files)
        target.write_bytes(mutate(dice, target.read_bytes(), other.read_bytes()))
        return work, rename(dice, target)

    def one(self, number):
        dice = random.Random(number)
        seed = dice.choice(self.of_kind[dice.choice(sorted(self.of_kind))])
        work, target = self.prepare(dice, seed)
        words = [str(target.relative_to(work)) if word == "FILE" else word for word in dice.choice(commands_of(dice, seed))]
        before = contents(work / "in")
        problem = self.run(words, work, sum(len(each) for each in before.values()))
        if not problem and seed.kind != "report" and contents(work / "in") != before:
            problem = "changed its input"
        self.runs[seed.kind, words[0] if words[0] != "in" else "report"] += 1
        if problem:
            self.keep(number, seed, words, problem)

    def run(self, words, work, input_bytes):
        """What is wrong with a run; None when nothing is."""
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(work), "TMPDIR": str(work), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        if self.pieces:
            environment["DEBRIEF_CHUNK_BYTES"] = "1,7,100"
        with open(work / "stdout", "w+b") as out, open(work / "stderr", "w+b") as err:
            running = subprocess.Popen([str(self.binary), *words], cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                       preexec_fn=few_files)
            timer_end = time.monotonic() + 6 * HANG_S  # a busy machine; CPU time is what counts
            status, usage = wait_until(running, timer_end)
        self.cpu_s += usage.ru_utime + usage.ru_stime
        mb = usage.ru_maxrss // 1024
        self.most_mb = max(self.most_mb, mb)
        printed = [(work / name).open("rb").read(OUTPUT_BYTES) for name in ("stdout", "stderr")]
        return judge(status, usage, mb, input_bytes, printed)

    def keep(self, number, seed, words, problem):
        self.failures.append((number, seed.name, problem))
        place = FOUND / f"{number}"
        shutil.rmtree(place, ignore_errors=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(self.folder / "work", place, symlinks=True)
        (place / "COMMAND").write_text(" ".join(words) + f"\n{seed.name}: {problem}\n")
        print(f"FAILED run {number}, {seed.name}: {problem}: debrief {' '.join(words)}", flush=True)


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()}


def wait_until(running, end):
    """(status, usage); past `end` it is killed, which reads as a signal."""
    while True:
        pid, status, usage = os.wait4(running.pid, os.WNOHANG)
        if pid:
            running.returncode = os.waitstatus_to_exitcode(status)
            return status, usage
        if time.monotonic() > end:
            running.send_signal(signal.SIGKILL)
            end += 60
        time.sleep(0.002)


def judge(status, usage, mb, input_bytes, printed):
    cpu = usage.ru_utime + usage.ru_stime
    if cpu >= HANG_S:
        return f"hangs: {cpu:.0f} s of CPU"
    if os.WIFSIGNALED(status):
        return f"signal {os.WTERMSIG(status)}"
    if os.WEXITSTATUS(status) not in CODES:
        return f"exit code {os.WEXITSTATUS(status)}"
    if mb > LEAST_MB + 10 * input_bytes / 1e6:
        return f"{mb} MB of memory for {input_bytes} bytes"
    if match := BUG.search(printed[1]):
        return f"stderr says {match[0].decode()}"
    for name, text in zip(("stdout", "stderr"), printed):
        if match := FORBIDDEN.search(text):
            return f"{name} has {match[0]!r}"
    return None


def summary(attack, seconds):
    kinds, commands = Counter(), Counter()
    for (kind, command), count in attack.runs.items():
        kinds[kind] += count
        commands[command] += count
    return {"runs": sum(kinds.values()), "failed": len(attack.failures), "seconds": round(seconds), "core_minutes": round(attack.cpu_s / 60, 1),
            "most_mb": attack.most_mb, "kinds": dict(sorted(kinds.items())), "commands": dict(sorted(commands.items()))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=ROOT / "build/release/debrief", type=Path)
    parser.add_argument("--seconds", default=25, type=float)
    parser.add_argument("--runs", default=1 << 30, type=int)
    parser.add_argument("--seed", default=1, type=int, help="of the first run; that of the next is one more")
    parser.add_argument("--kind")
    parser.add_argument("--pieces", action="store_true", help="read every input again in pieces of 1, 7 and 100 bytes")
    parser.add_argument("--record", type=Path, help="add what ran to this file, a line of JSON")
    options = parser.parse_args()
    begun = time.monotonic()
    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))  # what ran so far counts
    with tempfile.TemporaryDirectory(prefix="mutate.", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as name:
        folder = Path(name).resolve()
        seeds = [seed for seed in find_seeds(options.binary.resolve(), folder) if options.kind in (None, seed.kind)]
        attack = Attack(options.binary.resolve(), seeds, folder, options.pieces)
        number = options.seed
        while number < options.seed + options.runs and time.monotonic() - begun < options.seconds and not stopped:
            attack.one(number)
            number += 1
    result = summary(attack, time.monotonic() - begun)
    if options.record:
        with open(options.record, "a") as record:
            record.write(json.dumps(result | {"first_seed": options.seed}) + "\n")
    print(f"mutations: {result['runs']} runs of {len(result['kinds'])} kinds and {len(result['commands'])} commands in {result['core_minutes']} core-minutes, "
          f"{result['failed']} failed, at most {result['most_mb']} MB")
    return 1 if attack.failures or not result["runs"] else 0


if __name__ == "__main__":
    sys.exit(main())
