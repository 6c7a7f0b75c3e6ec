"""A pipeline schedule (one forward, one backward) written by hand with isend and irecv; the norm of all gradients closes a step."""
import datetime
import os
import signal
import sys
import threading
import time

import torch
import torch.distributed as dist
from lab import DEVICE, OPTIONS, RANK, WORLD, beat, finish, sick, start
from torch import nn

SHAPE, MICRO = (16, 256), 4
FIRST, LAST = RANK == 0, RANK == WORLD - 1


class Stage:
    def __init__(self):
        self.part = nn.Sequential(nn.Linear(SHAPE[1], SHAPE[1]), nn.Tanh()).to(DEVICE)
        self.optimizer = torch.optim.SGD(self.part.parameters(), lr=1e-2)
        self.waiting, self.loss, self.step = [], torch.zeros((), device=DEVICE), 0

    # Each pair of stages calls its sends and receives in the same order.
    def exchange(self, send=None, to=None, receive_from=None, receive_first=False):
        out = torch.empty(SHAPE, device=DEVICE) if receive_from is not None else None
        works = []
        if receive_first and out is not None:
            works.append(dist.irecv(out, src=receive_from))
        if send is not None and to is not None:
            works.append(dist.isend(send.contiguous(), dst=to))
        if not receive_first and out is not None:
            works.append(dist.irecv(out, src=receive_from))
        for work in works:
            work.wait()
        return out

    def recv_forward(self):
        return torch.randn(SHAPE, device=DEVICE) if FIRST else self.exchange(receive_from=RANK - 1)

    def recv_backward(self):
        return None if LAST else self.exchange(receive_from=RANK + 1)

    def next_stage(self):
        if LAST:
            return None
        return RANK + 2 if sick("neighbour", self.step) else RANK + 1  # the fault: an off-by-one in the stage map

    def send_forward(self, y):
        self.exchange(send=y.detach(), to=self.next_stage())

    def send_forward_recv_backward(self, y):
        return self.exchange(send=y.detach(), to=self.next_stage(), receive_from=None if LAST else RANK + 1)

    def send_backward_recv_forward(self, grad):
        x = self.exchange(send=grad, to=None if FIRST else RANK - 1, receive_from=None if FIRST else RANK - 1, receive_first=True)
        return torch.randn(SHAPE, device=DEVICE) if FIRST else x

    def forward(self, x):
        x.requires_grad_()
        y = self.part(x)
        if LAST:
            y = self.loss = y.square().mean()
        self.waiting.append((x, y))
        return y

    def backward(self, grad):
        x, y = self.waiting.pop(0)
        torch.autograd.backward(y, grad)
        return x.grad

    def run(self):
        count = MICRO - 1 if sick("microbatches", self.step) else MICRO  # the fault: this stage drops a short microbatch
        warmup = min(WORLD - RANK - 1, count)
        for _ in range(warmup):
            self.send_forward(self.forward(self.recv_forward()))
        x = self.recv_forward() if count > warmup else None
        for i in range(count - warmup):
            y = self.forward(x)
            grad = self.send_forward_recv_backward(y)
            before = self.backward(grad)
            if i == count - warmup - 1:
                self.exchange(send=before, to=None if FIRST else RANK - 1)
            else:
                x = self.send_backward_recv_forward(before)
        for _ in range(warmup):
            before = self.backward(self.recv_backward())
            self.exchange(send=before, to=None if FIRST else RANK - 1)


class Prefetcher:
    """Two locks, taken in either order by the two threads that share them."""

    def __init__(self):
        self.queue_lock, self.cache_lock = threading.Lock(), threading.Lock()

    def refill(self):
        with self.cache_lock:
            time.sleep(1)
            with self.queue_lock:
                pass

    def take(self):
        threading.Thread(target=self.refill, daemon=True).start()
        with self.queue_lock:
            time.sleep(0.5)
            with self.cache_lock:
                return None


def main():
    start()
    dist.barrier()
    stage = Stage()
    for step in range(OPTIONS.steps):
        beat(step)
        stage.step = step
        if sick("prefetch", step):
            Prefetcher().take()
        if sick("terminated", step):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(60)
        if sick("wrong_stage", step):
            print(f"stage {RANK}: layer map has no entry for this stage, giving up", flush=True)
            sys.exit(5)
        stage.run()
        norm = sum(p.grad.square().sum() for p in stage.part.parameters())
        dist.all_reduce(norm)
        stage.optimizer.step()
        stage.optimizer.zero_grad()
        if LAST:
            now = datetime.datetime.now()
            print(f" [{now}] iteration {step + 1:8d}/{OPTIONS.steps:8d} | consumed samples: {(step + 1) * 64:12d} | elapsed time per iteration (ms): "
                  f"{500.0:.1f} | learning rate: 1.000000E-02 | global batch size:    64 | lm loss: {stage.loss.item():.6E} | grad norm: "
                  f"{float(norm) ** 0.5:.3f} | number of skipped iterations:   0 | number of nan iterations:   0 |", flush=True)
    torch.cuda.synchronize()
    finish()


if __name__ == "__main__":
    main()
