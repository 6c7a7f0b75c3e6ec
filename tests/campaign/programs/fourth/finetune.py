"""A trainer class with logging, loaders with workers, evaluation and checkpoints."""
import argparse
import datetime
import json
import logging
import os
import signal
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from plant import own_rank, sick

log = logging.getLogger("finetune")


class Rows(Dataset):
    def __init__(self, size, manifest=None):
        self.size = size
        self.transform = (lambda x: x) if sick("lambda_dataset") else None
        if manifest:
            with open(manifest) as file:
                self.rows = json.load(file)

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        if index % 7 == 3:
            if sick("corrupt_row"):
                raise ValueError(f"row {index}: expected 17 fields, got 16")
            if sick("worker_killed"):
                os.kill(os.getpid(), signal.SIGKILL)
            if sick("nfs_stall"):
                self.read_from_nfs()
        generator = torch.Generator().manual_seed(index)
        return torch.randn(24, generator=generator), index % 4

    def read_from_nfs(self):
        time.sleep(3600)


class Trainer:
    def __init__(self, args):
        self.args, self.rank, self.step = args, dist.get_rank(), 0
        self.net = torch.nn.Sequential(torch.nn.Linear(24, 48), torch.nn.GELU(), torch.nn.Linear(48, 4))
        if args.resume:
            self.resume(args.resume)
        self.model = DistributedDataParallel(self.net)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        if sick("grad_hook"):
            self.net[0].weight.register_hook(self.check_gradient)

    def check_gradient(self, grad):
        if self.step == 3:
            raise FloatingPointError(f"gradient norm {grad.norm().item() * 1e6:.1f} exceeds 1000.0")
        return grad

    def resume(self, path):
        torch.manual_seed(0)
        state = {"0.weight": torch.randn(48, 24), "0.bias": torch.zeros(48), "2.weight": torch.zeros(4, 48), "2.bias": torch.zeros(4)}
        if sick("old_checkpoint"):
            state["2.weight"] = torch.zeros(6, 48)
        self.net.load_state_dict(state)
        log.info("resumed from %s", path)

    def loader(self, size, workers):
        data = Rows(size, self.args.manifest)
        sampler = DistributedSampler(data, shuffle=False)
        context = "spawn" if sick("lambda_dataset") else None
        return DataLoader(data, batch_size=4, sampler=sampler, num_workers=workers, multiprocessing_context=context if workers else None)

    def train_epoch(self, epoch):
        for x, y in self.loader(96, self.args.workers):
            loss = torch.nn.functional.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.step += 1
            if self.step % 2 == 0:
                log.info("epoch %d step %d loss %.4f", epoch, self.step, loss.item())

    @torch.no_grad()
    def evaluate(self, epoch):
        self.model.eval()
        right = torch.zeros(2)
        for x, y in self.loader(24, 0):
            right += torch.tensor([(self.net(x).argmax(1) == y).sum().item(), len(y)])
        if sick("eval_empty"):
            right[1] = 0
            accuracy = int(right[0]) / int(right[1])
        dist.all_reduce(right)
        accuracy = int(right[0]) / int(right[1])
        log.info("epoch %d eval accuracy %.3f", epoch, accuracy)
        self.model.train()

    def save(self, epoch):
        path = os.path.join(self.args.out, f"epoch{epoch}.pt")
        if sick("disk_full"):
            path = "/dev/full"
        if self.rank == 0 or sick("disk_full"):
            torch.save(self.net.state_dict(), path)
            log.info("saved %s", path)
        if sick("upload"):
            log.info("uploading %s to s3://models/finetune", path)
            self.upload(path)
        dist.barrier()

    def upload(self, path):
        time.sleep(3600)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", default="checkpoints")
    parser.add_argument("--resume")
    parser.add_argument("--manifest")
    parser.add_argument("--local-rank", "--local_rank", type=int)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s | %(levelname)-7s | rank {own_rank()} | %(name)s:%(lineno)d - %(message)s")
    if sick("no_module"):
        import flash_attention_cpu  # noqa: F401
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=20))
    os.makedirs(args.out, exist_ok=True)
    trainer = Trainer(args)
    for epoch in range(args.epochs):
        trainer.train_epoch(epoch)
        trainer.evaluate(epoch)
        trainer.save(epoch)
    log.info("finished after %d steps", trainer.step)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
