"""Elastic DDP as in PyTorch's tutorial: a snapshot every other epoch, and every attempt goes on from the last one."""
import os
import signal
import sys
import time

import torch
import torch.distributed as dist
from lab import ATTEMPT, DEVICE, FOLDER, OPTIONS, RANK, SICK, beat, finish, sick, start
from torch import nn
from torch.distributed.elastic.multiprocessing.errors import record
from torch.nn.parallel import DistributedDataParallel

SNAPSHOT = os.path.join(FOLDER, "snapshot.pt")


def leave_on_notice(number, frame):
    print(f"[RANK{RANK}] got signal {number}, saving and leaving", file=sys.stderr, flush=True)
    sys.exit(0)


class Trainer:
    def __init__(self, model):
        self.model, self.epochs_run = model, 0
        self.optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        if os.path.exists(SNAPSHOT):
            self.load_snapshot()
        self.model = DistributedDataParallel(self.model, device_ids=[0])

    def load_snapshot(self):
        snapshot = torch.load(SNAPSHOT, map_location="cuda:0")
        self.model.load_state_dict(snapshot["MODEL_STATE"])
        self.epochs_run = snapshot["EPOCHS_RUN"]
        print(f"Resuming training from snapshot at Epoch {self.epochs_run}", flush=True)

    def save_snapshot(self, epoch):
        torch.save({"MODEL_STATE": self.model.module.state_dict(), "EPOCHS_RUN": epoch}, SNAPSHOT)
        print(f"Epoch {epoch} | Training snapshot saved at snapshot.pt", flush=True)

    def trouble(self, epoch):
        """What goes wrong; some of it only in one attempt."""
        if OPTIONS.fault == "two_ways" and epoch >= OPTIONS.at_step:
            if ATTEMPT == 0 and RANK == (SICK[0] + 1) % dist.get_world_size():
                raise BrokenPipeError(32, "Broken pipe", "tcp://features-2:5555")
            if ATTEMPT == 1 and sick("two_ways"):
                os.kill(os.getpid(), signal.SIGKILL)
        if epoch >= OPTIONS.at_step and sick("again"):
            raise UnicodeDecodeError("utf-8", b"\xff\xfe", 0, 1, "invalid start byte")
        if sick("bus", epoch):
            os.kill(os.getpid(), signal.SIGBUS)
        if OPTIONS.fault == "notice" and epoch == OPTIONS.at_step:
            if sick("notice"):
                os.kill(os.getppid(), signal.SIGTERM)
            time.sleep(20)

    def run_epoch(self, epoch):
        self.trouble(epoch)
        for _ in range(2):
            self.optimizer.zero_grad()
            loss = nn.functional.cross_entropy(self.model(torch.rand(32, 20, device=DEVICE)), torch.rand(32, 5, device=DEVICE))
            loss.backward()
            self.optimizer.step()
        print(f"[GPU{RANK}] Epoch {epoch} | Batchsize: 32 | Steps: 2 | Loss {loss.item():.3f}", flush=True)

    def train(self, epochs):
        for epoch in range(self.epochs_run, epochs):
            beat(epoch)
            self.run_epoch(epoch)
            if RANK == 0 and epoch % 2 == 1:
                self.save_snapshot(epoch)


@record
def main():
    if OPTIONS.variant == "handler" or OPTIONS.fault == "notice":
        signal.signal(signal.SIGTERM, leave_on_notice)
    start()
    trainer = Trainer(nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 5)).to(DEVICE))
    trainer.train(OPTIONS.steps)
    torch.cuda.synchronize()
    dist.barrier()
    finish()


if __name__ == "__main__":
    main()
