"""Three stages that pass micro-batches by hand."""
import datetime
import os
import sys
import time

import torch
import torch.distributed as dist

from plant import sick

MICRO = 4


def say(*words):
    print(f"{time.strftime('%H:%M:%S')} stage{dist.get_rank()}:", *words, file=sys.stderr, flush=True)


def run_step(rank, last, stage, step):
    count = MICRO - 1 if sick("one_less", step) else MICRO
    for micro in range(count):
        x = torch.randn(8, 16)
        if rank > 0:
            dist.recv(x, src=rank - 1)
        y = torch.relu(stage(x))
        if sick("stage_nan", step):
            raise ArithmeticError(f"activation of stage {rank} is not finite in micro-batch {micro}")
        if sick("fat_send", step):
            y = y.repeat(2, 1)
        if sick("hangs", step):
            compact(y)
        if rank < last:
            dist.send(y.detach().contiguous(), dst=rank + 1)
    return y.mean().item()


def compact(y):
    while True:
        time.sleep(1)


def main():
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=20))
    rank, last = dist.get_rank(), dist.get_world_size() - 1
    stage = torch.nn.Linear(16, 16)
    say("up, pid", os.getpid())
    for step in range(6):
        if sick("quits", step):
            say("budget used up")
            sys.exit(0)
        value = run_step(rank, last, stage, step)
        if rank == last:
            say(f"iter {step} mean {value:.4f}")
        time.sleep(0.1)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
