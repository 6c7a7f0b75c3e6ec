"""Local SGD on CPUs with gloo: parameters averaged every step, a thread that prefetches; plain prints of few words."""
import os
import signal
import threading
import time

import torch
import torch.distributed as dist
from lab import FOLDER, OPTIONS, RANK, SICK, WORLD, beat, finish, sick, start
from torch import nn


def read_secrets():
    """Waits for the file that a sidecar mounts."""
    path = os.path.join(FOLDER, f"token_{RANK}")
    if not sick("no_token"):
        open(path, "w").close()
    while not os.path.exists(path):
        time.sleep(0.5)


class Prefetcher:
    """Reads the next part of the data in a thread; `close` waits for it."""

    def __init__(self, step):
        self.stop, self.step = False, step
        self.thread = threading.Thread(target=self.work, daemon=True, name="prefetch")
        self.thread.start()

    def work(self):
        endless = sick("thread_join", self.step)
        while not self.stop or endless:  # the fault: it does not look
            time.sleep(0.01)

    def close(self):
        self.stop = True
        self.thread.join()


def depth(tree, step):
    if sick("deep_tree", step):
        return 1 + depth(tree, step)
    return 0


def check(values, step):
    expected = 7 if sick("bare_assert", step) else values.numel()
    assert values.numel() == expected


def trouble(step):
    if sick("division_trap", step):
        os.kill(os.getpid(), signal.SIGFPE)
    if sick("no_memory", step):
        bytearray(1 << 50)
    depth({}, step)


def average(model):
    for parameter in model.parameters():
        dist.all_reduce(parameter.data)
        parameter.data /= WORLD


def main():
    print(f"rank {RANK} of {WORLD}, pid {os.getpid()}", flush=True)
    read_secrets()
    start("gloo")
    torch.manual_seed(9)
    model = nn.Sequential(nn.Linear(50, 100), nn.ReLU(), nn.Linear(100, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(OPTIONS.steps):
        beat(step)
        prefetcher = Prefetcher(step)
        trouble(step)
        if OPTIONS.variant == "slow" and RANK in SICK and step == 5:
            print("gc: collecting generation 2, this may take a while", flush=True)
            time.sleep(5)
        loss = model(torch.randn(32, 50)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        check(torch.zeros(5), step)
        prefetcher.close()
        average(model)
        print(f"rank {RANK} | it {step} | loss {loss.item():.5f}", flush=True)
        if OPTIONS.variant == "noisy":
            print(f"rank {RANK} | abort=0 fatal=0 | WARNING: connection to metrics lost (Connection refused), will retry; Killed: 0", flush=True)
    dist.barrier()
    if OPTIONS.variant == "early" and RANK:
        print(f"rank {RANK} done", flush=True)
    elif OPTIONS.variant == "early":
        time.sleep(4)
        print("rank 0 wrote the model", flush=True)
    finish()


if __name__ == "__main__":
    main()
