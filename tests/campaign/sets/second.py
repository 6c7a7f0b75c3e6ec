"""The second set: programs of programs/second/, one planted fault each, or none. It was a kept half once; rules may now be written looking at it.

A job is a number, as in any set that is kept. `whose`: rank (the sick one), all, nobody. `kind` says what happened to it;
what a right reason says of each fault stands in reasons.py.
"""
import random

# (script, fault, world, sick rank, step, kind)
FAULTS = [
    ("mesh_pretrain", "nonfinite", 4, 3, 4, "skipped"), ("mesh_pretrain", "vocabulary", 6, 4, 4, "shape"),
    ("mesh_pretrain", "activations", 4, 1, 3, "out of memory"), ("mesh_pretrain", "curvature", 4, 2, 5, "busy GPU"),
    ("pipe_1f1b", "neighbour", 4, 1, 3, "peer"), ("pipe_1f1b", "microbatches", 4, 2, 3, "skipped"),
    ("pipe_1f1b", "prefetch", 3, 1, 4, "stuck"), ("pipe_1f1b", "terminated", 5, 3, 3, "signal"),
    ("tp_lm", "order", 4, 2, 4, "order"), ("tp_lm", "converged", 6, 5, 5, "left"), ("tp_lm", "wild_pointer", 4, 1, 3, "signal"),
    ("moe_train", "no_tokens", 6, 4, 4, "skipped"), ("moe_train", "group_order", 4, 3, 0, "groups"),
    ("moe_train", "killed", 8, 5, 3, "signal"), ("moe_train", "routing_text", 4, 0, 3, "stuck"),
    ("finetune", "overflow", 4, 2, 5, "exception"), ("finetune", "short_shard", 5, 1, 3, "left"), ("finetune", "column", 3, 2, 3, "exception"),
    ("dcp_train", "quota", 4, 3, 0, "stuck"), ("dcp_train", "index_lock", 3, 0, 0, "stuck"), ("dcp_train", "disk_full", 4, 2, 0, "exception"),
    ("vision", "bad_image", 4, 1, 4, "exception"), ("vision", "shared_memory", 3, 2, 5, "worker"), ("vision", "cache_lock", 4, 3, 5, "stuck"),
    ("vision", "wrapped_model", 4, 0, 4, "extra"), ("vision", "no_barrier", 5, 0, 4, "skipped"),
    ("sync_sgd", "precision", 4, 2, 4, "type"), ("sync_sgd", "swapped", 5, 3, 3, "order"), ("sync_sgd", "barriers", 4, 1, 4, "extra"),
    ("sync_sgd", "mount", 4, 2, 0, "never joined"), ("sync_sgd", "hard_exit", 8, 6, 4, "exit"), ("sync_sgd", "shard", 4, 3, 2, "exception"),
    ("rl_loop", "simulator", 4, 2, 3, "stuck"), ("rl_loop", "bad_free", 5, 4, 4, "signal"), ("rl_loop", "config", 3, -1, 3, "exception"),
    ("rl_loop", "log_line", 4, 0, 4, "exception"), ("rl_loop", "preempted", 4, 1, 4, "ended"),
    ("mesh_pretrain", "positions", 4, 0, 4, "device assert"), ("pipe_1f1b", "wrong_stage", 4, 3, 5, "exit"), ("tp_lm", "packing", 4, 3, 4, "stuck"),
    ("moe_train", "dense", 4, 1, 5, "other"), ("vision", "worker_exit", 4, 2, 4, "worker"), ("vision", "host_memory", 5, 4, 3, "exception"),
    ("sync_sgd", "cut_file", 3, 1, 5, "signal"), ("sync_sgd", "budget", 4, 3, 5, "left"), ("rl_loop", "actor_error", 6, 3, 4, "exception"),
]
# (script, variant, world, what is special); healthy, all of them. A slow rank is no failure: no error may be told.
HEALTHY = [
    ("mesh_pretrain", "", 4, {}), ("mesh_pretrain", "", 4, {"dump_at": 5, "snapshot": True}), ("pipe_1f1b", "", 4, {}),
    ("pipe_1f1b", "", 3, {"dump_at": 5}), ("tp_lm", "", 4, {}), ("tp_lm", "", 8, {"nccl_info": True}), ("moe_train", "", 4, {}),
    ("moe_train", "", 6, {"dump_at": 5, "snapshot": True}), ("finetune", "join", 4, {"dump_at": 5}), ("finetune", "noisy", 4, {"output": "tee"}),
    ("finetune", "join", 3, {"output": "launcher"}), ("dcp_train", "async", 4, {}), ("dcp_train", "", 3, {"nccl_info": True, "dump_at": 5}),
    ("vision", "", 4, {}), ("vision", "slow", 5, {"rank": 3, "dump_at": 5}), ("sync_sgd", "", 4, {"dump_at": 5, "snapshot": True}),
    ("sync_sgd", "", 6, {"nccl_info": True, "output": "tee"}), ("rl_loop", "", 4, {"dump_at": 5}), ("rl_loop", "noisy", 5, {}),
    ("finetune", "", 8, {}), ("vision", "", 6, {"output": "tee", "stacks": True}), ("tp_lm", "", 6, {"dump_at": 5, "snapshot": True}),
    ("pipe_1f1b", "", 5, {"nccl_info": True}),
]


def second_jobs(seed=77):
    draw = random.Random(seed)
    jobs = []

    def add(script, fault, variant, world, rank, step, kind, **more):
        jobs.append({"name": f"k{len(jobs) + 1:02d}", "half": "tune", "script": script, "fault": fault, "variant": variant, "kind": kind,
                     "world": world, "rank": rank, "at_step": step, "output": draw.choice(["redirect", "redirect", "tee", "tee", "launcher"]),
                     "nccl_info": draw.random() < 0.25, "stacks": draw.random() < 0.4, "dumps": draw.random() < 0.8, "restarts": 0, **more})
    for script, fault, world, rank, step, kind in FAULTS:
        whose = "nobody" if fault == "preempted" else "all" if rank < 0 else "rank"
        add(script, fault, "", world, rank, step, kind, whose=whose)
        if fault == "shard":  # the second attempt finds no shard either
            jobs[-1].update(restarts=1, output="redirect")
        if kind in ("skipped", "shape", "type", "order", "extra", "peer", "groups", "left", "other"):  # told by dumps alone
            jobs[-1]["dumps"] = True
        if kind == "stuck" and not jobs[-1]["dumps"]:
            jobs[-1]["stacks"] = True
    for script, variant, world, more in HEALTHY:
        add(script, None, variant, world, more.get("rank", -1), 0, "healthy", **{k: v for k, v in more.items() if k != "rank"}, whose="nobody")
        if "dump_at" in jobs[-1]:
            jobs[-1].update(dumps=True, output="redirect" if jobs[-1]["output"] == "launcher" else jobs[-1]["output"])
    return jobs
