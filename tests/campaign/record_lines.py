#!/usr/bin/env python3
"""Records the jobs of the set `fourth` again: each truth has the shell line that started its job, so that any launcher can be one.

    python3 tests/campaign/record_lines.py TRUTHS OUT [--only NAME...]

TRUTHS is a folder or an archive with truths. Needs a PyTorch with gloo, no GPU; jobs of accelerate and transformers need these, jobs of mpirun
Open MPI. Programs run from /home/ml/exp/src: their paths stand in what they leave. A mark beside the job says that a fault was planted.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PLACE = pathlib.Path("/home/ml/exp/src")
LIMIT = 140  # seconds until a job is ended that does not end by itself
LEFT_OUT = shutil.ignore_patterns("checkpoints", "output", "dcp_ckpt", "state_*", "*.pt", "*.tmp", "run.sh")


def environment(truth, marks):
    ranks = ",".join(str(rank) for rank in truth["sick"])
    return dict(os.environ, OMP_NUM_THREADS="1", USE_LIBUV="0", TORCH_ELASTIC_SHUTDOWN_TIMEOUT="5", FAULT=truth["plants"], FAULT_RANKS=ranks,
                FAULT_MARKS=str(marks), **truth["environment"])


def record(truth, out):
    folder = out / truth["name"]
    with tempfile.TemporaryDirectory() as scratch:
        run, marks = pathlib.Path(scratch) / "run", pathlib.Path(scratch) / "marks"
        run.mkdir()
        marks.mkdir()
        for name, text in truth.get("files", {}).items():
            (run / name).write_text(text)
        process = subprocess.Popen(["bash", "-c", truth["line"]], cwd=run, env=environment(truth, marks), start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            code = process.wait(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            code = None
        shutil.copytree(run, folder, ignore=LEFT_OUT)
        if code is None:
            os.killpg(process.pid, signal.SIGKILL)
        planted = sorted([int(part) for part in path.name.split("_")[1:]] for path in marks.iterdir())
    (out / f"{truth['name']}.json").write_text(json.dumps({**truth, "exit": code, "planted": planted}, indent=1) + "\n")
    return code


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("truths", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    PLACE.mkdir(parents=True, exist_ok=True)
    for path in (HERE / "programs" / "fourth").glob("*.py"):
        shutil.copy(path, PLACE)
    with tempfile.TemporaryDirectory() as scratch:
        if options.truths.is_file():
            with tarfile.open(options.truths) as archive:
                archive.extractall(scratch)
        folder = pathlib.Path(scratch) if options.truths.is_file() else options.truths
        for path in sorted(folder.glob("*.json")):
            truth = json.loads(path.read_text())
            if truth["set"] == "fourth" and (not options.only or truth["name"] in options.only):
                print(f"{truth['name']}: exit {record(truth, options.out)}", flush=True)


if __name__ == "__main__":
    main()
