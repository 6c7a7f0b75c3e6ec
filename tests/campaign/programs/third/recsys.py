"""A table sharded by rows: ids go to their owners by all_to_all of unequal sizes, vectors come back; loaders with workers; objects gathered."""
import os
import threading
import time

import torch
import torch.distributed as dist
from lab import DEVICE, FOLDER, OPTIONS, RANK, WORLD, beat, finish, sick, start
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

DIM, ROWS = 64, 4096
BATCH = 16


def parse(line):
    user, item = line.split("\t")
    return int(user) % ROWS, int(item) % ROWS


class Clicks(IterableDataset):
    def __iter__(self):
        for index in range(OPTIONS.steps * BATCH * 2):
            bad = index == OPTIONS.at_step * BATCH // 2 + 3
            if bad and sick("header_line"):
                yield parse("user_id\titem_id")  # the fault: a header in the middle of a file
            if bad and sick("loader_pipe"):
                self.read_remote()
            yield parse(f"{index * 7919 + RANK}\t{index * 104729 + 13}")

    def read_remote(self):
        path = os.path.join(FOLDER, f"feed_{RANK}")
        os.mkfifo(path)
        with open(path) as feed:  # the fault: nobody writes
            return feed.read()


def lookup(ids, table, step):
    """Vectors of ids that live on any rank."""
    if sick("row_range", step):
        ids = ids + ROWS * WORLD
    assert int(ids.max()) < ROWS * WORLD
    order = torch.argsort(ids % WORLD)
    counts = torch.bincount(ids % WORLD, minlength=WORLD).to(DEVICE)
    incoming = torch.empty_like(counts)
    dist.all_to_all_single(incoming, counts)
    send, receive = counts.tolist(), incoming.tolist()
    asked = torch.empty(sum(receive), dtype=torch.int64, device=DEVICE)
    dist.all_to_all_single(asked, ids[order].to(DEVICE), receive, send)
    if sick("cold_ids", step):
        print(f"rank {RANK}: no warm id among {len(asked)}, vectors from the cache", flush=True)
        return torch.zeros(len(ids), DIM, device=DEVICE)  # the fault: what others wait for is never sent
    vectors = torch.empty(len(ids), DIM, device=DEVICE)
    dist.all_to_all_single(vectors, table[asked // WORLD % ROWS], send, receive)
    return vectors


def share_popular(step):
    rows = 45_000 if sick("table_shape", step) else 30_000  # the fault: another snapshot of the table
    mine = torch.ones(rows, DIM, device=DEVICE)
    everything = torch.empty(rows * WORLD, DIM, device=DEVICE)
    dist.all_gather_into_tensor(everything, mine)


def share_summary(step, loss):
    summary = {"rank": RANK, "loss": loss}
    if sick("pickle", step):
        summary["guard"] = threading.Lock()  # the fault: an object that cannot be sent
    everyone = [None] * WORLD
    dist.all_gather_object(everyone, summary)
    return sum(one["loss"] for one in everyone) / WORLD


def main():
    start()
    table = torch.randn(ROWS, DIM, device=DEVICE)
    tower = nn.Linear(DIM, 1).to(DEVICE)
    optimizer = torch.optim.Adagrad(tower.parameters(), lr=0.01)
    loader = DataLoader(Clicks(), batch_size=BATCH, num_workers=2)
    began = time.time()
    for step, (users, items) in enumerate(loader):
        if step == OPTIONS.steps:
            break
        beat(step)
        vectors = lookup(torch.cat([users, items]), table, step)
        loss = tower(vectors).square().mean()
        loss.backward()
        for parameter in tower.parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()
        optimizer.zero_grad()
        mean = share_summary(step, loss.item())
        if step % 3 == 2:
            share_popular(step)
        print(f"rank={RANK} batch={step} logloss={mean:.5f} qps={int((step + 1) * BATCH / (time.time() - began))}", flush=True)
    torch.cuda.synchronize()
    dist.barrier()
    finish()


if __name__ == "__main__":
    main()
