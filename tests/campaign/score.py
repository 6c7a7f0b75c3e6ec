#!/usr/bin/env python3
"""Scores debrief on recorded jobs whose truth is known, in the layouts of several launchers.

    python3 tests/campaign/score.py JOBS --binary build/release/debrief [--half tune|kept] [--layouts NAME...] [--jobs NAME...] [-v]

JOBS is a folder that record.py wrote, or an archive of it. Said of each (job, layout): one job seen as one; an error finding if the job failed,
none if it was healthy; the first error finding's ranks; its reason. Closing line: the shares.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import layouts  # noqa: E402

HEALTHY = (None, "caught", "slow_step")
# Whose fault it is; all others are the fault of the job's rank.
OF_ALL = ("all_fail",)
OF_NOBODY = ("scheduler",)
# A process that ends without a word is told by its launcher alone: where that is missing, nobody may be accused wrongly.
SILENT = ("exit_at_once", "left", "exit_code", "sigkill", "scheduler")
WITHOUT_LAUNCHER = ("kubectl", "ray", "flat", "hosts")
WITHOUT_CANCEL = WITHOUT_LAUNCHER + ("mpirun_tags", "mpirun_files", "deepspeed")
# One of these words stands in the headline, its evidence or next step.
WORDS = {
    "hang": ("wait", "never", "stuck", "stands", "hang", "hung", "no progress", "not join", "missing", "absent", "did not", "stopped", "GIL"),
    "mismatch": ("differ", "other", "mismatch", "instead", "size", "type", "order", "never", "wait", "did not", "no matching", "without", "extra",
                 "more", "ahead", "behind", "skipped", "where rank", "without"),
    "left": ("exit", "ended", "left", "where rank", "never", "no longer", "gone", "did not"),
    "died": ("signal", "exit", "error", "Error", "killed", "died", "raised", "exception", "memory", "assert", "abort", "ended"),
}
KIND = {"stuck_io": "hang", "stuck_loop": "hang", "gil": "hang", "lock": "hang", "stuck_save": "hang", "stuck_metrics": "hang", "stopped": "hang",
        "spin_gpu": "hang", "loader_stuck": "hang", "absent": "hang", "extra_collective": "mismatch", "extra_barrier": "mismatch",
        "skipped_step": "mismatch", "size": "mismatch", "type": "mismatch", "op": "mismatch", "order": "mismatch", "no_send": "mismatch",
        "wrong_peer": "mismatch", "left": "left", "data_ended": "left"}


def usable(folder, truth):
    """Not what met something unplanned: a healthy program that did not end well (a machine too busy for its time limits), a job that
    its recorder had to end, a crash that nobody planted."""
    crashed = "exitcode  : -11" in (folder / "torchrun.txt").read_text(errors="replace") and truth["fault"] != "segfault"
    return truth["exit"] is not None and not crashed and (truth["fault"] not in HEALTHY or truth["exit"] == 0)


def wanted_ranks(truth):
    if truth["fault"] in OF_ALL:
        return set(range(truth.get("world", 8)))
    return set() if truth["fault"] in OF_NOBODY else {truth["rank"]}


def judge(truth, layout, answer):
    """{check: passed}, and what the first error finding says."""
    errors = [f for f in answer["findings"] if f["severity"] == "error"]
    first = errors[0] if errors else None
    said = first["headline"] if first else "None"
    checks = {"one job": len(answer["jobs"]) == 1}
    if truth["fault"] in HEALTHY:
        checks["no alarm"] = not errors
        return checks, said
    ranks = set(first["ranks"]) if first else None
    wanted = wanted_ranks(truth)
    checks["no wrong rank"] = not ranks or not wanted.isdisjoint(ranks)
    if truth["fault"] in SILENT and layout in (WITHOUT_CANCEL if truth["fault"] == "scheduler" else WITHOUT_LAUNCHER):
        return checks, said
    checks["error finding"] = bool(errors)
    # A fault of all ranks may be told of all or of the first of them; of nobody's, nobody may be accused.
    checks["rank"] = ranks is not None and (ranks == wanted or truth["fault"] in OF_ALL and bool(ranks))
    if first:
        text = " ".join([first["headline"], first["next_step"]] + [e["text"] for e in first["evidence"]])
        checks["reason"] = checks["rank"] and any(word in text for word in WORDS[KIND.get(truth["fault"], "died")])
    else:
        checks["reason"] = False
    return checks, said


def run_one(binary, folder, truth, layout):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        layouts.lay_out(layouts.read_job(folder, truth), layout, scratch / "job")
        process = subprocess.run([binary, scratch / "job", "-o", scratch / "out", "--no-store"], capture_output=True, text=True)
        try:
            answer = json.loads((scratch / "out" / "findings.json").read_text())
        except OSError:
            return {"one job": False, "error finding": False}, f"no answer: exit {process.returncode}: {process.stderr[-300:]}"
        return judge(truth, layout, answer)


def unpacked(jobs, scratch):
    if jobs.is_dir():
        return jobs
    with tarfile.open(jobs) as archive:
        archive.extractall(scratch)
    return pathlib.Path(scratch)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("recorded", type=pathlib.Path)
    parser.add_argument("--binary", default="build/release/debrief")
    parser.add_argument("--half", choices=["tune", "kept"])
    parser.add_argument("--layouts", nargs="*", choices=layouts.LAYOUTS)
    parser.add_argument("--jobs", nargs="*")
    parser.add_argument("--part", action="store_true", help="each job as recorded and in one other layout only")
    parser.add_argument("--at-least", type=pathlib.Path, help="JSON file {check: share}: fail below, and only then")
    parser.add_argument("-v", action="store_true", help="every answer, not only the wrong ones")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        base = unpacked(options.recorded, scratch)
        tasks = []
        for path in sorted(base.glob("*.json")):
            truth = json.loads(path.read_text())
            if not usable(base / truth["name"], truth) or options.half and truth["kept_aside"] != (options.half == "kept") or options.jobs and truth["name"] not in options.jobs:
                continue
            names = options.layouts or layouts.LAYOUTS
            if truth["output"] == "launcher":
                names = [name for name in names if name in layouts.OF_MIXED]
            if options.part:
                others = sorted(set(names) - {"torchrun"})
                names = ["torchrun", others[sum(truth["name"].encode()) % len(others)]]
            tasks += [(base / truth["name"], truth, name) for name in names]
        sums = collections.defaultdict(lambda: [0, 0])
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for (folder, truth, layout), (checks, said) in zip(tasks, pool.map(lambda task: run_one(options.binary, *task), tasks)):
                for check, passed in checks.items():
                    sums[check][0] += passed
                    sums[check][1] += 1
                wrong = [check for check, passed in checks.items() if not passed]
                if wrong or options.v:
                    print(f"{truth['name']:34} {layout:12} rank {truth['rank']:2}  {'wrong: ' + ', '.join(wrong) if wrong else 'right'}: {said}")
    print("campaign: " + ", ".join(f"{check} {good}/{all_} ({100 * good / all_:.1f} %)" for check, (good, all_) in sums.items()))
    least = json.loads(options.at_least.read_text()) if options.at_least else {}
    return 0 if all(good >= least.get(check, 1) * all_ for check, (good, all_) in sums.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
