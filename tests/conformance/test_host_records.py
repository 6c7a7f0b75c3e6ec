"""Records of monitors and schedulers, planted into copies of recorded jobs: each decides where nothing else does, and none accuses a healthy job."""
import os

import host_writer
from test_verdict import NOTHING, complaint, verdict

TEXT, DUMPS, PROFILES = (lambda name: name.startswith("stdout_rank")), (lambda name: name.startswith("nccl_trace_rank")), (lambda name: name.startswith("profile_"))


def copy_of(context, job, *kinds):
    """A folder with the job's files of some kinds."""
    source = context.data / "recorded/jobs" / job
    folder = context.scratch / f"{job}{len(list(context.scratch.iterdir()))}"
    folder.mkdir()
    for path in sorted(source.iterdir()):
        if any(kind(path.name) for kind in kinds):
            os.symlink(path, folder / path.name)
    return folder


def check(context, folder, expected):
    problem = complaint(folder.name, expected, verdict(context.report([folder])["findings"]))
    assert not problem, problem


def test_a_throttled_gpu_decides(context):
    folder = copy_of(context, "slow_gpu", TEXT)
    check(context, folder, NOTHING)
    (folder / "dcgm.json").write_text(host_writer.dcgm(slow=4))
    check(context, folder, ("host_gpus.throttled", [4], "Rank 4's GPU ran at 1,005 MHz instead of 1,980 from 02:36:00 on, thermal throttling"))


def test_a_throttled_gpu_is_why_a_rank_is_late(context):
    folder = copy_of(context, "slow_gpu", TEXT, PROFILES)
    (folder / "dcgm.json").write_text(host_writer.dcgm(slow=4))
    findings = context.report([folder])["findings"]
    assert findings[0]["rule"] == "host_gpus.throttled" and findings[0]["ranks"] == [4], findings[0]
    assert findings[0]["confidence"] > 0.9, findings[0]
    follows = {finding["id"]: finding["rule"] for finding in findings}
    assert "profile.straggler" in {follows[each] for each in findings[0]["explains"]}, findings[0]


def test_inspector_alone_finds_the_straggler(context):
    folder = copy_of(context, "slow_rank", TEXT)
    check(context, folder, NOTHING)
    host_writer.write_inspector(folder, late=6)
    check(context, folder, ("host_bandwidth.straggler", [6], "Rank 6 is a straggler: arrives last at 30 of 30 collectives"))


def test_inspector_and_dumps_are_one_straggler(context):
    folder = copy_of(context, "slow_rank", TEXT, DUMPS)
    host_writer.write_inspector(folder, late=6)
    check(context, folder, ("flight.straggler", [6], "is a straggler"))


def test_a_fault_is_why_a_rank_is_gone(context):
    for kinds in ((TEXT,), (TEXT, DUMPS)):
        folder = copy_of(context, "straggler", *kinds)
        (folder / "dcgm.json").write_text(host_writer.dcgm(xid=6))
        check(context, folder, ("host_gpus.xid", [6], "Rank 6's GPU failed at 02:36:00: GPU has fallen off the bus (Xid 79)"))


def test_an_old_fault_is_none_of_this_job(context):
    folder = copy_of(context, "healthy", TEXT, DUMPS)
    (folder / "dcgm.json").write_text(host_writer.dcgm(xid=6, begin=0).replace('"345"', '"1980"'))
    assert not [f for f in context.report([folder])["findings"] if f["rule"] == "host_gpus.xid"]


def test_the_scheduler_ended_it(context):
    folder = copy_of(context, "healthy", TEXT)
    (folder / "sacct.json").write_text(host_writer.sacct("TIMEOUT", step="CANCELLED", signal=15))
    check(context, folder, ("text_hang.ended", [], "The scheduler ended the job: time limit"))


def test_a_healthy_job_with_all_records(context):
    folder = copy_of(context, "healthy", TEXT, DUMPS, PROFILES)
    (folder / "dcgm.json").write_text(host_writer.dcgm())
    (folder / "sacct.json").write_text(host_writer.sacct())
    (folder / "events.json").write_text(host_writer.events(host_writer.event("Started", "Started container pytorch", warning=False)))
    host_writer.write_inspector(folder)
    found = [f["headline"] for f in context.report([folder])["findings"] if f["rule"].startswith(("host_", "text_hang"))]
    assert not found, found
    check(context, folder, NOTHING)
