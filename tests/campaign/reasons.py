"""What a right reason says: a pattern per fault, looked for in the headline and the first evidence of the first error finding.

Written from what each fault does, not from what debrief says of it. Names in `STANDS_IN` are asked for where the job's own stacks show
them: then "it did not come" is not enough.
"""
import re

# A rank that did not come to what others wait in, in the words of a dump, a watchdog or a stack.
NOT_COME = (r"did not (reach|join|call|come|enqueue|start|take part|answer)|never (came|called|reached|joined|started|entered)|not enqueued|"
            r"no longer|stands (in|at)|is (still )?(in|at) \S+ \(|stuck|blocked|reported step \d+ last|enqueued \d+ .*all others|does not answer|"
            r"came to a stop|stopped|holds the GIL")
HUNG = NOT_COME + r"|left no dump, and"
ELSE = r"where (rank|ranks|its peers)|instead|another"
SKIPPED = NOT_COME + r"|skipped|left out|fewer|behind|did not (do|send|receive|recv)|that rank \d+ did|" + ELSE
EXTRA = r"did not (do|call)|more than|one more|extra|ran on alone|ahead|called .* as number|" + ELSE
LEFT = NOT_COME + r"|left|ended|exited|exit code 0|no more|gone|" + ELSE
SENT = (r"(send|recv|receive).*(did not|never|instead|no |other|left out|wait|where)|"
        r"(did not|never|left out|no matching).*(send|recv|receive|half)|peer")
MEMORY = r"out of memory|OutOfMemory"
DEVICE_ASSERT = r"device-side assert|index out of bounds|out of range|\.cu:\d+.*Assertion"
TOLD_TO_END = r"SIGTERM|signal 15|told to stop|[Cc]ancel|[Pp]reempt|launcher|ended from outside|shut"


def both(first, second):
    return rf"({first}).*({second})|({second}).*({first})"


def signal(name, number):
    return rf"{name}|signal {number}\b|exit code -{number}\b|exit code {128 + number}\b"


# Faults that only a stack can place: the function in which the rank stands.
STANDS_IN = {
    "stuck_io": "fetch_shard", "stuck_metrics": "fetch_shard", "stuck_loop": "tokenize_forever", "gil": "hold_gil", "lock": "acquire_twice",
    "stuck_save": "upload_to_pipe", "prefetch": "take", "routing_text": "parse_routing", "quota": "wait_for_quota", "index_lock": "lock_index",
    "simulator": "ask|play", "packing": "pack", "curvature": "estimate_curvature", "mount": "mount_dataset",
    "read_ahead": "next_batch", "writer_thread": "wait_for_writer", "lease": "wait_for_lease", "statistics": "append_statistics",
    "padding": "pad_to_longest", "late_data": "wait_for_dataset", "livelock": "refine|run_task", "endless": "generate", "download": "download",
    "checkpoint_pipe": "save_checkpoint", "merge_loop": "merge_pairs", "idle_driver": "next_requests", "cache_flock": "acquire_cache_lock",
    "game_hangs": "step_env", "tracker": "log_validation", "slow_disk": "flush_to_disk", "thread_join": "close", "no_token": "read_secrets",
}
# What also tells of such a fault: the rank's own words, or those of a barrier that names it.
ALSO = {"read_ahead": "Transport endpoint", "writer_thread": "[Qq]uota exceeded", "late_data": "monitored_?[Bb]arrier", "download": "503 Slow Down"}
# Told by dumps; a job without any can only be told as one where ranks part.
OF_DUMPS = {
    "extra_collective": EXTRA,
    "extra_barrier": EXTRA,
    "skipped_step": SKIPPED,
    "size": both(r"\b1000\b", r"\b500\b"),
    "type": both("float64|[Dd]ouble", "[Ff]loat(32)?"),
    "op": both("broadcast", "all_?reduce"),
    "order": r"order|wait for each other|no other member came|" + ELSE,
    "no_send": SENT + "|" + NOT_COME,
    "wrong_peer": SENT + r"|to rank \d+",
    "nonfinite": SKIPPED + "|non-finite",
    "vocabulary": both(r"\b70000\b", r"\b50304\b"),
    "neighbour": SENT + r"|to rank 3|instead|set up",
    "microbatches": SKIPPED,
    "no_tokens": SKIPPED,
    "group_order": r"group|communicator|order|set up",
    "short_shard": LEFT + "|" + both("all_?gather", "all_?reduce"),
    "wrapped_model": EXTRA + "|" + both("broadcast", "barrier|all_?reduce"),
    "no_barrier": SKIPPED + "|barrier",
    "precision": both("bf16|[Bb][Ff]loat16", r"f32|\b[Ff]loat(32)?\b"),
    "swapped": both("gather", "broadcast"),
    "barriers": EXTRA + "|barrier",
    "dense": both("all_?gather", "all_?to_?all"),
    "tp_order": both("all_?gather", "all_?reduce") + "|order|wait for each other",
    "uneven": LEFT,
    "save_full": EXTRA + "|" + both("all_?gather", "all_?reduce|reduce_?scatter"),
    "empty_micro": SKIPPED + "|" + both("all_?gather", "all_?reduce"),
    "wrong_slice": SKIPPED + "|" + EXTRA + "|group|order|wait for each other",  # left out in one group, one more in the other
    "root": r"\broots?\b|size|shape|output|" + ELSE,
    "masked": SKIPPED,
    "eval_more": EXTRA + "|" + both("all_?gather", "all_?reduce|reduce_?scatter"),
    "skip_step": SKIPPED + "|" + LEFT + "|" + SENT,
    "double": both("f64|float64|[Dd]ouble", r"f32|\b[Ff]loat(32)?\b"),
    "cold_ids": SKIPPED + "|" + both("all_?reduce", "all_?to_?all"),
    "table_shape": both(r"\b(45000|2880000)\b", r"\b(30000|1920000)\b"),
    "swapped_cache": both("broadcast", "all_?reduce") + "|order",
    "extra_object": EXTRA + "|" + both("broadcast", "all_?reduce"),
    "early_stop": LEFT,
    "lost_micro": SKIPPED + "|" + both("all_?gather", "all_?reduce|reduce_?scatter"),
    "worker_gone": LEFT,
    "logits_rows": both(r"\b(3000000|9000000)\b", r"\b(5000000|15000000)\b"),
    "lost_send": SENT + "|" + SKIPPED,
    "loss_scale": SKIPPED + "|OVERFLOW",
    "untied": SKIPPED,
    "rebalance": EXTRA + "|" + both("all_?gather", "all_?reduce"),
    "aux_group": SKIPPED + "|" + EXTRA + "|group|order|wait for each other",
    "fewer_requests": LEFT + "|" + both("all_?gather", "all_?reduce"),
    "weights_type": both("bf16|[Bb][Ff]loat16", r"f32|\b[Ff]loat(32)?\b"),
    "rank0_norm": EXTRA + "|" + both("all_?gather", "all_?reduce|barrier"),
    "last_barrier": EXTRA + "|" + LEFT + "|barrier",
    "node_lost": LEFT + r"|left no dump|lost|SIGKILL|node",
}
REASONS = {
    "stopped": HUNG + r"|SIGSTOP|forcefully|SIGKILL",
    "spin_gpu": HUNG + r"|GPU|kernel|not finish|not complete",
    "curvature": HUNG + r"|GPU|kernel",
    "loader_stuck": HUNG + r"|[Dd]ata ?[Ll]oader",
    "cache_lock": HUNG + r"|[Dd]ata ?[Ll]oader",
    "absent": NOT_COME + r"|set up",
    "mount": NOT_COME + r"|set up|rendezvous",
    "left": LEFT, "data_ended": LEFT, "converged": LEFT, "budget": LEFT,
    "exception": r"ValueError.*bad sample",
    "all_fail": r"FileNotFoundError",
    "oom": MEMORY, "activations": MEMORY,
    "device_assert": DEVICE_ASSERT, "positions": DEVICE_ASSERT,
    "sigkill": signal("SIGKILL", 9), "killed": signal("SIGKILL", 9),
    "segfault": signal("SIGSEGV", 11) + "|[Ss]egmentation", "wild_pointer": signal("SIGSEGV", 11) + "|[Ss]egmentation",
    "abort": signal("SIGABRT", 6) + "|[Aa]borted", "bad_free": signal("SIGABRT", 6) + "|invalid pointer",
    "terminated": signal("SIGTERM", 15),
    "cut_file": signal("SIGBUS", 7) + "|[Bb]us error",
    "exit_code": r"code 3\b", "hard_exit": r"code 3\b", "exit_at_once": r"code 7\b", "wrong_stage": r"code 5\b",
    "nan_check": r"FloatingPointError.*loss is nan",
    "overflow": r"AssertionError.*loss is",
    "missing_module": r"ModuleNotFoundError.*flash_attn",
    "loader_exception": r"OSError|Input/output error",
    "loader_killed": r"DataLoader worker.*(killed|Killed|exited)|worker.*signal",
    "bad_image": r"cannot identify image",
    "shared_memory": r"[Bb]us error|SIGBUS|shm|shared memory",
    "worker_exit": r"DataLoader worker.*exited",
    "host_memory": r"allocate memory|DefaultCPUAllocator",
    "column": r"lacks a column|KeyError.*weight",
    "disk_full": r"No space left|Errno 28",
    "shard": r"FileNotFoundError.*part-0000",
    "config": r"KeyError.*learning_rate",
    "log_line": r"TypeError.*serializable",
    "actor_error": r"TimeoutError.*did not reset",
    "restart": r"ConnectionResetError|Connection reset",
    "scheduler": TOLD_TO_END, "preempted": TOLD_TO_END, "notice": TOLD_TO_END,
    "callback": r"IndexError.*list index out of range",
    "validation": r"RuntimeError.*same number of dimensions",
    "resume": r"PytorchStreamReader|central directory",
    "cuda_memory": MEMORY,
    "anomaly": r"returned nan values",
    "node": signal("SIGKILL", 9), "oom_killer": signal("SIGKILL", 9), "evicted": signal("SIGTERM", 15),
    "fused": signal("SIGSEGV", 11) + "|[Ss]egmentation", "bus": signal("SIGBUS", 7) + "|[Bb]us error",
    "license": r"code 3\b", "quit": r"code 9\b",
    "endless_kernel": HUNG + r"|GPU|kernel|not finish|not complete",
    "opt_groups": r"ValueError.*parameter groups",
    "export": r"NotADirectoryError|Not a directory",
    "loss_fn": r"size of tensor a",
    "hook": r"gradient is not finite",
    "index": DEVICE_ASSERT,
    "length": r"ValueError.*sequence length",
    "header_line": r"ValueError.*invalid literal",
    "loader_pipe": HUNG + r"|[Dd]ata ?[Ll]oader",
    "row_range": r"AssertionError",
    "pickle": r"TypeError.*pickle",
    "plugin": r"cannot open shared object",
    "no_saver": NOT_COME + r"|set up|new_group|clients joined|\bgroup\b",
    "store_key": r"DistStoreError|[Ww]ait timeout|address/4/",
    "stale_handle": r"Stale file handle",
    "divide": r"ZeroDivisionError",
    "two_ways": signal("SIGKILL", 9) + "|Broken ?[Pp]ipe",
    "again": r"UnicodeDecodeError",
    "gone": LEFT,
    "diverged": r"ArithmeticError.*loss became",
    "wnid": r"KeyError.*husky",
    "unused_branch": r"finished reduction in the prior iteration",
    "recompute": r"CheckpointError|[Rr]ecomputed values",
    "packed": MEMORY,
    "label_shift": r"TorchRuntimeError|fake tensor|batch_size",
    "bad_request": r"JSONDecodeError",
    "illegal_access": r"illegal memory access",
    "stage_shape": r"loading state_dict|size mismatch",
    "killed_stage": signal("SIGKILL", 9),
    "router_nan": DEVICE_ASSERT + "|probability tensor",
    "capacity": r"Split sizes",
    "no_space": r"No space left|Errno 28",
    "no_task": r"code 1\b|No task named",
    "hub_timeout": r"ConnectionError.*reach",
    "broken_doc": r"IndexError.*list index",
    "game_died": r"Broken ?[Pp]ipe",
    "bad_logits": r"ValueError.*logits",
    "learner_exit": r"code 42\b|KL divergence",
    "worker_crash": r"DataLoader worker.*(killed|signal)",
    "slow_shard": r"DataLoader timed out",
    "readonly": r"PermissionError|Permission denied",
    "interrupt": r"KeyboardInterrupt|SIGINT",
    "cpu_limit": signal("SIGXCPU", 24) + "|CPU time limit",
    "maintenance": TOLD_TO_END,
    "index_file": r"EOFError",
    "no_token": NOT_COME + r"|set up|joined",
    "deep_tree": r"RecursionError",
    "bare_assert": r"AssertionError",
    "division_trap": signal("SIGFPE", 8) + "|[Ff]loating point exception",
    "no_memory": r"MemoryError",
    "data_folder": r"FileNotFoundError",
    "results_file": r"IsADirectoryError",
}


def own_stack(folder, truth, names):
    """Whether the job's own stacks, in a file or in what the rank printed, show its sick rank in one of these functions."""
    paths = [folder / f"stacks_rank{truth['rank']}.txt", *folder.glob(f"logs/*/*/{truth['rank']}/stderr.log")]
    return any(re.search(rf" in ({names})\b", path.read_text(errors="replace")) for path in paths if path.exists())


def pattern(folder, truth):
    if "reason" in truth:
        return truth["reason"]
    fault = "tp_order" if truth["fault"] == "order" and truth.get("script") == "tp_lm" else truth["fault"]
    if fault in STANDS_IN:
        place = rf"\b({STANDS_IN[fault]})\b" + (f"|{ALSO[fault]}" if fault in ALSO else "")
        return place if own_stack(folder, truth, STANDS_IN[fault]) else place + "|" + REASONS.get(fault, HUNG)
    if fault in OF_DUMPS:
        return OF_DUMPS[fault] if any(folder.glob("fr/*")) else OF_DUMPS[fault] + "|" + SKIPPED + "|" + EXTRA
    return REASONS[fault]


def right(folder, truth, finding):
    text = "\n".join([finding["headline"]] + [evidence["text"] for evidence in finding["evidence"][:1]])
    return re.search(pattern(folder, truth), text, re.S) is not None
