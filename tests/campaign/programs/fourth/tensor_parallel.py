import datetime
import os

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from plant import sick


def main():
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=20))
    rank, world = dist.get_rank(), dist.get_world_size()
    mesh = init_device_mesh("cpu", (world,), mesh_dim_names=("tp",))
    torch.manual_seed(0)
    mlp = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 16))
    parallelize_module(mlp, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    optimizer = torch.optim.SGD(mlp.parameters(), lr=0.1, foreach=False)
    for it in range(6):
        x = torch.randn(12 if sick("longer", it) else 8, 16)
        if sick("twice", it):
            mlp(x)
        out = mlp(x)
        if sick("placement", it):
            out = DTensor.from_local(out, mesh, [Shard(0)]) + DTensor.from_local(torch.ones(4, 16), mesh, [Shard(0)])
        out.pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        if sick("root", it):
            dist.broadcast(torch.ones(4), src=1)
        else:
            dist.broadcast(torch.ones(4), src=0)
        if rank == 0:
            print(f"iter={it} out={out.mean().item():.5f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
