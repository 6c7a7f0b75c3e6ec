#!/usr/bin/env python3
"""Tests `debrief map` and `debrief reduce`: shards of a job, joined, must give what one process gives.

usage: run.py [--binary PATH] [--data FOLDER] [--short] [PATTERN...]

Jobs are the examples of the repository, generated ones, and, where the reference data is there (--data,
build/shared-data), all that was recorded. Reports are compared file by file and byte by byte, for several numbers of
shards in any order; with them go the tables that views show. One job is compared table by table in the store.
Then shards are joined to shards, made on machines with files of their own, lost, damaged, made twice and killed while
they are written. tasks.py tests `debrief JOB` under srun and mpirun. --short: one number of shards a job, fewer jobs.
PATTERN selects jobs by a part of their name.
"""
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lab import ROOT, Debrief, differences, generate, report_in

sys.path.insert(0, str(ROOT / "tests"))
import in_folders  # noqa: E402

COUNTS = (1, 2, 3, 7, 64)
SCHEDULERS = {
    "srun": {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "3", "SLURM_NTASKS": "9"},
    "sbatch --array": {"SLURM_ARRAY_TASK_ID": "11", "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_ARRAY_TASK_MIN": "10",
                       "SLURM_PROCID": "0", "SLURM_NTASKS": "1"},
    "mpirun": {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "3"},
    "PMI": {"PMI_RANK": "1", "PMI_SIZE": "3"},
    "Kubernetes": {"JOB_COMPLETION_INDEX": "1", "DEBRIEF_SHARDS": "3"},
}


def check_job(debrief, path, counts, scratch):
    single = debrief.report(scratch / "single", path, "--no-store")
    for count in counts:
        shards = debrief.map_all([path], scratch / f"shards_{count}", count)
        assert len(shards) == count, f"{len(shards)} shards of {count}"
        random.Random(count).shuffle(shards)
        joined = debrief.report(scratch / f"joined_{count}", "reduce", *shards, "--no-store")
        assert not differences(single, joined), f"{count} shards: other bytes in {differences(single, joined)}"


def tables_of(debrief, out):
    """Every table of a store as text."""
    names = debrief.run("query", out, "SELECT table_name FROM duckdb_tables() ORDER BY 1", "--csv").out.split()[1:]
    return {name: debrief.run("query", out, f'SELECT * FROM "{name}"', "--csv").out for name in names}


def check_store(debrief, path, scratch):
    debrief.run(path, "-o", scratch / "single", "--quiet")
    shards = debrief.map_all([path], scratch / "shards", 3)
    debrief.run("reduce", *shards, "-o", scratch / "joined", "--quiet")
    single, joined = tables_of(debrief, scratch / "single"), tables_of(debrief, scratch / "joined")
    assert len(single) > 5, "hardly any table"
    assert not differences(single, joined), f"other rows in {differences(single, joined)}"


def check_tree(debrief, path, scratch):
    """Shards of shards, in any form and order, are their shards; what one lacks, another one brings."""
    single = debrief.report(scratch / "single", path, "--no-store")
    s = debrief.map_all([path], scratch / "shards", 7)

    def join(name, *shards):
        debrief.run("reduce", *shards, "--shard-only", "-o", scratch / name, "--quiet")
        return scratch / name
    tree = join("root", join("ab", join("a", s[5], s[0]), join("b", s[3], s[2], s[1])), s[6], join("c", s[4]))
    back = join("back", s[6], join("cb", s[4], join("b2", s[1], s[2], s[3])), join("a2", s[0], s[5]))
    flat = join("flat", *s)
    for name, shards in {"tree": [tree], "back": [back], "flat": [flat], "all": [tree, s[1], flat], "some": [scratch / "ab", s[6], s[4]]}.items():
        joined = debrief.report(scratch / f"of_{name}", "reduce", *shards, "--no-store")
        assert not differences(single, joined), f"{name}: other bytes in {differences(single, joined)}"
    lost = debrief.run("reduce", scratch / "ab", s[6], "-o", scratch / "lost", "--no-store")
    assert "shard 5 of 7 is missing" in lost.err and "shard 4 of 7" not in lost.err, lost.err
    debrief.run("reduce", *s[:2], "--shard-only", "-o", f"{scratch}/folder/", "--quiet")
    debrief.run("reduce", *s[2:], "--shard-only", "-o", f"{scratch}/folder/", "--quiet")
    joined = debrief.report(scratch / "of_folder", "reduce", scratch / "folder", "--no-store")
    assert not differences(single, joined), f"folder: other bytes in {differences(single, joined)}"
    debrief.run("reduce", *s, "--shard-only", ok=(2,))
    damaged = bytearray(s[3].read_bytes())
    damaged[len(damaged) // 3] ^= 8
    s[3].write_bytes(damaged)
    said = debrief.run("reduce", *s, "--shard-only", "-o", scratch / "damaged")
    assert "shard-4-of-7" in said.err, said.err
    said = debrief.run("reduce", scratch / "damaged", "-o", scratch / "damaged_out", "--no-store")
    assert "shard.missing" in said.out, said.out


def make_nodes(path, scratch, count):
    """The files of a job as machines have them that write to one path, each on its own disk."""
    files = sorted(file for file in path.rglob("*") if file.is_file())
    for number, file in enumerate(files):
        place = scratch / f"node{number * count // len(files)}" / "dumps" / file.relative_to(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
    return [scratch / f"node{number}" for number in range(count)]


def node(number, count):
    return {"SLURM_PROCID": str(number), "SLURM_NTASKS": str(count), "SLURM_STEP_ID": "0", "SLURMD_NODENAME": f"n{number + 1}"}


def check_nodes(debrief, path, scratch):
    """Machines that have files of their own at one path: all together are the job, and no shard is taken for another one."""
    nodes = make_nodes(path, scratch, 4)
    shutil.copytree(path, scratch / "whole/dumps")
    printed = debrief.run("dumps", "--no-store", "--quiet", "-o", "out", cwd=scratch / "whole").out
    single = report_in(scratch / "whole", printed)
    for number in (2, 0, 3, 1, 2):
        debrief.run("map", "dumps", "--local", "-o", f"{scratch}/shards/", "--quiet", cwd=nodes[number], env=node(number, 4))
    shards = sorted((scratch / "shards").iterdir())
    assert len(shards) == 4, shards
    joined = debrief.report(scratch / "joined", "reduce", *reversed(shards), "--no-store")
    assert not differences(single, joined), f"other bytes in {differences(single, joined)}"
    debrief.run("reduce", *shards[1:3], "--shard-only", "-o", scratch / "shard-tree", "--quiet")
    joined = debrief.report(scratch / "tree", "reduce", scratch / "shard-tree", shards[3], shards[0], "--no-store")
    assert not differences(single, joined), f"tree: other bytes in {differences(single, joined)}"
    lost = debrief.run("reduce", *shards[:2], shards[3], "-o", scratch / "lost", "--no-store")
    assert "shard 3 of 4 is missing" in lost.err and "shard.missing" in lost.out, lost.err + lost.out
    rules = [finding["rule"] for finding in json.loads((scratch / "lost/findings.json").read_text())["findings"]]
    assert not {"coverage.missing_input", "flight.no_dump"} & set(rules), f"ranks of a machine that is missing are accused: {rules}"


def check_same_names(debrief, scratch):
    """Of files with one name on several machines each counts, unless it is one file that all see."""
    for number in range(3):
        (scratch / f"node{number}/dumps").mkdir(parents=True)
        (scratch / f"node{number}/dumps/seen_by_all.log").write_text("step 1 loss 2.5\n" * 9)
        (scratch / f"node{number}/dumps/own.log").write_text(f"step 1 loss {number}.5\n" * 9)
        debrief.run("map", "dumps", "--local", "-o", f"{scratch}/shards/", "--quiet", cwd=scratch / f"node{number}", env=node(number, 3))
    debrief.run("reduce", scratch / "shards", "-o", scratch / "out", "--quiet")
    paths = debrief.run("query", scratch / "out", "SELECT path FROM input ORDER BY 1", "--csv").out.split()[1:]
    assert paths == ["dumps/seen_by_all.log", "n1:dumps/own.log", "n2:dumps/own.log", "n3:dumps/own.log"], paths


def check_schedulers(debrief, path, scratch):
    for name, env in SCHEDULERS.items():
        (scratch / name).mkdir()
        said = debrief.run("map", path, "-o", scratch / name / "shard", env=env)
        assert "share 2 of 3" in said.out, f"{name}: {said.out}"
    debrief.run("map", path, "-o", scratch / "none", ok=(2,))
    for wrong in ("0/3", "4/3", "x/3", "3", "1/0"):
        debrief.run("map", path, "--shard", wrong, "-o", scratch / "none", ok=(2,))


def check_scripts(debrief):
    for engine in ("--slurm", "--array", "--mpi", "--k8s"):
        text = debrief.run("scale", engine, "/jobs/a b", "--tasks", "5", "-o", "out dir").out
        assert "debrief" in text and "map" in text and "reduce" in text and "a b" in text, text
        if engine != "--k8s":
            subprocess.run(["bash", "-n"], input=text, text=True, check=True)
    debrief.run("scale", "/jobs", ok=(2,))


def check_losses(debrief, path, scratch):
    """A shard that is missing or damaged is named, costs its own inputs, and nobody is blamed for it."""
    shards = debrief.map_all([path], scratch / "shards", 3)
    lost = debrief.run("reduce", shards[0], shards[2], "-o", scratch / "lost", "--no-store")
    assert "shard 2 of 3 is missing" in lost.err and "shard.missing" in lost.out, lost.err + lost.out
    twice = debrief.report(scratch / "twice", "reduce", *shards, *shards, "--no-store")
    once = debrief.report(scratch / "once", "reduce", *shards, "--no-store")
    assert not differences(once, twice), f"shards that were given twice change {differences(once, twice)}"
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
        assert "shard" in said.err + said.out, f"damage {attempt} went unseen"
    debrief.run("reduce", scratch / "damaged", "-o", scratch / "out", "--no-store", ok=(0, 1))
    (scratch / "none").mkdir()
    debrief.run("reduce", scratch / "none", "-o", scratch / "out", "--no-store", ok=(1,))
    (scratch / "old").write_bytes(whole.replace(b"debrief shard 2", b"debrief shard 1"))
    said = debrief.run("reduce", scratch / "old", "-o", scratch / "out", "--no-store", ok=(1,))
    assert "another version" in said.err, said.err


def check_kills(debrief, scratch, times):
    """A map that is killed, wherever it is, leaves no half shard and can be started again."""
    job = generate(scratch / "job", "--ranks", 256, "--entries", 60, "--fault", "stuck", "--fault-rank", 77)
    single = debrief.report(scratch / "single", job, "--no-store")
    shards, killed = scratch / "shards", 0
    begin = time.monotonic()
    debrief.map_all([job], shards, 3)
    whole_s = (time.monotonic() - begin) / 3
    for number in range(10 * times):
        if killed == times:
            break
        started = debrief.start("map", job, "--shard", f"{number % 3 + 1}/3", "-o", f"{shards}/", "--quiet")
        try:
            started.wait(whole_s * (number % times + 0.5) / times / (1 + number // times))
        except subprocess.TimeoutExpired:
            started.send_signal(signal.SIGKILL)
        killed += started.wait() != 0
        started.communicate()
        if number % 5 == 0:
            debrief.run("reduce", shards, "-o", scratch / "between", "--no-store", "--quiet")
    assert killed == times, f"only {killed} of {times} were killed"
    joined = debrief.report(scratch / "joined", "reduce", *debrief.map_all([job], shards, 3)[-3:], "--no-store")
    assert not differences(single, joined), f"after {killed} kills: other bytes in {differences(single, joined)}"


def generated(scratch, count):
    """Jobs of several sizes and shapes, every third one healthy."""
    for number in range(count):
        fault = ("stuck", "size", "none")[number % 3]
        ranks, tp, pp = ((128, 8, 4), (64, 4, 2), (96, 8, 1), (48, 2, 3), (256, 8, 2))[number % 5]
        folder = scratch / f"generated_{number}"
        generate(folder, "--ranks", ranks, "--tp", tp, "--pp", pp, "--entries", 60 + 17 * number, "--frames", 4 + number % 3,
                 "--fault", fault, "--fault-rank", (77 + 13 * number) % ranks, "--seed", number)
        yield f"generated/{number}_{fault}", folder


def jobs_to_check(data, scratch, is_short):
    for example in sorted((ROOT / "examples").iterdir()):
        if example.is_dir() and any(file.suffix not in (".cc", ".py", ".txt", ".md") for file in example.rglob("*") if file.is_file()):
            yield f"examples/{example.name}", example
    yield from generated(scratch, 3 if is_short else 20)
    if data is None:
        print("skipped: recorded jobs, no reference data")
        return
    for kind in ("recorded/jobs", "train", "public/kineto"):
        for folder in sorted((data / kind).glob("*/") if (data / kind).exists() else []):
            yield f"{kind}/{folder.name}", folder


def main():
    parser = in_folders.parser(__doc__)
    parser.add_argument("--data", type=Path, default=ROOT / "build/shared-data")
    parser.add_argument("--short", action="store_true")
    args = parser.parse_args()
    data = args.data if args.data.exists() else None
    with tempfile.TemporaryDirectory(prefix="debrief_scale_jobs.") as name:
        debrief = Debrief(args.binary, Path(name).resolve())
        hung = ROOT / "examples/hung-job"
        jobs = list(jobs_to_check(data, debrief.scratch, args.short))
        # Short: a number a job, so that all numbers come; many processes only for a small job.
        counts = [[(2, 3, 7, 1)[number % 4]] if args.short else list(COUNTS) for number in range(len(jobs))]
        tests = [(job, lambda place, path=path, counts=some: check_job(debrief, path, counts, place))
                 for (job, path), some in zip(jobs, counts)]
        if args.short:
            tests.append(("examples/hung-job of 64", lambda place: check_job(debrief, hung, [64], place)))
        tests += [("store", lambda place: check_store(debrief, hung, place)),
                  ("tree", lambda place: check_tree(debrief, hung, place)),
                  ("nodes", lambda place: check_nodes(debrief, hung, place)),
                  ("same_names", lambda place: check_same_names(debrief, place)),
                  ("schedulers", lambda place: check_schedulers(debrief, hung, place)),
                  ("scripts", lambda place: check_scripts(debrief)),
                  ("losses", lambda place: check_losses(debrief, hung, place)),
                  ("kills", lambda place: check_kills(debrief, place, 10 if args.short else 50))]
        sys.exit(in_folders.run_all("scale", tests, args.patterns))


if __name__ == "__main__":
    main()
