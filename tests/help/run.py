#!/usr/bin/env python3
"""Checks the help: it fits a screen, every command has an example, every example runs, and lists are complete.

usage: run.py [--binary PATH]

`debrief --help` must fit 48 lines of 100 columns. The examples are the indented lines below "Example" in the
help of each command; `job.tar.gz`, `job/` and `debrief_out` in them stand for things made here.
"""
import argparse
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def help_of(binary, command):
    return subprocess.run([binary, *command, "--help"], check=True, capture_output=True, text=True).stdout


def commands(text):
    """The names below "Subcommands:"."""
    lines = text.split("Subcommands:\n")[1].split("\n\n")[0].splitlines()
    return [line.split()[0] for line in lines]


def examples(text):
    """Indented `debrief ...` lines below "Example"; what follows two blanks is a comment."""
    below = text.split("Example", 1)[1].splitlines()[1:] if "Example" in text else []
    found = [line.strip().split("  ")[0] for line in below if line.startswith("  debrief ")]
    return [line for line in found if "COMMAND" not in line]


def make_world(folder, binary):
    (folder / "bin").mkdir()
    (folder / "bin/debrief").symlink_to(binary)
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copytree(ROOT / "examples/hung-job", folder / "job")
    with tarfile.open(folder / "job.tar.gz", "w:gz") as archive:
        archive.add(folder / "job", "job")


def run_example(line, folder, makes_report):
    if line.startswith("debrief serve"):  # it runs until it is stopped
        line = f"timeout --preserve-status -s INT 2 {line}"
    if makes_report:
        shutil.rmtree(folder / "debrief_out", ignore_errors=True)
    done = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True,
                          env={"PATH": f"{folder}/bin:/usr/bin:/bin"})
    return "" if done.returncode == 0 and done.stdout else f"{line}: exit code {done.returncode}\n{done.stderr}"


PLUGIN = re.compile(r"^namespace debrief::(\w+)::(\w+) \{$.*^const (?:Importer|Analysis|Output)& Describe\(\)", re.M | re.S)


def listed(binary, what):
    """`debrief list` names every plug-in, and says something about each."""
    text = subprocess.run([binary, "list", what], check=True, capture_output=True, text=True).stdout
    named = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith(" ")]
    texts = [path.read_text() for path in sorted((ROOT / "src").rglob("*.cc"))]
    wanted = sorted(match[2] for match in map(PLUGIN.search, texts) if match and match[1] == what)
    right = [words[0] for words in named] == wanted and all(len(words) == 2 for words in named)
    return "" if right else f"debrief list {what} names {named}, the sources have {wanted}"


def check(binary):
    yield from (listed(binary, what) for what in ("inputs", "analyses", "outputs"))
    top = help_of(binary, [])
    lines = top.splitlines()
    yield "" if len(lines) <= 48 and max(map(len, lines)) <= 100 else f"--help has {len(lines)} lines"
    with tempfile.TemporaryDirectory(prefix="help.") as name:
        folder = Path(name)
        make_world(folder, binary)
        for command in [[], *([name] for name in commands(top))]:
            found = examples(help_of(binary, command))
            yield "" if found else f"debrief {' '.join(command)} --help has no example"
            yield from (run_example(line, folder, makes_report=not command) for line in found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/debrief")
    outcomes = list(check(parser.parse_args().binary.resolve()))
    problems = [outcome for outcome in outcomes if outcome]
    print("\n".join(problems + [f"help: {len(outcomes) - len(problems)} passed, {len(problems)} failed"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
