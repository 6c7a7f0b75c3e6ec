"""The classic example script: DDP, average meters, top-1 and top-5, rank 0 saves after each epoch and all wait for it."""
import os
import time

import torch
import torch.distributed as dist
from lab import DEVICE, FOLDER, OPTIONS, RANK, SICK, WORLD, beat, finish, sick, start
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

EPOCHS, BATCHES, CLASSES = 3, 4, 20
WNIDS = {f"n{1440764 + index:08d}": index for index in range(CLASSES)}


class AverageMeter:
    def __init__(self, name):
        self.name, self.value, self.sum, self.count = name, 0.0, 0.0, 0

    def update(self, value):
        self.value, self.sum, self.count = value, self.sum + value, self.count + 1

    def __str__(self):
        return f"{self.name} {self.value:6.3f} ({self.sum / max(self.count, 1):6.3f})"


class Images(Dataset):
    epoch = 0

    def __len__(self):
        return 8 * BATCHES * WORLD

    def __getitem__(self, index):
        wnid = f"n{1440764 + index % CLASSES:08d}"
        if index % 7 == RANK % 7 and Images.epoch == OPTIONS.at_step and sick("wnid"):
            wnid = "n02110185_husky"  # the fault: a folder that the class index does not know
        return torch.randn(3, 16, 16), WNIDS[wnid]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4))
        self.head, self.auxiliary = nn.Linear(256, CLASSES), nn.Linear(256, CLASSES)

    def forward(self, x, both=True):
        flat = self.features(x).flatten(1)
        return self.head(flat) + 0.1 * self.auxiliary(flat) if both else self.head(flat)


def save_checkpoint(model, epoch):
    path = os.path.join(FOLDER, f"checkpoint_{epoch}.pth.tar")
    if sick("checkpoint_pipe", epoch):
        os.mkfifo(path)  # the fault: nobody reads what is written there
    with open(path, "wb") as file:
        torch.save(model.state_dict(), file)


def train(loader, model, optimizer, epoch):
    batch_time, losses = AverageMeter("Time"), AverageMeter("Loss")
    end = time.time()
    for index, (images, target) in enumerate(loader):
        step = epoch * BATCHES + index
        beat(step)
        if OPTIONS.variant == "slow" and RANK in SICK:
            time.sleep(0.6)
        both = not sick("unused_branch", step)  # the fault: a layer that this rank alone leaves out
        loss = nn.functional.cross_entropy(model(images.to(DEVICE), both), target.to(DEVICE))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.update(loss.item())
        batch_time.update(time.time() - end)
        end = time.time()
        print(f"Epoch: [{epoch}][{index + 1:4d}/{BATCHES}]\t{batch_time}\t{losses}", flush=True)


def validate(model, epoch):
    correct = torch.rand(2, device=DEVICE)
    dist.all_reduce(correct)
    top1, top5 = (100 * correct / WORLD).tolist()
    print(f" *   Acc@1 {top1:.3f} Acc@5 {top5:.3f}", flush=True)
    return -1.0 if sick("early_stop", epoch) else top1


def main():
    start()
    folder = "/mnt/datasets/imagenet/train" if sick("data_folder") else FOLDER
    if not os.listdir(folder):
        print("=> no scratch yet", flush=True)
    if RANK == 0:
        print(f"=> creating model 'resnet_tiny'\n=> {WORLD} processes, batch 8 each", flush=True)
    model = DistributedDataParallel(Net().to(DEVICE), device_ids=[0])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    sampler = DistributedSampler(Images())
    epochs = OPTIONS.steps // BATCHES + 1 if OPTIONS.steps > 20 else EPOCHS
    for epoch in range(epochs):
        Images.epoch = epoch
        sampler.set_epoch(epoch)
        train(DataLoader(Images(), batch_size=8, sampler=sampler), model, optimizer, epoch)
        top1 = validate(model, epoch)
        if top1 < 0:
            print(f"=> no better for 5 epochs, early stop after epoch {epoch}", flush=True)
            break  # the fault: each rank decides for itself
        if RANK == 0:
            save_checkpoint(model, epoch)
        dist.barrier()
    torch.cuda.synchronize()
    finish()


if __name__ == "__main__":
    main()
