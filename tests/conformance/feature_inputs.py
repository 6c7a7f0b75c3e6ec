#!/usr/bin/env python3
"""Makes the small inputs of features.tsv: feature_inputs.py NAME [FOLDER] calls the function NAME, which writes into FOLDER (in)."""
import gzip
import json
import os
import pickle
import runpy
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from recording_writer import Recording  # noqa: E402
from torch_trace_writer import CODE, Log, good_log  # noqa: E402

# --- Flight Recorder dumps ---

START_NS = 1_794_710_544_000_000_000
SECOND_NS = 1_000_000_000


class Dumps:
    """Dumps of one group of ranks; ops are added rank by rank, in the order in which they were enqueued."""

    def __init__(self, ranks, desc="default_pg", version="2.10"):
        self.ranks, self.version, self.descs = ranks, version, {rank: desc for rank in ranks}
        self.members = {rank: list(ranks) for rank in ranks}
        self.entries = {rank: [] for rank in ranks}

    def op(self, rank, name, seq, size=(8,), state="completed", p2p=0, out=None, **more):
        """One entry; p2p is the sequence number of a send or receive, seq that of collectives."""
        record = len(self.entries[rank]) + more.pop("skipped", 0)
        sizes = [list(size)] if size is not None else []
        entry = {"record_id": record, "pg_id": 0, "process_group": ("0", self.descs[rank]), "collective_seq_id": seq,
                 "p2p_seq_id": p2p, "op_id": record + 1, "profiling_name": f"nccl:{name}", "is_p2p": p2p > 0 and size is not None,
                 "time_created_ns": START_NS + record * SECOND_NS, "input_sizes": sizes, "input_dtypes": ["Float"] * len(sizes),
                 "output_sizes": sizes if out is None else [list(out)], "output_dtypes": ["Float"] * len(sizes), "state": state,
                 "time_discovered_started_ns": None, "retired": state == "completed", "timeout_ms": 600000,
                 "time_discovered_completed_ns": START_NS + record * SECOND_NS + 1000 if state == "completed" else None,
                 "frames": [{"name": "step", "filename": "train.py", "line": 10 + seq}]}
        self.entries[rank].append(entry | more)
        return self

    def all(self, name, seq, **more):
        """The same op on every rank."""
        for rank in self.ranks:
            self.op(rank, name, seq, **more)
        return self

    def region(self, rank, number, ops, state="completed"):
        """A batch of sends and receives: (name, size) each, and the marker of its end."""
        for name, size in ops:
            self.op(rank, name, 0, size, "scheduled", number)
        return self.op(rank, "coalesced", 0, None, state, number)

    def write(self, folder, prefix="nccl_trace_rank_", without=()):
        for rank in self.ranks:
            groups = {"0": {"name": "0", "desc": self.descs[rank], "ranks": str(self.members[rank])}}
            content = {"version": self.version, "entries": self.entries[rank], "pg_config": groups}
            if rank not in without:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{prefix}{rank}").write_bytes(pickle.dumps(content, protocol=2))


def batch(folder, ops_of, state="completed"):
    """Ranks that each run one region of sends and receives."""
    dumps = Dumps(list(range(len(ops_of))))
    for rank, ops in enumerate(ops_of):
        dumps.region(rank, 1, ops, state)
    dumps.write(folder)


BIG, SMALL = (64,), (8,)


def batch_without_match(folder):
    """Rank 0 sends twice, rank 1 receives once."""
    batch(folder, [[("send 0->1", BIG), ("send 0->1", BIG)], [("recv 1<-0", BIG)]], "scheduled")


def batch_any_order(folder):
    """Both send and receive, one the other way round: no fault."""
    batch(folder, [[("send 0->1", BIG), ("recv 0<-1", SMALL)], [("recv 1<-0", BIG), ("send 1->0", SMALL)]])


def batch_order_per_peer(folder):
    """Two sends to one peer, which receives them in the opposite order."""
    batch(folder, [[("send 0->1", BIG), ("send 0->1", SMALL)], [("recv 1<-0", SMALL), ("recv 1<-0", BIG)]], "scheduled")


def batch_of_both(folder):
    """Regions of a collective and of sends and receives, whose end markers alone say that they are completed."""
    dumps = Dumps([0, 1])
    for step in range(1, 4):
        for rank in dumps.ranks:
            dumps.op(rank, "all_reduce", step, BIG, "scheduled")
            for op in (f"send {rank}->{1 - rank}", f"recv {rank}<-{1 - rank}"):
                dumps.op(rank, op, step, SMALL, "scheduled", step)
            dumps.op(rank, "coalesced", step, None, "completed", step)
    dumps.write(folder)


def batch_collectives(folder):
    """A coalesced region of collectives in which rank 1 left one out."""
    dumps = Dumps([0, 1, 2])
    for rank in dumps.ranks:
        for _ in range(1 if rank == 1 else 2):
            dumps.op(rank, "_broadcast_oop", 1, BIG, "scheduled")
        dumps.op(rank, "ALLGATHER_coalesced", 1, None, "scheduled")
    dumps.write(folder)


def two_prefixes(folder):
    Dumps([0, 1]).all("all_reduce", 1).write(folder)
    Dumps([0, 1]).all("broadcast", 1).write(folder, "gloo_trace_rank_")


def hosts(folder):
    """A folder a host; rank 1 reduces another size."""
    dumps = Dumps([0, 1, 2]).all("all_reduce", 1)
    for rank in dumps.ranks:
        dumps.op(rank, "all_reduce", 2, BIG if rank == 1 else SMALL, "scheduled")
    for rank in dumps.ranks:
        dumps.write(folder / f"host{rank}", without=[other for other in dumps.ranks if other != rank])


def other_versions(folder):
    for rank, version in enumerate(("2.4", "2.10")):
        dumps = Dumps([0, 1], version=version).all("all_reduce", 1)
        dumps.write(folder, without=[1 - rank])


def wrapped_ring(folder):
    """The ring of rank 1 begins later than that of rank 0."""
    dumps = Dumps([0, 1])
    for seq in range(1, 9):
        dumps.op(0, "all_reduce", seq, skipped=100)
    for seq in range(4, 9):
        dumps.op(1, "all_reduce", seq, skipped=103)
    dumps.write(folder)


def other_groups(folder):
    """Ranks disagree about the members and the description of group 0."""
    dumps = Dumps([0, 1, 2]).all("all_reduce", 1)
    dumps.descs[1], dumps.members[2] = "other_pg", [0, 2]
    dumps.write(folder)


def missing_dump(folder):
    dumps = Dumps([0, 1, 2]).all("all_reduce", 1).all("all_reduce", 2, state="scheduled")
    dumps.write(folder, without=[2])


def nine_names(folder):
    dumps, names = Dumps([0, 1]), ("broadcast", "all_gather", "all_reduce", "_all_gather_base", "all_gather_into_tensor_coalesced",
                                   "reduce_scatter_tensor_coalesced", "_reduce_scatter_base", "gather", "scatter", "all_to_all",
                                   "reduce_scatter", "reduce")
    for seq, name in enumerate(names, 1):
        size, out = (8,), {"all_gather": (16,), "_all_gather_base": (16,), "all_gather_into_tensor_coalesced": (16,)}.get(name, (8,))
        if "reduce_scatter" in name:
            size, out = (16,), (8,)
        dumps.all(name, seq, size=size, out=out)
    dumps.write(folder)


def wrong_type_and_size(folder):
    """Rank 1 of three gathers where the others reduce; in another group rank 0 reduces another size."""
    dumps = Dumps([0, 1, 2])
    for rank in dumps.ranks:
        dumps.op(rank, "all_gather" if rank == 1 else "all_reduce", 1, BIG, "scheduled")
    dumps.write(folder / "type")
    dumps = Dumps([0, 1, 2])
    for rank in dumps.ranks:
        dumps.op(rank, "all_reduce", 1, SMALL if rank == 0 else BIG, "scheduled")
    dumps.write(folder / "size")


def p2p_size(folder):
    dumps = Dumps([0, 1]).op(0, "send 0->1", 0, BIG, "scheduled", 1).op(1, "recv 1<-0", 0, SMALL, "scheduled", 1)
    dumps.write(folder)


def many_mismatches(folder):
    dumps = Dumps([0, 1, 2])
    for seq in range(1, 9):
        for rank in dumps.ranks:
            dumps.op(rank, "all_reduce", seq, BIG if rank == 2 else SMALL, "scheduled")
    dumps.write(folder)


def sends_and_collectives(folder):
    """Sequence numbers of sends and of collectives are counted apart, and are equal by chance."""
    dumps = Dumps([0, 1]).all("all_reduce", 1)
    dumps.op(0, "send 0->1", 1, BIG, p2p=1).op(1, "recv 1<-0", 1, BIG, p2p=1).all("all_reduce", 2)
    dumps.write(folder)


def processes(folder):
    """Dumps, and output of the ranks in which NCCL names host and process."""
    Dumps([0, 1]).all("all_reduce", 1).write(folder)
    for rank in range(2):
        lines = [f"node7:{4242 + rank}:{4242 + rank} [{rank}] NCCL INFO Bootstrap: Using eth0:10.0.0.7<0>",
                 f"node7:{4242 + rank}:{4300 + rank} [{rank}] NCCL INFO comm 0x55d0 rank {rank} nranks 2 cudaDev {rank} - Init COMPLETE"]
        (folder / f"stdout_rank{rank}.txt").write_text("\n".join(lines) + "\n")


# --- TORCH_TRACE logs ---


def log_name(rank):
    return f"dedicated_log_torch_trace_rank_{rank}.log"


def one_log(folder):
    """One compilation with something of most kinds, as a.log."""
    (folder / "a.log").write_bytes(good_log().bytes())


def two_ages(folder):
    """An old and a newer log, which differ in an artifact."""
    for age, name in enumerate(("new.log", "old.log")):
        (folder / name).write_bytes(good_log().artifact("name_of_log", name).bytes())
        os.utime(folder / name, (1_700_000_000 - age, 1_700_000_000 - age))


def broken_log(folder):
    """A payload whose checksum does not hold, an entry that is no JSON, a compile id that is none."""
    log = good_log().add("dump_file", {"name": "x"}, "wrong", has_payload="0" * 32).envelope('{"artifact": {"name"')
    (folder / "a.log").write_bytes(log.bytes())
    (folder / "id.log").write_bytes(good_log().add("aot_joint_graph", {}, "g", ids=None, frame_id=0, frame_compile_id="x").bytes())


def lives(folder):
    """Two processes wrote into one log, one after the other."""
    (folder / "a.log").write_bytes(good_log(thread=1).bytes() + good_log(thread=2).bytes())


def with_prefix(content, prefix):
    return b"".join(prefix + line for line in content.splitlines(keepends=True))


def alternate(*contents):
    return b"".join(line for lines in zip(*(content.splitlines(keepends=True) for content in contents)) for line in lines)


def mixed_ranks(folder):
    """Lines of two ranks by turns, as they are and as launchers prefix them; in whole/ what each rank wrote."""
    ranks = [good_log(rank, 4242 + rank).bytes() for rank in range(2)]
    (folder / "whole").mkdir()
    for rank, content in enumerate(ranks):
        (folder / "whole" / log_name(rank)).write_bytes(content)
    (folder / "raw.log").write_bytes(alternate(*ranks))
    (folder / "prefixed.log").write_bytes(alternate(*(with_prefix(content, b"[default%d]:" % rank) for rank, content in enumerate(ranks))))
    (folder / "torn.log").write_bytes(alternate(*ranks).replace(b"\tdef forward(self, x):\n", b"", 1))


def text_log(folder):
    """What TORCH_LOGS=recompiles,graph_breaks,output_code prints."""
    head = "V1115 02:33:{:02}.345000 712 torch/_dynamo/{}] [{}] [__{}] "
    recompile = head.format(1, "guards.py:4760", "2/1", "recompiles")
    graph_break = head.format(2, "symbolic_convert.py:550", "0/0", "graph_breaks")
    code = "V1115 02:33:03.000000 712 torch/_inductor/graph.py:2104] [2/1] [__output_code] "
    lines = [recompile + "Recompiling function f in /home/user/train.py:7", recompile + "    triggered by the following guard failure(s):",
             recompile + "    - 2/0: tensor 'x' size mismatch at index 0. expected 8, actual 5",
             graph_break + "Graph break in user code at /home/user/train.py:9",
             graph_break + "Graph Break Reason: Failed to trace builtin operator", graph_break + "User code traceback:",
             graph_break + '  File "/home/user/train.py", line 9, in f', "step 1 done", *(code + "x = 1" for _ in range(50))]
    (folder / "output.txt").write_text("\n".join(lines) + "\n")


def ordered_log(rank, order, schedule, cache, lines_of_code):
    log = Log(rank).string("/home/user/train.py", 0)
    for number, compile_id in enumerate(order):
        ids = (0, int(compile_id[-1]), 0)
        log.start(ids).artifact(f"fx_graph_cache_{cache}", {"key": "k"}, ids)
        log.artifact("inductor_collective_schedule", ["torch.ops._c10d_functional.all_reduce_.default"] * schedule, ids)
        log.add("inductor_output_code", {"filename": "/tmp/c.py"}, CODE * (lines_of_code if number == 0 else 1), ids).metrics(ids)
    return log.artifact("graph_execution", {"graph_execution_order": order}, None)


def rank_logs(folder):
    """Three ranks: 1 runs its graphs in another order, calls other collectives and misses the cache, 2 compiles one graph more."""
    logs = [ordered_log(0, ["0/0", "0/1"], 1, "hit", 1), ordered_log(1, ["0/1", "0/0"], 2, "miss", 2),
            ordered_log(2, ["0/0", "0/1", "0/2"], 1, "hit", 1)]
    for rank, log in enumerate(logs):
        (folder / log_name(rank)).write_bytes(log.event("dynamo").event("dynamo", "E").bytes())
    (folder / "dedicated_log_torch_trace_rank_x.log").write_text("of no rank\n")


def modules_log(folder):
    """A graph whose nodes say which module they are of, some without parameters."""
    graph = """class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[8, 4][4, 1]cpu", L_self_modules_fc_parameters_weight_: "f32[4, 4][4, 1]cpu"):
        l_x_ = L_x_
         # File: /home/user/train.py:9 in forward, code: return self.relu(self.fc(x))
        linear: "f32[8, 4][4, 1]cpu" = torch._C._nn.linear(l_x_, L_self_modules_fc_parameters_weight_)
        relu: "f32[8, 4][4, 1]cpu" = torch.nn.functional.relu(linear)
        return (relu,)
"""
    stacks = {"linear": [["L__self___fc", ["L['self'].fc", "torch.nn.modules.linear.Linear"]]],
              "relu": [["L__self___relu", ["L['self'].relu", "torch.nn.modules.activation.ReLU"]]]}
    log = Log().string("/home/user/train.py", 0).start().add("dynamo_output_graph", {"sizes": {"x": [8, 4]}}, graph)
    (folder / "a.log").write_bytes(log.artifact("nn_module_stack", stacks).metrics().bytes())


def odd_logs(folder):
    """One log in UTF-16, one with the line ends of Windows whole and with a payload that was changed, one without any entry."""
    log = good_log().bytes()
    windows = log.replace(b"\n", b"\r\n")
    (folder / "utf16.log").write_bytes(log.decode().encode("utf-16"))
    (folder / "crlf.log").write_bytes(windows)
    (folder / "changed.log").write_bytes(windows.replace(b"class GraphModule", b"class graphmodule", 1))
    (folder / "none.log").write_text("hello\nworld\n")


# --- op traces and recordings ---


def reused_thread(folder):
    """A thread dies inside of an op; the next one gets its id, and its first record ends an op that the ring no longer has."""
    recording = Recording(rank=0)
    recording.closed = 0
    with recording.thread(5) as thread:
        thread.begin("dead", 1000)
    with recording.thread(5) as thread:
        thread.end(3000)
        thread.span("later", 4000, 1000)
    recording.write(folder / "run.dbr")


def op_trace(folder):
    """Ops whose names say in several ways that they communicate, and two whose mean is no whole number of nanoseconds."""
    names = [("matmul", 0.333), ("matmul", 0.334), ("allreduce_hook", 2.0), ("all_reduce", 2.0), ("grad_comm", 2.0), ("pipeline_send", 2.0)]
    entries = [{"step": step, "operation": name, "device_id": f"gpu:{step % 2}", "input_shapes": [], "output_shape": [4],
                "duration_us": duration, "output_elements": 4, "memory_bytes": 32} for step, (name, duration) in enumerate(names)]
    content = {"entries": entries, "total_duration_us": sum(duration for _, duration in names), "metadata": {"model": "tiny"}}
    (folder / "ops.json").write_text(json.dumps(content, indent=2))


# --- traces of accelerators ---


def flex_job(rank, slow=1.0):
    """The events of one rank, at 500 MHz; see make_traces.py."""
    path = Path(__file__).resolve().parent.parent / "golden/flex/make_traces.py"
    return runpy.run_path(str(path))["job"](rank, slow)


def write_json(path, content):
    path.write_text(json.dumps(content))


def cycle_table(kernel, cycles):
    return f"~~~~ Ideal/Total Cycles ~~~~\n{kernel}-opCatBmm_fp16   {cycles}\nTotal   {cycles}\n====== Perf Summary End ======\n"


def flex(folder):
    """Two ranks of one job, and the log of their compiler."""
    for rank in range(2):
        write_json(folder / f"tp2_rank{rank}_job_1.json", flex_job(rank))
    (folder / "compiler.log").write_text(cycle_table("bmm_1", 50_000))


def flex_far_ranks(folder):
    """The ranks 3 and 7, and a log for each, the second packed; other.log is about kernels that nobody runs."""
    for rank in (3, 7):
        write_json(folder / f"tp2_rank{rank}_job_1.json", flex_job(rank))
    (folder / "three.log").write_text(cycle_table("bmm_1", 20_000))
    (folder / "seven.log.gz").write_bytes(gzip.compress(cycle_table("bmm_1", 40_000).encode()))
    (folder / "other.log").write_text(cycle_table("conv_9", 1))


def arguments(folder):
    """A kernel with arguments that debrief knows, and some that only its writer knows."""
    kernel = {"name": "gemm", "cat": "kernel", "ph": "X", "pid": 0, "tid": 7, "ts": 10, "dur": 5,
              "args": {"device": 0, "stream": 7, "correlation": 1, "grid": [8, 4, 1], "my number": 3, "my text": "x"}}
    write_json(folder / "a.json", {"schemaVersion": 1, "traceEvents": [kernel]})


def slices(*events):
    return [{"name": name, "ph": "X", "pid": 0, "tid": 1, "ts": start, "dur": length} for name, start, length in events]


def plain_slices(folder):
    """Slices without a device; b begins inside of a and ends behind it. In object.json as an object with traceEvents, x as an array."""
    events = slices(("a", 10, 20), ("b", 20, 30), ("c", 60, 5))
    write_json(folder / "array", events)
    write_json(folder / "object.json", {"traceEvents": events, "schemaVersion": 1})


def one_kernel(folder):
    """One kernel that runs twice at one moment, which is no iteration."""
    write_json(folder / "a.json", [event for event in flex_job(0) if "bmm_1 Cmpt Exec" in event["name"]][:2] * 2)


def wrong_counter(folder):
    """A cycle counter whose epoch jumps in the middle; kernels whose stamps overlap."""
    events = flex_job(0)
    for number, event in enumerate(events):
        if "attr" in event and number > len(events) // 2:
            event["attr"] = event["attr"] | {f"TS{i}": hex((int(event["attr"][f"TS{i}"], 16) + 900_000_000) % 2**32) for i in range(1, 6)}
    write_json(folder / "epoch.json", events)
    events = flex_job(0)
    for event in events:
        if event["name"] == "softmax_2 Cmpt Exec":
            event["attr"] = event["attr"] | {f"TS{i}": hex(int(event["attr"][f"TS{i}"], 16) - 50_000) for i in range(1, 6)}
    write_json(folder / "overlap.json", events)


def early_device(folder):
    """Device events 5 ms before the wrapper of their host."""
    events = flex_job(0)
    for event in events:
        event["ts"] += 0 if "attr" in event else 5000
    write_json(folder / "a.json", events)


def flex_and_torch(folder):
    """A Flex trace whose clock is 5 s behind that of the PyTorch trace of the same job, in which each kernel is launched."""
    write_json(folder / "flex_rank0_job_1.json", flex_job(0))
    calls = [event for at in range(0, 4000, 1000) for event in (
        {"name": "aiuLaunchComputeStream", "cat": "cuda_runtime", "ph": "X", "pid": 1, "tid": 1, "ts": 5e6 + at + 15, "dur": 4,
         "args": {"correlation": at}},
        {"name": "aiuScheduleWait", "cat": "cuda_runtime", "ph": "X", "pid": 1, "tid": 1, "ts": 5e6 + at + 30, "dur": 800})]
    write_json(folder / "torch.pt.trace.json", {"deviceProperties": [{"id": 0}], "distributedInfo": {"rank": 0}, "traceEvents": calls})


def main():
    function = globals()[sys.argv[1]]
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else "in")
    folder.mkdir(parents=True, exist_ok=True)
    function(folder)


main()
