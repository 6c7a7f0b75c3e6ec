#!/usr/bin/env python3
"""Kills programs that record, and compares what is in the file with what they had published.

usage: run.py --binary build/release/recorder_kill

200 SIGKILLs at random moments with four threads, 100 aborts, forks in the middle, and a full disk: a tmpfs of 2 MiB, which
only root can mount.
"""
import argparse
import os
import subprocess
import sys
import tempfile


def run(binary, kind, folder, trials):
    return subprocess.run([binary, kind, folder, str(trials)], timeout=300).returncode == 0


def full_disk(binary, folder):
    tiny = os.path.join(folder, "tiny")
    os.mkdir(tiny)
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", tiny]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        print("recorder full: skipped, a tmpfs cannot be mounted here")
        return True
    try:
        return run(binary, "full", tiny, 4)
    finally:
        subprocess.run(["umount", tiny], check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    binary = parser.parse_args().binary
    with tempfile.TemporaryDirectory() as folder:
        good = [run(binary, "kill", folder, 200), run(binary, "abort", folder, 100), run(binary, "fork", folder, 20),
                full_disk(binary, folder)]
    sys.exit(0 if all(good) else 1)


main()
