"""Offline inference: prompts of unequal number and length per rank, a shared cache of logits, results gathered at the end. Lines as loguru's."""
import datetime
import sys

import torch
import torch.distributed as dist
from lab import DEVICE, OPTIONS, RANK, WORLD, beat, finish, sick, start
from torch import nn


def log(text, level="INFO"):
    caller = sys._getframe(1)
    now = datetime.datetime.now()
    print(f"{now:%Y-%m-%d %H:%M:%S}.{now.microsecond // 1000:03d} | {level:<8} | __main__:{caller.f_code.co_name}:{caller.f_lineno} - {text}",
          file=sys.stderr, flush=True)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.cell, self.head = nn.Embedding(200, 64), nn.GRUCell(64, 64), nn.Linear(64, 200)

    def forward(self, token, state):
        state = self.cell(self.embed(token), state)
        return self.head(state), state


def generate(model, prompt, step):
    token, state, written = prompt, torch.zeros(1, 64, device=DEVICE), 0
    endless = sick("endless", step)  # the fault: no end token and no limit here
    while True:
        logits, state = model(token, state)
        token = logits.argmax(1)
        written += 1
        if written >= 4 + RANK % 3 and not endless:
            return written


def read_prompts(step):
    try:
        if sick("gone", step):
            raise KeyError("prompt")
    except KeyError as error:
        log(f"batch {step} has no field {error}, nothing more to do for this rank", "WARNING")
        return None
    return torch.randint(0, 200, (1,), device=DEVICE)


def synchronise(cache, step):
    """Rounds end together: a count of all ranks, then the cache of the first."""
    count = torch.ones(1, device=DEVICE)
    actions = [lambda: dist.all_reduce(count), lambda: dist.broadcast(cache, src=0)]
    for action in reversed(actions) if sick("swapped_cache", step) else actions:
        action()
    if sick("extra_object", step):
        names = [f"round-{step}"]
        dist.broadcast_object_list(names, src=RANK)  # the fault: only this rank wants to share a name
    return count


def main():
    start()
    torch.manual_seed(5)
    model = Decoder().to(DEVICE).eval()
    cache = torch.zeros(4_000_000, device=DEVICE)
    results = []
    rounds = OPTIONS.steps
    with torch.no_grad():
        for step in range(rounds):
            beat(step)
            prompts = read_prompts(step)
            if prompts is None:
                return
            results.append(generate(model, prompts, step))
            count = synchronise(cache, step)
            log(f"round {step + 1}/{rounds}: {results[-1]} tokens, {int(count.item())} ranks")
        if OPTIONS.variant == "early":
            # Whoever has fewer prompts left is done earlier; nothing is exchanged any more.
            for extra in range(3 * (RANK == 1)):
                torch.cuda._sleep(1 << 30)
                torch.cuda.synchronize()
                log(f"leftover {extra + 1} of 3")
            log("no prompts left, leaving early" if RANK != 1 else "leftovers done")
            finish()
            return
    everything = [None] * WORLD if RANK == 0 else None
    dist.gather_object({"rank": RANK, "tokens": sum(results)}, everything, dst=0)
    if RANK == 0:
        log(f"wrote {sum(one['tokens'] for one in everything)} tokens to results.jsonl", "SUCCESS")
    finish()


if __name__ == "__main__":
    main()
