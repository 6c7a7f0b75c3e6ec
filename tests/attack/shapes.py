"""Inputs that cost most for their size, by name: what growth.py lets grow."""
import json
from dataclasses import dataclass
from typing import Callable

REPORT = ("{input}", "-o", "{output}/report", "--overwrite")
FLIGHT = ("flight", "{input}")
COMPILE = ("compile", "{input}/trace.log", "-o", "{output}/tree", "--no-browser")


@dataclass(frozen=True)
class Shape:
    name: str
    make: Callable  # (folder, size)
    command: tuple = REPORT
    start: int = 1000  # the first size that is tried
    most: int = 1 << 18  # the largest
    codes: tuple = (0,)
    is_short: bool = True  # part of the short form


SHAPES = []


def shape(**more):
    """Registers make_NAME(folder, size)."""
    def register(make):
        SHAPES.append(Shape(make.__name__.removeprefix("make_"), make, **more))
        return make
    return register


# ---- Chrome traces

HEAD = '{"schemaVersion": 1, "traceEvents": [\n'


def write_trace(folder, events, end="\n]}", name="a.pt.trace.json", head=HEAD, between=",\n"):
    (folder / name).write_text(head + between.join(events) + end)


def slice_event(ts, dur=5, name="aten::mm", tid=1, more=""):
    return f'{{"ph":"X","cat":"cpu_op","name":"{name}","pid":1,"tid":{tid},"ts":{ts},"dur":{dur},"args":{{{more}}}}}'


def name_event(kind, pid, tid, name):
    return f'{{"ph":"M","name":"{kind}","pid":{pid},"tid":{tid},"ts":0,"args":{{"name":"{name}"}}}}'


@shape(start=20000)
def make_open_objects(folder, size):
    """Objects that nobody closes."""
    (folder / "a.pt.trace.json").write_text('{"traceEvents":[\n' + '{"ph":"X",' * size)


@shape(start=20000, is_short=False)
def make_open_arrays(folder, size):
    (folder / "a.pt.trace.json").write_text('{"traceEvents":[\n' + '{"ph":"X","args":[' * size)


@shape(start=10000)
def make_open_strings(folder, size):
    """Every event ends inside of a string."""
    write_trace(folder, (slice_event(i * 10)[:-9] + ',"a":"b' for i in range(size)))


@shape(start=10000)
def make_garbage_between_events(folder, size):
    write_trace(folder, (slice_event(i * 10) + " garbage }{ ]" for i in range(size)))


@shape(start=10000, is_short=False)
def make_garbage_lines(folder, size):
    write_trace(folder, (slice_event(i * 10) + ",\n\\x 12 garbage \"" for i in range(size)))


@shape(start=10000)
def make_no_commas(folder, size):
    write_trace(folder, (slice_event(i * 10) for i in range(size)), between="\n")


@shape(start=10000)
def make_cut_events(folder, size):
    """A good event, then one that ends in the middle."""
    write_trace(folder, (slice_event(i * 10) + ",\n" + slice_event(i * 10)[:40] for i in range(size)))


@shape(start=10000, is_short=False)
def make_closed_too_often(folder, size):
    write_trace(folder, (slice_event(i * 10) + "}]}" for i in range(size)))


@shape(start=20000)
def make_nested_slices(folder, size):
    """Every slice inside of the one before."""
    write_trace(folder, (slice_event(i, 2 * size - 2 * i) for i in range(size)))


@shape(start=20000, is_short=False)
def make_crossing_slices(folder, size):
    """Every slice crosses all others, on one thread."""
    write_trace(folder, (slice_event(i, size) for i in range(size)))


@shape(start=20000, is_short=False)
def make_equal_slices(folder, size):
    write_trace(folder, (slice_event(7, 7) for _ in range(size)))


@shape(start=20000, is_short=False)
def make_begins_without_ends(folder, size):
    write_trace(folder, (f'{{"ph":"B","name":"f{i % 9}","pid":1,"tid":1,"ts":{i},"args":{{}}}}' for i in range(size)))


@shape(start=20000, is_short=False)
def make_ends_without_begins(folder, size):
    write_trace(folder, (f'{{"ph":"E","name":"f{i % 9}","pid":1,"tid":1,"ts":{i},"args":{{}}}}' for i in range(size)))


@shape(start=20000)
def make_thread_names(folder, size):
    write_trace(folder, (name_event("thread_name", i % 7, i, f"t{i}") for i in range(size)))


@shape(start=20000, is_short=False)
def make_process_names(folder, size):
    write_trace(folder, (name_event("process_name", i, 0, f"p{i}") for i in range(size)))


@shape(start=20000, is_short=False)
def make_names_of_one_thread(folder, size):
    write_trace(folder, (name_event("thread_name", 1, 1, f"t{i}") for i in range(size)))


@shape(start=20000, is_short=False)
def make_threads_with_one_slice(folder, size):
    write_trace(folder, (slice_event(i, tid=i) for i in range(size)))


@shape(start=20000, is_short=False)
def make_flows(folder, size):
    """Arrows that all begin and end at the same slice."""
    events = [slice_event(0, size)]
    events += (f'{{"ph":"{"sf"[i % 2]}","id":{i // 2 % 5},"cat":"ac2g","name":"ac2g","pid":1,"tid":1,"ts":{i}}}' for i in range(size))
    write_trace(folder, events)


@shape(start=10000, is_short=False)
def make_kernels_without_launches(folder, size):
    """Kernels of one correlation id, all at once."""
    write_trace(folder, (f'{{"ph":"X","cat":"kernel","name":"k{i % 99}","pid":0,"tid":{i % 3},"ts":{i},"dur":{size},'
                         f'"args":{{"correlation":{i % 2},"stream":{i % 3},"device":0}}}}' for i in range(size)))


@shape(start=10000, is_short=False)
def make_collectives_of_one_name(folder, size):
    write_trace(folder, (f'{{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":0,"tid":7,"ts":{i},"dur":3,'
                         f'"args":{{"correlation":{i},"stream":7,"Process Group Name":"{i % 2}","Collective name":"allreduce"}}}}'
                         for i in range(size)))


@shape(start=20000, is_short=False)
def make_steps(folder, size):
    """Steps that all overlap."""
    write_trace(folder, (f'{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{i}","pid":1,"tid":1,"ts":{i},"dur":{size},"args":{{}}}}'
                         for i in range(size)))


@shape(start=5000, is_short=False)
def make_flex_nested(folder, size):
    """Flex: every slice inside of the one before."""
    stamps = ",".join(f'"TS{i}":"{i}"' for i in range(1, 6))
    write_trace(folder, (f'{{"name":"k{i % 7} Cmpt Exec","ph":"X","ts":{i},"dur":{2 * (size - i)},"pid":1,"tid":1,"args":{{{stamps}}}}}'
                         for i in range(size)), head='{"traceEvents": [\n', name="flex.json")


@shape(start=5000, command=("accel", "-i", "{input}/flex.json", "-o", "{output}/x.json"))
def make_accel_nested(folder, size):
    make_flex_nested(folder, size)


@shape(start=5000, command=("accel", "-i", "{input}/flex.json", "-o", "{output}/x.json"), is_short=False)
def make_accel_equal(folder, size):
    stamps = ",".join(f'"TS{i}":"{i}"' for i in range(1, 6))
    write_trace(folder, (f'{{"name":"k{i % 7} Cmpt Exec","ph":"X","ts":5,"dur":7,"pid":1,"tid":1,"args":{{{stamps}}}}}'
                         for i in range(size)), head='{"traceEvents": [\n', name="flex.json")


@shape(start=20000, command=("accel", "-i", "{input}/flex.json", "-o", "{output}/x.json"))
def make_accel_deep(folder, size):
    (folder / "flex.json").write_text('{"x": ' + "[" * size + "]" * size + ', "traceEvents": [' + slice_event(1) + "]}")


@shape(start=20000, command=("accel", "-i", "{input}/flex.json", "-o", "{output}/x.json"), codes=(1,))
def make_accel_open_objects(folder, size):
    (folder / "flex.json").write_text('{"traceEvents":[\n' + '{"ph":"X",' * size)


@shape(start=10000, command=("accel", "-i", "{input}/flex.json", "-o", "{output}/x.json"), is_short=False)
def make_accel_garbage(folder, size):
    write_trace(folder, (slice_event(i * 10) + " garbage }{ ]" for i in range(size)), name="flex.json")


# ---- JSON of any kind

@shape(start=50000, is_short=False)
def make_deep_json(folder, size):
    (folder / "a.json").write_text("[" * size + "]" * size)


@shape(start=50000)
def make_deep_member(folder, size):
    (folder / "a.pt.trace.json").write_text('{"x": ' + "[" * size + "]" * size + ', "traceEvents": [' + slice_event(1) + "]}")


@shape(start=50000, is_short=False)
def make_deep_args(folder, size):
    write_trace(folder, [slice_event(1, more='"a":' + "[" * size + "]" * size)])


@shape(start=50000, command=("flight", "{input}"), is_short=False)
def make_deep_dump(folder, size):
    (folder / "nccl_trace_rank_0.json").write_text('{"version": "2.10", "x": ' + "[" * size + "]" * size + ', "entries": []}')


# ---- Flight Recorder

def write_dumps(folder, ranks, entries, groups=({"name": "0", "desc": "default_pg", "ranks": "[0, 1]"},), status=None):
    config = {group["name"]: group for group in groups}
    for rank in range(ranks):
        dump = {"version": "2.10", "nccl_version": "2.20.5", "pg_config": config, "pg_status": status or {}, "entries": entries(rank)}
        (folder / f"nccl_trace_rank_{rank}.json").write_text(json.dumps(dump, sort_keys=True))


def entry(number, group="0", desc="default_pg", op="nccl:all_reduce", seq=None, pg_id=0, **more):
    return {"record_id": number, "pg_id": pg_id, "process_group": [group, desc], "collective_seq_id": number if seq is None else seq,
            "p2p_seq_id": 0, "op_id": number, "profiling_name": op, "time_created_ns": 1_700_000_000_000_000_000 + number * 1000,
            "input_sizes": [[4]], "input_dtypes": ["Float"], "output_sizes": [[4]], "output_dtypes": ["Float"], "state": "scheduled",
            "time_discovered_started_ns": 0, "time_discovered_completed_ns": 0, "retired": False, "timeout_ms": 600000,
            "is_p2p": False} | more


def groups_of(count):
    return [{"name": str(i), "desc": f"g{i}", "ranks": "[0, 1]"} for i in range(count)]


def status_of(count):
    return {str(i): {"last_enqueued_collective": 2, "last_started_collective": 2, "last_completed_collective": 1} for i in range(count)}


@shape(start=3000, command=FLIGHT)
def make_flight_groups(folder, size):
    """Many groups with one collective each."""
    write_dumps(folder, 2, lambda rank: [entry(i, str(i), f"g{i}", seq=1 + rank, pg_id=i) for i in range(size)],
                groups_of(size), status_of(size))


@shape(start=3000, command=FLIGHT, is_short=False)
def make_flight_groups_without_entries(folder, size):
    write_dumps(folder, 2, lambda rank: [entry(i, str(i), f"g{i}", pg_id=i) for i in range(size)] if rank else [],
                groups_of(size), status_of(size))


@shape(start=3000, command=FLIGHT, is_short=False)
def make_flight_names(folder, size):
    """Every entry has an op of its own name."""
    write_dumps(folder, 2, lambda rank: [entry(i, op=f"nccl:op_{rank}_{i}") for i in range(size)])


@shape(start=3000, command=FLIGHT, is_short=False)
def make_flight_mismatches(folder, size):
    write_dumps(folder, 2, lambda rank: [entry(i, input_sizes=[[4 + rank + i]]) for i in range(size)])


@shape(start=3000, command=FLIGHT)
def make_flight_sends(folder, size):
    """Sends of both ranks that nobody receives."""
    write_dumps(folder, 2, lambda rank: [entry(i, op=f"nccl:send {rank}->{1 - rank}", is_p2p=True, p2p_seq_id=i, seq=0) for i in range(size)])


@shape(start=3000, command=FLIGHT, is_short=False)
def make_flight_one_sequence_number(folder, size):
    write_dumps(folder, 2, lambda rank: [entry(i, seq=1) for i in range(size)])


@shape(start=300, most=8000, command=FLIGHT)
def make_flight_ranks(folder, size):
    """Many ranks in pairs: a group of all would make the input grow with the square."""
    for rank in range(size):
        first = rank - rank % 2
        group = {"name": str(first), "desc": "pairs", "ranks": f"[{first}, {first + 1}]"}
        dump = {"version": "2.10", "nccl_version": "2.20.5", "pg_config": {str(first): group}, "pg_status": {},
                "entries": [entry(i, str(first), "pairs") for i in range(2)]}
        (folder / f"nccl_trace_rank_{rank}.json").write_text(json.dumps(dump, sort_keys=True))


@shape(start=300, most=8000, command=FLIGHT, is_short=False)
def make_flight_attempts(folder, size):
    """A job that starts again and again, and leaves a dump each time."""
    for number in range(size):
        (folder / f"attempt_{number}").mkdir()
        write_dumps(folder / f"attempt_{number}", 2, lambda rank: [entry(i) for i in range(3)])


@shape(start=3000, command=("flight", "{input}", "-o", "{output}/x.json"))
def make_flight_database(folder, size):
    write_dumps(folder, 2, lambda rank: [entry(i) for i in range(size)])


@shape(start=1000, command=("flight", "{input}", "--compat"), is_short=False)
def make_flight_compat(folder, size):
    write_dumps(folder, 2, lambda rank: [entry(i, input_sizes=[[4 + rank]]) for i in range(size)])


# ---- Compile logs

def compile_line(number, thread, text):
    return f"V1115 12:{number // 60_000_000 % 60:02}:{number // 1_000_000 % 60:02}.{number % 1_000_000:06} {thread} torch/x.py:1] {text}\n"


def interleaved(size, ranks, lines, digest):
    """Payloads of several ranks whose lines are mixed."""
    number, parts = 0, []
    for start in range(0, size, ranks * lines):
        for rank in range(ranks):
            entry_json = {"artifact": {"name": "a", "encoding": "string"}, "frame_id": start, "frame_compile_id": 0, "attempt": 0, "rank": rank,
                          "has_payload": digest(start, rank)}
            parts.append(compile_line(number, 1000 + rank, json.dumps(entry_json)))
            number += 1
        parts += (f"\tline {line} of rank {rank} {start}\n" for line in range(lines) for rank in range(ranks))
    return "".join(parts)


@shape(start=200, command=COMPILE)
def make_interleaved_bad_checksums(folder, size):
    (folder / "trace.log").write_text(interleaved(size, 64, 20, lambda start, rank: f"{start * 1000 + rank:032x}"))


@shape(start=200, command=COMPILE, is_short=False)
def make_interleaved_one_stretch(folder, size):
    """One payload for each of eight ranks, all of them open to the end."""
    (folder / "trace.log").write_text(interleaved(size, 8, size // 8 + 1, lambda start, rank: f"{start * 1000 + rank:032x}"))


@shape(start=200, command=COMPILE, is_short=False)
def make_interleaved_many_ranks(folder, size):
    ranks = max(8, size // 20)
    (folder / "trace.log").write_text(interleaved(size, ranks, 20, lambda start, rank: f"{start * 1000 + rank:032x}"))


@shape(start=2000, command=COMPILE, is_short=False)
def make_compile_ids(folder, size):
    """A compilation a line."""
    (folder / "trace.log").write_text("".join(
        compile_line(i, 1000, json.dumps({"dynamo_start": {"stack": [{"line": i, "name": f"f{i}", "filename": 0}]}, "frame_id": i,
                                          "frame_compile_id": 0, "attempt": 0})) for i in range(size)))


@shape(start=2000, command=COMPILE, is_short=False)
def make_recompiles_of_one_frame(folder, size):
    (folder / "trace.log").write_text("".join(
        compile_line(i, 1000, json.dumps({"dynamo_start": {"stack": [{"line": 1, "name": "f", "filename": 0}]}, "frame_id": 0,
                                          "frame_compile_id": i, "attempt": 0})) for i in range(size)))


@shape(start=2000, command=("compile", "{input}/trace.log", "--summary"), is_short=False)
def make_deep_stacks(folder, size):
    stack = [{"line": i, "name": f"f{i}", "filename": 0} for i in range(size)]
    line = json.dumps({"dynamo_start": {"stack": stack}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0})
    (folder / "trace.log").write_text("".join(compile_line(i, 1000, line) for i in range(4)))


# ---- Text

@shape(start=2000, most=24000)
def make_text_files(folder, size):
    for rank in range(size):
        (folder / f"rank_{rank}.log").write_text("starting\nstep 1 loss 2.0\n")


@shape(start=1000, most=24000, is_short=False)
def make_text_files_with_losses(folder, size):
    """Every rank lost its connection."""
    for rank in range(size):
        (folder / f"rank_{rank}.log").write_text(
            f"2026-11-15 02:42:22,{rank % 1000:03} start\n[rank{rank}]:[E1115 02:42:23.{rank % 1000000:06} 7 ProcessGroupNCCL.cpp:1] [Rank {rank}] "
            "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely: "
            "Connection reset by peer\n")


@shape(start=500, most=24000)
def make_text_timeouts(folder, size):
    """One text of many ranks that timed out, each in a group of its own."""
    (folder / "job.log").write_text("".join(
        f"[rank{rank}]:[E1115 02:42:23.000001 7 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation timeout: "
        f"WorkNCCL(SeqNum={rank}, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=1000) ran for 1001 milliseconds before timing out.\n"
        for rank in range(size)))


@shape(start=5000, is_short=False)
def make_text_lines_alike(folder, size):
    (folder / "rank_0.log").write_text("[rank0]: RuntimeError: CUDA error: an illegal memory access was encountered\n" * size)


@shape(start=5000, is_short=False)
def make_text_tracebacks(folder, size):
    (folder / "rank_0.log").write_text("".join(
        f'Traceback (most recent call last):\n  File "a.py", line {i}, in f\n    g()\nValueError: {i}\n' for i in range(size)))


@shape(start=5000, is_short=False)
def make_text_one_traceback(folder, size):
    frames = "".join(f'  File "a.py", line {i}, in f{i}\n    g()\n' for i in range(size))
    (folder / "rank_0.log").write_text("Traceback (most recent call last):\n" + frames + "ValueError: deep\n")


@shape(start=200000, is_short=False)
def make_text_one_line(folder, size):
    (folder / "rank_0.log").write_text("start\n" + "RuntimeError [rank1] x " * (size // 20) + "\nend\n")


@shape(start=5000, is_short=False)
def make_text_ranks(folder, size):
    (folder / "job.log").write_text("".join(f"[rank{rank}]: hello from rank {rank}\n" for rank in range(size)))


@shape(start=300, most=8000)
def make_trace_jobs(folder, size):
    for i in range(size):
        (folder / f"job{i}").mkdir()
        write_trace(folder / f"job{i}", [slice_event(10)])


@shape(start=300, most=8000, is_short=False)
def make_text_jobs(folder, size):
    for i in range(size):
        (folder / f"job{i}").mkdir()
        (folder / f"job{i}" / "rank_0.log").write_text("step 1\nTraceback (most recent call last):\nValueError: x\n")


@shape(start=1000, most=32000)
def make_text_restarts(folder, size):
    """A launcher that starts its workers again and again."""
    head = "E0501 10:00:00.000000 140000 torch/distributed/elastic/multiprocessing/api.py:874] "
    with open(folder / "torchrun.log", "w") as out:
        for number in range(size):
            out.write(f"{head}failed (exitcode: 1) local_rank: 0 (pid: {1000 + number}) of binary: /usr/bin/python\n"
                      f"I0501 10:00:00.100000 140000 torch/distributed/elastic/agent/server/api.py:900] [default] Worker group FAILED. "
                      f"{size - number}/{size} attempts left; will restart worker group\n")


@shape(start=200, most=8000, is_short=False)
def make_folders_in_folders(folder, size):
    """A chain of folders as deep as names allow, again and again."""
    for i in range(size):
        path = folder.joinpath(f"t{i}", *("d" for _ in range(20)))
        path.mkdir(parents=True)
        (path / "rank_0.log").write_text("step 1\n")


@shape(start=1000, most=24000)
def make_hard_links(folder, size):
    """One file under many names."""
    (folder / "rank_0.log").write_text("step 1\n")
    for i in range(1, size):
        (folder / f"rank_{i}.log").hardlink_to(folder / "rank_0.log")


@shape(start=1000, most=24000, is_short=False)
def make_links_to_one_file(folder, size):
    (folder / "a.log").write_text("step 1\n")
    for i in range(1, size):
        (folder / f"rank_{i}.log").symlink_to("a.log")
