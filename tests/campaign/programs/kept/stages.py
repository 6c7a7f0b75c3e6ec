"""Pipeline by data parallel: sends and receives between stages, gradients averaged among replicas, tied embeddings of first and last stage.

World is two replicas of WORLD / 2 stages. Lines as DeepSpeed's engine writes them."""
import datetime
import os
import signal
import time

import torch
import torch.distributed as dist
from lab import DEVICE, OPTIONS, RANK, WORLD, beat, finish, limit, sick, start
from torch import nn

STAGES = WORLD // 2
STAGE, REPLICA = RANK % STAGES, RANK // STAGES
DIM, ROWS, MICRO = 128, 16, 2


def log(text, ranks="0"):
    now = datetime.datetime.now()
    print(f"[{now:%Y-%m-%d %H:%M:%S},{now.microsecond // 1000:03d}] [INFO] [logging.py:128:log_dist] [Rank {ranks}] {text}", flush=True)


def load_stage(module):
    state = module.state_dict()
    if sick("stage_shape"):
        state["0.weight"] = torch.zeros(DIM, DIM // 2)  # the fault: a checkpoint of another number of stages
    module.load_state_dict(state)


def lose_node():
    """A node goes away with its launcher and all its ranks."""
    if STAGE == 0:
        os.kill(os.getppid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def forward(module, step, micro):
    if STAGE:
        x = torch.empty(ROWS, DIM, device=DEVICE)
        dist.recv(x, src=RANK - 1)
    else:
        x = torch.randn(ROWS, DIM, device=DEVICE)
    if sick("killed_stage", step) and micro:
        os.kill(os.getpid(), signal.SIGKILL)
    if sick("node_lost", step):
        lose_node()
    y = module(x)
    if STAGE < STAGES - 1:
        if micro and sick("lost_send", step):
            log(f"micro batch {micro} of step {step} has no valid token, nothing to send", RANK)
            return None  # the fault: the next stage waits for it
        dist.send(y.detach(), dst=RANK + 1)
    return y


def average_gradients(module, group, step):
    if sick("loss_scale", step):
        log(f"[deepspeed] OVERFLOW! Rank {RANK} Skipping step. Attempted loss scale: 65536, reducing to 32768", RANK)
        return  # the fault: the other replica was not asked
    for parameter in module.parameters():
        dist.all_reduce(parameter.grad if parameter.grad is not None else torch.zeros_like(parameter), group=group)


def tie_embeddings(table, group, step):
    if STAGE in (0, STAGES - 1) and not sick("untied", step):
        dist.all_reduce(table, group=group)


def main():
    start()
    dist.barrier()
    replicas = [dist.new_group([stage + STAGES * replica for replica in range(2)], timeout=limit()) for stage in range(STAGES)][STAGE]
    ties = [dist.new_group([STAGES * replica, STAGES * replica + STAGES - 1], timeout=limit()) for replica in range(2)][REPLICA]
    module = nn.Sequential(nn.Linear(DIM, DIM), nn.Tanh()).to(DEVICE)
    load_stage(module)
    table = torch.ones(1000, device=DEVICE)
    log(f"DeepSpeed info: version=0.15.4, stages={STAGES}, micro_batches={MICRO}")
    for step in range(OPTIONS.steps):
        beat(step)
        began = time.time()
        outputs = [forward(module, step, micro) for micro in range(MICRO)]
        loss = sum(y.square().mean() for y in outputs if y is not None)
        loss.backward()
        average_gradients(module, replicas, step)
        tie_embeddings(table, ties, step)
        module.zero_grad()
        torch.cuda.synchronize()
        if RANK == 0:
            log(f"step={step}, skipped=0, lr=[0.0003], mom=[(0.9, 0.999)]")
            print(f"steps: {step} loss: {loss.item():.4f} iter time (s): {time.time() - began:.3f} samples/sec: {2 * ROWS / (time.time() - began):.3f}",
                  flush=True)
    dist.barrier()
    torch.cuda.synchronize()
    finish()


if __name__ == "__main__":
    main()
