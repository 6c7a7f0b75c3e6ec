#!/usr/bin/env python3
"""Scores debrief on recorded jobs whose truth is known, in the layouts of several launchers.

    python3 tests/campaign/score.py JOBS --binary build/release/debrief [--half tune|kept] [--layouts NAME...] [--jobs NAME...] [-v]

JOBS is a folder that record.py wrote, or an archive of it. Said of each (job, layout): one job seen as one; an error finding if the job failed,
none if it was healthy; the first error finding's ranks; its reason (reasons.py). Closing lines: the shares of each half. Of the kept half
nothing else is printed, so that nobody writes rules for it; --misses FILE has its misses.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import layouts  # noqa: E402
import reasons  # noqa: E402

HEALTHY = (None, "caught", "slow_step")
# Whose fault it is; all others are the fault of the job's rank.
OF_ALL = ("all_fail", "config", "data_folder")
OF_NOBODY = ("scheduler", "preempted", "notice", "maintenance")
# A process that ends without a word is told by its launcher alone: where that is missing, nobody may be accused wrongly.
SILENT = ("exit_at_once", "left", "exit_code", "sigkill", "killed", "terminated", "wild_pointer", "cut_file", "hard_exit",
          "wrong_stage", "converged", "node", "oom_killer", "evicted", "bus", "license", "quit",
          "no_task", "killed_stage", "cpu_limit", "division_trap", "learner_exit") + OF_NOBODY
# The end that the launcher must have seen, of jobs that leave no mark of their fault.
ENDS = {"exit_code": 3, "exit_at_once": 7, "sigkill": -9, "segfault": -11, "killed": -9, "hard_exit": 3}
WITHOUT_LAUNCHER = ("kubectl", "ray", "flat", "hosts")
WITHOUT_CANCEL = WITHOUT_LAUNCHER + ("mpirun_tags", "mpirun_files")
# DeepSpeed's launcher tells that something failed, and how, but not who; nor does a last word that the C library wrote into the text of all.
UNNAMED = SILENT + ("abort", "segfault", "bad_free", "fused", "plugin")
# Ray's prefix is a pid: who fails before its process group exists has printed no rank.
WITHOUT_NAMES = {"deepspeed": UNNAMED, "ray": ("plugin",)}


def usable(folder, truth):
    """Not what met something unplanned: a healthy program that did not end well (a machine too busy for its time limits), a fault that
    did no harm, a job that its recorder had to end, a crash where none was planted, a fault that its program never came to. Where `who` is
    told, the truth was written of what was recorded."""
    if "who" in truth:
        return True
    text = layouts.launcher_text(folder)
    crashed = "exitcode  : -11" in text and "code" not in truth and truth["fault"] not in ("segfault", "wild_pointer")
    if truth["exit"] is None or crashed or (truth["fault"] in HEALTHY) != (truth["exit"] == 0):
        return False
    if truth["fault"] in HEALTHY or "planted" not in truth:
        return truth["fault"] not in ENDS or (truth["rank"], ENDS[truth["fault"]]) in seen_ends(text)
    return took_place(text, truth)


def seen_ends(text):
    """{(rank, exit code)} as the launcher saw them."""
    exits = {(int(rank), int(code)) for rank, code, _ in layouts.EXIT.findall(text)}
    return exits | {(int(rank), int(code)) for code, rank in re.findall(r"failed \(exitcode: (-?\d+)\) local_rank: (\d+)", text)}


def took_place(text, truth):
    """Whether each sick rank left its mark in its attempt, and the launcher saw the end that was planted."""
    marks = {rank for attempt, rank in truth["planted"] if attempt == truth.get("attempt", truth["restarts"])}
    exits = seen_ends(text)
    ended = {rank for rank, code in exits if code == truth.get("code", code if code != -15 else None)}
    died = truth["kind"] in ("exception", "out of memory", "signal", "exit", "device assert", "device fault")
    return set(truth["ranks"]) <= marks and (not died or not ended.isdisjoint(truth["ranks"]))


def wanted_ranks(truth):
    """Whose fault it is; where attempts failed in different ways, either is a first failure."""
    if "who" in truth:
        return {"all": set(range(truth["world"])), "nobody": set()}.get(str(truth["who"]), set(truth["who"]))
    if truth["fault"] in OF_ALL:
        return set(range(truth.get("world", 8)))
    if truth["fault"] in OF_NOBODY:
        return set()
    return set(truth.get("ranks", [truth["rank"]])) | ({truth["earlier"]} if "earlier" in truth else set())


def judge(folder, truth, layout, answer):
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
    if truth["fault"] in SILENT and layout in (WITHOUT_CANCEL if truth["fault"] in ("scheduler", "maintenance") else WITHOUT_LAUNCHER):
        return checks, said
    checks["error finding"] = bool(errors)
    if truth["fault"] in WITHOUT_NAMES.get(layout, ()) or not truth.get("named", True):
        return checks, said
    # Which of two sides called the wrong thing is not in every text.
    if truth.get("either") and first and not ranks:
        checks["reason"] = reasons.right(folder, truth, first)
        return checks, said
    # A fault of several ranks may be told of all or of the first of them; of nobody's, nobody may be accused.
    checks["rank"] = ranks is not None and (ranks == wanted or bool(ranks) and ranks <= wanted)
    checks["reason"] = checks["rank"] and reasons.right(folder, truth, first)
    return checks, said + (f"  [{first['evidence'][0]['text'][:160]}]" if first and first["evidence"] and not checks["reason"] else "")


def run_one(binary, folder, truth, layout):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        layouts.lay_out(layouts.read_job(folder, truth), layout, scratch / "job")
        process = subprocess.run([binary, scratch / "job", "-o", scratch / "out", "--no-store"], capture_output=True, text=True)
        try:
            answer = json.loads((scratch / "out" / "findings.json").read_text())
        except OSError:
            return {"one job": False, "error finding": False}, f"no answer: exit {process.returncode}: {process.stderr[-300:]}"
        return judge(folder, truth, layout, answer)


def unpacked(jobs, scratch):
    if jobs.is_dir():
        return jobs
    with tarfile.open(jobs) as archive:
        archive.extractall(scratch)
    return pathlib.Path(scratch)


def part_of(truth, names):
    """A kept job as recorded and in another layout; one of the others in either of these."""
    others = sorted(set(names) - {"torchrun"})
    number = sum(truth["name"].encode())
    both = ["torchrun", others[number % len(others)]]
    return both if truth["half"] == "kept" else both[number // len(others) % 2:][:1]


def tasks_of(base, options):
    """(folder, truth, layout) of all that is to be scored."""
    for path in sorted(base.glob("*.json")):
        truth = json.loads(path.read_text())
        if options.half not in (None, truth["half"]) or options.jobs and truth["name"] not in options.jobs or not usable(base / truth["name"], truth):
            continue
        names = layouts.possible(truth, options.layouts or layouts.LAYOUTS)
        if options.part:
            names = part_of(truth, names)
        for name in names:
            yield base / truth["name"], truth, name


def score(tasks, options):
    """{half: {check: [passed, of]}}; misses are printed, those of the kept half into a file of their own."""
    sums = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    hidden = open(options.misses or os.devnull, "w")
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for (_, truth, layout), (checks, said) in zip(tasks, pool.map(lambda task: run_one(options.binary, *task), tasks)):
            for check, passed in checks.items():
                sums[truth["half"]][check][0] += passed
                sums[truth["half"]][check][1] += 1
            wrong = [check for check, passed in checks.items() if not passed]
            if wrong or options.v and truth["half"] == "tune":
                how = "wrong: " + ", ".join(wrong) if wrong else "right"
                print(f"{truth['name']:30} {layout:12} {truth['fault']} rank {truth['rank']:2}  {how}: {said}",
                      file=hidden if truth["half"] == "kept" else sys.stdout)
    return sums


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("recorded", type=pathlib.Path)
    parser.add_argument("--binary", default="build/release/debrief")
    parser.add_argument("--half", choices=["tune", "kept"])
    parser.add_argument("--layouts", nargs="*", choices=layouts.LAYOUTS)
    parser.add_argument("--jobs", nargs="*")
    parser.add_argument("--part", action="store_true", help="each job in one or two layouts only")
    parser.add_argument("--at-least", type=pathlib.Path, help="JSON file {half: {check: share}}: fail below, and only then")
    parser.add_argument("--misses", type=pathlib.Path, help="where the misses of the kept half go; not for those who write rules")
    parser.add_argument("-j", type=int, default=os.cpu_count(), help="how many at a time")
    parser.add_argument("-v", action="store_true", help="every answer, not only the wrong ones")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        tasks = list(tasks_of(unpacked(options.recorded, scratch), options))
        sums = score(tasks, options)
    least = json.loads(options.at_least.read_text()) if options.at_least else {}
    enough = True
    for half, checks in sums.items():
        jobs = {truth["name"] for _, truth, _ in tasks if truth["half"] == half}
        shares = [f"{check} {good}/{all_} ({100 * good / all_:.1f} %)" for check, (good, all_) in checks.items()]
        print(f"campaign, {half}: {len(jobs)} jobs; " + ", ".join(shares))
        enough = enough and all(good >= least.get(half, {}).get(check, 1) * all_ for check, (good, all_) in checks.items())
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
