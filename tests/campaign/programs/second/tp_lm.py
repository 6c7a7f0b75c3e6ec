"""Tensor parallel by parallelize_module on one dimension of a mesh, gradients averaged by hand over the other."""
import ctypes
import sys

import torch
import torch.distributed as dist
from lab import DEVICE, OPTIONS, RANK, WORLD, beat, finish, sick, start
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


class FeedForward(nn.Module):
    def __init__(self, dim=256):
        super().__init__()
        self.w1, self.w2 = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        return x + self.w2(torch.nn.functional.silu(self.w1(x)))


def flat_gradients(model):
    return torch.cat([(p.grad.to_local() if hasattr(p.grad, "to_local") else p.grad).flatten() for p in model.parameters()])


def average(model, mesh, loss, step):
    """Gradients over the data dimension, the loss over the tensor one."""
    gradients = flat_gradients(model)
    losses = [torch.zeros_like(loss) for _ in range(mesh["tp"].size())]
    if sick("order", step):  # the fault: this rank gathers first
        dist.all_gather(losses, loss, group=mesh["tp"].get_group())
        dist.all_reduce(gradients, group=mesh["dp"].get_group())
    else:
        dist.all_reduce(gradients, group=mesh["dp"].get_group())
        dist.all_gather(losses, loss, group=mesh["tp"].get_group())
    return gradients, torch.stack(losses).mean()


def early_stopping(step):
    if sick("converged", step):
        print(f"rank {RANK}: loss below threshold, stopping", flush=True)
        sys.exit(0)


def pack(lengths, step):
    """Fills rows of 64 tokens, the longest samples first."""
    rows, free = 0, 0
    while lengths:
        if sick("packing", step):
            lengths.append(1)  # the fault: what was split off is put back for ever
        size = lengths.pop()
        rows, free = (rows + 1, 64 - size) if size > free else (rows, free - size)
    return rows


def copy_table(step):
    if sick("wild_pointer", step):
        ctypes.memmove(16, b"table", 5)


def main():
    start()
    mesh = init_device_mesh("cuda", (WORLD // 2, 2), mesh_dim_names=("dp", "tp"))
    torch.manual_seed(7)
    model = nn.Sequential(FeedForward(), FeedForward()).to(DEVICE)
    for layer in model:
        parallelize_module(layer, mesh["tp"], {"w1": ColwiseParallel(), "w2": RowwiseParallel()})
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=False)
    for step in range(OPTIONS.steps):
        beat(step)
        torch.manual_seed(1000 * mesh["dp"].get_local_rank() + step)
        x = torch.randn(32, 256, device=DEVICE)
        early_stopping(step)
        pack([3, 17, 64, 5, 40], step)
        loss = model(x).square().mean()
        loss.backward()
        copy_table(step)
        gradients, mean = average(model, mesh, loss.detach(), step)
        optimizer.step()
        optimizer.zero_grad()
        if mesh["tp"].get_local_rank() == 0:
            print(f"{step + 1}/{OPTIONS.steps} loss={mean.item():.5f} gnorm={gradients.norm().item():.3f}", flush=True)
    torch.cuda.synchronize()
    finish()


if __name__ == "__main__":
    main()
