"""FSDP2 with checkpoints written by every rank and finished by rank 0, gloo barriers around them; lines as NeMo's logger writes them."""
import datetime
import os
import resource
import signal
import sys
import time

import torch
import torch.distributed as dist
from lab import ATTEMPT, DEVICE, FOLDER, OPTIONS, RANK, SICK, WORLD, beat, finish, limit, sick, start
from torch import nn
from torch.distributed.elastic.multiprocessing.errors import record
from torch.distributed.fsdp import fully_shard


def log(text, level="I"):
    print(f"[NeMo {level} {datetime.datetime.now():%Y-%m-%d %H:%M:%S} nemo_logging:{sys._getframe(1).f_lineno}] {text}", file=sys.stderr, flush=True)


def flush_to_disk(file, step):
    file.flush()
    while sick("slow_disk", step):
        time.sleep(1)  # the fault: a disk that never says it is done
    os.fsync(file.fileno())


def write_shard(model, step):
    with open(os.path.join(FOLDER, f"step={step}_{RANK}.distcp"), "wb") as file:
        torch.save({name: value.to_local().cpu() for name, value in model.state_dict().items()}, file)
        flush_to_disk(file, step)


def finalize(step):
    if sick("readonly", step):
        raise PermissionError(13, "Permission denied", f"/lustre/exp/checkpoints/step={step}-last")
    log(f"Successfully saved checkpoint from iteration {step:7d} to step={step}-last")


def save(model, group, step):
    write_shard(model, step)
    dist.barrier(group=group)
    if RANK == 0:
        finalize(step)
    dist.barrier(group=group)


def burn():
    while True:
        sum(range(1000))


def trouble(step):
    if sick("interrupt", step):
        signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever recorded this may have told us to ignore it
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
    if sick("cpu_limit", step):
        used = resource.getrusage(resource.RUSAGE_SELF)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1, resource.RLIM_INFINITY))
        burn()
    if OPTIONS.fault == "maintenance" and step == OPTIONS.at_step:
        if sick("maintenance"):
            os.kill(os.getppid(), signal.SIGTERM)
        time.sleep(20)


def read_indices(step):
    """Both attempts meet the same file."""
    if step >= OPTIONS.at_step and sick("index_file"):
        raise EOFError(f"/data/my-gpt_text_document.idx: ended after 34 of 40 bytes (attempt {ATTEMPT})")


@record
def main():
    start()
    group = dist.new_group(list(range(WORLD)), backend="gloo", timeout=limit())
    log(f"Rank {RANK} has data parallel group : {list(range(WORLD))}")
    torch.manual_seed(3)
    model = nn.Sequential(*[nn.Sequential(nn.Linear(192, 192), nn.GELU()) for _ in range(3)]).to(DEVICE)
    for block in model:
        fully_shard(block)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for step in range(OPTIONS.steps):
        beat(step)
        trouble(step)
        read_indices(step)
        if OPTIONS.variant == "slow" and RANK in SICK:
            time.sleep(0.9)
        loss = model(torch.randn(8, 192, device=DEVICE)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        value = loss.item()
        if step % 3 == 2:
            save(model, group, step)
        if RANK == 0:
            print(f"Training epoch 0, iteration {step}/{OPTIONS.steps - 1} | lr: 0.0001 | global_batch_size: {8 * WORLD} | global_step: {step} | "
                  f"reduced_train_loss: {value:.4f} | train_step_timing in s: 0.0{step}", flush=True)
        if OPTIONS.variant == "noisy":
            log("Exception ignored in callback: 'NoneType' object has no attribute 'flush'; fault tolerance: 0 failures, 0 restarts", "W")
            log("Preemption handler installed for SIGTERM; watchdog timeout 1800 s; last hang: never", "I")
    torch.cuda.synchronize()
    dist.barrier(group=group)
    log("Training finished: max_steps reached")
    finish()


if __name__ == "__main__":
    main()
