import datetime
import os
import sys
import time
import warnings

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from tqdm import tqdm

from plant import sick


def load_tokenizer(rank):
    for attempt in range(3):
        try:
            if attempt < 2 and os.environ.get("NOISY"):
                raise TimeoutError("hub did not answer in 10 s")
            return "tokenizer"
        except TimeoutError:
            import traceback
            traceback.print_exc()
            print(f"retrying ({attempt + 1}/3) ...", file=sys.stderr, flush=True)


def main():
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=20))
    rank = dist.get_rank()
    load_tokenizer(rank)
    model = DDP(torch.nn.Linear(8, 8))
    step_fn = torch.compile(model, backend="eager") if os.environ.get("COMPILE") else model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) if os.environ.get("PROFILE") else None
    if profiler:
        profiler.start()
    for epoch in range(2):
        bar = tqdm(range(10), desc=f"epoch {epoch}", disable=rank != 0)
        for step in bar:
            if sick("recursion", step) and epoch == 1:
                def flatten(tree):
                    return flatten([tree])
                flatten([])
            if sick("stalls", step) and epoch == 1:
                time.sleep(3600)
            if sick("mem", step) and epoch == 1:
                keep = []
                while True:
                    keep.append(bytearray(1 << 26))
            optimizer.zero_grad()
            loss = step_fn(torch.randn(4, 8)).pow(2).mean()
            loss.backward()
            optimizer.step()
            bar.set_postfix(loss=f"{loss.item():.3f}")
            if step == 5:
                warnings.warn("lr_scheduler.step() was called before optimizer.step(); error in the first value of the schedule")
            time.sleep(0.05)
    if profiler:
        profiler.stop()
        os.makedirs("traces", exist_ok=True)
        profiler.export_chrome_trace(f"traces/rank{rank}.json")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
