"""Tensor-parallel inference: rank 0 takes requests and broadcasts them as objects, all ranks compute, logits are gathered; an engine's lines."""
import datetime
import json
import os
import queue
import sys
import traceback

import torch
import torch.distributed as dist
from lab import DEVICE, OPTIONS, RANK, WORLD, beat, finish, sick, start

DIM, ROWS = 256, 8
if OPTIONS.fault == "illegal_access":
    import triton
    import triton.language as tl

    @triton.jit
    def scatter(pointer, stride, SIZE: tl.constexpr):
        tl.store(pointer + tl.arange(0, SIZE) * stride, 1.0)


def log(text, level="INFO"):
    print(f"{level} {datetime.datetime.now():%m-%d %H:%M:%S} [engine.py:{sys._getframe(1).f_lineno}] {text}", file=sys.stderr, flush=True)


class Frontend:
    """What clients sent, as text."""

    def __init__(self):
        self.waiting = queue.Queue()
        for index in range(OPTIONS.steps):
            self.waiting.put(json.dumps({"id": f"cmpl-{index:04d}", "prompt": "Hello", "max_tokens": 4}))

    def next_requests(self, step):
        if sick("idle_driver", step):
            self.waiting = queue.Queue()  # the fault: nothing arrives any more, and nobody told the workers
        text = self.waiting.get()
        if sick("bad_request", step):
            text = text[: len(text) // 2]
        if OPTIONS.variant == "noisy" and step % 4 == 1:
            try:
                json.loads("{'prompt': 1}")
            except ValueError:
                log("Exception in ASGI application", "ERROR")
                traceback.print_exc()
                log('127.0.0.1:5110 - "POST /v1/completions HTTP/1.1" 400 Bad Request')
        return json.loads(text)


def write_outside(hidden):
    """A kernel of our own, with a stride in bytes where it should be in elements."""
    scatter[(1,)](hidden, 1 << 33, SIZE=64)
    torch.cuda.synchronize()


def gather_logits(hidden, step):
    rows = 3_000_000 if step % 3 == 2 else ROWS
    if rows != ROWS and sick("logits_rows", step):
        rows = 5_000_000  # the fault: a vocabulary that was padded on one rank
    mine = torch.ones(rows, device=DEVICE)
    everything = torch.empty(rows * WORLD, device=DEVICE)
    dist.all_gather_into_tensor(everything, mine)
    return everything


def execute_model(request, weight, step):
    hidden = torch.randn(ROWS, DIM, device=DEVICE) @ weight
    dist.all_reduce(hidden)
    if sick("illegal_access", step):
        write_outside(hidden)
    if sick("worker_gone", step):
        log(f"worker {RANK}: no more work was announced, shutting down")
        os._exit(0)
    gather_logits(hidden, step)
    return float(hidden.abs().mean())


def main():
    start()
    log(f"rank {RANK} in world size {WORLD} is assigned as DP rank 0, PP rank 0, TP rank {RANK}")
    weight = torch.randn(DIM, DIM, device=DEVICE)
    frontend = Frontend() if RANK == 0 else None
    log("Maximum concurrency for 4,096 tokens per request: 118.40x")
    for step in range(OPTIONS.steps):
        beat(step)
        message = [frontend.next_requests(step) if RANK == 0 else None]
        dist.broadcast_object_list(message, src=0)
        value = execute_model(message[0], weight, step)
        if RANK == 0:
            log(f"Engine 000: Avg prompt throughput: {40 + value:.1f} tokens/s, Running: 1 reqs, Waiting: {frontend.waiting.qsize()} reqs, "
                "GPU KV cache usage: 0.1%, Prefix cache hit rate: 0.0%")
    torch.cuda.synchronize()
    dist.barrier()
    log("Shutting down engine: no request in flight, 0 aborted")
    finish()


if __name__ == "__main__":
    main()
