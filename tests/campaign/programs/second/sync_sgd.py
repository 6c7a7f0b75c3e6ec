"""Data parallel without a wrapper: batches scattered by the first rank, one flat gradient, losses gathered, weights sent again at times."""
import mmap
import os
import time

import torch
import torch.distributed as dist
from lab import DEVICE, FOLDER, OPTIONS, RANK, WORLD, beat, finish, sick, start

ROWS, COLUMNS = 16, 512


def mount_dataset():
    if sick("mount"):
        time.sleep(600)  # the fault: a mount that does not answer; this rank never comes to the rendezvous


def read_shard(step):
    if sick("shard", step):
        raise FileNotFoundError(2, "No such file or directory", f"/data/train/part-{RANK:05d}-of-{WORLD:05d}.parquet")


def read_index(step):
    """An index file that someone cut while it was mapped."""
    if sick("cut_file", step):
        path = os.path.join(FOLDER, "index.bin")
        with open(path, "wb") as file:
            file.write(bytes(1 << 16))
        with open(path, "r+b") as file:
            view = mmap.mmap(file.fileno(), 0)
            os.truncate(path, 0)
            return view[5000]
    return 0


def flat(gradient, step):
    # The fault: half precision on one rank only.
    return gradient.to(torch.bfloat16) if sick("precision", step) else gradient


def publish(weights, losses, loss, step):
    """The first rank gets all losses; all ranks get its weights."""
    def gather():
        dist.gather(loss, losses if RANK == 0 else None, dst=0)

    def send():
        dist.broadcast(weights, src=0)
    for action in (send, gather) if sick("swapped", step) else (gather, send):
        action()


def main():
    mount_dataset()
    start()
    weights = torch.randn(COLUMNS, COLUMNS, device=DEVICE)
    dist.broadcast(weights, src=0)
    for i in range(OPTIONS.steps):
        beat(i)
        read_shard(i)
        read_index(i)
        if sick("budget", i):
            print("rank", RANK, "reached its token budget, leaving the loop", flush=True)
            break
        batch = torch.empty(ROWS, COLUMNS, device=DEVICE)
        dist.scatter(batch, [torch.randn(ROWS, COLUMNS, device=DEVICE) for _ in range(WORLD)] if RANK == 0 else None, src=0)
        error = batch @ weights - batch
        gradient = flat(batch.T @ error / ROWS, i)
        dist.all_reduce(gradient)
        if sick("hard_exit", i):
            os._exit(3)
        weights -= 1e-4 * gradient.float() / WORLD
        loss = error.square().mean().reshape(1)
        losses = [torch.empty_like(loss) for _ in range(WORLD)]
        publish(weights, losses, loss, i)
        if i % 2 == 0:
            dist.barrier()
            if sick("barriers", i):
                dist.barrier()  # the fault: one more, left from an earlier version
        if RANK == 0:
            print("iter", i, "loss", round(torch.cat(losses).mean().item(), 4), flush=True)
    torch.cuda.synchronize()
    finish()


if __name__ == "__main__":
    main()
