"""NCCL for tensors, gloo for control: monitored barriers between epochs, a subgroup that saves, keys in the store. JSON lines."""
import ctypes
import datetime
import json
import os
import time

import torch
import torch.distributed as dist
from lab import DEVICE, FOLDER, OPTIONS, RANK, WORLD, beat, finish, limit, sick, start
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def say(event, **fields):
    print(json.dumps({"ts": round(time.time(), 3), "level": "info", "rank": RANK, "event": event, **fields}), flush=True)


def load_plugins():
    ctypes.CDLL("libnccl-net-ofi.so.7" if sick("plugin") else "libc.so.6")


def wait_for_dataset(epoch):
    """The preparing service writes a file when its part is ready."""
    path = os.path.join(FOLDER, f"ready_{RANK}_{epoch}")
    if not sick("late_data", epoch):
        open(path, "w").close()
    while not os.path.exists(path):
        time.sleep(0.5)


def make_subgroup():
    savers = list(range(0, WORLD, 2))
    if sick("no_saver"):
        say("this rank saves nothing", savers=savers)
        return None, savers  # the fault: a group is made by all its members, this one stays away
    return dist.new_group(savers, timeout=limit(), use_local_synchronization=True), savers


def exchange_addresses(epoch):
    store = dist.distributed_c10d._get_default_store()
    store.set(f"address/{epoch}/{RANK}", f"10.0.0.{RANK + 1}:7000")
    other = f"address/{epoch}/{WORLD + 3 if sick('store_key', epoch) else (RANK + 1) % WORLD}"  # the fault: of a rank that is not
    store.wait([other], datetime.timedelta(seconds=8))
    return store.get(other).decode()


def open_shards(epoch):
    if sick("stale_handle", epoch):
        raise OSError(116, "Stale file handle", f"/nfs/corpus/shard-{epoch:03d}.tar")


def main():
    load_plugins()
    start()
    control = dist.new_group(list(range(WORLD)), backend="gloo", timeout=limit())
    group, savers = make_subgroup() if OPTIONS.fault == "no_saver" or OPTIONS.variant == "savers" else (None, [])
    model = DistributedDataParallel(nn.Sequential(nn.Linear(100, 200), nn.ReLU(), nn.Linear(200, 10)).to(DEVICE), device_ids=[0])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(OPTIONS.steps):
        beat(epoch)
        wait_for_dataset(epoch)
        dist.monitored_barrier(group=control, timeout=limit(), wait_all_ranks=OPTIONS.at_step % 2 == 0)
        peer = exchange_addresses(epoch)
        open_shards(epoch)
        for _ in range(2):
            loss = model(torch.randn(20, 100, device=DEVICE)).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        if savers and RANK in savers and group is not None:
            norm = torch.stack([p.norm() for p in model.parameters()]).sum()
            dist.all_reduce(norm.detach(), group=group)
        say("epoch_end", epoch=epoch, loss=round(loss.item(), 5), peer=peer)
    torch.cuda.synchronize()
    dist.monitored_barrier(group=control, timeout=limit())
    say("done", failures=0)
    finish()


if __name__ == "__main__":
    main()
