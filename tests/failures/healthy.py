"""Texts of jobs that ended well, with words that failures have, too."""
from texts import Case, STEPS, broken_pipe, trace

GOES_ON = {
    "ignored_exception": "Exception ignored in: <function _MultiProcessingDataLoaderIter.__del__ at 0x7f>\n"
                         + trace("AssertionError: can only test a child process"),
    "logging_error": "--- Logging error ---\n" + trace("OSError: [Errno 28] No space left on device") + "Message: 'step 5'\nArguments: ()\n",
    "at_exit": "Error in atexit._run_exitfuncs:\n" + trace("ValueError: I/O operation on closed file"),
    "store_is_gone": broken_pipe(1),
    "other_command": "run.sh: line 3: module: command not found\n",
    "no_git": "fatal: not a git repository (or any of the parent directories): .git\n",
    "bars": "Epoch 0: 100%|##########| 10/10 [00:02<00:00,  4.19it/s, loss=[1, 2]]\nEpoch 1:  10%|#         | 1/10 [00:00<00:02]saved\n",
    "plans_for_signals": "registered a handler for signal SIGTERM\nignoring SIGINT\n",
    "retried": "".join(f"attempt {i} failed, trying again\n" + trace("ConnectionError: 503 Service Unavailable") for i in range(20)) + STEPS,
    "warnings": "UserWarning: CUDA initialization: no error\nwarning: out of date\n",
    "usage": "usage: train.py [-h] [--lr LR]\n",
    "percentages": "  3: loss 1.0\n  4: loss 0.9\n | 0 | 41C | 12 % | python | 1024 MiB |\n",
    "peers_of_ras": "[2026-11-15 23:20:09] PEER_NEW: Process 4711 on node 10.0.0.1\n[2026-11-15 23:22:09] PEER_DISCONNECTED: Process 4711 on "
                    "node 10.0.0.1\n",
}

CASES = [Case(name, {"out.log" if name != "peers_of_ras" else "ras.log": STEPS + text + STEPS if name != "peers_of_ras" else text},
              healthy=True) for name, text in GOES_ON.items()]
# The same where it is the end of the output, for what says by itself that the program went on.
CASES += [Case(f"{name}_at_the_end", {"out.log": STEPS + GOES_ON[name]}, healthy=True)
          for name in ("ignored_exception", "logging_error", "at_exit", "store_is_gone", "other_command", "usage")]
# One text of several processes that caught the same exception a few times each, at the end of what each printed.
CAUGHT = "wandb: ERROR retrying\n" + trace("ConnectionError: Max retries exceeded") + "wandb: retry succeeded\n"


def lightning(rank, mark=""):
    return "".join(f"{mark}{line}\n" for line in (f"Initializing distributed: GLOBAL_RANK: {rank}, MEMBER: {rank + 1}/3\n" + 4 * CAUGHT).splitlines())


def engine(rank):
    said = f"INFO [parallel_state.py:1065] rank {rank} in world size 2 is assigned as DP rank 0, PP rank 0, TP rank {rank}\n"
    bad = "ERROR Exception in ASGI application\n" + trace("json.decoder.JSONDecodeError: Expecting value") + "INFO 400 Bad Request\n"
    return "".join(f"[pod/engine-{rank}/vllm] {line}\n" for line in (said + (3 * bad if rank == 0 else "")).splitlines())


CASES += [
    Case("caught_by_an_engine", {"all-pods.log": engine(0) + engine(1)}, healthy=True),
    Case("caught_in_pods", {"all-pods.log": "".join(lightning(rank, f"[pod/trainer-worker-{rank}/pytorch] ") for rank in range(3))}, healthy=True),
    Case("caught_in_ray", {"driver.log": "".join(lightning(rank, f"(RayTrainWorker pid={9000 + rank}, ip=10.0.0.2) ") for rank in range(3))},
         healthy=True),
    Case("caught_in_deepspeed", {"deepspeed.log": "".join(
        f"[2026-11-15 23:30:01,10{rank}] [INFO] [launch.py:265:main] process {4000 + rank} spawned with command: ['python', 'train.py', "
        f"'--local_rank={rank}']\n" for rank in range(3)) + STEPS + CAUGHT + "".join(
        f"[2026-11-15 23:31:03,10{rank}] [INFO] [launch.py:367:main] Process {4000 + rank} exits successfully.\n" for rank in range(3))}, healthy=True),
    # Who takes three steps more has caught it, whoever that is.
    Case("caught_and_went_on", {"train.log": STEPS + trace("requests.exceptions.ConnectionError: Max retries exceeded") + "".join(
        f"step {step} loss 1.9\n" for step in range(5, 12)) + "saved out/model.pt\n"}, healthy=True),
]
