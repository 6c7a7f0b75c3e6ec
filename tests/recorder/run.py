#!/usr/bin/env python3
"""Kills programs that record, and compares what is in the file with what they had published.

usage: run.py --binary build/release/recorder_kill --step build/release/recorder_step

Deaths at random moments and at every instruction, under both policies and with all kinds of records; forks, full disks,
signals, short threads, recordings opened again and again. What a case is stands in kill.cc and cases.h. A full disk is a
tmpfs of 2 MiB, which only root can mount.
"""
import argparse
import os
import subprocess
import sys
import tempfile

# How often each case is tried.
CASES = {"kill": 200, "ring": 100, "abort": 100, "edge": 40, "threads": 8, "names": 12, "unmapped": 20, "fork": 20,
         "exec": 10, "readonly": 2, "churn": 2, "signals": 6, "reopen": 1000}
SKIPPED = 77


def run(command):
    return subprocess.run(command, timeout=300).returncode


def case(binary, kind, folder, trials):
    return run([binary, kind, folder, str(trials)]) == 0


def full_disk(binary, folder):
    tiny = os.path.join(folder, "tiny")
    os.mkdir(tiny)
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", tiny]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        print("recorder full: skipped, a tmpfs cannot be mounted here")
        return True
    try:
        return case(binary, "full", tiny, 8)
    finally:
        subprocess.run(["umount", tiny], check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--step", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        good = [case(options.binary, kind, folder, trials) for kind, trials in CASES.items()]
        good.append(full_disk(options.binary, folder))
        good.append(run([options.step, folder]) in (0, SKIPPED))
    sys.exit(0 if all(good) else 1)


main()
