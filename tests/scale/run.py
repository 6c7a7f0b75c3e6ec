#!/usr/bin/env python3
"""Tests `debrief map` and `debrief reduce`: shards of a job, joined, must give what one process gives.

usage: run.py [--binary PATH] [--data FOLDER] [--short] [PATTERN...]

Jobs are the examples of the repository, generated ones, and, where the reference data is there (--data,
build/shared-data), all that was recorded. Reports are compared file by file and byte by byte, for several numbers of
shards in any order; with them go the tables that views show. One job is compared table by table in the store.
Then shards are lost, damaged, made twice and killed while they are written. --short: fewer numbers of shards.
PATTERN selects jobs by a part of their name.
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
GENERATOR = ROOT / "tools/make_flight_job.py"
SCHEDULERS = {
    "srun": {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "3", "SLURM_NTASKS": "9"},
    "sbatch --array": {"SLURM_ARRAY_TASK_ID": "11", "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_ARRAY_TASK_MIN": "10",
                       "SLURM_PROCID": "0", "SLURM_NTASKS": "1"},
    "mpirun": {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "3"},
    "PMI": {"PMI_RANK": "1", "PMI_SIZE": "3"},
    "Kubernetes": {"JOB_COMPLETION_INDEX": "1", "DEBRIEF_SHARDS": "3"},
}
CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("SLURM_", "OMPI_", "PMI_", "JOB_COMPLETION", "DEBRIEF_"))}


class Debrief:
    def __init__(self, binary, scratch):
        self.binary, self.scratch = binary, scratch

    def run(self, *words, cwd=None, env=None, ok=(0,)):
        done = subprocess.run([self.binary, *map(str, words)], cwd=cwd or self.scratch, env={**CLEAN, **(env or {})},
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode in ok, f"{words}: exit code {done.returncode}\n{done.stderr[-2000:]}"
        return done

    def report(self, folder, *words):
        """Everything under folder/out, by name, and what was printed."""
        folder.mkdir(parents=True)
        printed = self.run(*words, "-o", "out", "--quiet", cwd=folder).stdout
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
        return {**files, "(stdout)": printed}

    def map_all(self, paths, folder, count):
        for number in range(1, count + 1):
            self.run("map", *paths, "--shard", f"{number}/{count}", "-o", f"{folder}/", "--quiet")
        return sorted(folder.iterdir())


def differences(single, joined):
    return [name for name in single.keys() | joined.keys() if single.get(name) != joined.get(name)]


def check_job(debrief, name, path, counts, scratch):
    single = debrief.report(scratch / "single", path, "--no-store")
    for count in counts:
        shards = debrief.map_all([path], scratch / f"shards_{count}", count)
        assert len(shards) == count, f"{len(shards)} shards of {count}"
        random.Random(count).shuffle(shards)
        joined = debrief.report(scratch / f"joined_{count}", "reduce", *shards, "--no-store")
        assert not differences(single, joined), f"{count} shards: other bytes in {differences(single, joined)}"


def tables_of(debrief, out):
    """Every table of a store as text."""
    names = debrief.run("query", out, "SELECT table_name FROM duckdb_tables() ORDER BY 1", "--csv").stdout.split()[1:]
    return {name: debrief.run("query", out, f'SELECT * FROM "{name}"', "--csv").stdout for name in names}


def check_store(debrief, path, scratch):
    debrief.run(path, "-o", scratch / "single", "--quiet")
    shards = debrief.map_all([path], scratch / "shards", 3)
    debrief.run("reduce", *shards, "-o", scratch / "joined", "--quiet")
    single, joined = tables_of(debrief, scratch / "single"), tables_of(debrief, scratch / "joined")
    assert len(single) > 5, "hardly any table"
    assert not differences(single, joined), f"other rows in {differences(single, joined)}"


def check_own_paths(debrief, path, scratch):
    """Machines that have files of their own: all that each of them has is in its shard."""
    files = sorted(file for file in path.rglob("*") if file.is_file())
    for number in range(2):
        node = scratch / f"node{number}"
        for file in files[number::2]:
            place = node / file.relative_to(path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.read_bytes())
        debrief.run("map", node, "--local", "-o", f"{scratch}/shards/", "--quiet",
                    env={"SLURM_PROCID": str(number), "SLURM_NTASKS": "2"})
    joined = debrief.run("reduce", scratch / "shards", "-o", scratch / "out", "--no-store", "--quiet").stdout
    whole = debrief.run(scratch / "node0", scratch / "node1", "--one-job", "-o", scratch / "whole", "--no-store", "--quiet").stdout
    assert joined.splitlines()[0] == whole.splitlines()[0], f"{joined[:300]}\n{whole[:300]}"


def check_schedulers(debrief, path, scratch):
    for name, env in SCHEDULERS.items():
        (scratch / name).mkdir()
        said = debrief.run("map", path, "-o", scratch / name / "shard", env=env)
        assert "share 2 of 3" in said.stdout, f"{name}: {said.stdout}"
    debrief.run("map", path, "-o", scratch / "none", ok=(2,))
    for wrong in ("0/3", "4/3", "x/3", "3", "1/0"):
        debrief.run("map", path, "--shard", wrong, "-o", scratch / "none", ok=(2,))


def check_scripts(debrief):
    for engine in ("--slurm", "--array", "--mpi", "--k8s"):
        text = debrief.run("scale", engine, "/jobs/a b", "--tasks", "5", "-o", "out dir").stdout
        assert "debrief" in text and "map" in text and "reduce" in text and "a b" in text, text
        if engine != "--k8s":
            subprocess.run(["bash", "-n"], input=text, text=True, check=True)
    debrief.run("scale", "/jobs", ok=(2,))


def check_losses(debrief, path, scratch):
    """A shard that is missing or damaged is named, costs its own inputs, and nobody is blamed for it."""
    shards = debrief.map_all([path], scratch / "shards", 3)
    lost = debrief.run("reduce", shards[0], shards[2], "-o", scratch / "lost", "--no-store")
    assert "shard 2 of 3 is missing" in lost.stderr and "shard.missing" in lost.stdout, lost.stderr + lost.stdout
    twice = debrief.report(scratch / "twice", "reduce", *shards, *shards, "--no-store")
    once = debrief.report(scratch / "once", "reduce", *shards, "--no-store")
    assert not differences(once, twice), "shards that were given twice change something"
    numbers = random.Random(5)
    whole = shards[1].read_bytes()
    for attempt in range(24):
        damaged = bytearray(whole)
        if attempt % 3 == 0:
            damaged = damaged[:numbers.randrange(len(damaged))]
        else:
            for _ in range(1 + attempt % 5):
                damaged[numbers.randrange(len(damaged))] ^= 1 << numbers.randrange(8)
        bad = scratch / "damaged"
        bad.write_bytes(damaged)
        said = debrief.run("reduce", shards[0], bad, shards[2], "-o", scratch / "out", "--no-store")
        assert "shard" in said.stderr + said.stdout, f"damage {attempt} went unseen"
    debrief.run("reduce", scratch / "damaged", "-o", scratch / "out", "--no-store", ok=(0, 1))
    (scratch / "none").mkdir()
    debrief.run("reduce", scratch / "none", "-o", scratch / "out", "--no-store", ok=(1,))


def check_kills(debrief, scratch, times):
    """A map that is killed leaves no half shard, and can be started again."""
    job = scratch / "job"
    subprocess.run([sys.executable, GENERATOR, job, "--ranks", "256", "--entries", "60", "--fault", "stuck",
                    "--fault-rank", "77"], check=True, capture_output=True)
    single = debrief.report(scratch / "single", job, "--no-store")
    numbers, shards, killed = random.Random(7), scratch / "shards", 0
    for _ in range(times):
        share = numbers.randrange(1, 4)
        started = subprocess.Popen([debrief.binary, "map", job, "--shard", f"{share}/3", "-o", f"{shards}/", "--quiet"], env=CLEAN,
                                   stdout=subprocess.DEVNULL)
        time.sleep(numbers.random() * 0.15)
        started.send_signal(signal.SIGKILL)
        killed += started.wait() != 0
    joined = debrief.report(scratch / "joined", "reduce", *debrief.map_all([job], shards, 3)[-3:], "--no-store")
    assert not differences(single, joined), f"after {killed} kills: other bytes in {differences(single, joined)}"


def generated(scratch):
    jobs = {"none": [], "stuck": ["--fault-rank", "77"], "size": ["--fault-rank", "100"]}
    for fault, words in jobs.items():
        folder = scratch / f"generated_{fault}"
        subprocess.run([sys.executable, GENERATOR, folder, "--ranks", "128", "--entries", "120", "--frames", "4", "--fault",
                        fault, *words], check=True, capture_output=True)
        yield f"generated/{fault}", folder


def jobs_to_check(data, scratch):
    for example in sorted((ROOT / "examples").iterdir()):
        if example.is_dir() and any(file.suffix not in (".cc", ".py", ".txt", ".md") for file in example.rglob("*") if file.is_file()):
            yield f"examples/{example.name}", example
    yield from generated(scratch)
    if data is None:
        print("skipped: recorded jobs, no reference data")
        return
    for kind in ("recorded/jobs", "train", "public/kineto"):
        for folder in sorted((data / kind).glob("*/") if (data / kind).exists() else []):
            yield f"{kind}/{folder.name}", folder


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", type=Path, default=ROOT / "build/debug/debrief")
    parser.add_argument("--data", type=Path, default=ROOT / "build/shared-data")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("patterns", nargs="*")
    args = parser.parse_args()
    data = args.data if args.data.exists() else None
    counts = [3] if args.short else [1, 2, 3, 7]
    failed = passed = 0
    with tempfile.TemporaryDirectory(prefix="debrief_scale.") as name:
        scratch = Path(name).resolve()
        debrief = Debrief(args.binary.resolve(), scratch)
        hung = ROOT / "examples/hung-job"
        more = {"generated/size": [64]} if not args.short else {}
        tests = [(job, lambda place, path=path, job=job: check_job(debrief, job, path, counts + more.get(job, []), place))
                 for job, path in jobs_to_check(data, scratch)]
        tests += [("store", lambda place: check_store(debrief, hung, place)),
                  ("own_paths", lambda place: check_own_paths(debrief, hung, place)),
                  ("schedulers", lambda place: check_schedulers(debrief, hung, place)),
                  ("scripts", lambda place: check_scripts(debrief)),
                  ("losses", lambda place: check_losses(debrief, hung, place)),
                  ("kills", lambda place: check_kills(debrief, place, 10 if args.short else 50))]
        for number, (title, test) in enumerate(tests):
            if args.patterns and not any(pattern in title for pattern in args.patterns):
                continue
            place = scratch / str(number)
            place.mkdir()
            try:
                test(place)
                passed += 1
            except (AssertionError, subprocess.CalledProcessError) as error:
                failed += 1
                print(f"FAILED {title}: {error}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
