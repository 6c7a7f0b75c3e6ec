import datetime
import logging
import os

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record
from torch.nn.parallel import DistributedDataParallel as DDP

from plant import sick

ATTEMPT = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))


@record
def main():
    logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=20))
    rank = dist.get_rank()
    first = 0
    if os.path.exists("snapshot.pt"):
        first = torch.load("snapshot.pt")["step"]
        logging.info("rank %d resumes at step %d (restart %d)", rank, first, ATTEMPT)
    model = DDP(torch.nn.Linear(6, 6))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(first, 8):
        if ATTEMPT == 0 and sick("once", step):
            raise ConnectionResetError(104, "Connection reset by peer")
        if sick("always", step):
            raise RuntimeError("tokenizer vocabulary has 32000 entries, the model expects 32064")
        if sick("two_kinds", step):
            if ATTEMPT == 0:
                os.kill(os.getpid(), 9)
            raise BrokenPipeError(32, "Broken pipe")
        optimizer.zero_grad()
        model(torch.randn(4, 6)).sum().backward()
        optimizer.step()
        if rank == 0:
            logging.info("step %d done", step)
            if step % 2 == 1:
                torch.save({"step": step + 1}, "snapshot.tmp")
                os.replace("snapshot.tmp", "snapshot.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
