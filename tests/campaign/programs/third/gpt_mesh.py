"""Data, context and tensor parallel by hand on slices of one device mesh, batches broadcast inside a slice; writes what Megatron writes."""
import ctypes
import datetime
import faulthandler
import os
import queue
import signal
import threading
import time

import torch
import torch.distributed as dist
from lab import DEVICE, OPTIONS, RANK, WORLD, beat, finish, sick, start
from torch import nn
from torch.distributed.device_mesh import init_device_mesh

DIM = 192


class Batches:
    """A thread reads ahead; the trainer takes from a queue."""

    def __init__(self):
        self.queue = queue.Queue(2)
        threading.Thread(target=self.read_ahead, daemon=True, name="read-ahead").start()

    def read_ahead(self):
        for step in range(OPTIONS.steps):
            if sick("read_ahead", step):
                raise OSError(107, "Transport endpoint is not connected", "/lustre/data/gpt_text_document.bin")
            self.queue.put(torch.randint(0, 2, (8, 64)).float())

    def next_batch(self):
        return self.queue.get()


def fused_layer_norm(x, step):
    if sick("fused", step):
        ctypes.memset(8, 0, 64)
    return nn.functional.layer_norm(x, x.shape[-1:])


def reduce_activations(x, mesh, step):
    name = "dp" if sick("wrong_slice", step) else "tp"  # the fault: the slice of another dimension
    dist.all_reduce(x, group=mesh[name].get_group())
    return x


def average_loss(loss, mask, mesh, step):
    if sick("masked", step):
        mask = mask * 0
    if mask.sum() == 0:
        return loss  # the fault: no tokens here, so nothing to average
    dist.all_reduce(loss, group=mesh["dp"].get_group())
    return loss


def collect(loss, step):
    """The last rank prints, so it gets all losses."""
    root = RANK if sick("root", step) else WORLD - 1
    losses = [torch.zeros_like(loss) for _ in range(WORLD)] if RANK == root else None
    dist.gather(loss, losses, dst=root)
    return torch.stack(losses).mean().item() if losses else 0.0


def main():
    faulthandler.enable()
    start()
    shape = (WORLD // 4, 2, 2) if WORLD >= 8 else (WORLD // 2, 1, 2)
    mesh = init_device_mesh("cuda", shape, mesh_dim_names=("dp", "cp", "tp"))
    if RANK == 0:
        print(f"using world size: {WORLD}, data-parallel size: {shape[0]}, context-parallel size: {shape[1]}, tensor-model-parallel size: 2, "
              "pipeline-model-parallel size: 1", flush=True)
    print(f" > number of parameters on (tensor, pipeline) model parallel rank ({RANK % 2}, 0): {2 * DIM * DIM}", flush=True)
    weight = nn.Parameter(torch.randn(DIM, DIM, device=DEVICE) / DIM)
    read = Batches()
    for step in range(OPTIONS.steps):
        beat(step)
        began = time.time()
        mask = read.next_batch()
        tokens = torch.randn(64, DIM, device=DEVICE)
        source = mesh["tp"].get_group()
        dist.broadcast(tokens, src=dist.get_global_rank(source, 0), group=source)
        if sick("node", step):
            os.kill(os.getpid(), signal.SIGKILL)
        hidden = reduce_activations(fused_layer_norm(tokens, step) @ weight.detach(), mesh, step)
        dist.all_reduce(hidden, group=mesh["cp"].get_group())
        loss = (hidden.square().mean() + 0 * weight.sum()).detach()
        loss = average_loss(loss, mask, mesh, step)
        gradient = torch.randn(DIM, DIM, device=DEVICE)
        dist.all_reduce(gradient, group=mesh["dp"].get_group())
        mean = collect(loss, step)
        if RANK == WORLD - 1:
            print(f" [{datetime.datetime.now():%Y-%m-%d %H:%M:%S}] iteration {step + 1:8d}/{OPTIONS.steps:8d} | consumed samples: {8 * (step + 1):12d} | "
                  f"elapsed time per iteration (ms): {1000 * (time.time() - began):.1f} | throughput per GPU (TFLOP/s/GPU): 0.1 | learning rate: "
                  f"1.500000E-04 | global batch size:     8 | lm loss: {mean:.6E} | loss scale: 1.0 | grad norm: {gradient.norm().item():.3f} | "
                  "number of skipped iterations:   0 | number of nan iterations:   0 |", flush=True)
    torch.cuda.synchronize()
    dist.barrier()
    finish()


if __name__ == "__main__":
    main()
