"""What the programs of all sets but the first share: options, a short time limit for every group, stacks of slow steps, dumps on demand, a
profile of one step, and a mark beside the job whenever a fault was really planted.

Nothing of a fault is written here: each program plants its own, where users would have written it.
"""
import argparse
import ctypes
import datetime
import faulthandler
import os
import sys
import time

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
ATTEMPT = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
os.environ["NCCL_HOSTID"] = f"host{RANK}"  # one GPU serves all ranks: NCCL must take them for hosts

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

DEVICE = torch.device("cuda", 0)


def _options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", default="")
    parser.add_argument("--variant", default="", help="a healthy program's other way")
    parser.add_argument("--sick-ranks", default="", help="who fails, with commas; -1: every rank")
    parser.add_argument("--at-step", type=int, default=4)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--time-limit", type=float, default=15, help="seconds until a collective of any group is given up")
    parser.add_argument("--dump-at", type=int, default=-1, help="ranks dump in this step or one of the next two, and go on")
    parser.add_argument("--stacks", choices=["", "file", "stderr"], default="", help="write stacks of a step of more than eight seconds")
    parser.add_argument("--traces", action="store_true", help="profile one step into traces/")
    parser.add_argument("--run-dir", required=True)
    return parser.parse_args()


OPTIONS = _options()
FOLDER = os.path.join(OPTIONS.run_dir, "scratch")
SICK = [int(rank) for rank in OPTIONS.sick_ranks.split(",") if rank]
SICK = list(range(WORLD)) if SICK == [-1] else SICK
os.makedirs(FOLDER, exist_ok=True)


def sick(fault, step=None):
    """Whether this rank does it now; it then leaves a mark, the proof that the fault was planted."""
    if OPTIONS.fault != fault or RANK not in SICK or step not in (None, OPTIONS.at_step):
        return False
    open(os.path.join(FOLDER, f"planted_{ATTEMPT}_{RANK}"), "w").close()
    return True


def wait_without_spinning():
    """A waiting process leaves its core to others: many ranks share few."""
    for name in ("libcudart.so.13", "libcudart.so.12"):
        try:
            ctypes.CDLL(name).cudaSetDeviceFlags(4)
            return
        except OSError:
            continue


def limit():
    return datetime.timedelta(seconds=OPTIONS.time_limit)


def start(backend="nccl"):
    # Groups of a mesh take no time limit of their own.
    dist.distributed_c10d.default_pg_nccl_timeout = limit()
    dist.distributed_c10d.default_pg_timeout = limit()
    if backend != "gloo":
        wait_without_spinning()
        torch.cuda.set_device(DEVICE)
    dist.init_process_group(backend, timeout=limit())


def _dump():
    folder = os.path.join(OPTIONS.run_dir, "fr")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"nccl_trace_rank_{RANK}"), "wb") as file:
        file.write(torch._C._distributed_c10d._dump_nccl_trace(includeCollectives=True, includeStackTraces=True, onlyActive=False))
    open(os.path.join(FOLDER, f"dumped_{RANK}"), "w").close()


def _profile(step):
    """The second and the third step, as a schedule of the profiler would take them."""
    if step == 1:
        _profile.running = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
        _profile.running.start()
    elif step == 3 and hasattr(_profile, "running"):
        _profile.running.stop()
        os.makedirs(os.path.join(OPTIONS.run_dir, "traces"), exist_ok=True)
        _profile.running.export_chrome_trace(os.path.join(OPTIONS.run_dir, "traces", f"rank{RANK}.pt.trace.json"))


def beat(step):
    """Called at the start of each step."""
    if OPTIONS.traces:
        _profile(step)
    if OPTIONS.stacks:
        if not hasattr(beat, "file"):
            beat.file = sys.stderr if OPTIONS.stacks == "stderr" else open(os.path.join(OPTIONS.run_dir, f"stacks_rank{RANK}.txt"), "w")
        faulthandler.dump_traceback_later(8, file=beat.file)
    if OPTIONS.dump_at >= 0:
        time.sleep(0.1)
        if step == OPTIONS.dump_at + RANK % 3:
            _dump()


def finish():
    faulthandler.cancel_dump_traceback_later()
    dist.destroy_process_group()
