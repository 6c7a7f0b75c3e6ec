"""Actors play, a learner updates and sends its weights to all; games run in processes of their own. Lines as structlog prints them."""
import datetime
import os
import subprocess
import sys

import torch
import torch.distributed as dist
from lab import DEVICE, OPTIONS, RANK, WORLD, beat, finish, sick, start
from torch import nn

LEARNER = WORLD - 1
GAME = "import sys\nfor line in sys.stdin:\n    if line.strip() == 'quit': break\n    if line.strip() != 'wait': print('0.5', flush=True)\n"


def log(event, level="info", **fields):
    rest = " ".join(f"{name}={value}" for name, value in fields.items())
    print(f"{datetime.datetime.now():%Y-%m-%d %H:%M:%S} [{level:<9}] {event:<30} {rest}", flush=True)


class Game:
    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-c", GAME], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def step_env(self, step):
        if sick("game_died", step):
            self.process.kill()  # the fault: the simulator is gone
            self.process.wait()
        self.process.stdin.write("wait\n" if sick("game_hangs", step) else f"{step}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.write("quit\n")
        self.process.stdin.close()
        self.process.wait()


def act(policy, step):
    logits = policy(torch.randn(4, 32, device=DEVICE))
    if sick("bad_logits", step):
        logits = logits * float("inf")
    return torch.distributions.Categorical(logits=logits, validate_args=True).sample()


def update(policy, step):
    loss = policy(torch.randn(64, 32, device=DEVICE)).square().mean()
    loss.backward()
    if sick("learner_exit", step):
        log("KL divergence above target, giving up", "critical", kl=48.1, target=0.01)
        sys.stdout.flush()
        os._exit(42)
    return loss.item()


def publish(weights, step):
    sent = weights.bfloat16() if sick("weights_type", step) else weights  # the fault: the learner's weights in half precision
    dist.broadcast(sent, src=LEARNER)
    if sick("published_twice", step):
        dist.broadcast(sent, src=LEARNER)


def main():
    start()
    torch.manual_seed(RANK)
    policy, game = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 6)).to(DEVICE), Game()
    weights = torch.ones(4_000_000, device=DEVICE)
    log("actor ready" if RANK != LEARNER else "learner ready", rank=RANK, world=WORLD)
    for step in range(OPTIONS.steps):
        beat(step)
        reward = torch.zeros(16, device=DEVICE)
        if RANK != LEARNER:
            act(policy, step)
            reward += game.step_env(step)
        rewards = [torch.zeros_like(reward) for _ in range(WORLD)] if RANK == LEARNER else None
        dist.gather(reward, rewards, dst=LEARNER)
        loss = update(policy, step) if RANK == LEARNER else None
        publish(weights, step)
        torch.cuda.synchronize()
        if OPTIONS.variant == "noisy" and RANK != LEARNER:
            log("env reset after crash", "error", exit_code=139, restarts=1, recovered=True)
            log("worker heartbeat", "warning", killed=0, hung=False, last_error="None")
        log("update" if RANK == LEARNER else "rollout", step=step, **({"loss": round(loss, 4)} if loss is not None else {"reward": 0.5}))
    dist.barrier()
    torch.cuda.synchronize()
    if sick("last_barrier"):
        dist.barrier()  # the fault: waits for ranks that are about to leave
        torch.cuda.synchronize()
    game.close()
    log("finished", episodes=OPTIONS.steps)
    finish()


if __name__ == "__main__":
    main()
