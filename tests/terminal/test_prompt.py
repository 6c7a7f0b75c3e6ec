#!/usr/bin/env python3
"""Types into `debrief query` in a pseudo terminal: Tab completes names of tables, arrows recall lines, Ctrl-C gives up one.

usage: test_prompt.py --binary PATH
"""
import argparse
import os
import pty
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 30


class Session:
    def __init__(self, binary, out):
        self.shown = ""
        self.leader, follower = pty.openpty()
        self.process = subprocess.Popen([binary, "query", out], stdin=follower, stdout=follower, stderr=follower,
                                        env={"PATH": "/usr/bin:/bin", "TERM": "xterm", "COLUMNS": "120"}, start_new_session=True)
        os.close(follower)
        self.wait("debrief> ")

    def wait(self, words):
        """Reads until the terminal has shown `words`; what comes behind them is for the next."""
        end = time.monotonic() + TIMEOUT_S
        while words not in self.shown:
            assert time.monotonic() < end, f"no {words!r} in {self.shown!r}"
            if select.select([self.leader], [], [], 1)[0]:
                self.shown += os.read(self.leader, 65536).decode()
        self.shown = self.shown.split(words, 1)[1]

    def type(self, keys, until):
        os.write(self.leader, keys.encode())
        self.wait(until)


def check(binary, out):
    session = Session(binary, out)
    session.type("SELECT count(*) AS inputs FROM inp\t", "FROM input ")
    session.type(";\r", "18")
    session.wait("debrief> ")
    session.type("\x1b[A", "SELECT count(*) AS inputs FROM input ;")
    session.type("\x03", "debrief> ")
    session.type(".tab\t\r", "one entry of a Flight Recorder dump")
    session.type(".mode json\rSELECT 1 AS one;\r", '{"one": 1}')
    session.wait("debrief> ")
    os.write(session.leader, b"\x04")
    assert session.process.wait(TIMEOUT_S) == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, type=Path)
    binary = parser.parse_args().binary.resolve()
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError:
        print("prompt: skipped, no pseudo terminal can be opened here")
        return 77
    with tempfile.TemporaryDirectory(prefix="prompt.") as name:
        out = Path(name) / "out"
        subprocess.run([binary, ROOT / "examples/hung-job", "-o", out, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        check(binary, out)
    print("prompt: completion, history, cancelling and modes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
