import ctypes
import datetime
import os
import signal
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from plant import sick


class Net(torch.nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.up = torch.nn.Linear(dim, 64)
        self.head = torch.nn.Linear(64, 10)

    def forward(self, x):
        return self.head(torch.relu(self.up(x)))


def batch(step, rank):
    torch.manual_seed(step * 1000 + rank)
    width = 30 if sick("batch_width", step) else 32
    return torch.randn(16, width), torch.randint(0, 10, (16,))


def wait_for_license(path="/tmp/license.lock"):
    while not os.path.exists(path):
        time.sleep(0.5)


def leave(step):
    if sick("exit3", step):
        sys.exit(3)
    if sick("hard_exit", step):
        os._exit(17)
    if sick("sigkill", step):
        os.kill(os.getpid(), signal.SIGKILL)
    if sick("sigterm", step):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
    if sick("segv", step):
        ctypes.string_at(8)
    if sick("abort", step):
        os.abort()
    if sick("interrupt", step):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)


def main():
    seconds = float(os.environ.get("COLLECTIVE_TIMEOUT", "20"))
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=seconds))
    rank, world = dist.get_rank(), dist.get_world_size()
    print(f"rank {rank}/{world} ready, pid {os.getpid()}", flush=True)
    model = DDP(Net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    best, bad = float("inf"), 0
    for step in range(int(os.environ.get("STEPS", "8"))):
        x, y = batch(step, rank)
        leave(step)
        if sick("license", step):
            print(f"rank {rank}: waiting for the license server", flush=True)
            wait_for_license()
        if sick("quiet_hang", step):
            time.sleep(3600)
        if sick("leaves_early", step):
            print(f"rank {rank}: no more data, leaving", flush=True)
            return
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        if sick("skips_backward", step):
            continue
        loss.backward()
        if sick("bad_lr", step):
            loss = loss * float("nan")
        assert torch.isfinite(loss), f"loss is {loss.item()} at step {step} on rank {rank}"
        optimizer.step()
        total = loss.detach().clone()
        if sick("wrong_shape", step):
            total = total.repeat(5)
        if sick("wrong_op", step):
            dist.broadcast(total, 0)
        else:
            dist.all_reduce(total)
        try:
            if os.environ.get("FLAKY") and step % 2:
                raise ConnectionError("metrics server 10.1.2.3:9091 refused the connection")
        except ConnectionError as error:
            print(f"rank {rank}: WARNING: could not push metrics ({error}), will retry", flush=True)
        if os.environ.get("SLOW"):
            time.sleep(0.5 + 0.5 * (rank == 1))
        if rank == 0:
            print(f"[step {step}] loss={total.mean().item() / world:.4f} lr=0.05", flush=True)
        bad = 0 if total.mean().item() < best else bad + 1
        best = min(best, total.mean().item())
        if os.environ.get("PATIENCE") and bad >= int(os.environ["PATIENCE"]):
            print(f"rank {rank}: early stopping, best loss {best / world:.4f} not improved for {bad} steps", flush=True)
            break
    dist.barrier()
    if rank == 0:
        print(f"done, best loss {best / world:.4f}", flush=True)
    dist.destroy_process_group()
    if os.environ.get("EXIT_NOTE"):
        print("error count: 0, failed batches: 0", flush=True)


if __name__ == "__main__":
    main()
