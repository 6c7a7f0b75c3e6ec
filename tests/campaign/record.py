#!/usr/bin/env python3
"""Records the campaign on a machine with one GPU: every job of a set under torchrun, two to eight ranks, several jobs at a time.

    python3 tests/campaign/record.py OUT [--set first|second|third|kept] [--only NAME...] [--beside 6] [--seconds 500]

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
from sets import first, kept, second, third  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
# Programs run from these folders: their paths stand in what they leave.
PLACES = {"first": pathlib.Path("/home/user/lab"), "second": pathlib.Path("/home/user/lab"), "third": pathlib.Path("/opt/ml/code"),
          "kept": pathlib.Path("/workspace/exp/src")}
JOBS = {"first": first.all_jobs, "second": second.second_jobs, "third": third.third_jobs, "kept": kept.kept_jobs}
EACH_RANK = 'export NCCL_HOSTID=host$RANK; exec python3 "$@"'


def environment(job, folder):
    variables = dict(os.environ, NCCL_SOCKET_IFNAME="lo", NCCL_P2P_DISABLE="1", NCCL_SHM_DISABLE="1", NCCL_IB_DISABLE="1",
                     OMP_NUM_THREADS="1", TORCH_NCCL_ASYNC_ERROR_HANDLING="1", PYTHONUNBUFFERED="1", TORCH_ELASTIC_SHUTDOWN_TIMEOUT="10",
                     TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC="20", TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC="3000")
    if job["dumps"]:
        variables.update(TORCH_FR_BUFFER_SIZE="300", TORCH_NCCL_DUMP_ON_TIMEOUT="1", TORCH_FR_DUMP_TEMP_FILE=str(folder / "fr" / "nccl_trace_rank_"))
    if job["nccl_info"]:
        variables["NCCL_DEBUG"] = "INFO"
    if job.get("prefix") == "template":
        variables["TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE"] = "[${role_name}-${rank}]: "
    return variables


def place_of(job, folder, node):
    """Where the launcher of a node leaves its text and its logs."""
    return folder if job.get("nodes", 1) == 1 else folder / f"node{node}"


def program(job, folder):
    """How a rank is started: a program of the first set through a shell, one of the others as a user would."""
    place = PLACES[job["set"]]
    if "script" in job:
        sick = ",".join(str(rank) for rank in job.get("ranks", [job["rank"]]))
        stacks = [] if not job["stacks"] else ["--stacks=file" if job["stacks"] is True else f"--stacks={job['stacks']}"]
        line = [str(place / f"{job['script']}.py"), f"--run-dir={folder}", f"--at-step={job['at_step']}", f"--sick-ranks={sick}",
                f"--time-limit={15 if job['fault'] else 40}", f"--steps={60 if job.get('snapshot') else 10}"]
        return line + [f"--{name}={job[name]}" for name in ("fault", "variant") if job[name]] + stacks + (["--traces"] if job.get("traces") else [])
    line = ["--no-python", "bash", "-c", EACH_RANK, "train", str(place / "programs.py"), f"--program={job['program']}",
            f"--scratch={folder / 'scratch'}", f"--at-step={job['at_step']}", f"--rank={job['rank']}"]
    line += [f"--fault={job['fault']}"] if job["fault"] else []
    line += ["--stacks-after=10"] if job["stacks"] else []
    return line + (["--talkative"] if job["talkative"] else [])


def command(job, folder, node):
    line = ["torchrun", f"--nproc-per-node={job['world'] // job.get('nodes', 1)}", f"--max-restarts={job['restarts']}"]
    if job.get("nodes", 1) > 1:
        line += [f"--nnodes={job['nodes']}", f"--node-rank={node}", "--master-addr=127.0.0.1", f"--master-port={24000 + int(job['name'][1:])}"]
    else:
        line += ["--nnodes=1", "--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0"]
    line += ["--role=trainer"] if job.get("prefix") else []
    if job["output"] != "launcher":
        how = {"tee": "--tee=3", "redirect": "--redirects=3", "partly": "--redirects=2"}[job["output"]]
        line += [f"--log-dir={place_of(job, folder, node) / 'logs'}", how]
    return line + program(job, folder) + ([f"--dump-at={job['dump_at']}"] if job.get("dump_at") else [])


def take_snapshot(job, folder):
    """What lies there while the job still runs, once every rank has dumped."""
    copy = folder.with_name(folder.name + ".snapshot")
    if not copy.exists() and all((folder / "scratch" / f"dumped_{rank}").exists() for rank in range(job["world"])):
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("scratch"))


def start(job, folder, node):
    place = place_of(job, folder, node)
    place.mkdir(exist_ok=True)
    with open(place / "torchrun.txt", "w") as text:
        return subprocess.Popen(command(job, folder, node), env=environment(job, folder), stdout=text, stderr=subprocess.STDOUT, cwd=folder,
                                start_new_session=True)


def watch(launchers, job, folder, limit=100):
    """The launchers' exit code; None if they had to be ended."""
    end = time.time() + limit
    while time.time() < end:
        if all(process.poll() is not None for process in launchers):
            return max(process.returncode for process in launchers)
        if job.get("snapshot"):
            take_snapshot(job, folder)
        time.sleep(0.2)
    for process in launchers:
        if process.poll() is None:
            os.killpg(process.pid, 9)
    return None


def tidy(folder):
    """Leaves what the job would have left: no scratch, no empty file of stacks; the snapshot instead of the end, where one was taken."""
    copy = folder.with_name(folder.name + ".snapshot")
    if copy.exists():
        shutil.rmtree(folder)
        copy.rename(folder)
    shutil.rmtree(folder / "scratch", ignore_errors=True)
    for path in folder.glob("stacks_rank*.txt"):
        if path.stat().st_size == 0:
            path.unlink()


def record(job, out):
    folder = out / job["name"]
    folder.mkdir(parents=True)
    began = time.time()
    if job["dumps"]:
        (folder / "fr").mkdir()
    code = watch([start(job, folder, node) for node in range(job.get("nodes", 1))], job, folder)
    subprocess.run(["pkill", "-9", "-f", f"{folder}[ /]"], check=False)
    planted = sorted([int(part) for part in path.name.split("_")[1:]] for path in (folder / "scratch").glob("planted_*"))
    tidy(folder)
    truth = {**job, "exit": code, "seconds": round(time.time() - began, 1), "planted": planted}
    if len(job.get("ranks", [])) > 1:  # some may have been ended by the others' end before they came to it
        truth["ranks"] = [rank for rank in job["ranks"] if [job["restarts"], rank] in planted]
    (out / f"{job['name']}.json").write_text(json.dumps(truth, indent=1) + "\n")
    return job["name"], code, time.time() - began


def chosen_jobs(options):
    """Mixed, so that a recording that is cut short still has some of everything."""
    jobs = [{**job, "set": options.set} for job in JOBS[options.set]() if not options.only or job["name"] in options.only]
    return sorted(jobs, key=lambda job: (not job["restarts"], hashlib.sha256(job["name"].encode()).hexdigest()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--set", choices=PLACES, default="kept")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--beside", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=10000, help="start no job after that time")
    options = parser.parse_args()
    begin = time.time()
    options.out.mkdir(parents=True, exist_ok=True)
    PLACES[options.set].mkdir(parents=True, exist_ok=True)
    for path in [HERE / "programs" / "lab.py", *(HERE / "programs" / options.set).glob("*.py")]:
        shutil.copy(path, PLACES[options.set])

    def one(job):
        if time.time() - begin > options.seconds or (options.out / job["name"]).exists():
            return None
        return record(job, options.out)
    with concurrent.futures.ThreadPoolExecutor(options.beside) as pool:
        for future in concurrent.futures.as_completed([pool.submit(one, job) for job in chosen_jobs(options)]):
            if future.result():
                name, code, seconds = future.result()
                print(f"{time.time() - begin:4.0f} s: {name:36} exit {code}  {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
