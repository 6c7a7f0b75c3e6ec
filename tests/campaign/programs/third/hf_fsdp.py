"""Fine-tuning with FSDP of the first kind and gradient accumulation; the lines are those of Hugging Face's Trainer."""
import logging
import os
import sys

import torch
import torch.distributed as dist
from lab import DEVICE, FOLDER, OPTIONS, RANK, WORLD, beat, finish, sick, start
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import StateDictType
from torch.distributed.fsdp.wrap import ModuleWrapPolicy

logger = logging.getLogger("transformers.trainer")
ACCUMULATE = 2


class Layer(nn.Module):
    def __init__(self, dim=128):
        super().__init__()
        self.norm, self.mlp = nn.LayerNorm(dim), nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.layers, self.score = nn.Embedding(500, 128), nn.ModuleList(Layer() for _ in range(2)), nn.Linear(128, 9)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.score(x)


def load_checkpoint():
    """Each rank reads its own copy of the optimizer's state."""
    path = os.path.join(FOLDER, f"optimizer_{RANK}.pt")
    torch.save({"step": 0, "lr": [5e-5] * 64}, path)
    if sick("resume"):
        os.truncate(path, os.path.getsize(path) // 2)  # the fault: the copy was cut
    return torch.load(path)


def pad_to_longest(samples, step):
    if sick("padding", step):
        return bytearray(1 << 46)  # the fault: the system grants it, and fills it page by page while the interpreter waits
    return samples


def attention_bias(step):
    if sick("cuda_memory", step):
        return torch.empty(1 << 20, 1 << 17, device=DEVICE)  # the fault: one sample as long as a book
    return None


def compute_loss(model, ids, labels, step):
    logits = model(ids)
    if sick("anomaly", step):
        logits = torch.sqrt(logits * 0)  # its derivative is no number
    return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten()) / ACCUMULATE


def save_model(model, step):
    with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT):
        if OPTIONS.fault == "save_full" and step == OPTIONS.at_step:
            if not sick("save_full"):  # the fault: only the first rank asks for the state
                return
        state = model.state_dict()
    if RANK == 0:
        logger.info("Saving model checkpoint to /output/checkpoint-%d (%d tensors)", step, len(state))


def progress(step, loss, norm):
    if RANK == 0:
        sys.stderr.write(f"\r{100 * (step + 1) // OPTIONS.steps:3d}%|{'█' * (step + 1)}| {step + 1}/{OPTIONS.steps} [00:0{step % 10}<00:09,  1.12it/s]")
        sys.stderr.flush()
        print({"loss": f"{loss:.4f}", "grad_norm": f"{norm:.4f}", "learning_rate": "4.5e-05", "epoch": f"{step / 10:.2f}"}, flush=True)


def main():
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="[%(levelname)s|%(filename)s:%(lineno)d] %(asctime)s >> %(message)s")
    start()
    load_checkpoint()
    torch.manual_seed(1)
    model = FSDP(Tagger().to(DEVICE), auto_wrap_policy=ModuleWrapPolicy({Layer}), device_id=DEVICE, use_orig_params=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    if RANK == 0:
        logger.info("***** Running training *****")
        logger.info("  Num examples = %d", OPTIONS.steps * 8 * WORLD)
        logger.info("  Gradient Accumulation steps = %d", ACCUMULATE)
    if OPTIONS.fault == "anomaly":
        torch.autograd.set_detect_anomaly(True)
    for step in range(OPTIONS.steps):
        beat(step)
        total = 0.0
        for micro in range(ACCUMULATE):
            ids = torch.randint(0, 500, (8, 32), device=DEVICE)
            pad_to_longest(ids, step)
            attention_bias(step)
            if micro and sick("empty_micro", step):
                logger.warning("rank %d: all labels of micro batch %d are masked, dropping it", RANK, micro)
                continue
            loss = compute_loss(model, ids, ids % 9, step)
            loss.backward()
            total += loss.item()
        norm = model.clip_grad_norm_(1.0)
        optimizer.step()
        optimizer.zero_grad()
        progress(step, total, float(norm))
        if step % 4 == 3:
            save_model(model, step)
    torch.cuda.synchronize()
    dist.barrier()
    if RANK == 0:
        print({"train_runtime": "9.3", "train_samples_per_second": "118.2", "train_loss": "2.19", "epoch": "1.0"}, flush=True)
        logger.info("Training completed. Do not forget to share your model on huggingface.co/models =)")
    finish()


if __name__ == "__main__":
    main()
