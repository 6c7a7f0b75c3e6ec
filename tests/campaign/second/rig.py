"""What the programs of this folder share: options, a process group whose every subgroup gives up soon, stacks of slow steps, dumps on demand.

Nothing of a fault is written here: each program plants its own, where users would have written it.
"""
import argparse
import datetime
import faulthandler
import os
import time

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
os.environ["NCCL_HOSTID"] = f"host{RANK}"  # one GPU serves all ranks: NCCL must take them for hosts

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

DEVICE = torch.device("cuda", 0)


def _options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", default="")
    parser.add_argument("--variant", default="", help="a healthy program's other way")
    parser.add_argument("--sick-rank", type=int, default=-1, help="who fails; -1: every rank")
    parser.add_argument("--at-step", type=int, default=4)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--time-limit", type=float, default=15, help="seconds until a collective of any group is given up")
    parser.add_argument("--dump-at", type=int, default=-1, help="ranks dump in this step or one of the next two, and go on")
    parser.add_argument("--stacks", action="store_true", help="write stacks of a step of more than eight seconds")
    parser.add_argument("--run-dir", required=True)
    return parser.parse_args()


OPTIONS = _options()
FOLDER = os.path.join(OPTIONS.run_dir, "scratch")


def sick(fault, step=None):
    return OPTIONS.fault == fault and OPTIONS.sick_rank in (RANK, -1) and step in (None, OPTIONS.at_step)


def start(backend="nccl"):
    os.makedirs(FOLDER, exist_ok=True)
    limit = datetime.timedelta(seconds=OPTIONS.time_limit)
    # Groups of a mesh take no time limit of their own.
    dist.distributed_c10d.default_pg_nccl_timeout = limit
    dist.distributed_c10d.default_pg_timeout = limit
    torch.cuda.set_device(DEVICE)
    dist.init_process_group(backend, timeout=limit)


def _dump():
    folder = os.path.join(OPTIONS.run_dir, "fr")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"nccl_trace_rank_{RANK}"), "wb") as file:
        file.write(torch._C._distributed_c10d._dump_nccl_trace(includeCollectives=True, includeStackTraces=True, onlyActive=False))
    open(os.path.join(FOLDER, f"dumped_{RANK}"), "w").close()


def beat(step):
    """Called at the start of each step."""
    if OPTIONS.stacks:
        if not hasattr(beat, "file"):
            beat.file = open(os.path.join(OPTIONS.run_dir, f"stacks_rank{RANK}.txt"), "w")
        faulthandler.dump_traceback_later(8, file=beat.file)
    if OPTIONS.dump_at >= 0:
        time.sleep(0.1)
        if step == OPTIONS.dump_at + RANK % 3:
            _dump()


def finish():
    faulthandler.cancel_dump_traceback_later()
    dist.destroy_process_group()
