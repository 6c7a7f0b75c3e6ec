#!/usr/bin/env python3
"""One number, one source: what terminal, JSON, Markdown, explain, sheets and tables say of eight jobs is the same.

usage: run.py [--binary PATH]

Beside it FLOPs against the counter of PyTorch (flops.py). Jobs are the examples and, where it is there, a recorded job of ../shared/data. A figure that two places show is read from both: headlines, confidences,
counts of inputs, figures inside of headlines and the rows they are of, sums in sheets, the step that a finding names, the sign of a difference.
"""
import argparse
import csv
import io
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/conformance"))
from run import find_data  # noqa: E402

import flops  # noqa: E402  (beside this script)

UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
AMOUNT = re.compile(r"([\d.]+) (ns|us|ms|s)\b")
SHOWN = 0.006  # three digits that count


class Job:
    def __init__(self, binary, path, folder):
        self.binary, self.path, self.out = binary, path, folder / "out"
        self.text = self.run(path, "-o", self.out, "--quiet")
        self.json = json.loads(self.run(path, "-o", folder / "json", "--quiet", "--json", "--no-store", "--no-report"))
        self.markdown = self.run(path, "-o", folder / "markdown", "--quiet", "--markdown", "--no-store", "--no-report")

    def run(self, *words):
        done = subprocess.run([self.binary, *map(str, words)], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "COLUMNS": "200"}, timeout=600)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout

    def rows(self, sql):
        return json.loads(self.run("query", self.out, sql, "--json"))

    def sheet(self, name):
        """Rows of the first table of a sheet."""
        return list(csv.DictReader(io.StringIO(self.run("profile", name, self.path, "--csv", "--quiet").split("\n# ")[0])))

    def has(self, table):
        return self.rows(f"SELECT count(*) AS n FROM {table}")[0]["n"] > 0


def words_of(text):
    return re.findall(r"\w+", text)


def near(shown, exact):
    return abs(shown - exact) <= SHOWN * max(abs(exact), 1)


def percent(finding):
    return math.floor(100 * finding["confidence"] + 0.5)


def check_findings(job):
    stored = job.rows("SELECT finding, headline, confidence FROM finding ORDER BY CAST(finding[2:] AS INTEGER)")
    assert [(f["id"], f["headline"]) for f in job.json["findings"]] == [(f["finding"], f["headline"]) for f in stored]
    for finding in job.json["findings"][:3]:
        explained = job.run("explain", job.out, finding["id"])
        assert f"{percent(finding)} %" in explained.split("confidence", 1)[1].splitlines()[0], finding["id"]
        assert finding["headline"].split("\n")[0] in explained
    if job.json["findings"]:
        first = job.json["findings"][0]
        assert " ".join(words_of(first["headline"])) in " ".join(words_of(job.text)), first["headline"]
        assert " ".join(words_of(first["headline"])) in " ".join(words_of(job.markdown.replace("\\", ""))), job.markdown[:200]
        assert f"{percent(first)} %" in job.markdown
    assert len(job.json["inputs"]) == job.rows("SELECT count(*) AS n FROM input")[0]["n"]


def check_breakdown(job):
    """The sheet's rows are the table's, and the sums that the text shows are theirs."""
    if not job.has("profile_breakdown"):
        return
    sheet = [row for row in job.sheet("breakdown") if row["scope"] == "all" and row["definition"] == "debrief"]
    table = job.rows("SELECT rank, total_ns, idle_ns FROM profile_breakdown WHERE scope = 'all' AND definition = 'debrief' ORDER BY rank")
    assert sorted((row["rank"], row["total_ns"], row["idle_ns"]) for row in sheet) == \
        sorted(("" if row["rank"] is None else str(row["rank"]), str(row["total_ns"]), str(row["idle_ns"])) for row in table)
    text = job.run("profile", "breakdown", job.path, "--quiet")
    if len(table) > 1:
        line = text.split("summed over")[1].splitlines()[2]
        value, unit = AMOUNT.search(line).groups()
        assert near(float(value) * UNITS[unit], sum(row["total_ns"] for row in table)), line


def check_headline_figures(job):
    for finding in job.json["findings"]:
        if finding["rule"] == "profile.straggler":
            row = job.rows(f"SELECT excess_host_ns, excess_compute_ns FROM profile_rank WHERE rank = {finding['ranks'][0]}")[0]
            value, unit = AMOUNT.search(finding["headline"]).groups()
            assert any(near(float(value) * UNITS[unit], figure) for figure in row.values()), (finding["headline"], row)
        if finding["rule"] == "profile.exposed_communication":
            told = int(re.search(r"(\d+) %", finding["headline"])[1])
            shares = [100 * row["exposed_communication_ns"] / row["total_ns"] for row in job.rows(
                "SELECT exposed_communication_ns, total_ns FROM profile_breakdown WHERE scope = 'all' AND definition = 'debrief'")]
            assert abs(told - max(shares)) <= 0.5, (finding["headline"], shares)
        if finding["rule"] == "profile.slow_step":
            step = int(re.search(r"Step (\d+)", finding["headline"])[1])
            steps = {row["label"] if row["label"] is not None else row["step"] for row in job.rows("SELECT step, label FROM profile_step")}
            assert step in steps, (finding["headline"], steps)
        if finding["rule"] == "cost.fix_first":
            first = job.rows("SELECT lost_ns, step_ns FROM cost_fix ORDER BY position LIMIT 1")[0]
            figure = first["lost_ns"] if first["step_ns"] is None else first["step_ns"]
            told = [float(value) * UNITS[unit] for value, unit in AMOUNT.findall(finding["headline"])]
            assert any(near(each, figure) for each in told), (finding["headline"], first)


def check_diffs(job):
    """`diff` and `profile diff` say the same of the steps of two ranks, to the nanosecond."""
    ranks = [row["rank"] for row in job.rows("SELECT DISTINCT rank FROM timeline WHERE rank IS NOT NULL ORDER BY rank")] if job.has("timeline") else []
    traces = sorted(Path(job.path).glob("*rank*.json*")) if Path(job.path).is_dir() else []
    if len(ranks) != 2 or len(traces) != 2:
        return
    one = json.loads(job.run("diff", job.path, "--ranks", *ranks, "--quiet", "--json"))["steps"]["total"]
    other = json.loads(job.run("profile", "diff", *traces, "--quiet", "--json"))["total"]
    assert (one["a"], one["b"], one["difference"]) == (other["a_ns"], other["b_ns"], other["difference_ns"]), (one, other)
    assert one["beyond_noise"] == (other["significance"] == "significant"), (one, other)


CHECKS = (check_findings, check_breakdown, check_headline_figures, check_diffs)


def jobs():
    for name in ("hung-job", "two-rank-profile", "recorded-ops", "out-of-memory"):
        yield ROOT / "examples" / name
    data = find_data()
    if data is None:
        print("skipped: the recorded jobs, no ../shared/data beside the checkout")
        return
    for name in ("jobs/slow_rank", "jobs/compile_divergence", "jobs/crash", "profiles/plain.json.gz"):
        yield data / "recorded" / name


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/debrief")
    binary = parser.parse_args().binary.resolve()
    failed = compared = 0
    for path in jobs():
        with tempfile.TemporaryDirectory(prefix="figures.") as folder:
            job = Job(binary, path, Path(folder))
            for check in CHECKS:
                compared += 1
                try:
                    check(job)
                except AssertionError as error:
                    failed += 1
                    print(f"{path.name}: {check.__name__}: {error}")
    wrong, agree = flops.check(binary)
    for error in wrong:
        print(f"flops: {error}")
    print(f"figures: {compared - failed} comparisons agree, {failed} do not; PyTorch's own counter agrees on {agree} profiles of modules, {len(wrong)} differ")
    failed += len(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
