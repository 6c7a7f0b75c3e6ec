import datetime
import os
import signal
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP

from plant import sick


def worker(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    if sick("never_joins", rank=rank):
        import time
        time.sleep(3600)
    size = world + 1 if sick("wrong_world", rank=rank) else world
    dist.init_process_group("gloo", rank=rank, world_size=size, timeout=datetime.timedelta(seconds=20))
    model = DDP(torch.nn.Linear(10, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(5):
        if sick("label", epoch, rank):
            raise KeyError("label_id")
        if sick("killed", epoch, rank):
            os.kill(os.getpid(), signal.SIGKILL)
        if sick("exit5", epoch, rank):
            sys.exit(5)
        optimizer.zero_grad()
        loss = model(torch.randn(20, 10)).pow(2).mean()
        loss.backward()
        optimizer.step()
        print(f"Rank {rank} epoch {epoch}: loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    world = int(sys.argv[1])
    mp.spawn(worker, args=(world, int(os.environ["PORT"])), nprocs=world, join=True)
    print("all workers finished")
