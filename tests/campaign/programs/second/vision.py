"""Image classification as the ImageNet example does it: DDP, batch norm, loaders with workers, an evaluation on the first rank."""
import multiprocessing
import os
import signal
import time

import torch
import torch.distributed as dist
from lab import DEVICE, OPTIONS, RANK, SICK, WORLD, beat, finish, sick, start
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

CACHE_LOCK = multiprocessing.Lock()
BATCH = 8


def decode(path, data):
    if data is None:
        raise ValueError(f"cannot identify image file '{path}'")
    return data


class Images(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        bad = index // WORLD == OPTIONS.at_step * BATCH + 3
        if bad and sick("bad_image"):
            decode(f"/datasets/in1k/train/n0{index:07d}.JPEG", None)
        if bad and sick("shared_memory"):
            os.kill(os.getpid(), signal.SIGBUS)
        if bad and sick("worker_exit"):
            os._exit(1)
        if bad and sick("cache_lock"):
            self.from_cache(index)
        return torch.randn(3, 16, 16), index % 10

    def from_cache(self, index):
        CACHE_LOCK.acquire()
        CACHE_LOCK.acquire()  # the fault: it is not reentrant


def evaluate(model):
    model.eval()
    with torch.no_grad():
        hits = sum((model(torch.randn(32, 3, 16, 16, device=DEVICE)).argmax(1) == 0).float().mean().item() for _ in range(2))
    model.train()
    print(f" * Acc@1 {50 * hits:.3f}", flush=True)


def validate(model, step):
    if RANK == 0:
        evaluate(model if sick("wrapped_model", step) else model.module)  # the fault: the wrapped model syncs buffers
        if sick("no_barrier", step):
            return
    dist.barrier()


def train(loader, model, optimizer):
    end = time.time()
    for step, (images, labels) in enumerate(loader):
        beat(step)
        waited = time.time() - end
        if OPTIONS.variant == "slow" and RANK in SICK:
            time.sleep(0.8)
        if sick("host_memory", step):
            torch.zeros(1 << 48)
        loss = nn.functional.cross_entropy(model(images.to(DEVICE, non_blocking=True)), labels.to(DEVICE))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 2 == 0:
            print(f"Epoch: [0][{step:4d}/{len(loader):4d}]\tTime {time.time() - end:6.3f}\tData {waited:6.3f}\tLoss {loss.item():.4e}", flush=True)
        end = time.time()
        if step % 4 == 0:
            validate(model, step)


def main():
    start()
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10)).to(DEVICE)
    model = DistributedDataParallel(net, device_ids=[0])
    data = Images(OPTIONS.steps * BATCH * WORLD)
    loader = DataLoader(data, batch_size=BATCH, sampler=DistributedSampler(data, shuffle=False), num_workers=2, pin_memory=True)
    train(loader, model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
    torch.cuda.synchronize()
    dist.barrier()
    finish()


if __name__ == "__main__":
    main()
