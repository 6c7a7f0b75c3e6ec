"""Workers that agree through a store and monitored barriers before each round."""
import datetime
import os
import sys
import time

import torch
import torch.distributed as dist

from plant import own_rank, sick


def log(text):
    print(f"[{datetime.datetime.now().isoformat(timespec='milliseconds')}][worker {own_rank()}] {text}", flush=True)


def main():
    limit = datetime.timedelta(seconds=20)
    rank, world = own_rank(), int(os.environ.get("WORLD_SIZE", os.environ.get("OMPI_COMM_WORLD_SIZE", "1")))
    if sick("absent"):
        log("mounting /data")
        time.sleep(3600)
    if sick("bad_world"):
        world += 1
    dist.init_process_group("gloo", rank=rank, world_size=world, timeout=limit, init_method="env://")
    store = dist.distributed_c10d._get_default_store()
    for round_ in range(5):
        if not (sick("no_plan", round_)):
            store.set(f"plan/{round_}/{rank}", "ready")
        if rank == 0:
            for peer in range(world):
                store.wait([f"plan/{round_}/{peer}"], datetime.timedelta(seconds=4))
        if sick("stuck", round_):
            log("compacting replay buffer")
            time.sleep(3600)
        dist.monitored_barrier(timeout=datetime.timedelta(seconds=5))
        shares = [torch.zeros(3) for _ in range(world)]
        if sick("dtype", round_):
            dist.all_gather([share.double() for share in shares], torch.ones(3).double())
        else:
            dist.all_gather(shares, torch.full((3,), float(rank)))
        if sick("assertion", round_):
            assert sum(share[0] for share in shares) == 99, "shares do not add up"
        log(f"round {round_} total {sum(share[0] for share in shares).item():.0f}")
    dist.destroy_process_group()
    log("bye")


if __name__ == "__main__":
    main()
