"""The third set: programs of programs/third/, one planted fault each, or none. It was a kept half once; rules may now be written looking at it.

A job is a number, so that a list of scores gives nothing away. `kind` says what happened; `ranks` are those whose fault it is; `code` is the exit
code that the launcher must have seen of them, where one was planted; `attempt` is the one in which it must have happened, if not the last;
`earlier` is the rank that failed in the attempt before, in another way; without `named`, nothing that the job leaves tells the rank from the
others. What a right reason says of each fault stands in reasons.py.

Recorded otherwise than planned, and so written in the truth: of the four ranks of `node` two were killed before the others followed; the second
attempt of `again` died of the dump signal of the first; the allocation of `padding` did not fail but filled memory page by page; `endless_kernel`
was recorded without dumps. `extra_object` is not in the archive: it made another rank crash.
"""
import random

# (script, fault, world, sick ranks, step, kind, what is special)
FAULTS = [
    ("lit_trainer", "callback", 4, [2], 3, "exception", {}),
    ("lit_trainer", "validation", 3, [1], 0, "exception", {}),
    ("lit_trainer", "uneven", 4, [3], 6, "left", {}),
    ("hf_fsdp", "resume", 4, [1], 0, "exception", {}),
    ("hf_fsdp", "cuda_memory", 4, [2], 4, "out of memory", {}),
    ("hf_fsdp", "save_full", 3, [0], 3, "extra", {}),
    ("hf_fsdp", "anomaly", 2, [1], 5, "exception", {}),
    ("hf_fsdp", "empty_micro", 4, [3], 4, "skipped", {}),
    ("hf_fsdp", "padding", 5, [4], 3, "stuck", {"stacks": ""}),
    ("gpt_mesh", "wrong_slice", 4, [2], 4, "other", {}),
    ("gpt_mesh", "root", 4, [1], 5, "other", {}),
    ("gpt_mesh", "masked", 6, [4], 3, "skipped", {}),
    ("gpt_mesh", "node", 8, [4, 5, 6, 7], 4, "signal", {"code": -9}),
    ("gpt_mesh", "fused", 4, [3], 3, "signal", {"code": -11}),
    ("gpt_mesh", "read_ahead", 4, [0], 4, "stuck", {}),
    ("titan", "writer_thread", 4, [2], 4, "stuck", {}),
    ("titan", "endless_kernel", 3, [1], 4, "busy GPU", {"named": False}),
    ("titan", "opt_groups", 4, [3], 0, "exception", {}),
    ("titan", "export", 4, [1], 0, "exception", {}),
    ("titan", "eval_more", 3, [2], 4, "extra", {}),
    ("pipe_api", "loss_fn", 3, [2], 4, "exception", {}),
    ("pipe_api", "hook", 4, [1], 3, "exception", {}),
    ("pipe_api", "lease", 3, [1], 4, "stuck", {}),
    ("pipe_api", "license", 3, [0], 3, "exit", {"code": 3}),
    ("pipe_api", "evicted", 4, [2], 3, "signal", {"code": -15}),
    ("pipe_api", "skip_step", 3, [1], 4, "skipped", {}),
    ("compiled", "index", 2, [1], 4, "device assert", {}),
    ("compiled", "length", 3, [0], 5, "exception", {}),
    ("compiled", "statistics", 3, [2], 4, "stuck", {}),
    ("compiled", "double", 2, [0], 3, "type", {}),
    ("recsys", "header_line", 3, [2], 4, "exception", {}),
    ("recsys", "loader_pipe", 3, [0], 4, "stuck", {}),
    ("recsys", "row_range", 4, [1], 4, "exception", {}),
    ("recsys", "cold_ids", 4, [2], 4, "skipped", {}),
    ("recsys", "table_shape", 3, [1], 5, "shape", {}),
    ("recsys", "pickle", 4, [3], 5, "exception", {}),
    ("control", "plugin", 4, [2], 0, "exception", {}),
    ("control", "late_data", 4, [3], 4, "stuck", {}),
    ("control", "no_saver", 6, [2], 0, "never joined", {}),
    ("control", "store_key", 3, [1], 4, "exception", {}),
    ("control", "stale_handle", 5, [1, 3], 4, "exception", {}),
    ("taskfarm", "divide", 6, [4], 5, "exception", {}),
    ("taskfarm", "oom_killer", 5, [2], 6, "signal", {"code": -9}),
    ("taskfarm", "livelock", 4, [1], 5, "stuck", {}),
    ("taskfarm", "quit", 8, [6], 4, "exit", {"code": 9}),
    ("snapshots", "two_ways", 3, [2], 3, "signal", {"code": -9, "restarts": 1, "output": "redirect", "dumps": False, "earlier": 0}),
    ("snapshots", "again", 3, [1], 3, "exception", {"restarts": 1, "output": "redirect", "dumps": False, "attempt": 0}),
    ("snapshots", "bus", 4, [3], 4, "signal", {"code": -7}),
    ("snapshots", "notice", 4, [0], 4, "ended", {}),
    ("generate", "endless", 4, [1], 4, "stuck", {}),
    ("generate", "gone", 4, [2], 5, "left", {}),
    ("generate", "swapped_cache", 4, [3], 4, "order", {}),
    ("generate", "extra_object", 3, [0], 4, "extra", {}),
    ("longctx", "download", 4, [2], 4, "stuck", {}),
    ("longctx", "diverged", 2, [1], 5, "exception", {}),
]
# (script, variant, world, what is special); healthy, all of them. A slow rank is no failure: no error may be told.
HEALTHY = [
    ("lit_trainer", "", 4, {}), ("lit_trainer", "noisy", 3, {"output": "tee"}), ("hf_fsdp", "", 4, {}),
    ("hf_fsdp", "", 2, {"dump_at": 5, "snapshot": True}), ("gpt_mesh", "", 8, {}), ("gpt_mesh", "", 4, {"dump_at": 5, "snapshot": True}),
    ("titan", "", 4, {"nccl_info": True}), ("titan", "slow", 3, {"ranks": [2], "dump_at": 5}), ("pipe_api", "", 3, {"dump_at": 5}),
    ("pipe_api", "gpipe", 4, {}), ("compiled", "inductor", 2, {}), ("compiled", "slow", 3, {"ranks": [1]}), ("recsys", "", 4, {"dump_at": 5}),
    ("recsys", "", 2, {"output": "launcher"}), ("control", "savers", 5, {}), ("taskfarm", "noisy", 4, {}), ("taskfarm", "slow", 6, {"ranks": [3]}),
    ("snapshots", "", 4, {"dump_at": 4, "snapshot": True}), ("snapshots", "handler", 3, {"nccl_info": True}), ("generate", "early", 4, {}),
    ("generate", "", 3, {"dump_at": 5}), ("longctx", "", 4, {}), ("longctx", "noisy", 2, {"output": "tee"}),
]
# Told by dumps alone.
OF_DUMPS = ("skipped", "shape", "type", "order", "extra", "left", "other")


def third_jobs(seed=1611):
    draw = random.Random(seed)
    jobs = []

    def add(script, fault, variant, world, ranks, step, kind, more):
        job = {"name": f"m{len(jobs) + 1:02d}", "half": "tune", "script": script, "fault": fault, "variant": variant, "kind": kind, "world": world,
               "ranks": ranks, "rank": ranks[0] if ranks else -1, "at_step": step, "restarts": 0,
               "output": draw.choice(["redirect", "redirect", "tee", "tee", "tee", "launcher"]), "nccl_info": draw.random() < 0.2,
               "stacks": draw.choice(["", "", "", "file", "stderr"]), "dumps": draw.random() < 0.75}
        jobs.append(job)
        if fault and kind in OF_DUMPS:
            job["dumps"] = True
        if kind == "stuck" and not job["dumps"] and not job["stacks"]:
            job["stacks"] = "file"
        job.update(more)
        if script == "taskfarm":
            job["dumps"] = False
        if "dump_at" in job:
            job.update(dumps=True, output="redirect" if job["output"] == "launcher" else job["output"])
    for script, fault, world, ranks, step, kind, more in FAULTS:
        add(script, fault, "", world, ranks, step, kind, more)
    for script, variant, world, more in HEALTHY:
        add(script, None, variant, world, more.get("ranks", []), 0, "healthy", more)
    return jobs
