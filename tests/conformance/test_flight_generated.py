"""200 generated jobs with planted faults: the first finding is right in at least 99 %, and healthy jobs are clean.

Jobs are drawn with fixed random numbers over every kind of fault, mesh, ring that has wrapped, kind of point to
point, coalesced regions, all_to_all and format. The generator's README tells who is to blame for each kind.
"""
import contextlib
import io
import json
import os
import random
import runpy
import sys
from pathlib import Path

GENERATOR = Path(os.environ.get("DEBRIEF_SHARED_DATA", Path(__file__).resolve().parents[3] / "shared/data")).parent / \
    "tools/flight_gen/gen.py"
JOBS = 200
RULES = {"size": "size_mismatch", "dtype": "dtype_mismatch", "type": "type_mismatch", "stuck": "host_never_came",
         "gc_skip": "skipped_collective", "a2a": "size_mismatch", "coalesced": "size_mismatch", "p2p_size": "p2p_size",
         "state": "completion_lag", "missing_dump": "no_dump"}
FAULTS = ["none", *RULES, "swap", "deadlock", "p2p_missing"]
# Where two ranks did it together, or dumps cannot tell two ranks apart, the finding must name the fault rank.
SHARED_BLAME = {"deadlock", "swap", "p2p_missing", "p2p_size", "missing_dump"}


def draw(numbers, fault):
    """The arguments of one job."""
    tp, pp, dp = numbers.choice([2, 4]), numbers.choice([1, 2, 4]), numbers.choice([2, 4])
    if fault.startswith("p2p"):
        pp = numbers.choice([2, 4])
    while tp * pp * dp < 8:
        dp *= 2
    ranks = tp * pp * dp
    words = ["--ranks", ranks, "--tp", tp, "--pp", pp, "--entries", 400, "--frames", numbers.choice([0, 4]),
             "--seed", numbers.randrange(10**6), "--fault", fault, "--fault-rank", numbers.randrange(ranks),
             "--fault-frac", round(numbers.uniform(0.4, 0.8), 2)]
    if fault.startswith("p2p") or numbers.random() < 0.5:
        words += ["--p2p", numbers.choice(["batched", "single"])]
    if fault == "a2a" or numbers.random() < 0.3:
        words += ["--ep"]
    if fault == "coalesced" or numbers.random() < 0.3:
        words += ["--uneven"]
    if numbers.random() < 0.4:
        words += ["--asym", 8]
    if numbers.random() < 0.4:
        words += ["--wrap", numbers.choice([500, 3000])]
    if fault in ("none", "state", "missing_dump") and numbers.random() < 0.3:
        words += ["--mode", "fsdp"]
    if numbers.random() < 0.3:
        words += ["--format", numbers.choice(["py0", "py2", "py4", "json"])]
    return [str(word) for word in words]


def is_right(fault, rank, findings):
    errors = [finding for finding in findings if finding["severity"] == "error"]
    if fault in ("none", "missing_dump") and errors:
        return False
    if fault == "none":
        return True
    if not findings:
        return False
    first = findings[0]
    if fault in RULES and first["rule"] != f"flight.{RULES[fault]}":
        return False
    return rank in first["ranks"] if fault in SHARED_BLAME else first["ranks"] == [rank]


def generate(*words):
    """What the generator prints. In this process: starting Python two hundred times takes longer than some jobs."""
    printed, before = io.StringIO(), sys.argv
    sys.argv = [str(GENERATOR), *words]
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(GENERATOR), run_name="__main__")
    finally:
        sys.argv = before
    return printed.getvalue()


def judge(context, number, fault, words):
    """None when the verdict is right, else a line that tells what was said."""
    folder = context.scratch / f"{number}_{fault}"
    rank = json.loads(generate("--out", str(folder), *words).splitlines()[-1])["rank"]
    findings = [finding for finding in context.report([folder])["findings"] if finding["rule"].startswith("flight.")]
    for path in folder.iterdir():
        path.unlink()
    if is_right(fault, rank, findings):
        return None
    said = f"{findings[0]['rule']} {findings[0]['ranks']}" if findings else "nothing"
    return f"{fault}, rank {rank}: {said} ({' '.join(words)})"


def test_two_hundred_jobs(context):
    numbers = random.Random(2026)
    jobs = [(number, FAULTS[number % len(FAULTS)]) for number in range(JOBS)]
    drawn = [(number, fault, draw(numbers, fault)) for number, fault in jobs]
    sys.path.insert(0, str(GENERATOR.parent))  # it has a module beside it
    wrong = [line for line in (judge(context, *job) for job in drawn) if line]
    print(f"  {JOBS - len(wrong)} of {JOBS} right", *wrong, sep="\n    ")
    assert len(wrong) <= JOBS * 0.01, f"{len(wrong)} of {JOBS} wrong"
    assert not any(line.startswith("none") for line in wrong), "a healthy job has an error finding"
