"""A fine-tuning recipe: FSDP2, activation checkpointing, accumulated gradients, clipping, a compiled loss; the bar of torchtune."""
import logging
import sys
import time

import torch
import torch.distributed as dist
import torch.utils.checkpoint
from lab import DEVICE, OPTIONS, RANK, WORLD, beat, finish, sick, start
from torch import nn
from torch.distributed.fsdp import fully_shard

log = logging.getLogger("torchtune.utils._logging")
DIM, VOCABULARY, ACCUMULATE = 128, 300, 2
STATE = {"step": 0}


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down, self.calls = nn.Linear(DIM, 4 * DIM), nn.Linear(4 * DIM, DIM), 0

    def inner(self, x):
        self.calls += 1
        hidden = self.up(x)
        if self.calls % 2 == 0 and sick("recompute", STATE["step"]):
            hidden = hidden[:, :16]  # the fault: what is computed again is not what was computed
        return x + self.down(torch.nn.functional.silu(hidden))

    def forward(self, x):
        return torch.utils.checkpoint.checkpoint(self.inner, x, use_reentrant=False)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.blocks, self.out = nn.Embedding(VOCABULARY, DIM), nn.ModuleList(Block() for _ in range(2)), nn.Linear(DIM, VOCABULARY)

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.out(x)


@torch.compile(backend="aot_eager", dynamic=False)
def chunked_loss(logits, labels):
    return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


def merge_pairs(words):
    """Byte pairs, until none is left."""
    endless = sick("merge_loop", STATE["step"])
    while len(words) > 1:
        pairs = sorted({a + b for a, b in zip(words, words[1:])})
        words = words[:2] if endless else [pairs[0]] + words[2:]  # the fault: a pair that never goes away
    return words


def collate(step):
    length = 32
    merge_pairs(list("banana"))
    if sick("packed", step):
        length = 60_000_000  # the fault: one document as long as a book
    ids = torch.randint(0, VOCABULARY, (4, length), device=DEVICE)
    labels = ids[:, : length - 3] if sick("label_shift", step) else ids
    return ids, labels


def clip(model, step):
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if sick("total_norm", step):
        norm.full_tensor()  # the fault: a collective that the others do not call
        log.info("gradient norm of rank %d: large", RANK)
    return norm


def main():
    logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
    start()
    if OPTIONS.fault == "packed":
        torch.cuda.set_per_process_memory_fraction(0.05)
    log.info("Running FullFinetuneRecipeDistributed with resolved config:\n\nbatch_size: 4\nclip_grad_norm: 1.0\ngradient_accumulation_steps: 2\nseed: 7\n")
    torch.manual_seed(7)
    model = Model().to(DEVICE)
    for block in model.blocks:
        fully_shard(block)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5, fused=False)
    if RANK == 0:
        log.info("Instantiating model and loading checkpoint took 0.42 secs")
    for step in range(OPTIONS.steps):
        STATE["step"] = step
        beat(step)
        began = time.time()
        for micro in range(ACCUMULATE):
            if micro and sick("lost_micro", step):
                continue  # the fault: a rank without a second batch goes on
            ids, labels = collate(step)
            loss = chunked_loss(model(ids), labels) / ACCUMULATE
            loss.backward()
        clip(model, step)
        optimizer.step()
        optimizer.zero_grad()
        if RANK == 0:
            sys.stderr.write(f"\r1|{step + 1}|Loss: {ACCUMULATE * loss.item():.6f}: {100 * (step + 1) // OPTIONS.steps:3d}%|###   | "
                             f"{step + 1}/{OPTIONS.steps} [00:{step:02d}<00:10,  {time.time() - began:.2f}s/it]")
            sys.stderr.flush()
    torch.cuda.synchronize()
    dist.barrier()
    log.info("Profiling disabled. Saved final checkpoint of %d shards", WORLD)
    finish()


if __name__ == "__main__":
    main()
