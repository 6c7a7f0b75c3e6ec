"""No GPU: tasks are handed out through the store, results averaged by gloo, now and then a weight by broadcast. Lines of Python's logging."""
import logging
import math
import os
import random
import signal
import time

import torch
import torch.distributed as dist
from lab import OPTIONS, RANK, SICK, WORLD, beat, finish, sick, start

log = logging.getLogger(f"farm.{RANK}")


def next_task(round_):
    store = dist.distributed_c10d._get_default_store()
    return store.add(f"round/{round_}", 1) - 1


def refine(value, step):
    """Halves an interval until it is small."""
    low, high = 0.0, value
    stands = sick("livelock", step)
    while high - low > 1e-6:
        middle = (low + high) / 2
        low = low if stands else middle  # the fault: the interval never gets smaller
    return low


def run_task(task, step):
    if sick("divide", step):
        return sum([]) / len([])
    if sick("oom_killer", step):
        os.kill(os.getpid(), signal.SIGKILL)
    if sick("quit", step):
        log.critical("scratch space is gone, nothing more can be done here")
        os._exit(9)
    time.sleep(random.random() / 10)
    return refine(math.sqrt(task + 2), step)


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s.%(msecs)03d %(process)d %(name)s %(levelname)-8s %(message)s", datefmt="%H:%M:%S")
    start("gloo")
    weight = torch.ones(1000)
    for step in range(OPTIONS.steps):
        beat(step)
        if OPTIONS.variant == "slow" and RANK in SICK:
            time.sleep(1.2)
        task = next_task(step)
        result = torch.tensor([run_task(task, step)])
        log.info("round %d: task %d -> %.4f", step, task, result.item())
        if OPTIONS.variant == "noisy":
            log.error("task %d: solver did not converge in 50 iterations, retrying with a smaller step", task)
            log.warning("task %d: retry 1 of 3 succeeded; killed=0 timeout=0 exit code 0", task)
        dist.all_reduce(result)
        if step % 3 == 0:
            dist.broadcast(weight, src=step % WORLD)
    dist.barrier()
    log.info("all rounds done")
    finish()


if __name__ == "__main__":
    main()
