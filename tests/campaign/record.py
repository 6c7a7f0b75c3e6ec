#!/usr/bin/env python3
"""Records the campaign on a machine with one GPU: every job of jobs.py under torchrun, three to eight ranks, several jobs at a time.

    python3 tests/campaign/record.py OUT [--only NAME...] [--beside 6] [--seconds 500]

OUT/<job>/ is what the job left (fr/, logs/, torchrun.txt, ...), OUT/<job>.json its truth. One GPU serves all ranks because each
has an NCCL_HOSTID of its own, so that NCCL talks through sockets.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import jobs as campaign  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
EACH_RANK = 'export NCCL_HOSTID=host$RANK; exec python3 "$@"'


def environment(job, folder):
    variables = dict(os.environ, NCCL_SOCKET_IFNAME="lo", NCCL_P2P_DISABLE="1", NCCL_SHM_DISABLE="1", NCCL_IB_DISABLE="1",
                     OMP_NUM_THREADS="1", TORCH_NCCL_ASYNC_ERROR_HANDLING="1", PYTHONUNBUFFERED="1",
                     TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC="20", TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC="3000")
    if job["dumps"]:
        (folder / "fr").mkdir()
        variables.update(TORCH_FR_BUFFER_SIZE="300", TORCH_NCCL_TRACE_BUFFER_SIZE="300", TORCH_NCCL_DUMP_ON_TIMEOUT="1",
                         TORCH_FR_DUMP_TEMP_FILE=str(folder / "fr" / "nccl_trace_rank_"),
                         TORCH_NCCL_DEBUG_INFO_TEMP_FILE=str(folder / "fr" / "nccl_trace_rank_"))
    if job["nccl_info"]:
        variables["NCCL_DEBUG"] = "INFO"
    return variables


def command(job, folder):
    line = ["torchrun", f"--nproc-per-node={job['world']}", "--nnodes=1", "--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0",
            f"--max-restarts={job['restarts']}"]
    if job["output"] != "launcher":
        line += [f"--log-dir={folder / 'logs'}", "--tee=3" if job["output"] == "tee" else "--redirects=3"]
    line += ["--no-python", "bash", "-c", EACH_RANK, "train", str(HERE / "programs.py"), f"--program={job['program']}",
             f"--scratch={folder / 'scratch'}", f"--at-step={job['at_step']}", f"--rank={job['rank']}"]
    if job["fault"]:
        line += [f"--fault={job['fault']}"]
    if job.get("dump_at"):
        line += [f"--dump-at={job['dump_at']}"]
    if job["stacks"]:
        line += ["--stacks-after=10"]
    return line + (["--talkative"] if job["talkative"] else [])


def record(job, out):
    folder = out / job["name"]
    folder.mkdir(parents=True)
    start = time.time()
    with open(folder / "torchrun.txt", "w") as text:
        process = subprocess.Popen(command(job, folder), env=environment(job, folder), stdout=text, stderr=subprocess.STDOUT, cwd=folder,
                                   start_new_session=True)
        try:
            code = process.wait(timeout=130)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            code = None
    subprocess.run(["pkill", "-9", "-f", f"{folder / 'scratch'}"], check=False)
    shutil.rmtree(folder / "scratch", ignore_errors=True)
    (out / f"{job['name']}.json").write_text(json.dumps({**job, "exit": code, "seconds": round(time.time() - start, 1)}, indent=1) + "\n")
    return job["name"], code, time.time() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--beside", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=10000, help="start no job after that time")
    options = parser.parse_args()
    begin = time.time()
    # Mixed, so that a recording that is cut short still has some of everything.
    chosen = [job for job in campaign.all_jobs() if not options.only or job["name"] in options.only]
    chosen.sort(key=lambda job: hashlib.sha256(job["name"].encode()).hexdigest())
    options.out.mkdir(parents=True, exist_ok=True)

    def one(job):
        if time.time() - begin > options.seconds or (options.out / job["name"]).exists():
            return None
        return record(job, options.out)
    with concurrent.futures.ThreadPoolExecutor(options.beside) as pool:
        for result in pool.map(one, chosen):
            if result:
                print(f"{result[0]:36} exit {result[1]}  {result[2]:.0f} s", flush=True)


if __name__ == "__main__":
    main()
