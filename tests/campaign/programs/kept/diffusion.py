"""Denoising with DDP and SyncBatchNorm, an average of weights on rank 0, loader workers; the bar of diffusers' scripts."""
import ctypes
import socket
import sys
import time

import torch
import torch.distributed as dist
from lab import DEVICE, OPTIONS, RANK, WORLD, beat, finish, sick, start
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, IterableDataset

BATCH = 4


class Shards(IterableDataset):
    def __iter__(self):
        for index in range(OPTIONS.steps * BATCH * 2):
            if index == OPTIONS.at_step * BATCH // 2 + 1:
                self.trouble(index)
            yield torch.randn(3, 8, 8)

    def trouble(self, index):
        if sick("worker_crash"):
            ctypes.memset(16, 0, 8)  # the fault: a decoder with a bad pointer
        if sick("slow_shard"):
            time.sleep(60)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.norm, self.up = nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.Conv2d(16, 3, 3, padding=1)

    def forward(self, x):
        return self.up(torch.relu(self.norm(self.down(x))))


def log_validation(step):
    """Sends samples to the tracking server and waits for its word."""
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname())
    peer, _ = server.accept()
    client.sendall(b"samples")
    if not sick("tracker", step):
        peer.sendall(b"ok")
    client.recv(2)
    for one in (client, peer, server):
        one.close()


def validate(model, step):
    if RANK == 0:
        log_validation(step)
        if sick("rank0_norm", step):
            model.module.train()
            model.module(torch.randn(BATCH, 3, 8, 8, device=DEVICE))  # the fault: its norms ask all ranks
            model.module.eval()


def main():
    start()
    torch.manual_seed(1)
    model = nn.SyncBatchNorm.convert_sync_batchnorm(Denoiser()).to(DEVICE)
    model = DistributedDataParallel(model, device_ids=[0], broadcast_buffers=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    loader = DataLoader(Shards(), batch_size=BATCH, num_workers=2, timeout=6 if OPTIONS.fault == "slow_shard" else 0)
    if RANK == 0:
        print(f"***** Running training *****\n  Instantaneous batch size per device = {BATCH}\n  Total train batch size = {BATCH * WORLD}", flush=True)
    for step, images in enumerate(loader):
        if step == OPTIONS.steps:
            break
        beat(step)
        model.train()
        noise = torch.randn_like(images, device=DEVICE)
        loss = (model(images.to(DEVICE) + noise) - noise).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if step % 4 == 3:
            model.eval()
            validate(model, step)
        if RANK == 0:
            sys.stderr.write(f"\rSteps: {100 * (step + 1) // OPTIONS.steps:3d}%|{'█' * (step + 1)}{' ' * (9 - step)}| {step + 1}/{OPTIONS.steps} "
                             f"[00:{step:02d}<00:09,  3.1it/s, lr=0.0001, step_loss={mean.item() / WORLD:.4f}]")
            sys.stderr.flush()
    torch.cuda.synchronize()
    dist.barrier()
    if RANK == 0:
        print("\nModel weights saved in out/pytorch_lora_weights.safetensors", flush=True)
    finish()


if __name__ == "__main__":
    main()
