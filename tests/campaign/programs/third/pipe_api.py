"""A pipeline by PyTorch's schedules: interleaved with two stages per rank, or GPipe; a small metrics group on gloo. Prints plainly."""
import os
import subprocess
import sys
import time

import torch
import torch.distributed as dist
from lab import DEVICE, FOLDER, OPTIONS, RANK, WORLD, beat, finish, limit, sick, start
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe, ScheduleInterleaved1F1B

WIDTH, ROWS = 128, 32
STATE = {"step": 0}


def loss_fn(output, target):
    if sick("loss_fn", STATE["step"]):
        target = target[:, : WIDTH // 2]  # the fault: targets of another model
    return (output - target).square().mean()


def check_gradient(gradient):
    if sick("hook", STATE["step"]):
        gradient = gradient * float("nan")
    if OPTIONS.fault == "hook":
        assert torch.isfinite(gradient).all(), f"stage {RANK}: gradient is not finite in step {STATE['step']}"


def part():
    module = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh()).to(DEVICE)
    module[0].weight.register_hook(check_gradient)
    return module


def wait_for_lease(step):
    """A file that another service removes once its lease is over."""
    path = os.path.join(FOLDER, "lease")
    if sick("lease", step):
        open(path, "w").close()
        while os.path.exists(path):
            time.sleep(1)


def check_license(step):
    if sick("license", step):
        print(f"[stage {RANK}] license server refused the seat, quitting", flush=True)
        sys.exit(3)
    if sick("evicted", step):
        subprocess.run(["kill", "-TERM", str(os.getpid())], check=False)
        time.sleep(60)


def build():
    if OPTIONS.variant == "gpipe" or OPTIONS.fault in ("loss_fn", "hook"):
        return ScheduleGPipe(PipelineStage(part(), RANK, WORLD, DEVICE), n_microbatches=4, loss_fn=loss_fn)
    stages = [PipelineStage(part(), RANK + i * WORLD, 2 * WORLD, DEVICE) for i in range(2)]
    return ScheduleInterleaved1F1B(stages, n_microbatches=2 * WORLD, loss_fn=loss_fn)


def main():
    start()
    dist.barrier()
    metrics = dist.new_group(list(range(WORLD)), backend="gloo", timeout=limit())
    schedule = build()
    rows = ROWS if isinstance(schedule, ScheduleGPipe) else 4 * 2 * WORLD
    for step in range(OPTIONS.steps):
        STATE["step"] = step
        beat(step)
        wait_for_lease(step)
        check_license(step)
        losses = []
        if sick("skip_step", step):
            print(f"[stage {RANK}] step {step}: nothing to do, going on", flush=True)
            continue
        if RANK == 0:
            schedule.step(torch.randn(rows, WIDTH, device=DEVICE))
        elif RANK == WORLD - 1:
            schedule.step(target=torch.randn(rows, WIDTH, device=DEVICE), losses=losses)
        else:
            schedule.step()
        torch.cuda.synchronize()
        value = torch.tensor([float(sum(losses) / len(losses)) if losses else 0.0])
        dist.broadcast(value, src=WORLD - 1, group=metrics)
        print(f"[stage {RANK}] step {step} done, loss {value.item():.4f}", flush=True)
    torch.cuda.synchronize()
    finish()


if __name__ == "__main__":
    main()
