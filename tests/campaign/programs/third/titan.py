"""FSDP2 with a thread that writes checkpoints while training goes on; lines as torchtitan's."""
import logging
import os
import threading
import time

import torch
import torch.distributed as dist
from lab import DEVICE, FOLDER, OPTIONS, RANK, SICK, WORLD, beat, finish, limit, sick, start
from torch import nn
from torch.distributed.fsdp import fully_shard

logger = logging.getLogger()


class AsyncWriter:
    """Writes one checkpoint at a time; the trainer waits for the one before."""

    def __init__(self):
        self.done = threading.Event()
        self.done.set()

    def write(self, state, step):
        if sick("writer_thread", step):
            raise OSError(122, "Disk quota exceeded", f"/checkpoints/step-{step}/__{RANK}_0.distcp")
        torch.save(state, os.path.join(FOLDER, f"step-{step}_{RANK}.pt"))
        self.done.set()

    def save(self, model, step):
        self.wait_for_writer()
        self.done.clear()
        state = {name: value.to_local().cpu() for name, value in model.state_dict().items()}
        threading.Thread(target=self.write, args=(state, step), name="checkpoint").start()
        if RANK == 0:
            logger.info("Saving the checkpoint (or staging if async is enabled) at step %d.", step)

    def wait_for_writer(self):
        self.done.wait()


def restore_optimizer(optimizer):
    state = optimizer.state_dict()
    if sick("opt_groups"):
        state["param_groups"] = state["param_groups"] * 2  # the fault: saved by a run with two groups
    optimizer.load_state_dict(state)


def profile_kernel(step):
    if sick("endless_kernel", step):
        torch.cuda._sleep(1 << 50)


def evaluate(model, step):
    model.eval()
    with torch.no_grad():
        for _ in range(3 if sick("eval_more", step) else 2):  # the fault: the last, short batch is on one rank only
            model(torch.randn(4, 256, device=DEVICE))
    model.train()


def export(step):
    if sick("export"):
        os.makedirs("/proc/version/export/model")  # the fault: a file where the folder should be
    if RANK == 0:
        logger.info("Exported weights")


def train(model, optimizer, writer):
    for step in range(1, OPTIONS.steps + 1):
        beat(step)
        if OPTIONS.variant == "slow" and RANK in SICK:
            time.sleep(0.7)
        profile_kernel(step)
        began = time.time()
        loss = model(torch.randn(16, 256, device=DEVICE)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 2 == 0:
            writer.save(model, step)
        if step % 4 == 0:
            evaluate(model, step)
        mean = loss.detach().clone()
        dist.all_reduce(mean, op=dist.ReduceOp.AVG)
        if RANK == 0:
            logger.info("\x1b[31mstep: %2d  \x1b[32mloss: %7.4f  \x1b[38;2;180;60;0mgrad_norm:  0.9  \x1b[38;2;54;234;195mmemory:  0.5GiB(0.36%%)  "
                        "\x1b[34mtps: %d  \x1b[36mtflops: 0.02  \x1b[35mmfu: 0.00%%\x1b[39m", step, mean.item(), 4096 / (time.time() - began))


def main():
    logging.basicConfig(level=logging.INFO, format="[titan] %(asctime)s - root - %(levelname)s - %(message)s")
    start()
    side = dist.new_group(list(range(WORLD)), backend="gloo", timeout=limit())
    logger.info("Building 1-D device mesh with ['dp_shard'], [%d]", WORLD)
    torch.manual_seed(2)
    model = nn.Sequential(*[nn.Sequential(nn.Linear(256, 256), nn.SiLU()) for _ in range(3)]).to(DEVICE)
    for block in model:
        fully_shard(block)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=8e-4)
    restore_optimizer(optimizer)
    writer = AsyncWriter()
    if RANK == 0:
        logger.info("Trainer is initialized with local batch size 16, global batch size %d, total steps %d", 16 * WORLD, OPTIONS.steps)
    train(model, optimizer, writer)
    writer.wait_for_writer()
    torch.cuda.synchronize()
    dist.barrier(group=side)
    logger.info("Training completed")
    export(OPTIONS.steps)
    finish()
    logger.info("Process group destroyed")


if __name__ == "__main__":
    main()
