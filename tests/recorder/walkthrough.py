#!/usr/bin/env python3
"""Does what docs/recorder.md says, in a scratch folder that looks like a checkout, and checks what the page promises.

usage: walkthrough.py --build FOLDER

The `sh` blocks run in order. A block under "File `name`:" is written to that file first. The page quotes code of an example:
those lines must be in it.
"""
import argparse
import re
import subprocess
import tempfile
from pathlib import Path

from dbr import Recording

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/recorder.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
FILE = re.compile(r"^File `([^`]+)`:\n\n```\w+\n(.*?)^```$", re.M | re.S)


def make_checkout(folder, build):
    """What the commands name; what they write stays in the scratch folder."""
    (folder / "build").mkdir()
    (folder / "build/release").symlink_to(Path(build).resolve())
    (folder / "examples").symlink_to(ROOT / "examples")


def run_block(commands, folder):
    done = subprocess.run(["bash", "-e", "-c", commands], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"exit code {done.returncode} of\n{commands}\n{done.stdout}{done.stderr}"
    return done.stdout


def check_quote(text):
    """The method that the page shows is that of the example."""
    quoted = next(code for kind, code in BLOCK.findall(text) if kind == "python" and "__torch_dispatch__" in code)
    assert quoted in (ROOT / "examples/record-torch/dispatch.py").read_text(), "the page shows other code than the example has"


def open_ops(path):
    """The op that each thread was in when the recording ended, innermost last."""
    stacks = {}
    for record in Recording(path).records:
        if record.type == "begin":
            stacks.setdefault(record.tid, []).append(record.name)
        elif record.type in ("end", "op_end"):
            stacks[record.tid].pop()
    return [name for stack in stacks.values() for name in stack]


def check_results(folder, outputs):
    assert "it is dead" in outputs[1], outputs[1]
    assert Recording(folder / "good.dbr").closed == 1 and open_ops(folder / "good.dbr") == []
    assert "softmax" in open_ops(folder / "run.dbr"), open_ops(folder / "run.dbr")
    names = [record.name for record in Recording(folder / "python.dbr").records]
    assert (names.count("step"), names.count("forward"), names.count("mm")) == (100, 100, 100)
    # debrief names the op that the process died in.
    assert "softmax" in outputs[2], f"the op it died in is not named:\n{outputs[2]}"
    assert "mm" in outputs[3], outputs[3]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    build, text = parser.parse_args().build, PAGE.read_text()
    check_quote(text)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_checkout(folder, build)
        for file, content in FILE.findall(text):
            (folder / file).write_text(content)
        outputs = [run_block(commands, folder) for kind, commands in BLOCK.findall(text) if kind == "sh"]
        check_results(folder, outputs)
    print(f"walkthrough: {len(outputs)} blocks of docs/recorder.md do what the page says")


main()
