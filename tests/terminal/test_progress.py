#!/usr/bin/env python3
"""Runs debrief in a pseudo terminal: long work shows a bar that goes away, and nothing is shown where nobody looks.

usage: test_progress.py --binary PATH
"""
import argparse
import fcntl
import gzip
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

COLUMNS = 90
BAR = re.compile(r"(find|import|analyse|write) +\[#*\.*\] .* of ")


def make_trace(path, megabytes):
    """A Chrome trace that takes a while to read."""
    event = ('{"ph": "X", "cat": "cpu_op", "name": "aten::add_%d", "pid": 1, "tid": %d, "ts": %d.5, "dur": 3.25, '
             '"args": {"External id": %d}}')
    with open(path, "w") as out:
        out.write('{"schemaVersion": 1, "distributedInfo": {"rank": 0}, "traceEvents": [\n')
        for index in range(megabytes * 8000):
            out.write(event % (index % 97, index % 8, index * 4, index) + ",\n")
        out.write(event % (0, 0, 0, 0) + "]}\n")


def has_terminals():
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError:
        return False
    return True


def in_terminal(command, **environment):
    """What the command writes to a terminal of COLUMNS columns as stderr, with the time of each piece."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=follower,
                               env={"PATH": "/usr/bin:/bin", "TERM": "xterm", **environment})
    os.close(follower)
    pieces = []
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        pieces.append((time.monotonic(), piece.decode()))
    assert process.wait() == 0, pieces
    return pieces


def check_bar(binary, trace, out):
    pieces = in_terminal([binary, trace, "-o", out, "--no-store", "--no-report"], NO_COLOR="1")
    text = "".join(piece for _, piece in pieces)
    frames = [frame.split("\x1b[K")[0] for frame in text.split("\r") if BAR.search(frame)]
    assert frames, f"no bar: {text!r}"
    assert any(frame.startswith("import") and re.search(r"of [\d.]+ MB", frame) for frame in frames), frames
    assert all(len(frame) < COLUMNS for frame in frames), frames
    assert "\x1b[" not in text.replace("\x1b[K", ""), "colour or movement in a bar"
    last = text.rindex(frames[-1]) + len(frames[-1])
    rest = text[last:].removeprefix("\x1b[K")
    assert rest.startswith("\r\x1b[K") and BAR.search(rest) is None, f"the bar stays: {rest!r}"
    took = pieces[-1][0] - pieces[0][0]
    assert len(frames) <= 2 + 11 * max(took, 0.1), f"{len(frames)} updates in {took:.1f} s"


def check_silence(binary, trace, out):
    base = [binary, trace, "-o", out, "--overwrite", "--no-store", "--no-report"]
    piped = subprocess.run(base, capture_output=True, text=True, check=True,
                           env={"PATH": "/usr/bin:/bin", "TERM": "xterm"})
    assert "\r" not in piped.stderr and "\x1b" not in piped.stderr, piped.stderr
    if not has_terminals():
        return
    assert not in_terminal([*base, "--quiet"]), "--quiet"
    for words, environment in ((["--json"], {}), ([], {"TERM": "dumb"})):
        text = "".join(piece for _, piece in in_terminal([*base, *words], **environment))
        assert "\x1b" not in text and "[#" not in text, (words, environment, text)


def check_gone_reader(binary, trace, out):
    """`debrief job | true`: nobody reads the answer, the report is wanted all the same."""
    process = subprocess.Popen([binary, trace, "-o", out, "--no-store", "--quiet"], stdout=subprocess.PIPE)
    process.stdout.close()
    assert process.wait() == 0, process.returncode
    assert (out / "index.html").exists() and (out / "findings.json").exists()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, type=Path)
    binary = parser.parse_args().binary.resolve()
    with tempfile.TemporaryDirectory(prefix="progress.") as name:
        trace = Path(name) / "trace.json"
        make_trace(trace, 64)
        if has_terminals():
            check_bar(binary, trace, Path(name) / "out")
            packed = trace.with_name("packed.json.gz")  # one stream, which can only be read from its begin to its end
            packed.write_bytes(gzip.compress(trace.read_bytes(), compresslevel=1))
            check_bar(binary, packed, Path(name) / "out_packed")
        check_silence(binary, trace, Path(name) / "out2")
        check_gone_reader(binary, trace, Path(name) / "out3")
    bar = "a bar on a terminal" if has_terminals() else "skipped: no pseudo terminal can be opened here to show a bar on"
    print(f"progress: {bar}, silence elsewhere, a report whoever reads")


if __name__ == "__main__":
    sys.exit(main())
