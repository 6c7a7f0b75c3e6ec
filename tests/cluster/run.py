#!/usr/bin/env python3
"""Tests debrief with real launchers: Slurm with four nodes on this machine, Open MPI and GNU parallel.

usage: run.py [--binary PATH] [--large] [PATTERN...]        make test-cluster

Each test compares what the launcher's tasks made together with what one process says of the same job, byte by byte, or looks
at what is said when a task is killed, a disk is full, a node is lost. Root and the packages of the group `cluster`
(tools/packages.txt) are needed. --large: also 16,384 ranks x 200 entries on four nodes, with the time and memory of each task.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/scale"), str(ROOT / "tests")]

import in_folders  # noqa: E402
from lab import Debrief, differences, generate, report_in  # noqa: E402
from slurm import NODES, SmallDisk, Slurm, missing_programs  # noqa: E402

RANKS, FAULT = 256, 77


class Lab:
    """A job, what one process says of it, and a Slurm to read it with."""

    def __init__(self, binary, slurm, scratch):
        self.slurm, self.binary, self.scratch = slurm, binary, scratch
        self.debrief = Debrief(binary, scratch)
        self.job = generate(scratch / "job", "--ranks", RANKS, "--entries", 100, "--fault", "stuck", "--fault-rank", FAULT)
        self.single = self.debrief.report(scratch / "single", self.job, "--no-store")
        tools = scratch / "bin"
        tools.mkdir()
        (tools / "debrief").symlink_to(binary)
        slurm.env["PATH"] = f"{tools}:{slurm.env['PATH']}"

    def same(self, place, printed=None):
        """The report in place/out is that of one process. What tasks of mpirun print is not compared: it gives them a terminal."""
        report = report_in(place, self.single["(stdout)"] if printed is None else printed)
        assert not differences(self.single, report), f"other bytes in {differences(self.single, report)}"

    def scripted(self, place, *words):
        """A script of `debrief scale`, without the store that is not compared."""
        text = self.debrief.run("scale", *words, self.job, "--tasks", 4, "-o", place / "out").out
        path = place / "script.sh"
        path.write_text(text.replace("debrief reduce", "debrief reduce --no-store"))
        return path


def check_srun(lab, place):
    done = lab.slurm.run("srun", "-N4", "-n4", "debrief", lab.job, "-o", "out", "--no-store", "--quiet", cwd=place)
    lab.same(place, done.out)
    assert os.listdir(place) == ["out"], f"left behind: {os.listdir(place)}"
    more = lab.slurm.run("srun", "-N4", "-n9", "--overcommit", "debrief", lab.job, "-o", "out", "--no-store", "--quiet", cwd=place)
    lab.same(place, more.out)


def check_alone(lab, place):
    """One process is one process, however many tasks its allocation has."""
    (place / "script").write_text(f"#!/bin/bash\ndebrief {lab.job} -o out --no-store --quiet\n")
    lab.slurm.run("sbatch", "--wait", "-N4", "-n4", place / "script", cwd=place)
    lab.same(place)
    for words in (["srun", "-n1"], ["salloc", "-N4", "-n4", "--quiet"], ["mpirun", "--allow-run-as-root", "-n", "1"]):
        done = lab.slurm.run(*words, "debrief", lab.job, "-o", "out", "--no-store", "--quiet", cwd=place)
        lab.same(place, None if words[0] == "mpirun" else done.out)
        assert not (place / "out_shards").exists(), f"{words}: not read by one process"


def check_batch(lab, place):
    """The script of `debrief scale --slurm`: srun maps, the batch script reduces."""
    lab.slurm.run("sbatch", "--wait", lab.scripted(place, "--slurm"), cwd=place)
    assert len(list((place / "out_shards").iterdir())) == 4
    lab.same(place)


def check_array(lab, place):
    """The script of `debrief scale --array`: an array maps, and a job that depends on it reduces."""
    submitted = lab.slurm.run("bash", lab.scripted(place, "--array"), cwd=place)
    reduce_job = re.search(r"batch job (\d+)", submitted.out)[1]
    assert lab.slurm.until_over(reduce_job) == ["COMPLETED"]
    assert len(list((place / "out_shards").iterdir())) == 4
    lab.same(place)


def check_mpirun(lab, place):
    words = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "4"]
    lab.slurm.run(*words, "debrief", lab.job, "-o", "out", "--no-store", "--quiet", cwd=place)
    lab.same(place)
    shutil.rmtree(place / "out")
    script = lab.scripted(place, "--mpi").read_text().replace("mpirun", "mpirun --allow-run-as-root --oversubscribe")
    lab.slurm.run("bash", "-c", script, cwd=place)
    lab.same(place)


def check_parallel(lab, place):
    lab.slurm.run("parallel", "--will-cite", "-j", "3", "debrief", "map", lab.job, "--shard", "{}/7", "-o", "shards/", ":::",
                  *range(1, 8), cwd=place)
    lab.slurm.run("parallel", "--will-cite", "-j", "2", "debrief", "reduce", "shards/shard-{}*", "--shard-only", "-o",
                  "joined/shard-{}", ":::", *range(1, 8), cwd=place)
    lab.slurm.run("debrief", "reduce", "joined", "-o", "out", "--no-store", "--quiet", cwd=place)
    lab.same(place)


def check_killed(lab, place):
    """A task that is killed is named; the same command once more gives the whole report."""
    script = f'[ $SLURM_PROCID = 2 ] && kill -9 $$; exec debrief {lab.job} -o out --no-store --quiet --wait 2'
    done = lab.slurm.run("srun", "-N4", "-n4", "--kill-on-bad-exit=0", "bash", "-c", script, cwd=place, ok=range(256))
    assert "task 3 of 4 (not started)" in done.err and "shard 3 of 4 is missing" in done.err, done.err
    assert (place / "out/findings.json").exists()
    done = lab.slurm.run("srun", "-N4", "-n4", "debrief", lab.job, "-o", "out", "--no-store", "--quiet", cwd=place)
    lab.same(place, done.out)


def check_full_disk(lab, place):
    """The disk of one node is full: its shard is missing and named, the rest is read."""
    with SmallDisk(place / "small", 8) as small:
        script = f'[ $SLURMD_NODENAME = n3 ] && out={small} || out=shards; exec debrief map {lab.job} -o $out/ --quiet'
        done = lab.slurm.run("srun", "-N4", "-n4", "--kill-on-bad-exit=0", "bash", "-c", script, cwd=place, ok=range(1, 256))
        assert "No space left on device" in done.err, done.err
        assert not list(small.iterdir()), "half a shard is left"
    done = lab.slurm.run("debrief", "reduce", "shards", "-o", "out", "--no-store", cwd=place)
    assert "shard 3 of 4 is missing" in done.err, done.err
    lab.slurm.run("debrief", "map", lab.job, "--shard", "3/4", "-o", "shards/", cwd=place)
    lab.slurm.run("debrief", "reduce", "shards", "-o", "out", "--no-store", "--quiet", cwd=place)
    lab.same(place)


def check_doubled(lab, place):
    """Shares that are read twice at the same time, on several nodes, and whole launches beside each other."""
    script = f"exec debrief map {lab.job} --shard $((SLURM_PROCID % 4 + 1))/4 -o shards/ --quiet"
    lab.slurm.run("srun", "-N4", "-n8", "--overcommit", "bash", "-c", script, cwd=place)
    lab.slurm.run("debrief", "reduce", "shards", "-o", "out", "--no-store", "--quiet", cwd=place)
    lab.same(place)
    launches = [lab.slurm.start("srun", "-N4", "-n4", "debrief", lab.job, "-o", "out", "--no-store", "--quiet", cwd=place) for _ in range(2)]
    for launch in launches:
        out, err = launch.communicate(timeout=120)
        assert launch.returncode == 0, err
        lab.same(place, out)


def check_nodes(lab, place):
    """Every node has its own files at the path that all are given."""
    for number, file in enumerate(sorted(lab.job.iterdir())):
        folder = place / NODES[number * len(NODES) // RANKS] / "job"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, folder)
    shared = place / "shared"
    shared.mkdir()
    printed = lab.debrief.run("job", "-o", place / "whole/out", "--no-store", "--quiet", cwd=lab.scratch).out
    single = report_in(place / "whole", printed)
    script = f"cd {place}/$SLURMD_NODENAME && exec debrief job --local -o {shared}/out --no-store --quiet"
    lab.slurm.run("srun", "-N4", "--ntasks-per-node=1", "bash", "-c", script)
    report = report_in(shared, printed)
    assert not differences(single, report), f"other bytes in {differences(single, report)}"


def check_large(lab, place):
    """16,384 ranks on four nodes: the right rank, and what each task needed."""
    job = generate(place / "job", "--ranks", 16384, "--entries", 200, "--fault", "stuck", "--fault-rank", 4711)
    script = f"exec /usr/bin/env time -f '%e s, %U + %S CPU s, %M kB' debrief {job} -o out --no-store --quiet --jobs 1"
    begin = time.monotonic()
    done = lab.slurm.run("srun", "-N4", "-n4", "bash", "-c", script, cwd=place)
    print(f"16,384 ranks x 200 entries, four nodes: {time.monotonic() - begin:.1f} s\n{done.err}")
    assert "ank 4711" in done.out.splitlines()[0], done.out[:500]


def check_lost_node(lab, place):
    """A node goes away while its task runs. It is the last test: the node does not come back."""
    script = (f'[ $SLURMD_NODENAME = n4 ] && {{ echo $$ >{place}/victim; exec sleep 1000; }}; '
              f"exec debrief {lab.job} -o out --no-store --quiet --wait 3")
    srun = lab.slurm.start("srun", "-N4", "-n4", "--no-kill", "--kill-on-bad-exit=0", "bash", "-c", script, cwd=place)
    lab.slurm.until("the task of n4 runs", lambda: (place / "victim").exists() and (place / "victim").read_text().strip())
    victim = int((place / "victim").read_text())
    step = int(re.search(r"^PPid:\s+(\d+)", Path(f"/proc/{victim}/status").read_text(), re.M)[1])
    assert "slurmstepd" in Path(f"/proc/{step}/comm").read_text()
    node = lab.slurm.daemons.pop("n4")
    for process in (node.pid, step, victim):
        os.kill(process, signal.SIGKILL)
    node.wait()
    lab.slurm.until("the report is there", lambda: (place / "out/findings.json").exists())
    time.sleep(0.5)
    subprocess.run(["scancel", "--user=root"], env=lab.slurm.env, check=True)
    _, err = srun.communicate(timeout=120)
    assert "task 4 of 4 (not started)" in err and "shard 4 of 4 is missing" in err, err


def main():
    parser = in_folders.parser(__doc__)
    parser.add_argument("--large", action="store_true")
    args = parser.parse_args()
    lacking = missing_programs() + ([] if os.geteuid() == 0 else ["root"])
    if lacking:
        print(f"skipped: no {', '.join(lacking)}")
        sys.exit(77)
    checks = [check_srun, check_alone, check_batch, check_array, check_mpirun, check_parallel, check_killed, check_full_disk,
              check_doubled, check_nodes, *([check_large] if args.large else []), check_lost_node]
    with tempfile.TemporaryDirectory(prefix="debrief_slurm.") as folder:
        scratch = Path(folder).resolve()
        scratch.chmod(0o755)  # munged has a user of its own
        (scratch / "slurm").mkdir()
        with Slurm(scratch / "slurm") as slurm:
            lab = Lab(args.binary, slurm, scratch)
            tests = [(check.__name__, lambda place, check=check: check(lab, place)) for check in checks]
            sys.exit(in_folders.run_all("cluster", tests, args.patterns))


if __name__ == "__main__":
    main()
