#!/usr/bin/env python3
"""Runs the stress program of the recorder under the thread sanitizer, which it was compiled with.

usage: races.py --binary build/release/recorder_stress
"""
import argparse
import os
import subprocess
import sys
import tempfile

ROUNDS = 20


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    binary = parser.parse_args().binary
    environment = dict(os.environ, TSAN_OPTIONS="halt_on_error=1 exitcode=66")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([binary, folder, str(ROUNDS)], env=environment, timeout=300)
    sys.exit(done.returncode)


main()
