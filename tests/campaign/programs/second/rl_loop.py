"""One learner and many actors: weights go out by broadcast, episodes come back as objects through gloo; actors are of unequal speed."""
import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import time

import torch
import torch.distributed as dist
from lab import DEVICE, OPTIONS, RANK, WORLD, beat, finish, sick, start

LEARNER = RANK == 0


class Simulator:
    """A child process that answers one line for each line."""
    CODE = ("import sys, time\nfor line in sys.stdin:\n    time.sleep(600 if line.strip() == 'reset-all' else 0)\n"
            "    print(len(line), flush=True)\n")

    def __init__(self):
        self.child = subprocess.Popen([sys.executable, "-c", self.CODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, text):
        self.child.stdin.write(text + "\n")
        self.child.stdin.flush()
        return int(self.child.stdout.readline())

    def close(self):
        self.child.stdin.close()
        self.child.wait()


def play(simulator, iteration):
    if sick("simulator", iteration):
        simulator.ask("reset-all")
    if sick("actor_error", iteration):
        raise TimeoutError(f"environment of actor {RANK} did not reset within 30 s")
    rewards = [simulator.ask("step " + "x" * random.randrange(9)) for _ in range(4)]
    time.sleep(0.05 * RANK)  # some actors are slower than others
    return {"actor": RANK, "return": sum(rewards)}


def read_config(iteration):
    if sick("config", iteration):
        return {"actors": WORLD}["learning_rate"]
    return 1e-3


def release_buffer(iteration):
    if sick("bad_free", iteration):
        libc = ctypes.CDLL(None)
        libc.free.argtypes = [ctypes.c_void_p]
        libc.free(ctypes.c_void_p(ctypes.addressof(ctypes.create_string_buffer(64)) + 8))


def write_log(iteration, episodes, value):
    line = {"iteration": iteration, "mean_return": sum(e["return"] for e in episodes) / len(episodes), "value": value.item()}
    if sick("log_line", iteration):
        line["value"] = value  # the fault: a tensor is no JSON
    print("[learner] " + json.dumps(line), flush=True)


def main():
    start()
    objects = dist.new_group(list(range(WORLD)), backend="gloo")
    weights = torch.randn(4096, device=DEVICE)
    simulator = Simulator()
    for iteration in range(OPTIONS.steps):
        beat(iteration)
        rate = read_config(iteration)
        dist.broadcast(weights, src=0)
        if sick("preempted", iteration):
            os.kill(os.getppid(), signal.SIGTERM)
            time.sleep(30)
        episode = play(simulator, iteration) if not LEARNER else {"actor": 0, "return": 0}
        release_buffer(iteration)
        episodes = [None] * WORLD if LEARNER else None
        dist.gather_object(episode, episodes, dst=0, group=objects)
        if OPTIONS.variant == "noisy":
            print(f"actor {RANK}: WARNING: 3 frames dropped; retrying after ConnectionResetError (errno 104)", file=sys.stderr, flush=True)
        if LEARNER:
            weights -= rate * weights
            write_log(iteration, episodes, weights.mean())
    simulator.close()
    torch.cuda.synchronize()
    dist.barrier(group=objects)
    finish()


if __name__ == "__main__":
    main()
