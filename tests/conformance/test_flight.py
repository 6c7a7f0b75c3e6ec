"""debrief names exactly the rank that broke each recorded job, whatever state its files are in.

The truth is the README of the recorded jobs. Every job is looked at as it lies there, with dumps alone, from
JSON dumps, with files renamed, in another order, with one file cut in half and with one dump deleted.
"""
import os
import random
import re
import shutil
import tempfile
from pathlib import Path

# job: (rule, ranks, description of the group); None: no error finding
TRUTH = {
    "healthy": None, "slow_rank": None, "slow_gpu": None, "compile_divergence": None,
    "missing_collective": ("skipped_collective", {5}, "mesh_dp"),
    "size_mismatch": ("size_mismatch", {2}, "mesh_dp"),
    "type_mismatch": ("type_mismatch", {1}, "mesh_dp"),
    "p2p_size": ("p2p_size", {4}, "mesh_pp"),
    "straggler": ("host_never_came", {6}, "mesh_dp"),
    "crash": ("no_dump", {4}, None),
    "recompile_hang": ("host_never_came", {3}, None),
}
PUBLIC = {"gpu_error_1st": ("completion_lag", {12, 14}, None), "lock_gil_1st": ("host_never_came", {9, 14}, None)}
# Dumps of jobs under torchrun, alone. An empty set: the job failed and its dumps name nobody.
TRAIN = {"on_demand": None, "roots_healthy": None, "slow_save": {2}, "comm_setup": set(), "killed": set(), "aborted": set()}
DUMP = re.compile(r"nccl_trace_rank_(\d+)$|_dump_(\d+)$")


def rank_of(path):
    found = DUMP.search(path.name)
    return int(found[1] or found[2])


def dumps_of(job):
    return sorted((path for path in job.iterdir() if DUMP.search(path.name)), key=rank_of)


def complaint(report, truth, name, rule_matters=True, group_matters=True):
    """What is wrong with the verdict, or ""."""
    findings = report["findings"]
    errors = [finding for finding in findings if finding["severity"] == "error"]
    if truth is None:
        return f"{name}: {errors[0]['headline']}" if errors else ""
    rule, ranks, group = truth
    if not findings:
        return f"{name}: no finding"
    first = next((finding for finding in findings if finding["rule"].startswith("flight.")), findings[0])
    got = (first["rule"], set(findings[0]["ranks"]), [entry["desc"] for entry in first["groups"]][:1])
    if got[1] != ranks or (rule_matters and got[0] != f"flight.{rule}"):
        return f"{name}: {got[0]} {sorted(got[1])}, must be {rule} {sorted(ranks)}: {first['headline']}"
    if rule_matters and group_matters and group and got[2] != [group]:
        return f"{name}: group {got[2]}, must be {group}"
    blamed = {rank for finding in errors if finding["role"] == "cause" for rank in finding["ranks"]}
    return f"{name}: innocent ranks blamed: {sorted(blamed - ranks)}" if blamed - ranks else ""


def with_files(context, files, rename=None):
    """The report of a folder with just these files."""
    with tempfile.TemporaryDirectory(prefix="flight.") as folder:
        for path in files:
            target = Path(folder) / (rename(path) if rename else path.name)
            os.symlink(path.resolve(), target)
        return context.report([folder])


def jobs(context):
    for name, truth in TRUTH.items():
        yield name, truth, context.data / "recorded/jobs" / name
    for name, truth in PUBLIC.items():
        yield name, truth, context.data / "public/flight_recorder" / name


def check(problems):
    problems = [problem for problem in problems if problem]
    assert not problems, "\n".join(problems)


def test_jobs_as_they_are(context):
    check(complaint(context.report([job]), truth, name) for name, truth, job in jobs(context))


def test_dumps_alone(context):
    check(complaint(with_files(context, dumps_of(job)), truth, f"{name}, dumps alone") for name, truth, job in jobs(context))


def test_json_dumps(context):
    found = [(name, truth, sorted(job.glob("nccl_trace_json_rank_*.json"))) for name, truth, job in jobs(context)]
    found = [(name, truth, files) for name, truth, files in found if files]
    assert len(found) >= 4
    check(complaint(with_files(context, files), truth, f"{name}, JSON") for name, truth, files in found)


def test_renamed(context):
    check(complaint(with_files(context, dumps_of(job), lambda path: f"x{7 * rank_of(path) % 16:02}_comm_{rank_of(path)}"),
                    truth, f"{name}, renamed") for name, truth, job in jobs(context))


def cut_in_half(job, victim, folder):
    for path in dumps_of(job):
        if rank_of(path) == victim:
            (folder / path.name).write_bytes(path.read_bytes()[:path.stat().st_size // 2])
        else:
            shutil.copy(path, folder)


def test_one_file_cut(context):
    """Where the blamed rank's own dump is cut, its half may not hold the proof: then the rank must still be named."""
    numbers = random.Random(3)
    problems = []
    for name, truth, job in jobs(context):
        ranks = [rank_of(path) for path in dumps_of(job)]
        for victim in numbers.sample(ranks, 4):
            with tempfile.TemporaryDirectory(prefix="flight.") as folder:
                cut_in_half(job, victim, Path(folder))
                own = truth is not None and victim in truth[1]
                problems.append(complaint(context.report([folder]), truth, f"{name}, dump of {victim} cut", not own))
    check(problems)


def test_one_dump_deleted(context):
    problems = []
    for name, truth, job in jobs(context):
        for victim in dumps_of(job):
            if truth is not None and (rank_of(victim) in truth[1] or truth[0] == "no_dump"):
                continue
            report = with_files(context, [path for path in dumps_of(job) if path != victim])
            problems.append(complaint(report, truth, f"{name} without the dump of {rank_of(victim)}",
                                      group_matters=False))  # the first waiter's may be the one that is gone
    check(problems)


def test_crash_and_a_lost_dump(context):
    """Two ranks without dumps: the output of the ranks tells which one died."""
    job = context.data / "recorded/jobs/crash"
    texts = sorted(job.glob("stdout_rank*.txt"))
    problems = []
    for victim in dumps_of(job):
        report = with_files(context, [path for path in dumps_of(job) if path != victim] + texts)
        problems.append(complaint(report, TRUTH["crash"], f"crash without the dump of {rank_of(victim)}"))
    check(problems)


def test_training_jobs_by_dumps_alone(context):
    """Snapshots of healthy jobs name nobody; a failed job has an error, and no rank that the dumps do not show."""
    problems = []
    for name, ranks in TRAIN.items():
        findings = context.report([context.data / "train" / name / "fr"])["findings"]
        blamed = [finding for finding in findings if finding["severity"] != "info" and finding["role"] == "cause"]
        errors = [finding for finding in blamed if finding["severity"] == "error"]
        got = set(errors[0]["ranks"]) if errors else None
        if got != ranks or (ranks is None and blamed):
            problems.append(f"{name}: {got}, must be {ranks}: {[finding['headline'] for finding in blamed]}")
    check(problems)
