"""A trainer with callbacks and a progress bar, as Lightning has them: DDP, a sanity check, validation whose metrics all ranks average."""
import sys
import time
import warnings

import torch
import torch.distributed as dist
from lab import DEVICE, OPTIONS, RANK, WORLD, beat, finish, sick, start
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class LitModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU())
        self.head = nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.backbone(x))

    def validation_step(self, batch, index):
        x, y = batch
        logits = self(x)
        if sick("validation", OPTIONS.at_step):
            y = torch.cat([y, y.new_zeros(3, 2)])  # the fault: labels of another task
        return nn.functional.cross_entropy(logits, y)


class LearningRateMonitor:
    def on_train_batch_end(self, trainer, step):
        groups = trainer.optimizer.param_groups
        trainer.rates.append(groups[2 if sick("callback", step) else 0]["lr"])  # the fault: a group that is not there


class DeviceStats:
    def on_train_batch_end(self, trainer, step):
        if OPTIONS.variant == "noisy" and step % 3 == 0:
            try:
                raise ConnectionError("HTTPSConnectionPool(host='api.wandb.local', port=443): Max retries exceeded")
            except ConnectionError:
                import traceback
                print("wandb: ERROR Error while calling W&B API, retrying in the background", file=sys.stderr)
                traceback.print_exc()
                print("wandb: retry succeeded after 1 attempt; failed uploads: 0", file=sys.stderr, flush=True)


class Trainer:
    def __init__(self, module):
        self.module, self.rates = module, []
        self.model = DistributedDataParallel(module, device_ids=[0])
        self.optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
        self.callbacks = [LearningRateMonitor(), DeviceStats()]

    def batches(self, count):
        for index in range(count):
            yield torch.randn(32, 784, device=DEVICE), torch.randint(0, 10, (32,), device=DEVICE)

    def bar(self, title, step, count, **postfix):
        if RANK == 0:
            done = int(10 * (step + 1) / count)
            text = ", ".join(f"{name}={value}" for name, value in postfix.items())
            sys.stdout.write(f"\r{title}: {100 * (step + 1) // count:3d}%|{'█' * done}{' ' * (10 - done)}| {step + 1}/{count} "
                             f"[00:{step // 4:02d}<00:{count // 4:02d},  4.1{step}it/s, {text}]")
            sys.stdout.flush()

    def fit(self):
        self.validate("Sanity Checking DataLoader 0")
        count = OPTIONS.steps
        if sick("uneven"):  # the fault: a sampler that does not pad; this rank's data ends earlier
            count = OPTIONS.at_step
        for step, (x, y) in enumerate(self.batches(count)):
            beat(step)
            loss = nn.functional.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            for callback in self.callbacks:
                callback.on_train_batch_end(self, step)
            self.bar("Epoch 0", step, count, v_num=3, train_loss=f"{loss.item():.3f}")
        self.validate("Validation DataLoader 0")
        if RANK == 0:
            print("\n`Trainer.fit` stopped: `max_epochs=1` reached.", flush=True)

    def validate(self, title):
        self.module.eval()
        losses = []
        with torch.no_grad():
            for index, batch in enumerate(self.batches(2)):
                if title.startswith("Val") or OPTIONS.fault != "validation":
                    losses.append(self.module.validation_step(batch, index))
                    self.bar(title, index, 2)
        metric = torch.stack(losses).mean() if losses else torch.zeros((), device=DEVICE)
        dist.all_reduce(metric)
        totals = [torch.zeros_like(metric) for _ in range(WORLD)]
        dist.all_gather(totals, metric)
        torch.cuda.synchronize()
        self.module.train()


def main():
    start()
    print(f"Initializing distributed: GLOBAL_RANK: {RANK}, MEMBER: {RANK + 1}/{WORLD}", file=sys.stderr, flush=True)
    if RANK == 0:
        print("GPU available: True (cuda), used: True\nTPU available: False, using: 0 TPU cores\n" + "-" * 92 +
              f"\ndistributed_backend=nccl\nAll distributed processes registered. Starting with {WORLD} processes\n" + "-" * 92, flush=True)
        print("  | Name     | Type       | Params | Mode\n" + "-" * 44 + "\n0 | backbone | Sequential | 233 K  | train\n"
              "1 | head     | Linear     | 1.3 K  | train\n" + "-" * 44, flush=True)
    warnings.warn("The 'train_dataloader' does not have many workers which may be a bottleneck. Consider increasing the value of `num_workers`.")
    torch.manual_seed(0)
    trainer = Trainer(LitModel().to(DEVICE))
    began = time.time()
    trainer.fit()
    if RANK == 0:
        print(f"fit took {time.time() - began:.1f} s", flush=True)
    finish()


if __name__ == "__main__":
    main()
