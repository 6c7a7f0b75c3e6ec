#!/usr/bin/env python3
"""A broken machine: little memory, few descriptors, small files, a full disk, folders that cannot be written, signals, two writers.

usage: faults.py [--binary PATH] [--rounds N] [--seed N]

Each round runs an example under one limit of each kind. debrief must end with a documented exit code and a sentence, within 20 s
of CPU, and a report is whole or not there. tests/hostile/outputs.py looks at what is written more closely; here the limits vary.
"""
import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODES = {0, 1, 2, 3}
TIMEOUT_S = 120
INPUTS = ("hung-job", "two-rank-profile", "recorded-ops")


class Lab:
    def __init__(self, binary, folder, dice):
        self.binary, self.folder, self.dice = binary, folder, dice

    def words(self, out="out"):
        return [str(self.binary), str(ROOT / "examples" / self.dice.choice(INPUTS)), "-o", str(out), "--overwrite"]

    def start(self, words, limits=(), folder=None):
        def apply():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            for what, most in limits:
                resource.setrlimit(what, (most, most))
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "TMPDIR": str(folder or self.folder), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        return subprocess.Popen(words, cwd=folder or self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, errors="replace", preexec_fn=apply)

    def ends_well(self, words, limits=(), folder=None, what=""):
        running = self.start(words, limits, folder)
        out, err = running.communicate(timeout=TIMEOUT_S)
        assert running.returncode in CODES, f"{what}: ended with {running.returncode}: {err[-800:]}"
        assert running.returncode == 0 or err.strip(), f"{what}: ended with {running.returncode} without a word"
        assert "internal error" not in err and "terminate called" not in err, f"{what}: {err[-800:]}"
        return running.returncode


def is_whole(report):
    """None: there is no report; else whether every part that the page names is there."""
    if not (report / "index.html").exists():
        return None
    return (report / "findings.json").exists() and (report / "index.html").read_text(errors="replace").rstrip().endswith("</html>")


def little_memory(lab):
    most = lab.dice.choice((64, 128, 256, 400, 700, 1024, 4096)) << 20
    code = lab.ends_well(lab.words(), [(resource.RLIMIT_AS, most)], what=f"ulimit -v of {most >> 20} MB")
    assert most < 4096 << 20 or code == 0, "4 GB of address space are enough"


def few_descriptors(lab):
    most = lab.dice.choice((8, 12, 16, 24, 32, 64))
    code = lab.ends_well(lab.words(), [(resource.RLIMIT_NOFILE, most)], what=f"ulimit -n {most}")
    assert most < 64 or code == 0, "64 descriptors are enough"


def small_files(lab):
    most = lab.dice.choice((0, 1000, 100_000, 1_000_000))
    lab.ends_well(lab.words(), [(resource.RLIMIT_FSIZE, most)], what=f"ulimit -f of {most} bytes")
    assert is_whole(lab.folder / "out") is not False, "half a report"


def few_threads(lab):
    if os.geteuid() == 0:
        return  # root has no such limit
    lab.ends_well(lab.words(), [(resource.RLIMIT_NPROC, 1)], what="ulimit -u 1")


def unwritable(lab):
    for name in ("/proc/nothing", "/sys/x", "/dev/full/out"):
        assert lab.ends_well(lab.words(name), what=f"-o {name}") != 0, name
    closed = lab.folder / "closed"
    closed.mkdir(exist_ok=True)
    closed.chmod(0o500)
    lab.ends_well(lab.words(closed / "out"), what="a folder without permission")
    closed.chmod(0o700)


def full_disk(lab):
    """A file system of its own, as small as it comes."""
    if os.geteuid() != 0:
        return
    disk = lab.folder / "disk"
    disk.mkdir(exist_ok=True)
    kilobytes = lab.dice.choice((4, 64, 300, 1000, 3000))
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", disk], capture_output=True).returncode != 0:
        return
    try:
        code = lab.ends_well(lab.words(), folder=disk, what=f"a disk of {kilobytes} kB")
        assert is_whole(disk / "out") is not False, f"half a report on a disk of {kilobytes} kB"
        assert code == 0 or not list(disk.glob("*.partial")), "unfinished files stay"
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def signals(lab):
    """At a random moment; SIGKILL may leave litter, but never half a report."""
    lab.ends_well(lab.words(), what="without a limit")
    begun = time.monotonic()
    lab.ends_well(lab.words(), what="without a limit")
    took = time.monotonic() - begun
    which = lab.dice.choice((signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL))
    running = lab.start(lab.words())
    time.sleep(lab.dice.uniform(0, 1.1) * took)
    running.send_signal(which)
    _, err = running.communicate(timeout=TIMEOUT_S)
    assert running.returncode in (0, -which, 1), f"{which.name}: ended with {running.returncode}: {err[-500:]}"
    assert is_whole(lab.folder / "out"), f"{which.name}: the report is gone or not whole"


def two_writers(lab):
    both = [lab.start(lab.words()) for _ in range(2)]
    codes = [(each.communicate(timeout=TIMEOUT_S), each.returncode)[1] for each in both]
    assert all(code in CODES for code in codes) and 0 in codes, f"two writers ended with {codes}"
    assert is_whole(lab.folder / "out"), "two writers left no whole report"


FAULTS = (little_memory, few_descriptors, small_files, few_threads, unwritable, full_disk, signals, two_writers)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=ROOT / "build/release/debrief", type=Path)
    parser.add_argument("--rounds", default=2, type=int)
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args()
    failed = ran = 0
    for number in range(options.seed, options.seed + options.rounds):
        for fault in FAULTS:
            if options.patterns and not any(pattern in fault.__name__ for pattern in options.patterns):
                continue
            folder = Path(tempfile.mkdtemp(prefix="faults.")).resolve()
            try:
                ran += 1
                fault(Lab(options.binary.resolve(), folder, random.Random(f"{number} {fault.__name__}")))
            except (AssertionError, subprocess.SubprocessError) as error:
                failed += 1
                print(f"FAILED {fault.__name__}, seed {number}: {error}", flush=True)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    print(f"faults: {ran} runs, {failed} failed")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
