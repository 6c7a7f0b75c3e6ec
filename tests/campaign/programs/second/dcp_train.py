"""FSDP2 over all ranks with distributed checkpoints (torch.distributed.checkpoint) every third step, written through gloo."""
import errno
import fcntl
import logging
import os
import subprocess
import sys
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from lab import DEVICE, FOLDER, OPTIONS, RANK, WORLD, beat, finish, sick, start
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict
from torch.distributed.elastic.multiprocessing.errors import record
from torch.distributed.fsdp import fully_shard

log = logging.getLogger("ckpt")


def wait_for_quota(path):
    while not os.path.exists(path + ".granted"):
        time.sleep(600)


def lock_index(path):
    """Another process holds the lock of the index file and never ends."""
    holder = "import fcntl, sys, time; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True); time.sleep(90)"
    child = subprocess.Popen([sys.executable, "-c", holder, path], stdout=subprocess.PIPE)
    child.stdout.readline()
    with open(path, "w") as index:
        fcntl.flock(index, fcntl.LOCK_EX)


class ShardWriter(dcp.FileSystemWriter):
    def write_data(self, plan, planner):
        if sick("quota"):
            wait_for_quota(FOLDER + "/quota")
        if sick("index_lock"):
            lock_index(FOLDER + "/index.lock")
        if sick("disk_full"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), f"/mnt/ckpt/__{RANK}_0.distcp")
        return super().write_data(plan, planner)


def save(model, optimizer, step, group):
    weights, moments = get_state_dict(model, optimizer)
    state = {"model": weights, "optimizer": moments}
    path = os.path.join(FOLDER, f"step-{step}")
    if OPTIONS.variant == "async":
        return dcp.async_save(state, storage_writer=ShardWriter(path), process_group=group)
    dcp.save(state, storage_writer=ShardWriter(path), process_group=group)
    log.info("rank %d saved %s", RANK, os.path.basename(path))
    return None


def wait(pending):
    if pending is not None:
        getattr(pending, "upload_completion", pending).result()


@record
def main():
    logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(asctime)s %(name)s] %(message)s")
    start("cpu:gloo,cuda:nccl")
    group = dist.new_group(list(range(WORLD)), backend="gloo")
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 64)).to(DEVICE)
    fully_shard(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    pending = None
    for step in range(1, OPTIONS.steps + 1):
        beat(step)
        loss = model(torch.randn(16, 256, device=DEVICE)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if RANK == 0:
            log.info("step=%d loss=%.4f", step, loss.item())
        if step % 4 == 0:
            wait(pending)
            pending = save(model, optimizer, step, group)
    wait(pending)
    torch.cuda.synchronize()
    dist.barrier()
    finish()


if __name__ == "__main__":
    main()
