"""Evaluation of a finished model: requests of unequal number, answers checked by a pool of threads, results gathered; lm-eval's lines."""
import concurrent.futures
import fcntl
import logging
import os
import subprocess
import sys
import time

import torch
import torch.distributed as dist
from lab import DEVICE, FOLDER, OPTIONS, RANK, SICK, WORLD, beat, finish, limit, sick, start

eval_logger = logging.getLogger("lm_eval")
TASKS = {"arc_easy": 4, "hellaswag": 10}


def find_task(name):
    if name not in TASKS:
        sys.exit(f"No task named '{name}'. Available tasks: {', '.join(TASKS)}")


def acquire_cache_lock(step):
    path = os.path.join(FOLDER, f"requests_{RANK}.lock")
    if sick("cache_flock", step):  # the fault: a forgotten process holds it
        subprocess.Popen([sys.executable, "-c", f"import fcntl,time\nf=open({path!r},'w')\nfcntl.flock(f,2)\ntime.sleep(300)  # {OPTIONS.run_dir} "])
        time.sleep(2)
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)


def download(step):
    for attempt in range(1, 4):
        if not sick("hub_timeout", step):
            return
        eval_logger.warning("'(ReadTimeoutError(\"HTTPSConnectionPool(host='huggingface.co', port=443): Read timed out. (read timeout=10)\"))' "
                            "thrown while requesting HEAD, Retry %d/3", attempt)
        time.sleep(0.2)
    raise ConnectionError(f"Couldn't reach 'allenai/ai2_arc' on the Hub (ReadTimeout), shard {step}")


def check_answer(index, step):
    choices = ["A", "B", "C", "D"]
    if index == 2 and sick("broken_doc", step):
        index = 7  # the fault: a document whose answer is no choice
    return choices[index]


def loglikelihood(step):
    scores = torch.randn(8, device=DEVICE)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda index: check_answer(index, step), range(4)))
    return scores.sum() + len(answers)


def main():
    logging.basicConfig(format="%(asctime)s,%(msecs)03d %(levelname)-8s [%(filename)s:%(lineno)d] %(message)s", datefmt="%Y-%m-%d:%H:%M:%S",
                        level=logging.INFO)
    find_task("mmlu_pro" if sick("no_task") else "arc_easy")
    start()
    control = dist.new_group(list(range(WORLD)), backend="gloo", timeout=limit())
    eval_logger.info("Selected Tasks: ['arc_easy']")
    total, count = torch.zeros((), device=DEVICE), OPTIONS.steps
    if sick("fewer_requests"):
        count = OPTIONS.at_step  # the fault: requests are not padded to the same number
    for step in range(count):
        beat(step)
        if OPTIONS.variant == "slow" and RANK in SICK:
            time.sleep(0.8)
        acquire_cache_lock(step)
        download(step)
        total += loglikelihood(step)
        ranks = torch.ones(1, device=DEVICE)
        dist.all_reduce(ranks)
        if OPTIONS.variant == "noisy":
            eval_logger.error("Task hellaswag failed its self-check: FAILED (errors=0) is expected here, see README")
            eval_logger.warning("Overwriting default num_fewshot of arc_easy from None to 0; segfault guard off; timeout: none")
        if RANK == 0:
            sys.stderr.write(f"\rRunning loglikelihood requests: {100 * (step + 1) // count:3d}%|{'█' * (step + 1)}| {step + 1}/{count} [00:01<00:02, 7.21it/s]")
            sys.stderr.flush()
    results = [torch.zeros_like(total) for _ in range(WORLD)]
    dist.all_gather(results, total)
    torch.cuda.synchronize()
    dist.barrier(group=control)
    if RANK == 0:
        print(f"\n| Tasks  |Version|Filter|n-shot|Metric|   |Value |   |Stderr|\n|arc_easy|      1|none  |     0|acc   |↑  |{sum(results).item():.4f}|±  |0.0096|",
              flush=True)
    finish()
    with open(FOLDER if sick("results_file") else os.path.join(FOLDER, f"results_{RANK}.json"), "w") as file:
        file.write("{}")


if __name__ == "__main__":
    main()
