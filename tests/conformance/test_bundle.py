"""A bundle of a recorded job gives the verdict of the job itself: ranks, reasons and confidences."""
import json

JOBS = ["recorded/jobs/compile_divergence", "recorded/jobs/crash", "recorded/jobs/healthy", "recorded/jobs/missing_collective", "recorded/jobs/p2p_size",
        "recorded/jobs/recompile_hang", "recorded/jobs/size_mismatch", "recorded/jobs/slow_gpu", "recorded/jobs/slow_rank",
        "recorded/jobs/straggler", "recorded/jobs/type_mismatch", "train/aborted", "train/comm_setup", "train/killed", "train/on_demand",
        "train/roots_healthy", "train/roots_size", "train/slow_save", "train/two_attempts"]


def verdict(context, path, name):
    folder = context.scratch / name
    context.run(path, "-o", folder, "--no-store", "--no-report", "--quiet")
    found = json.loads((folder / "findings.json").read_text())["findings"]
    return [(each["rule"], each["severity"], each["role"], each["attempt"], each["ranks"], each["confidence"], each["op"], each["seq"],
             each["compile_ids"], len(each["evidence"])) for each in found]


def check(context, job):
    bundle = context.scratch / "job.tar.zst"
    context.run("bundle", job, "-o", bundle, "--quiet")
    before, after = verdict(context, job, "before"), verdict(context, bundle, "after")
    assert before == after, f"{job}: {[pair for pair in zip(before, after) if pair[0] != pair[1]] or (len(before), len(after))}"


def add_tests():
    for job in JOBS:
        def test(context, job=job):
            if (context.data / job).exists():
                check(context, job)
        globals()["test_" + job.rsplit("/", 1)[-1]] = test


add_tests()
