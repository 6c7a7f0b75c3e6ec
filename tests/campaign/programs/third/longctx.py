"""Long sequences: attention over all ranks by PyTorch's context parallelism, gradients averaged in one flat tensor. Rich-like columns."""
import datetime
import time

import torch
import torch.distributed as dist
from lab import DEVICE, OPTIONS, RANK, WORLD, beat, finish, sick, start
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.experimental import context_parallel
from torch.nn.attention import SDPBackend, sdpa_kernel

HEADS, LENGTH, DIM = 4, 64 * WORLD, 128


def say(text, level="INFO"):
    print(f"[{datetime.datetime.now():%H:%M:%S}] {level:<8} {text:<90} longctx.py", flush=True)


def download(name, step):
    """Fetches the next document; tries again for ever."""
    attempt = 0
    while sick("download", step):
        attempt += 1
        say(f"rank {RANK}: {name}: 503 Slow Down, attempt {attempt}, waiting 5 s", "WARNING")
        time.sleep(5)
    return torch.randn(1, LENGTH, DIM, generator=torch.Generator().manual_seed(step)).to(DEVICE, torch.bfloat16)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)

    def forward(self, x):
        q, k, v = (part.unflatten(2, (HEADS, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=2))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))


def check(loss, step):
    if sick("diverged", step):
        loss = loss * float("nan")
    value = loss.item()
    if value != value:
        raise ArithmeticError(f"loss became {value} on rank {RANK} in step {step}; giving up")
    return value


def train_step(model, mesh, step):
    document = download(f"books/{step:05d}.jsonl", step)
    with context_parallel(mesh, buffers=(document,), buffer_seq_dims=(1,)), sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        loss = model(document).float().square().mean()
        value = check(loss, step)
        loss.backward()
    flat = torch.cat([p.grad.flatten() for p in model.parameters()])
    dist.all_reduce(flat)
    return value, flat


def main():
    start()
    mesh = init_device_mesh("cuda", (WORLD,), mesh_dim_names=("cp",))
    torch.manual_seed(6)
    model = Attention().to(DEVICE, torch.bfloat16)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in range(OPTIONS.steps):
        beat(step)
        value, flat = train_step(model, mesh, step)
        optimizer.step()
        optimizer.zero_grad()
        if OPTIONS.variant == "noisy":
            say("Traceback (most recent call last) of an earlier run was found in /tmp/crash-0231.txt, ignored", "WARNING")
            say("health check: Xid errors 0, ECC errors 0, nan 0, timeouts 0", "INFO")
        if RANK == 0:
            say(f"step {step + 1:>4}/{OPTIONS.steps} ━━━━━━━━━━╸━━━━━ loss {value:.5f} gnorm {flat.norm().item():.3f}")
    torch.cuda.synchronize()
    dist.barrier()
    finish()


if __name__ == "__main__":
    main()
