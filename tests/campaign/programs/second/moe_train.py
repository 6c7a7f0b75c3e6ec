"""Experts in groups of neighbours (all_to_all), replicas across groups (all_reduce), a report to the first rank of each group (reduce)."""
import json
import os
import re
import signal
import time

import torch
import torch.distributed as dist
from lab import DEVICE, OPTIONS, RANK, WORLD, beat, finish, sick, start
from torch import nn

HALF = WORLD // 2
DIM = 128


def build_groups():
    """Experts: [0..h), [h..n). Replicas: [i, i + h]. Every rank must create all of them in one order."""
    members = [list(range(HALF)), list(range(HALF, WORLD))]
    if sick("group_order"):  # the fault: a set whose order differs on this rank
        members.reverse()
    experts = [dist.new_group(ranks) for ranks in members]
    replicas = [dist.new_group([i, i + HALF]) for i in range(HALF)]
    mine = next(group for ranks, group in zip(members, experts) if RANK in ranks)
    return mine, replicas[RANK % HALF]


def dispatch(tokens, counts, group, step):
    """Sends each token to its expert and gets those of others; `counts[i][j]` go from member i to member j."""
    me = RANK % HALF
    if sick("no_tokens", step):  # the fault: nothing to route here, so nothing is called
        return tokens[:0]
    if sick("dense", step):  # the fault: this rank takes the path for few tokens
        gathered = torch.empty(HALF * len(tokens), DIM, device=DEVICE)
        dist.all_gather_into_tensor(gathered, tokens, group=group)
        return gathered
    received = torch.empty(int(counts[:, me].sum()), DIM, device=DEVICE)
    dist.all_to_all_single(received, tokens, counts[:, me].tolist(), counts[me].tolist(), group=group)
    return received


def parse_routing(text):
    """A pattern that backtracks for hours, and holds the interpreter all the while."""
    return re.match(r"(\w+\s?)+$", text)


def report(step, loss, group, started):
    total = loss.clone()
    dist.reduce(total, dst=RANK // HALF * HALF, group=group)
    if RANK % HALF == 0:
        print(json.dumps({"step": step, "group": RANK // HALF, "loss": round(total.item() / HALF, 5),
                          "tokens_per_s": round(5000 / (time.time() - started + 1))}), flush=True)


def main():
    start()
    group, replicas = build_groups()
    expert = nn.Sequential(nn.Linear(DIM, DIM), nn.ReLU(), nn.Linear(DIM, DIM)).to(DEVICE)
    optimizer = torch.optim.SGD(expert.parameters(), lr=1e-2)
    started = time.time()
    for step in range(OPTIONS.steps):
        beat(step)
        counts = torch.randint(4, 16, (HALF, HALF), generator=torch.Generator().manual_seed(step))
        tokens = torch.randn(int(counts[RANK % HALF].sum()), DIM, device=DEVICE)
        if sick("routing_text", step):
            parse_routing("expert " * 12 + "!")
        received = dispatch(tokens, counts, group, step)
        loss = expert(received).square().mean() if len(received) else sum(p.sum() * 0 for p in expert.parameters())
        loss.backward()
        if sick("killed", step):
            os.kill(os.getpid(), signal.SIGKILL)
        flat = torch.cat([p.grad.flatten() for p in expert.parameters()])
        dist.all_reduce(flat, group=replicas)
        optimizer.step()
        optimizer.zero_grad()
        report(step, loss.detach(), group, started)
    dist.barrier()
    torch.cuda.synchronize()
    finish()


if __name__ == "__main__":
    main()
