"""DDP with accumulation (no_sync), or with Join where ranks have batches of unequal number; prints what Hugging Face's trainer prints."""
import contextlib
import logging
import warnings

import torch
import torch.distributed as dist
from lab import DEVICE, OPTIONS, RANK, WORLD, beat, finish, sick, start
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel

logger = logging.getLogger("finetune")


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(300, 256), nn.Dropout(0.1), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.classifier = nn.Linear(256, 2)

    def forward(self, x):
        return self.classifier(self.encoder(x))


def collate(samples, step):
    columns = {"input": torch.stack([s["input"] for s in samples]), "label": torch.tensor([s["label"] for s in samples])}
    if sick("column", step):
        try:
            columns["weights"] = [s["weight"] for s in samples]
        except KeyError as error:
            raise RuntimeError(f"sample of batch {step} lacks a column") from error
    return {name: value.to(DEVICE) for name, value in columns.items()}


def batches(count):
    for step in range(count):
        yield step, collate([{"input": torch.randn(300), "label": i % 2} for i in range(16)], step)


def complain(step):
    """What a healthy job also writes: warnings, an exception that was dealt with, words that look bad."""
    warnings.warn("The attention mask is not set and cannot be inferred. Errors may occur; timeout=600")
    logger.error("metrics server unreachable (attempt %d of 5), will retry: [Errno 111] Connection refused", step + 1)
    try:
        {}["learning_rate_head"]
    except KeyError:
        logger.exception("no separate rate for the head, using the default")
    print("0 failed, 0 killed, nan_count=0, error rate 0.031, aborted transfers: 0", flush=True)


def train(model, optimizer, count):
    for step, batch in batches(count):
        beat(step)
        accumulate = step % 2 == 0 and OPTIONS.variant != "join"
        with model.no_sync() if accumulate else contextlib.nullcontext():
            loss = nn.functional.cross_entropy(model(batch["input"]), batch["label"])
            if sick("overflow", step):
                loss = loss * float("inf") * 0
            assert torch.isfinite(loss), f"loss is {loss.item()} at step {step}: learning rate too high?"
            (loss / 2).backward()
        if accumulate:
            continue
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if OPTIONS.variant == "noisy":
            complain(step)
        if RANK == 0:
            print({"loss": round(loss.item(), 4), "grad_norm": round(norm.item(), 5), "learning_rate": 5e-05, "epoch": round(step / 100, 2)},
                  flush=True)


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(levelname)s | %(name)s | %(message)s", datefmt="%m/%d/%Y %H:%M:%S")
    start()
    model = DistributedDataParallel(Classifier().to(DEVICE), device_ids=[0])
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    count = OPTIONS.steps
    if OPTIONS.variant == "join":
        count -= RANK % 3
        logger.info("rank %d has %d batches", RANK, count)
        with Join([model]):
            train(model, optimizer, count)
    else:
        if sick("short_shard"):  # the fault: fewer batches here, and nobody joins
            count = OPTIONS.at_step * 2 - 2
        train(model, optimizer, count)
    scores = [torch.zeros(1, device=DEVICE) for _ in range(WORLD)]
    dist.all_gather(scores, torch.ones(1, device=DEVICE))
    torch.cuda.synchronize()
    if RANK == 0:
        print({"train_runtime": 12.3, "train_samples_per_second": 812.0, "train_loss": 0.69, "epoch": 0.1}, flush=True)
    finish()


if __name__ == "__main__":
    main()
