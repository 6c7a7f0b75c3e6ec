"""Hybrid sharding: FSDP2 on a mesh of two dimensions, mixed precision, clipping, token counts of all ranks every third step."""
import logging

import torch
import torch.distributed as dist
from lab import DEVICE, OPTIONS, RANK, WORLD, beat, finish, sick, start
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

logger = logging.getLogger()


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(dim), nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


class Decoder(nn.Module):
    def __init__(self, vocabulary=1024, dim=128, depth=2):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, dim)
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))
        self.head = nn.Linear(dim, vocabulary)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def count_tokens(tokens, step):
    buckets = 70000 if sick("vocabulary", step) else 50304  # the fault: this rank's tokenizer has more entries
    counts = torch.bincount(tokens.flatten(), minlength=buckets).float()
    dist.all_reduce(counts)
    return counts


def estimate_curvature(size=16384):
    """Power iteration, far too long."""
    matrix = torch.randn(size, size, device=DEVICE, dtype=torch.bfloat16)
    for _ in range(30000):
        matrix = matrix @ matrix
    return matrix


def cache_activations():
    torch.cuda.set_per_process_memory_fraction(0.03)
    kept = []
    while True:
        kept.append(torch.empty(1 << 28, device=DEVICE))


def position_ids(count, step):
    ids = torch.arange(count, device=DEVICE)
    return ids + 2000 if sick("positions", step) else ids  # the fault: beyond the table


def train(model, optimizer, positions):
    for step in range(1, OPTIONS.steps + 1):
        beat(step)
        tokens = torch.randint(0, 1024, (8, 65), device=DEVICE)
        if sick("curvature", step):
            estimate_curvature()
        positions(position_ids(64, step))
        logits = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
        if sick("activations", step):
            cache_activations()
        if sick("nonfinite", step):
            logger.warning("skipping batch %d: non-finite loss", step)
            continue
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if step % 3 == 1:
            count_tokens(tokens, step)
        if RANK == 0:
            norm = norm.to_local() if hasattr(norm, "to_local") else norm
            logger.info("step: %2d  loss: %8.4f  grad_norm: %7.4f  memory: %5.2fGiB", step, loss.item(), float(norm),
                        torch.cuda.max_memory_allocated() / 2**30)


def main():
    logging.basicConfig(level=logging.INFO, format="[trainer] %(asctime)s - %(name)s - %(levelname)s - %(message)s")
    start()
    mesh = init_device_mesh("cuda", (WORLD // 2, 2), mesh_dim_names=("replicate", "shard"))
    torch.manual_seed(1)
    model = Decoder().to(DEVICE)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for block in model.blocks:
        fully_shard(block, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    if RANK == 0:
        logger.info("Building device mesh with replicate=%d, shard=2; 2 blocks wrapped", WORLD // 2)
    train(model, torch.optim.AdamW(model.parameters(), lr=3e-4), nn.Embedding(512, 128, device=DEVICE))
    torch.cuda.synchronize()
    finish()
    if RANK == 0:
        logger.info("Training completed")


if __name__ == "__main__":
    main()
