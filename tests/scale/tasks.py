#!/usr/bin/env python3
"""Tests `debrief JOB -o OUT` as srun and mpirun start it: as several processes that share the work.

usage: tasks.py [--binary PATH] [PATTERN...]

Tasks are plain processes here, with the environment that launchers give them; tests/cluster starts them with real ones. The
report must be that of one process, whatever the order in which tasks come and whatever happens to them, and a process that only
looks like a task must not wait for others.
"""
import os
import pty
import resource
import shutil
import signal
import sys
import time
from pathlib import Path

from lab import ROOT, Debrief, differences, generate, report_in

sys.path.insert(0, str(ROOT / "tests"))
import in_folders  # noqa: E402

HUNG = ROOT / "examples/hung-job"
TASKS = 4


def srun(number, of=TASKS, job=7):
    return {"SLURM_JOB_ID": str(job), "SLURM_STEP_ID": "0", "SLURM_PROCID": str(number), "SLURM_STEP_NUM_TASKS": str(of),
            "SLURM_NTASKS": "9", "SLURMD_NODENAME": f"n{number + 1}"}


def mpirun(number, of=TASKS):
    # Its helpers are one step of srun, a task a node.
    return {"OMPI_COMM_WORLD_RANK": str(number), "OMPI_COMM_WORLD_SIZE": str(of), "PMIX_NAMESPACE": "2873753601",
            "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2"}


def pmi(number, of=TASKS):
    return {"PMI_RANK": str(number), "PMI_SIZE": str(of)}


class Cluster:
    """A folder that all tasks see, with a job in it, and what one process says of the job."""

    def __init__(self, debrief, scratch, job=HUNG):
        self.debrief, self.folder = debrief, scratch
        shutil.copytree(job, scratch / "job")
        self.single = debrief.report(scratch / "single", scratch / "job", "--no-store")

    def start(self, env, *words, **more):
        return self.debrief.start(self.folder / "job", "-o", "out", "--no-store", *words, cwd=self.folder, env=env, **more)

    def check(self, first):
        """`first` has ended well, and its report is that of one process."""
        self.debrief.end(first)
        report = report_in(self.folder, first.out)
        assert not differences(self.single, report), f"other bytes in {differences(self.single, report)}\n{first.err}"

    def check_clean(self):
        left = sorted(path.name for path in self.folder.iterdir() if path.name not in ("job", "single", "out"))
        assert not left, f"tasks left {left}"


def check_launcher(debrief, scratch, launcher, order):
    cluster = Cluster(debrief, scratch)
    started = {number: cluster.start(launcher(number)) for number in order}
    cluster.check(started[0])
    for number in order:
        ended = debrief.end(started[number]) if number else started[0]
        assert number == 0 or not ended.out, f"task {number} printed {ended.out}"
    cluster.check_clean()


def check_one_after_the_other(debrief, scratch):
    cluster = Cluster(debrief, scratch)
    for number in (2, 1, 3):
        debrief.end(cluster.start(srun(number)))
    cluster.check(cluster.start(srun(0)))
    cluster.check_clean()


def check_accidents(debrief, scratch):
    """None of these is one of several tasks, whatever its environment says: all is read at once, and nobody waits."""
    alone = {
        "batch script": {"SLURM_JOB_ID": "7", "SLURM_PROCID": "0", "SLURM_NTASKS": "64", "SLURM_NPROCS": "64"},
        "batch step": {**srun(0, 64), "SLURM_STEP_ID": "4294967291"},
        "shell of salloc": {**srun(0, 64), "SLURM_STEP_ID": "4294967290"},
        "element of an array": {"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_COUNT": "8", "SLURM_PROCID": "0", "SLURM_NTASKS": "8"},
        "srun -n1": srun(0, 1),
        "mpirun -n1 in a step": mpirun(0, 1),
        "Kubernetes": {"JOB_COMPLETION_INDEX": "3", "DEBRIEF_SHARDS": "8"},
        "wrong numbers": {**srun(0), "SLURM_PROCID": "9"},
    }
    cluster = Cluster(debrief, scratch)
    for name, env in alone.items():
        begin = time.monotonic()
        cluster.check(cluster.start(env))
        assert time.monotonic() - begin < 10, f"{name}: waited"
        cluster.check_clean()
    cluster.check(cluster.start(srun(3), "--alone"))
    terminal, own = pty.openpty()
    cluster.check(cluster.start(srun(0), stdin=own))
    os.close(terminal)
    os.close(own)
    cluster.check_clean()


def check_inherited(debrief, scratch):
    """The environment of a task, but no other task: after a while all is read here."""
    cluster = Cluster(debrief, scratch)
    first = cluster.start(srun(0, 64), "--wait", "0.2")
    cluster.check(first)
    assert "no other task has started" in first.err, first.err
    cluster.check_clean()


def check_missing(debrief, scratch):
    """A task that never comes is named and costs its share; its shard completes the report later."""
    cluster = Cluster(debrief, scratch)
    for number in (1, 3):
        debrief.end(cluster.start(srun(number)))
    first = debrief.end(cluster.start(srun(0), "--wait", "0.2"))
    assert "task 3 of 4 (not started)" in first.err and "shard 3 of 4 is missing" in first.err, first.err
    assert "shard.missing" in first.out, first.out
    folder, = (scratch / "out_shards").iterdir()
    assert str(folder) in first.err, first.err
    debrief.end(cluster.start(srun(2)))
    cluster.check(debrief.start("reduce", folder, "-o", "out", "--no-store", cwd=scratch))


def check_failed(debrief, scratch):
    """A task that cannot write says so, and nobody waits for it."""
    cluster = Cluster(debrief, scratch)

    def small_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    ended = debrief.end(cluster.start(srun(2), preexec_fn=small_disk), ok=(1,))
    assert "cannot write" in ended.err, ended.err
    for number in (1, 3):
        debrief.end(cluster.start(srun(number)))
    first = debrief.end(cluster.start(srun(0)))
    assert "task 3 of 4 (failed on n3)" in first.err and "shard 3 of 4 is missing" in first.err, first.err


def check_killed(debrief, scratch):
    """Any task may be killed at any time and started again; also all of them, as a job that is requeued."""
    job = generate(scratch / "dumps", "--ranks", 64, "--entries", 60, "--fault", "stuck", "--fault-rank", 13)
    cluster = Cluster(debrief, scratch / "cluster", job)
    for attempt in range(6):
        started = [cluster.start(srun(number)) for number in range(TASKS)]
        time.sleep(0.02 * attempt)
        for task in started:
            task.send_signal(signal.SIGKILL)
        for task in started:
            task.communicate()
    started = [cluster.start(srun(number)) for number in range(TASKS)]
    cluster.check(started[0])
    for task in started[1:]:
        debrief.end(task)


def check_doubled(debrief, scratch):
    """Every task twice, as after a node that was thought dead: the same report, and nobody fails."""
    cluster = Cluster(debrief, scratch)
    started = [cluster.start(srun(number)) for number in (3, 3, 1, 1, 2, 2)]
    first, second = cluster.start(srun(0)), cluster.start(srun(0), "--wait", "2")
    for task in (first, second, *started):
        debrief.end(task)
    printed = first.out or second.out
    report = report_in(cluster.folder, printed)
    assert not differences(cluster.single, report), f"other bytes in {differences(cluster.single, report)}"


def check_stale(debrief, scratch):
    """What other launches left at the same place is not taken for ours: other paths, other numbers, long ago."""
    cluster = Cluster(debrief, scratch)
    other = generate(scratch / "other", "--ranks", 32, "--entries", 40)
    for number in range(1, TASKS):
        debrief.run(other, "-o", "out", cwd=scratch, env=pmi(number))
        debrief.run(scratch / "job", "-o", "out", cwd=scratch, env=pmi(number, TASKS + 1))
        debrief.end(cluster.start(pmi(number)))
    old = time.time() - 3600
    for path in (scratch / "out_shards").rglob("shard-2-of-4"):
        os.utime(path, (old, old))
    first = debrief.end(cluster.start(pmi(0), "--wait", "0.2"))
    assert "task 2 of 4 (started" in first.err, f"an old shard was taken: {first.err}"
    debrief.end(cluster.start(pmi(1)))
    cluster.check(cluster.start(pmi(0)))


def check_local(debrief, scratch):
    """Each task has files of its own at the path that all are given, and reads all of them."""
    whole = scratch / "whole"
    shutil.copytree(HUNG, whole / "dumps")
    single = debrief.report(whole, "dumps", "--no-store")
    files = sorted(file for file in HUNG.rglob("*") if file.is_file())
    started = []
    for number in (1, 2, 3, 0):
        node = scratch / f"node{number}"
        for file in files[number::TASKS]:
            place = node / "dumps" / file.relative_to(HUNG)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)
        started.append(debrief.start("dumps", "--local", "-o", scratch / "shared/out", "--no-store", cwd=node, env=srun(number)))
    for task in started:
        debrief.end(task)
    report = report_in(scratch / "shared", single["(stdout)"])
    assert not differences(single, report), f"other bytes in {differences(single, report)}"


def check_inside(debrief, scratch):
    """The report may lie in the folder of the job: no task takes shards or an earlier report for inputs."""
    Cluster(debrief, scratch)
    for _ in range(2):
        started = [debrief.start(".", "-o", "out", "--no-store", "--quiet", cwd=scratch / "job", env=srun(number)) for number in range(TASKS)]
        for task in started:
            debrief.end(task)
    alone = debrief.run(".", "-o", "out", "--no-store", "--quiet", cwd=scratch / "job")
    assert started[0].out == alone.out, started[0].out
    assert sorted(path.name for path in (scratch / "job").iterdir()) == sorted([*(path.name for path in HUNG.iterdir()), "out"])


def main():
    args = in_folders.parser(__doc__).parse_args()
    debrief = Debrief(args.binary, Path("/"))
    tests = [("srun", lambda place: check_launcher(debrief, place, srun, (0, 1, 2, 3))),
             ("mpirun", lambda place: check_launcher(debrief, place, mpirun, (3, 0, 1, 2))),
             ("pmi", lambda place: check_launcher(debrief, place, pmi, (2, 3, 1, 0)))]
    checks = (check_one_after_the_other, check_accidents, check_inherited, check_missing, check_failed, check_killed, check_doubled,
              check_stale, check_local, check_inside)
    tests += [(check.__name__, lambda place, check=check: check(debrief, place)) for check in checks]
    sys.exit(in_folders.run_all("tasks", tests, args.patterns))


if __name__ == "__main__":
    main()
