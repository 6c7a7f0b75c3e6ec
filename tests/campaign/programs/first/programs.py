"""Training programs of a campaign job, and the faults that can be planted in them. Runs on each rank, under any launcher that
sets RANK, LOCAL_RANK and WORLD_SIZE.

A program is a function that gives one step (and calls `at(place)` where users do the same kind of thing); a fault is a function
that runs at one place, in one step, on one rank (or on all). Nothing here knows how debrief decides.
"""
import argparse
import contextlib
import ctypes
import datetime
import faulthandler
import logging
import os
import signal
import sys
import threading
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
DEVICE = torch.device("cuda", 0)
log = logging.getLogger("train")


# ---------------------------------------------------------------- what users write

class Net(nn.Module):
    def __init__(self, width=256, depth=4):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.head = nn.Linear(width, 16)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(x)


def batch(width=256):
    return torch.randn(32, width, device=DEVICE), torch.randint(0, 16, (32,), device=DEVICE)


class Job:
    """What a step needs, and the hook at which faults are planted."""

    def __init__(self, options):
        self.options, self.step, self.groups, self.lock = options, 0, {}, threading.Lock()
        self.loss = torch.zeros((), device=DEVICE)

    def at(self, place):
        if self.options.fault and FAULTS[self.options.fault][0] == place and self.step == self.options.at_step:
            if self.options.rank in (RANK, -1):
                return FAULTS[self.options.fault][1](self)
        return None


def train_step(job, model, optimizer, inputs=None):
    x, y = inputs or batch()
    job.at("before_forward")
    loss = nn.functional.cross_entropy(model(x), y)
    job.at("before_backward")
    loss.backward()
    job.at("before_optimizer")
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    job.loss = loss.detach()


def ddp(job):
    model = DistributedDataParallel(Net().to(DEVICE), device_ids=[0])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    job.model = model
    return lambda: train_step(job, model, optimizer)


def accumulation(job):
    model = DistributedDataParallel(Net().to(DEVICE), device_ids=[0])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    job.model = model

    def step():
        for micro in range(4):
            with model.no_sync() if micro < 3 else contextlib.nullcontext():
                x, y = batch()
                job.at("before_forward")
                nn.functional.cross_entropy(model(x), y).backward()
        job.at("before_optimizer")
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return step


def fsdp2(job):
    from torch.distributed.fsdp import fully_shard
    model = Net().to(DEVICE)
    for layer in model.layers:
        fully_shard(layer)
    fully_shard(model)
    job.model = model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    return lambda: train_step(job, model, optimizer)


def tensor_parallel(job):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    mesh = init_device_mesh("cuda", (WORLD // 2, 2), mesh_dim_names=("data", "tensor"))
    model = Net().to(DEVICE)
    plan = {f"layers.{i}": (ColwiseParallel if i % 2 == 0 else RowwiseParallel)() for i in range(4)}
    parallelize_module(model, mesh["tensor"], plan)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=False)
    job.groups["data"] = mesh["data"].get_group()

    def step():
        torch.manual_seed(job.step)
        train_step(job, model, optimizer)
        job.at("before_sync")
        dist.all_reduce(job.loss, group=job.groups["data"])
    return step


def pipeline(job):
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B
    part = nn.Sequential(nn.Linear(256, 256), nn.ReLU()).to(DEVICE)
    stage = PipelineStage(part, RANK, WORLD, DEVICE)
    schedule = Schedule1F1B(stage, n_microbatches=8, loss_fn=nn.functional.mse_loss)
    optimizer = torch.optim.SGD(part.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad()
        x = torch.randn(64, 256, device=DEVICE)
        job.at("before_forward")
        if RANK == 0:
            schedule.step(x)
        elif RANK == WORLD - 1:
            schedule.step(target=torch.randn(64, 256, device=DEVICE))
        else:
            schedule.step()
        job.at("before_optimizer")
        optimizer.step()
    return step


def ring(job):
    """Sends and receives in a ring, as context parallelism does."""
    block = torch.randn(64, 256, device=DEVICE)

    def step():
        other = torch.empty_like(block)
        job.at("before_sync")
        if not job.at("send"):
            works = dist.batch_isend_irecv([dist.P2POp(dist.isend, block, (RANK + 1) % WORLD),
                                            dist.P2POp(dist.irecv, other, (RANK - 1) % WORLD)])
            for work in works:
                work.wait()
        block.mul_(0.5).add_(other, alpha=0.5)
        dist.all_reduce(job.loss)
    return step


def experts(job):
    model = Net().to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step():
        generator = torch.Generator().manual_seed(job.step)
        counts = torch.randint(4, 12, (WORLD, WORLD), generator=generator)
        send = torch.randn(int(counts[RANK].sum()), 256, device=DEVICE)
        receive = torch.empty(int(counts[:, RANK].sum()), 256, device=DEVICE)
        job.at("before_sync")
        dist.all_to_all_single(receive, send, counts[:, RANK].tolist(), counts[RANK].tolist())
        loss = model(receive).square().mean()
        loss.backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        job.at("before_optimizer")
        optimizer.step()
        optimizer.zero_grad()
        job.loss = loss.detach()
    return step


def evaluate(job, model):
    hits = torch.zeros((), device=DEVICE)
    with torch.no_grad():
        for _ in range(3):
            x, y = batch()
            hits += (model(x).argmax(1) == y).float().mean()
    job.at("before_metrics")
    dist.all_reduce(hits)
    gathered = [None] * WORLD
    dist.all_gather_object(gathered, {"rank": RANK, "hits": float(hits)})
    dist.barrier()


def evaluation(job):
    model = DistributedDataParallel(Net().to(DEVICE), device_ids=[0])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    job.model = model

    def step():
        model.train()
        train_step(job, model, optimizer)
        if job.step % 5 == 4:
            model.eval()
            job.at("before_evaluation")
            evaluate(job, model.module)
    return step


def save_checkpoint(job, model):
    job.at("before_save")
    torch.save(model.state_dict(), os.path.join(job.options.scratch, f"checkpoint_{RANK}.pt"))
    dist.barrier()


def checkpointing(job):
    model = DistributedDataParallel(Net().to(DEVICE), device_ids=[0])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    job.model = model

    def step():
        train_step(job, model, optimizer)
        if job.step % 5 == 4:
            save_checkpoint(job, model)
    return step


class Samples(torch.utils.data.Dataset):
    def __init__(self, options):
        self.options = options

    def __len__(self):
        return 100000

    def __getitem__(self, index):
        if self.options.rank == RANK and index == self.options.at_step * 32 + 7:
            if self.options.fault == "loader_stuck":
                read_remote_sample(index)
            if self.options.fault == "loader_exception":
                raise OSError(5, "Input/output error", f"/data/shard_{index:05d}.bin")
            if self.options.fault == "loader_killed":
                os.kill(os.getpid(), signal.SIGKILL)
        return torch.randn(256), index % 16


def read_remote_sample(index):
    time.sleep(3600)


def loader(job):
    model = DistributedDataParallel(Net().to(DEVICE), device_ids=[0])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    job.model = model
    batches = iter(torch.utils.data.DataLoader(Samples(job.options), batch_size=32, num_workers=2, pin_memory=True))

    def step():
        x, y = next(batches)
        train_step(job, model, optimizer, (x.to(DEVICE), y.to(DEVICE)))
    return step


PROGRAMS = {f.__name__: f for f in (ddp, accumulation, fsdp2, tensor_parallel, pipeline, ring, experts, evaluation, checkpointing,
                                    loader)}


# ---------------------------------------------------------------- what goes wrong

def fetch_shard(job):
    time.sleep(3600)


def tokenize_forever(job):
    n = 0
    while True:
        n += 1


def hold_gil(job):
    ctypes.PyDLL(None).sleep(3600)


def acquire_twice(job):
    with job.lock:
        job.lock.acquire()


def upload_to_pipe(job):
    path = os.path.join(job.options.scratch, "upload.pipe")
    os.mkfifo(path)
    torch.save(torch.zeros(4), open(path, "wb"))


def stop_process(job):
    os.kill(os.getpid(), signal.SIGSTOP)


def spin_gpu(job):
    for _ in range(200):
        torch.cuda._sleep(1 << 34)


def extra_all_reduce(job):
    dist.all_reduce(torch.ones(3, device=DEVICE))
    torch.cuda.synchronize()


def wait_alone(job):
    dist.barrier()


def skip_batch(job):
    raise SkipStep


class SkipStep(Exception):
    """A rank that leaves out one step: `continue` in its loop."""


def leave(job):
    print(f"rank {RANK}: no more data, leaving", flush=True)
    os._exit(0)


def return_early(job):
    raise EndOfData


class EndOfData(Exception):
    """A rank whose data ends earlier: `break` in its loop."""


def other_size(job):
    dist.all_reduce(torch.ones(1000 if RANK == job.options.rank else 500, device=DEVICE))


def other_type(job):
    dist.all_reduce(torch.ones(512, device=DEVICE, dtype=torch.float64 if RANK == job.options.rank else torch.float32))


def other_op(job):
    value = torch.ones(512, device=DEVICE)
    if RANK == job.options.rank:
        dist.broadcast(value, src=0)
    else:
        dist.all_reduce(value)


def other_order(job):
    first, second = job.groups["a"], job.groups["b"]
    order = (second, first) if RANK == job.options.rank else (first, second)
    for group in order:
        dist.all_reduce(torch.ones(64, device=DEVICE), group=group)
        torch.cuda.synchronize()


def absent_from_group(job):
    members = sorted({(job.options.rank + i) % WORLD for i in (0, 1, 3)})
    group = dist.new_group(members)
    if RANK in members and RANK != job.options.rank:
        dist.all_reduce(torch.ones(8, device=DEVICE), group=group)
    dist.barrier()


def no_send(job):
    other = torch.empty(64, 256, device=DEVICE)
    dist.batch_isend_irecv([dist.P2POp(dist.irecv, other, (RANK - 1) % WORLD)])[0].wait()
    return True


def wrong_peer(job):
    other = torch.empty(64, 256, device=DEVICE)
    for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, other, (RANK + 2) % WORLD),
                                        dist.P2POp(dist.irecv, other, (RANK - 1) % WORLD)]):
        work.wait()
    return True


def value_error(job):
    raise ValueError(f"bad sample in batch {job.step}: expected 3 channels, got 4")


def load_config(job):
    with open("/data/configs/model_v2.yaml") as file:
        return file.read()


def out_of_memory(job):
    job.hoard = []
    while True:
        job.hoard.append(torch.empty(8 << 30, dtype=torch.uint8, device=DEVICE))


def device_assert(job):
    table = nn.Embedding(10, 4, device=DEVICE)
    table(torch.tensor([3, 12], device=DEVICE)).sum().backward()
    torch.cuda.synchronize()


def kill_self(job):
    os.kill(os.getpid(), signal.SIGKILL)


def segfault(job):
    ctypes.string_at(0)


def abort(job):
    os.abort()


def exit_with_code(job):
    sys.exit(3)


def exit_at_once(job):
    os._exit(7)


def loss_check(job):
    loss = float("nan")
    if loss != loss:
        raise FloatingPointError(f"loss is nan at step {job.step}, gradient norm inf")


def import_missing(job):
    import flash_attn_interface  # noqa: F401


def fail_in_first_attempt(job):
    if os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") == "0":
        raise ConnectionResetError(104, "Connection reset by peer", "object store")


def caught(job):
    try:
        raise TimeoutError("metrics server did not answer")
    except TimeoutError:
        log.exception("could not send metrics, going on")


def slow_down(job):
    time.sleep(1.5)


def terminate_launcher(job):
    os.kill(os.getppid(), signal.SIGTERM)
    time.sleep(30)


# name: (place, function, whose fault: "rank" the one of the option, "all", "none", what the reason must speak of)
FAULTS = {
    "stuck_io": ("before_forward", fetch_shard, "rank", "hang"),
    "stuck_loop": ("before_forward", tokenize_forever, "rank", "hang"),
    "gil": ("before_optimizer", hold_gil, "rank", "hang"),
    "lock": ("before_optimizer", acquire_twice, "rank", "hang"),
    "stuck_save": ("before_save", upload_to_pipe, "rank", "hang"),
    "stuck_metrics": ("before_metrics", fetch_shard, "rank", "hang"),
    "stopped": ("before_forward", stop_process, "rank", "hang"),
    "spin_gpu": ("before_forward", spin_gpu, "rank", "hang"),
    "loader_stuck": ("dataset", None, "rank", "hang"),
    "extra_collective": ("before_forward", extra_all_reduce, "rank", "mismatch"),
    "extra_barrier": ("before_evaluation", wait_alone, "rank", "mismatch"),
    "skipped_step": ("step", skip_batch, "rank", "mismatch"),
    "left": ("step", leave, "rank", "left"),
    "data_ended": ("step", return_early, "rank", "left"),
    "size": ("sync_all", other_size, "rank", "mismatch"),
    "type": ("sync_all", other_type, "rank", "mismatch"),
    "op": ("sync_all", other_op, "rank", "mismatch"),
    "order": ("sync_all", other_order, "rank", "mismatch"),
    "absent": ("sync_all", absent_from_group, "rank", "hang"),
    "no_send": ("send", no_send, "rank", "mismatch"),
    "wrong_peer": ("send", wrong_peer, "rank", "mismatch"),
    "exception": ("before_forward", value_error, "rank", "died"),
    "all_fail": ("step", load_config, "all", "died"),
    "oom": ("before_backward", out_of_memory, "rank", "died"),
    "device_assert": ("before_forward", device_assert, "rank", "died"),
    "sigkill": ("before_forward", kill_self, "rank", "died"),
    "segfault": ("before_forward", segfault, "rank", "died"),
    "abort": ("before_optimizer", abort, "rank", "died"),
    "exit_code": ("step", exit_with_code, "rank", "died"),
    "exit_at_once": ("before_optimizer", exit_at_once, "rank", "died"),
    "nan_check": ("before_optimizer", loss_check, "rank", "died"),
    "missing_module": ("step", import_missing, "rank", "died"),
    "loader_exception": ("dataset", None, "rank", "died"),
    "loader_killed": ("dataset", None, "rank", "died"),
    "restart": ("before_forward", fail_in_first_attempt, "rank", "died"),
    "scheduler": ("step", terminate_launcher, "none", "ended"),
    "caught": ("step", caught, "none", "healthy"),
    "slow_step": ("before_forward", slow_down, "none", "healthy"),
}


def write_dump(job):
    """What a job that dumps on demand writes, while work goes on."""
    folder = os.path.join(job.options.scratch, "..", "fr")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"nccl_trace_rank_{RANK}"), "wb") as file:
        file.write(torch._C._distributed_c10d._dump_nccl_trace(includeCollectives=True, includeStackTraces=True, onlyActive=False))


def run(job):
    program = PROGRAMS[job.options.program](job)
    if job.options.stacks_after:
        stacks = open(os.path.join(job.options.scratch, "..", f"stacks_rank{RANK}.txt"), "w")
        faulthandler.dump_traceback_later(job.options.stacks_after, file=stacks)
    start = time.time()
    for job.step in range(job.options.steps):
        try:
            job.at("step")
            if job.options.fault and FAULTS[job.options.fault][0] == "sync_all" and job.step == job.options.at_step:
                FAULTS[job.options.fault][1](job)
            program()
        except SkipStep:
            continue
        except EndOfData:
            break
        if RANK == 0 or job.options.talkative:
            torch.cuda.synchronize()
            print(f"step {job.step:4d} | loss {float(job.loss):.4f} | {1000 * (time.time() - start) / (job.step + 1):.1f} ms/step", flush=True)
        if job.options.dump_at == job.step:
            write_dump(job)
    torch.cuda.synchronize()
    dist.barrier()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", choices=PROGRAMS, default="ddp")
    parser.add_argument("--fault", choices=FAULTS)
    parser.add_argument("--rank", type=int, default=-1, help="who fails; -1: every rank")
    parser.add_argument("--at-step", type=int, default=7)
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--timeout", type=float, default=14, help="seconds until a collective is given up")
    parser.add_argument("--talkative", action="store_true", help="every rank prints its steps")
    parser.add_argument("--dump-at", type=int, default=-1, help="write a Flight Recorder dump in this step")
    parser.add_argument("--stacks-after", type=float, default=0, help="faulthandler stacks of a rank that still trains so many seconds later")
    parser.add_argument("--scratch", required=True)
    options = parser.parse_args()
    os.makedirs(options.scratch, exist_ok=True)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    faulthandler.enable()
    torch.cuda.set_device(DEVICE)
    dist.init_process_group("nccl", timeout=datetime.timedelta(seconds=options.timeout), device_id=None)
    job = Job(options)
    if options.fault == "order":
        job.groups = {"a": dist.new_group(list(range(WORLD))), "b": dist.new_group(list(range(WORLD)))}
    run(job)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
