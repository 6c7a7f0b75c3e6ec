#!/usr/bin/env python3
"""Runs features.tsv: one line a feature of the tools that debrief replaces, with a command and what it must give.

usage: features.py [--binary PATH] [--build FOLDER] [PATTERN...]

Columns of features.tsv: tool, feature, state, command, expectation, missing.

* command: a shell line, run in an empty folder. `debrief` is the command under test. $EXAMPLES and $GOLDEN are folders of this
  repository, $MAKE makes small inputs (feature_inputs.py), $BUILD is the build folder, $DATA the data of ../shared/data. A line that
  several rows share runs once for all of them; `"` is the command of the row above.
* expectation: a Python expression over `code`, `out`, `err` and the functions of the class Answer. It fails by being false or by
  raising. The exit code must be 0 unless the expression asks for `code`.
* state: done, or open with what is missing in the last column. An open row whose expectation holds fails, too: it is to be set to done.

Rows of $DATA are skipped where there is none, those of $BUILD where nothing was built.
"""
import argparse
import csv
import glob
import gzip
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from run import ROOT, find_data
from viewers import json_problems, perfetto_problems

HERE = Path(__file__).resolve().parent
COLUMNS = ["tool", "feature", "state", "command", "expectation", "missing"]
LIBRARIES = ("libdebrief_op_trace.a", "libdebrief_recorder.a")
TIMEOUT_S = 120
STREAM_BYTES = 600  # of what a failed command printed


class Answer:
    """What a command gave; its public members are the names that an expectation can use."""

    def __init__(self, folder, done):
        self.folder, self.code, self.out, self.err = folder, done.returncode, done.stdout, done.stderr

    def path(self, name):
        """The file of this name or pattern, of which there must be one."""
        found = sorted(glob.glob(str(self.folder / name), recursive=True))
        if len(found) != 1:
            raise ValueError(f"{len(found)} files are {name}")
        return Path(found[0])

    def files(self, pattern):
        """Paths within the folder, in order."""
        return sorted(str(Path(path).relative_to(self.folder)) for path in glob.glob(str(self.folder / pattern), recursive=True))

    def text(self, name):
        content = self.path(name).read_bytes()
        return (gzip.decompress(content) if name.endswith(".gz") else content).decode(errors="replace")

    def load(self, name=None):
        """JSON of a file, or of stdout."""
        return json.loads(self.out if name is None else self.text(name))

    def rows(self, name=None):
        """CSV with a head, of a file or of stdout, as a list of dicts."""
        return list(csv.DictReader((self.out if name is None else self.text(name)).splitlines()))

    def unpickled(self, name):
        return pickle.loads(self.path(name).read_bytes())

    def blames(self, rule, ranks, name=None):
        """The first finding of an answer in JSON is of this rule and names these ranks."""
        first = self.load(name)["findings"][0]
        return (first["rule"], first["ranks"]) == (rule, ranks)

    def packets(self, name):
        """The packets of a trace of Perfetto: field 1, of bytes, as often as there are packets and nothing else."""
        content, at, found = self.path(name).read_bytes(), 0, []
        while at < len(content):
            if content[at] != 0x0A:
                raise ValueError(f"no packet at byte {at}")
            length, shift, at = 0, 0, at + 1
            while True:
                length, shift, at = length | (content[at] & 0x7F) << shift, shift + 7, at + 1
                if content[at - 1] < 0x80:
                    break
            found.append(content[at:at + length])
            at += length
        return found

    @staticmethod
    def viewer_problems(trace):
        """What Chrome's viewer, Perfetto or TensorBoard's loader would refuse or draw wrongly in a trace of JSON."""
        return json_problems(trace)

    def perfetto_problems(self, name):
        """What Perfetto's trace processor would refuse or draw wrongly in a trace of protobuf."""
        return perfetto_problems(self.path(name).read_bytes())

    @staticmethod
    def has(text, *patterns):
        """All the regular expressions are found; . does not match line ends, ^ and $ are those of lines."""
        return all(re.search(pattern, text, re.M) for pattern in patterns)

    def names(self):
        return {name: getattr(self, name) for name in dir(self) if not name.startswith("_")} | {"re": re}


def problem_of(row, answer):
    """Why the expectation does not hold, or ""."""
    expectation = row["expectation"]
    if not re.search(r"\bcode\b", expectation) and answer.code != 0:
        return f"exit code {answer.code}"
    try:
        return "" if eval(expectation, answer.names()) else "it is false"
    except Exception as error:  # whatever is missing in the answer
        return f"{type(error).__name__}: {error}"


def read_rows():
    with open(HERE / "features.tsv", encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if not line.startswith("#")]
    rows = []
    for line in lines[1:]:
        cells = line.split("\t")
        row = dict(zip(COLUMNS, cells + [""] * (len(COLUMNS) - len(cells))))
        if row["command"] == '"':
            row["command"] = rows[-1]["command"]
        wrong = len(cells) > len(COLUMNS) or row["state"] not in ("done", "open") or not row["expectation"]
        if wrong or bool(row["missing"]) != (row["state"] == "open"):
            sys.exit(f"features.tsv: wrong row: {line}")
        rows.append(row)
    return rows


def judge(command, rows, environment):
    """[(row, outcome, lines to print)] of the rows that share a command. What it printed is shown once."""
    with tempfile.TemporaryDirectory(prefix="feature.") as name:
        folder = Path(name).resolve()
        words = ["timeout", "-k", "5", f"{TIMEOUT_S}", "bash", "-c", command]  # it also ends what the command started
        done = subprocess.run(words, cwd=folder, env=environment | {"HOME": name}, text=True, errors="replace", capture_output=True,
                              stdin=subprocess.DEVNULL, check=False)
        outcomes = [(row, *outcome_of(row, Answer(folder, done))) for row in rows]
    failed = next((number for number, (row, outcome, _) in enumerate(outcomes) if outcome == "failed" and row["state"] == "done"), None)
    if failed is not None:
        row, outcome, lines = outcomes[failed]
        streams = f"  command     {command}\n  stdout ... {done.stdout[-STREAM_BYTES:]}\n  stderr ... {done.stderr[-STREAM_BYTES:]}"
        outcomes[failed] = (row, outcome, f"{lines}\n{streams}")
    return outcomes


def outcome_of(row, answer):
    problem = problem_of(row, answer)
    name = f"{row['tool']}: {row['feature']}"
    if row["state"] == "open":
        return ("skipped", f"open {name}: {row['missing']}") if problem else ("failed", f"FAILED {name}: holds now, set it to done")
    return ("failed", f"FAILED {name}: {problem}\n  expectation {row['expectation']}") if problem else ("passed", "")


def environment_of(folder, binary, build, data):
    """Nothing of the caller's environment may change an answer."""
    (folder / "debrief").symlink_to(binary)
    places = {"EXAMPLES": ROOT / "examples", "GOLDEN": ROOT / "tests/golden", "BUILD": build, "DATA": data, "SOURCE": ROOT}
    return {name: str(place) for name, place in places.items() if place} | {
        "PATH": f"{folder}:/usr/local/bin:/usr/bin:/bin", "MAKE": f"{sys.executable} {HERE}/feature_inputs.py", "LC_ALL": "C.UTF-8",
        "TZ": "UTC", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def is_runnable(row, environment):
    return all(name in environment for name in ("DATA", "BUILD") if f"${name}" in row["command"])


def check_rows(rows):
    """An expectation that holds when a command says and writes nothing would not notice that a feature is missing."""
    with tempfile.TemporaryDirectory(prefix="feature.") as folder:
        silent = Answer(Path(folder), subprocess.CompletedProcess([], 0, "", ""))
        for row in rows:
            if not problem_of(row, silent):
                sys.exit(f"features.tsv: {row['tool']}: {row['feature']}: holds for a command that does nothing")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=ROOT / "build/release/debrief", type=Path)
    parser.add_argument("--build", type=Path, help="build folder with the libraries; of the binary, unless told")
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args()
    binary, data = options.binary.resolve(), find_data()
    build = (options.build or binary.parent).resolve()
    if not all((build / library).exists() for library in LIBRARIES):
        build = None
    rows = [row for row in read_rows()
            if not options.patterns or any(pattern in f"{row['tool']}: {row['feature']}" for pattern in options.patterns)]
    check_rows(rows)
    with tempfile.TemporaryDirectory(prefix="features.") as folder:
        environment = environment_of(Path(folder), binary, build, data)
        runnable = [row for row in rows if is_runnable(row, environment)]
        commands = list(dict.fromkeys(row["command"] for row in runnable))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            judged = pool.map(lambda command: judge(command, [row for row in runnable if row["command"] == command], environment), commands)
            outcomes = [outcome for group in judged for outcome in group]
    report(rows, {(row["tool"], row["feature"]): rest for row, *rest in outcomes})


def report(rows, outcomes):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for row in rows:
        outcome, lines = outcomes.get((row["tool"], row["feature"]),
                                      ("skipped", f"skipped {row['tool']}: {row['feature']}: its data or build is not there"))
        counts[outcome] += 1
        if lines:
            print(lines)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["failed"] or not rows else 0)


main()
