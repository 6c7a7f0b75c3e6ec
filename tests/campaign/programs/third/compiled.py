"""DDP around a compiled model; gradients in buckets, statistics of all ranks in one flat tensor. Lines as absl writes them."""
import datetime
import os
import sys
import threading
import time

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from lab import DEVICE, OPTIONS, RANK, SICK, beat, finish, sick, start  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402


def log(text, level="I"):
    now = datetime.datetime.now()
    line = sys._getframe(1).f_lineno
    print(f"{level}{now:%m%d %H:%M:%S}.{now.microsecond:06d} {os.getpid():7d} compiled.py:{line}] {text}", file=sys.stderr, flush=True)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.mix, self.out = nn.Embedding(1000, 96), nn.Linear(96, 192), nn.Linear(192, 50)

    def forward(self, ids):
        return self.out(torch.relu(self.mix(self.table(ids)))).mean(1)


def tokens(step):
    ids = torch.randint(0, 1000, (16, 24), device=DEVICE)
    return ids + 5000 if sick("index", step) else ids  # the fault: a bigger vocabulary than the table


def check_length(ids, step):
    if sick("length", step):
        ids = ids[:, :7]
    if ids.shape[1] % 8:
        raise ValueError(f"unexpected sequence length {ids.shape[1]}, must be a multiple of 8")


class Recorder:
    """Statistics, written by a thread under a lock that the trainer also takes."""

    def __init__(self):
        self.lock, self.filled = threading.Lock(), threading.Condition(threading.Lock())

    def drain(self):
        with self.lock, self.filled:
            self.filled.wait()  # the fault: it waits for more with the lock in hand

    def append_statistics(self, step):
        if sick("statistics", step):
            threading.Thread(target=self.drain, daemon=True, name="drain").start()
            time.sleep(0.5)
        with self.lock:
            return step


def share_statistics(model, step):
    flat = torch.ones(3_000_000, device=DEVICE)
    if sick("double", step):
        flat = flat.double()  # the fault: numpy's default on one rank
    dist.all_reduce(flat)


def main():
    start()
    torch.manual_seed(4)
    compiled = torch.compile(Model().to(DEVICE), backend="inductor" if OPTIONS.variant == "inductor" else "aot_eager")
    model = DistributedDataParallel(compiled, device_ids=[0])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    recorder = Recorder()
    for step in range(OPTIONS.steps):
        beat(step)
        if OPTIONS.variant == "slow" and RANK in SICK and step in (4, 5):
            log("recompiling: guard failed on dynamic shape, this may take a while", "W")
            time.sleep(3)
        ids = tokens(step)
        check_length(ids, step)
        loss = nn.functional.cross_entropy(model(ids), ids[:, 0] % 50)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        recorder.append_statistics(step)
        if step % 4 == 3:
            share_statistics(model, step)
        log(f"step={step} loss={loss.item():.4f} examples/s={16 * 12}")
    torch.cuda.synchronize()
    dist.barrier()
    log("finished, 0 errors, 0 warnings")
    finish()


if __name__ == "__main__":
    main()
