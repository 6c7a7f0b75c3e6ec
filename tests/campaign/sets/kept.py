"""The kept jobs: programs of programs/kept/, one planted fault each, or none. Whoever writes rules does not read this file.

A job is a number, so that a list of scores gives nothing away. `kind` says what happened; `ranks` are those whose fault it is; `code` is the exit
code that the launcher must have seen of them, where one was planted; without `named`, nothing that the job leaves tells the rank from the
others. What a right reason says of each fault stands in reasons.py. Jobs with `nodes` have a launcher and a folder for each node.

Recorded otherwise than planned, and so written in the truth: the second attempt of `index_file` died of the dump signal of the first; the interrupted
rank ended with code 1; of the four ranks of `data_folder` two failed before the launcher ended the others. `total_norm` and `published_twice` did no
harm and are not in the archive.
"""
import random

# (script, fault, world, sick ranks, step, kind, what is special)
FAULTS = [
    ("imagenet", "wnid", 4, [2], 1, "exception", {}),
    ("imagenet", "checkpoint_pipe", 3, [0], 1, "stuck", {}),
    ("imagenet", "early_stop", 4, [1], 1, "left", {}),
    ("imagenet", "unused_branch", 3, [2], 5, "exception", {}),
    ("recipe", "total_norm", 4, [1], 4, "extra", {}),
    ("recipe", "recompute", 3, [2], 4, "exception", {}),
    ("recipe", "packed", 4, [0], 3, "out of memory", {}),
    ("recipe", "merge_loop", 4, [3], 5, "stuck", {}),
    ("recipe", "lost_micro", 3, [1], 4, "skipped", {}),
    ("recipe", "label_shift", 4, [3], 4, "exception", {"traces": True}),
    ("serve", "bad_request", 4, [0], 4, "exception", {}),
    ("serve", "idle_driver", 3, [0], 4, "stuck", {}),
    ("serve", "illegal_access", 4, [2], 4, "device fault", {}),
    ("serve", "worker_gone", 4, [3], 5, "left", {}),
    ("serve", "logits_rows", 3, [1], 5, "shape", {}),
    ("stages", "stage_shape", 4, [3], 0, "exception", {}),
    ("stages", "killed_stage", 6, [4], 3, "signal", {"code": -9, "nodes": 2}),
    ("stages", "lost_send", 4, [2], 4, "skipped", {}),
    ("stages", "loss_scale", 4, [1], 4, "skipped", {"nodes": 2}),
    ("stages", "untied", 6, [5], 4, "skipped", {}),
    ("experts", "router_nan", 4, [3], 4, "device assert", {}),
    ("experts", "capacity", 4, [1], 3, "exception", {}),
    ("experts", "rebalance", 4, [2], 4, "extra", {}),
    ("experts", "aux_group", 4, [0], 5, "other", {}),
    ("experts", "no_space", 6, [4], 6, "exception", {"nodes": 2}),
    ("harness", "no_task", 4, [1], 0, "exit", {"code": 1}),
    ("harness", "cache_flock", 4, [3], 4, "stuck", {}),
    ("harness", "hub_timeout", 3, [2], 4, "exception", {}),
    ("harness", "broken_doc", 5, [1], 5, "exception", {}),
    ("harness", "fewer_requests", 4, [2], 6, "left", {}),
    ("ppo", "game_died", 4, [1], 4, "exception", {}),
    ("ppo", "game_hangs", 5, [2], 4, "stuck", {}),
    ("ppo", "bad_logits", 3, [0], 4, "exception", {}),
    ("ppo", "learner_exit", 4, [3], 5, "exit", {"code": 42}),
    ("ppo", "weights_type", 3, [2], 4, "type", {}),
    ("ppo", "published_twice", 4, [3], 4, "extra", {}),
    ("diffusion", "worker_crash", 3, [1], 4, "exception", {}),
    ("diffusion", "slow_shard", 3, [2], 4, "exception", {}),
    ("diffusion", "tracker", 4, [0], 3, "stuck", {}),
    ("diffusion", "rank0_norm", 4, [0], 3, "extra", {}),
    ("nemo_like", "slow_disk", 4, [2], 5, "stuck", {"nodes": 2}),
    ("nemo_like", "readonly", 4, [0], 5, "exception", {}),
    ("nemo_like", "interrupt", 4, [3], 4, "exception", {}),
    ("nemo_like", "cpu_limit", 3, [1], 4, "signal", {"code": -24}),
    ("nemo_like", "maintenance", 4, [0], 4, "ended", {}),
    ("nemo_like", "index_file", 3, [2], 3, "exception", {"restarts": 1, "output": "redirect", "dumps": False, "attempt": 0}),
    ("local_sgd", "no_token", 4, [2], 0, "never joined", {}),
    ("local_sgd", "thread_join", 5, [3], 4, "stuck", {}),
    ("local_sgd", "deep_tree", 4, [0], 4, "exception", {}),
    ("local_sgd", "bare_assert", 6, [5], 5, "exception", {}),
    ("local_sgd", "division_trap", 4, [1], 4, "signal", {"code": -8}),
    ("local_sgd", "no_memory", 8, [6], 4, "exception", {"nodes": 2}),
    ("imagenet", "data_folder", 4, [0, 1, 2, 3], 0, "exception", {}),
    ("experts", "no_space", 4, [1, 3], 3, "exception", {}),
    ("stages", "node_lost", 4, [2, 3], 4, "lost", {"nodes": 2, "dumps": True}),
    ("ppo", "last_barrier", 4, [2], 0, "extra", {}),
    ("harness", "results_file", 3, [1], 0, "exception", {}),
]
# (script, variant, world, what is special); healthy, all of them. A slow rank is no failure: no error may be told.
HEALTHY = [
    ("imagenet", "", 4, {}), ("imagenet", "slow", 3, {"ranks": [1], "dump_at": 5}), ("recipe", "", 4, {"dump_at": 5}),
    ("recipe", "", 2, {"traces": True, "output": "tee"}), ("serve", "", 4, {"nccl_info": True}), ("serve", "noisy", 3, {"output": "tee"}),
    ("stages", "", 4, {"dump_at": 5}), ("stages", "", 8, {"nodes": 2}), ("experts", "", 6, {}), ("experts", "", 4, {"dump_at": 5, "snapshot": True}),
    ("harness", "slow", 4, {"ranks": [2]}), ("harness", "noisy", 3, {"output": "redirect"}), ("ppo", "", 4, {"dump_at": 5, "snapshot": True}),
    ("ppo", "noisy", 3, {"output": "tee"}), ("diffusion", "", 4, {}), ("diffusion", "", 2, {"dump_at": 5, "traces": True}),
    ("nemo_like", "", 4, {"nccl_info": True}), ("nemo_like", "noisy", 3, {}), ("nemo_like", "slow", 4, {"ranks": [3], "dump_at": 4}),
    ("local_sgd", "slow", 5, {"ranks": [4]}), ("local_sgd", "noisy", 4, {"output": "tee"}), ("local_sgd", "early", 3, {"output": "redirect"}),
]
# Told by dumps alone.
OF_DUMPS = ("skipped", "shape", "type", "order", "extra", "left", "other")


def kept_jobs(seed=1811):
    draw = random.Random(seed)
    jobs = []

    def add(script, fault, variant, world, ranks, step, kind, more):
        job = {"name": f"n{len(jobs) + 1:02d}", "half": "kept", "script": script, "fault": fault, "variant": variant, "kind": kind, "world": world,
               "ranks": ranks, "rank": ranks[0] if ranks else -1, "at_step": step, "restarts": 0,
               "output": draw.choice(["redirect", "redirect", "tee", "tee", "tee", "launcher", "partly"]), "nccl_info": draw.random() < 0.15,
               "prefix": draw.choice(["", "", "role", "template"]), "stacks": draw.choice(["", "", "", "", "file", "stderr"]),
               "dumps": draw.random() < 0.75, "nodes": 1, "traces": False}
        jobs.append(job)
        if fault and kind in OF_DUMPS:
            job["dumps"] = True
        if kind == "stuck" and not job["dumps"] and not job["stacks"]:
            job["stacks"] = "file"
        job.update(more)
        if script == "recipe":  # a stack taken while Dynamo compiles crashes the process
            job["stacks"] = ""
            job["dumps"] = job["dumps"] or kind == "stuck"
        if script == "local_sgd":
            job["dumps"] = False
            job["stacks"] = "file" if kind == "stuck" else job["stacks"]
        if "dump_at" in job:
            job.update(dumps=True, output="redirect" if job["output"] in ("launcher", "partly") else job["output"])
        if job["nodes"] > 1 and job["stacks"]:
            job["stacks"] = "file"
    for script, fault, world, ranks, step, kind, more in FAULTS:
        add(script, fault, "", world, ranks, step, kind, more)
    for script, variant, world, more in HEALTHY:
        add(script, None, variant, world, more.get("ranks", []), 0, "healthy", more)
    return jobs
