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
EXTRA = r"did not do|more than|one more|extra|ran on alone|ahead|called .* as number|" + ELSE
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
}
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
    "scheduler": TOLD_TO_END, "preempted": TOLD_TO_END,
}


def own_stack(folder, truth, names):
    """Whether the job's own stacks show its sick rank in one of these functions."""
    path = folder / f"stacks_rank{truth['rank']}.txt"
    return path.exists() and re.search(rf" in ({names})\b", path.read_text(errors="replace")) is not None


def pattern(folder, truth):
    fault = "tp_order" if truth["fault"] == "order" and truth.get("script") == "tp_lm" else truth["fault"]
    if fault in STANDS_IN:
        place = rf"\b({STANDS_IN[fault]})\b"
        return place if own_stack(folder, truth, STANDS_IN[fault]) else place + "|" + REASONS.get(fault, HUNG)
    if fault in OF_DUMPS:
        return OF_DUMPS[fault] if any(folder.glob("fr/*")) else OF_DUMPS[fault] + "|" + SKIPPED + "|" + EXTRA
    return REASONS[fault]


def right(folder, truth, finding):
    text = "\n".join([finding["headline"]] + [evidence["text"] for evidence in finding["evidence"][:1]])
    return re.search(pattern(folder, truth), text, re.S) is not None
