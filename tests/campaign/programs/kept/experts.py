"""Experts on all ranks, tokens by all_to_all of unequal sizes, an auxiliary loss in groups of two; the lines of accelerate's logger."""
import logging
import os
import time

import torch
import torch.distributed as dist
from lab import DEVICE, FOLDER, OPTIONS, RANK, WORLD, beat, finish, limit, sick, start
from torch import nn

logger = logging.getLogger("__main__")
DIM, TOKENS = 64, 32


def route(logits, step):
    if sick("router_nan", step):
        logits = logits * float("nan")
    choice = torch.multinomial(torch.softmax(logits, 1), 1).squeeze(1)
    return choice.sort().values, torch.bincount(choice, minlength=WORLD)


def dispatch(x, counts, step):
    incoming = torch.empty_like(counts)
    dist.all_to_all_single(incoming, counts)
    send, receive = counts.tolist(), incoming.tolist()
    if sick("capacity", step):
        send[0] += 5  # the fault: a count after dropping, tokens before it
    result = torch.empty(sum(receive), DIM, device=DEVICE)
    dist.all_to_all_single(result, x, receive, send)
    return result, send, receive


def balance(counts, step):
    share = counts.float() / counts.sum()
    if sick("rebalance", step):
        logger.warning("expert load of rank %d is above 1.5, collecting loads", RANK)
        loads = [None] * WORLD
        dist.all_gather_object(loads, share.tolist())  # the fault: only the overloaded rank asks
    return share


def auxiliary(share, pairs, step):
    # the fault: the group of all where the others use the pair
    dist.all_reduce(share, group=None if sick("aux_group", step) else pairs)
    return share.max()


def save_expert(expert, step):
    path = os.path.join(FOLDER, f"expert_{RANK}_{step}.pt")
    if sick("no_space", step):
        raise OSError(28, "No space left on device", f"/local_nvme/ckpt/checkpoint-{step}/expert_{RANK}.bin")
    torch.save(expert.state_dict(), path)


def main():
    logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S", level=logging.INFO)
    start()
    dist.barrier()
    logger.info("Distributed environment: MULTI_GPU  Backend: nccl\nNum processes: %d\nProcess index: %d\nLocal process index: %d\nDevice: cuda:0\n\n"
                "Mixed precision type: no\n", WORLD, RANK, RANK)
    pairs = [dist.new_group([first, min(first + 1, WORLD - 1)] if first + 1 < WORLD else [first], timeout=limit()) for first in range(0, WORLD, 2)]
    gate, expert = nn.Linear(DIM, WORLD).to(DEVICE), nn.Linear(DIM, DIM).to(DEVICE)
    optimizer = torch.optim.SGD(list(gate.parameters()) + list(expert.parameters()), lr=0.01)
    if RANK == 0:
        logger.info("***** Running training *****\n  Num examples = 4096\n  Total optimization steps = %d", OPTIONS.steps)
    for step in range(OPTIONS.steps):
        beat(step)
        x = torch.randn(TOKENS, DIM, device=DEVICE)
        _, counts = route(gate(x).detach(), step)
        received, send, receive = dispatch(x, counts, step)
        y = expert(received)
        back = torch.empty(TOKENS, DIM, device=DEVICE)
        dist.all_to_all_single(back, y.detach(), send, receive)
        share = balance(counts, step)
        worst = auxiliary(share, pairs[RANK // 2], step)
        (y.square().sum() / TOKENS).backward()
        dist.all_reduce(gate.weight.grad if gate.weight.grad is not None else torch.zeros_like(gate.weight))
        optimizer.step()
        optimizer.zero_grad()
        if step % 3 == 0:
            save_expert(expert, step)
        if RANK == 0:
            logger.info("step %d: loss %.4f, worst share %.3f", step, back.square().mean().item(), worst.item())
    torch.cuda.synchronize()
    dist.barrier()
    logger.info("Training finished")
    time.sleep(0.1)
    finish()


if __name__ == "__main__":
    main()
