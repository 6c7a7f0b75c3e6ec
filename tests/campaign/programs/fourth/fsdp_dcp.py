import argparse
import datetime
import faulthandler
import logging
import os
import threading
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from plant import sick

logger = logging.getLogger("titan")


class Block(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.w1, self.w2 = torch.nn.Linear(dim, 2 * dim), torch.nn.Linear(2 * dim, dim)

    def forward(self, x):
        return x + self.w2(torch.nn.functional.silu(self.w1(x)))


class OneBadWriter(dcp.FileSystemWriter):
    def write_data(self, plan, planner):
        if sick("write_shard"):
            raise OSError(122, "Disk quota exceeded", str(self.path))
        return super().write_data(plan, planner)


def dump_later(seconds):
    def dump():
        time.sleep(seconds)
        os.makedirs("fr", exist_ok=True)
        with open(f"fr/trace_{dist.get_rank()}.pkl", "wb") as file:
            file.write(torch._C._distributed_c10d._dump_fr_trace(includeCollectives=True, includeStackTraces=True, onlyActive=False))
    threading.Thread(target=dump, daemon=True).start()


def build_index(rank):
    table = {}
    while True:
        table[len(table) % 1000] = rank
        time.sleep(0.001)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--dump-after", type=float, default=0)
    parser.add_argument("--stacks-after", type=float, default=0)
    args = parser.parse_args()
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=20))
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO, format="[titan] %(asctime)s - %(name)s - %(levelname)s - %(message)s")
    if args.dump_after:
        dump_later(args.dump_after)
    if args.stacks_after:
        faulthandler.dump_traceback_later(args.stacks_after)
    mesh = init_device_mesh("cpu", (world,), mesh_dim_names=("dp",))
    model = torch.nn.Sequential(*[Block(16) for _ in range(3)])
    for block in model:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(1, args.steps + 1):
        if sick("index_build", step):
            build_index(rank)
        if sick("huge_batch", step):
            torch.empty(1 << 44, dtype=torch.uint8)
        if sick("skips_block", step):
            model[0](torch.randn(4, 16)).sum().backward()
            continue
        loss = model(torch.randn(4, 16)).pow(2).mean()
        loss.backward()
        if sick("extra_norm", step):
            dist.all_reduce(torch.ones(7))
        optimizer.step()
        optimizer.zero_grad()
        logger.info(f"step: {step:2}  loss: {loss.item():7.4f}  grad_norm: 0.4121  memory:  0.01GiB(0.02%)  tps: 1,204")
        if step == 4:
            dcp.save({"model": model.state_dict()}, storage_writer=OneBadWriter("dcp_ckpt"))
            logger.info("Saved the checkpoint at step 4")
            state = model.state_dict()
            if sick("new_layer"):
                state["tok_embeddings.weight"] = torch.zeros(4)
            dcp.load({"model": state}, checkpoint_id="dcp_ckpt")
    faulthandler.cancel_dump_traceback_later()
    dist.destroy_process_group()
    logger.info("Training completed")


if __name__ == "__main__":
    main()
