#!/usr/bin/env python3
"""Worst cases that grow fourfold: each may cost less than six times as much CPU time, and a bounded amount of memory.

usage: growth.py [--binary PATH] [--long] [--list] [SHAPE...]

A shape (shapes.py) makes an input of a size. The size is raised until a run takes at least 0.2 s of CPU time; then the input is
made four times as large. Best of three, user and system time of the process alone, so that other work on the machine does not
matter. A shape that stays below 0.2 s at its largest size is cheap enough. The short form measures again only where the first
measurement is over the limit; --long measures everything three times.
"""
import argparse
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from shapes import SHAPES

ROOT = Path(__file__).resolve().parent.parent.parent
FACTOR = 4
MOST_TIMES = 6.0
LEAST_S = 0.2  # what start and output cost is small beside it
LIMIT_S = 60  # of CPU time
MEMORY_TIMES, MEMORY_MB = 10, 300
ATTEMPTS = 3


class Failure(Exception):
    """What a shape costs that it may not."""


def bytes_in(folder):
    return sum(path.stat().st_blocks * 512 if path.stat().st_size > 1 << 30 else path.stat().st_size
               for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


class Lab:
    """Runs shapes in a folder of its own."""

    def __init__(self, binary, folder, attempts):
        self.binary, self.folder, self.attempts = binary, folder, attempts

    def make(self, shape, size):
        shutil.rmtree(self.folder / "in", ignore_errors=True)
        (self.folder / "in").mkdir()
        shape.make(self.folder / "in", size)

    def run_once(self, shape):
        """Seconds of CPU time and bytes of memory of one run."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        words = [self.binary] + [word.format(input=self.folder / "in", output=out) for word in shape.command]
        limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))  # noqa: E731
        with open(self.folder / "stderr", "wb") as errors:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
                                       preexec_fn=limit, env=dict(os.environ, TMPDIR=str(self.folder)))
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode == -signal.SIGXCPU or process.returncode == -signal.SIGKILL:
            raise Failure(f"more than {LIMIT_S} s")
        if process.returncode not in shape.codes:
            errors = (self.folder / "stderr").read_text(errors="replace")[-500:]
            raise Failure(f"exit code {process.returncode}: {errors}")
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024

    def cost(self, shape, enough=0.0):
        """The best of a few runs; stops at one that takes no more than `enough`."""
        best, peak = float("inf"), 0
        for _ in range(self.attempts):
            seconds, memory = self.run_once(shape)
            best, peak = min(best, seconds), max(peak, memory)
            if best <= enough:
                break
        allowed = MEMORY_TIMES * bytes_in(self.folder / "in") + MEMORY_MB * (1 << 20)
        if peak > allowed:
            raise Failure(f"{peak >> 20} MB of memory for {bytes_in(self.folder / 'in') >> 10} kB of input")
        return best

    def measure(self, shape):
        """The two sizes and what they cost."""
        size = shape.start
        self.make(shape, size)
        small = self.cost(shape)
        while small < LEAST_S and size * FACTOR < shape.most:
            size = min(shape.most // FACTOR, int(size * min(8, max(1.5, 1.3 * LEAST_S / small))) + 1)
            self.make(shape, size)
            small = self.cost(shape)
        self.make(shape, size * FACTOR)
        enough = 0 if self.attempts > ATTEMPTS else MOST_TIMES * max(small, LEAST_S)
        large = self.cost(shape, enough)
        text = f"{size:>8} {small:6.2f} s {size * FACTOR:>9} {large:6.2f} s  x {large / small:4.1f}"
        if large >= MOST_TIMES * max(small, LEAST_S):
            raise Failure(f"{text}: fourfold input costs more than {MOST_TIMES:g} times as much")
        return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / "build/release/debrief"))
    parser.add_argument("--long", action="store_true", help="all shapes, every measurement three times")
    parser.add_argument("--list", action="store_true", help="the names of the shapes")
    parser.add_argument("shapes", nargs="*", help="only these")
    options = parser.parse_args()
    chosen = [shape for shape in SHAPES if shape.name in options.shapes or not options.shapes]
    if options.list:
        print("\n".join(shape.name for shape in chosen))
        return 0
    failed = 0
    with tempfile.TemporaryDirectory(prefix="growth.") as folder:
        lab = Lab(os.path.abspath(options.binary), Path(folder), ATTEMPTS)
        for shape in chosen:
            try:
                print(f"  {shape.name:<28} {lab.measure(shape)}", flush=True)
            except Failure as failure:
                failed += 1
                print(f"  {shape.name:<28} FAILED {failure}", flush=True)
    print(f"growth: {len(chosen)} shapes, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
