#!/usr/bin/env python3
"""Runs `debrief ops` on op traces and recordings made here: what the first op traces promised, and every edge case both ways.

usage: run.py --binary build/release/debrief --recorder build/release/ops_record

The first tests are those that the first op traces came with, one by one, through the command; the others are about
recordings of a program that records itself (record.cc) and of recordings made by hand (recording_writer.py).
"""
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import in_folders  # noqa: E402
from recording_writer import Recording  # noqa: E402


class World:
    """A folder, the command, and the program that records itself."""

    def __init__(self, folder, binary, recorder):
        self.folder, self.binary, self.recorder = folder, binary, recorder

    def run(self, *args, code=0):
        done = subprocess.run([self.binary, *map(str, args)], cwd=self.folder, capture_output=True)
        assert done.returncode == code, f"{args}: exit code {done.returncode}: {done.stderr.decode()}"
        self.stderr = done.stderr.decode()
        return done.stdout

    def ops(self, path, *args):
        return json.loads(self.run("ops", path, "--json", *args))

    def trace(self, *entries, metadata=None, name="ops.json"):
        """An op trace as a program of old wrote it."""
        keys = {"step": 0, "operation": "op", "device_id": None, "input_shapes": [], "output_shape": [], "duration_us": 0.0,
                "output_elements": 0, "memory_bytes": 0}
        whole = [{**keys, "step": i, **entry} for i, entry in enumerate(entries)]
        total = sum(entry["duration_us"] or 0 for entry in whole)
        text = json.dumps({"entries": whole, "total_duration_us": total, "metadata": metadata or {}}, indent=2)
        (self.folder / name).write_text(text)
        return name

    def record(self, mode, name="run.dbr", rank=0, killed=False):
        done = subprocess.run([self.recorder, mode, self.folder / name, str(rank)])
        assert (done.returncode != 0) == killed, f"record {mode}: {done.returncode}"
        return name


def op(name, us, device=None, elements=0):
    return {"operation": name, "duration_us": float(us), "device_id": device, "output_shape": [elements],
            "output_elements": elements, "memory_bytes": elements * 8}


def named(rows, name):
    return next(row for row in rows if row["operation"] == name)


# What the first op traces came with.

def test_entry_new(world):
    answer = world.ops(world.trace({"operation": "relu"}))
    assert answer["ops"][0] | {"count": 1, "bytes": 0, "duration_ns": 0} == answer["ops"][0]
    assert answer["devices"] == [] and answer["totals"]["without_device"] == 1


def test_entry_builder(world):
    name = world.trace({**op("conv2d", 500, "gpu:0", 14400), "input_shapes": [[1, 3, 32, 32], [16, 3, 3, 3]],
                        "output_shape": [1, 16, 30, 30]})
    answer = world.ops(name)
    assert answer["totals"]["bytes"] == 14400 * 8 and answer["slowest"][0]["duration_ns"] == 500_000
    assert json.loads(world.run("ops", name, "--json", "--compat")) == json.loads((world.folder / name).read_text())


def test_entry_throughput(world):
    answer = world.ops(world.trace(op("a", 100, elements=1000), op("b", 0, elements=1000)))
    fast, idle = named(answer["slowest"], "a"), named(answer["slowest"], "b")
    assert fast["bytes"] / 8 / (fast["duration_ns"] / 1000) == 10 and idle["duration_ns"] == 0


def test_trace_new_empty(world):
    answer = world.ops(world.trace())
    assert answer["totals"]["count"] == 0 and answer["totals"]["op_time_ns"] == 0 and answer["ops"] == []


def test_trace_add_entry(world):
    assert world.ops(world.trace(op("a", 100), op("b", 200)))["totals"]["op_time_ns"] == 300_000


def test_trace_step_count(world):
    assert world.ops(world.trace(op("a", 1), op("a", 1), op("a", 1)))["totals"]["count"] == 3


def test_trace_total_memory(world):
    assert world.ops(world.trace(op("a", 1, elements=10), op("b", 1, elements=20)))["totals"]["bytes"] == 240


def test_trace_peak_memory(world):
    name = world.trace(*(op("a", 1, elements=count) for count in (10, 100, 50)))
    assert world.ops(name)["totals"]["largest_bytes"] == 800
    assert world.ops(world.trace())["totals"]["largest_bytes"] == 0


def test_trace_slowest_ops(world):
    answer = world.ops(world.trace(op("a", 10), op("b", 300), op("c", 100)), "--top", 2)
    assert [row["operation"] for row in answer["slowest"]] == ["b", "c"]


def test_trace_to_json(world):
    name = world.trace(op("matmul", 12.5, elements=8))
    text = world.run("ops", name, "--json", "--compat").decode()
    assert "matmul" in text and len(json.loads(text)["entries"]) == 1
    (world.folder / "again.json").write_text(text)
    assert world.run("ops", "again.json", "--json", "--compat").decode() == text


def test_trace_metadata(world):
    name = world.trace(op("a", 1), metadata={"model": "tiny", "batch": "32"})
    assert json.loads(world.run("ops", name, "--json", "--compat"))["metadata"] == {"batch": "32", "model": "tiny"}


def test_analyzer_operation_summary(world):
    rows = world.ops(world.trace(op("matmul", 100, elements=10), op("matmul", 200, elements=20), op("relu", 50)))["ops"]
    matmul = named(rows, "matmul")
    assert (matmul["count"], matmul["duration_ns"], matmul["bytes"]) == (2, 300_000, 240)
    assert named(rows, "relu")["count"] == 1


def test_analyzer_memory_hotspots(world):
    name = world.trace(*(op(str(count), 1, elements=count) for count in (10, 100, 1000)))
    assert len(world.ops(name, "--hot-bytes", 500)["hot_spots"]) == 2
    assert len(world.ops(name, "--hot-bytes", 1000)["hot_spots"]) == 1
    assert world.ops(name, "--hot-bytes", 8000)["hot_spots"] == [], "strictly above"


def test_analyzer_avg_duration(world):
    rows = world.ops(world.trace(op("matmul", 100), op("matmul", 300), op("relu", 200)))["ops"]
    assert named(rows, "matmul")["mean_ns"] == 200_000 and named(rows, "relu")["mean_ns"] == 200_000


def test_analyzer_per_device_summary(world):
    name = world.trace(op("a", 100, "gpu:0", 4), op("a", 50, "gpu:1"), op("a", 200, "gpu:0"), op("host", 10))
    devices = world.ops(name)["devices"]
    assert [(row["device"], row["count"], row["duration_ns"]) for row in devices] == [("gpu:0", 2, 300_000), ("gpu:1", 1, 50_000)]


def test_analyzer_load_balance_metrics(world):
    balance = world.ops(world.trace(op("a", 300, "gpu:0"), op("a", 100, "gpu:1")))["balance"]
    assert balance == {"devices": 2, "ideal_ns": 200_000, "imbalance": 0.5, "max_ns": 300_000, "total_ns": 400_000}
    assert world.ops(world.trace(op("a", 300, "gpu:0")))["balance"] is None


def test_analyzer_communication_bottlenecks(world):
    name = world.trace(op("allreduce", 600), op("broadcast", 300), op("matmul", 200))
    found = world.ops(name, "--min-ratio", 0.2)["communication"]["ops"]
    assert [row["operation"] for row in found] == ["allreduce", "broadcast"]
    assert abs(found[0]["of_op_time"] - 600 / 1100) < 1e-9


def test_analyzer_flamegraph_collapsed(world):
    name = world.trace(op("matmul", 123, "gpu:0"), op("matmul", 77, "gpu:0"), op("relu", 50))
    assert world.run("ops", name, "--flamegraph", "--compat") == b"trace;gpu:0;matmul 200\ntrace;unknown;relu 50"
    assert world.run("ops", name, "--flamegraph") == b"gpu:0;matmul 200000\nno device;relu 50000\n"


def test_recorder_begin_end(world):
    entries = json.loads(world.run("ops", world.record("plain"), "--json", "--compat"))["entries"]
    assert entries[0]["operation"] == "matmul" and entries[0]["output_elements"] == 8


def test_recorder_multiple_ops(world):
    entries = json.loads(world.run("ops", world.record("plain"), "--json", "--compat"))["entries"]
    assert [entry["step"] for entry in entries[:3]] == [0, 1, 2]


def test_recorder_finish(world):
    answer = world.ops(world.record("plain"))
    assert answer["totals"]["count"] == 4
    assert answer["open"][0]["operations"] == ["open"] and answer["open"][0]["closed"] is True


def test_op_summary_default(world):
    assert world.run("ops", world.trace(), "--csv").decode().count("\n") == 1, "a head and no row"


# Edge cases, both ways.

def test_collective_names(world):
    name = world.trace(*(op(text, 10) for text in ("all_reduce", "_allgather_base", "alltoall", "barrier", "commit", "common_subexpr",
                                                   "aten::broadcast_tensors")))
    found = [row["operation"] for row in world.ops(name)["communication"]["ops"]]
    assert sorted(found) == ["_allgather_base", "all_reduce", "alltoall", "barrier"]
    text = world.run("ops", name, "--compat").decode().split("Communication\n")[1].split("\n\n")[0]
    assert "commit" in text and "common_subexpr" in text and "broadcast_tensors" in text and "all_reduce" not in text


def test_unknown_durations(world):
    name = world.trace({"operation": "a", "duration_us": None}, op("b", 5))
    answer = world.ops(name)
    assert answer["totals"]["without_duration"] == 1 and answer["totals"]["op_time_ns"] == 5_000
    compat = json.loads(world.run("ops", name, "--json", "--compat"))
    assert compat["entries"][0]["duration_us"] is None and compat["total_duration_us"] is None


def test_frames(world):
    name = world.trace(op("a;b c", 0.25))
    assert world.run("ops", name, "--flamegraph") == b"no device;a,b c 250\n"
    assert world.run("ops", name, "--flamegraph", "--compat") == b"trace;unknown;a;b c 1"
    assert world.run("ops", world.trace(), "--flamegraph") == b""


def test_device_order(world):
    name = world.trace(*(op("a", 1, device) for device in ("gpu:10", "gpu:2")))
    assert [row["device"] for row in world.ops(name)["devices"]] == ["gpu:2", "gpu:10"]
    text = world.run("ops", name, "--compat").decode()
    assert text.index("gpu:10") < text.index("gpu:2\n")


def test_types_and_missing_shapes(world):
    rows = world.ops(world.record("nested"))["ops"]
    assert named(rows, "inner")["bytes"] == 16 and named(rows, "outer")["bytes"] == 16
    entries = json.loads(world.run("ops", "run.dbr", "--json", "--compat"))["entries"]
    assert [(entry["operation"], entry["memory_bytes"]) for entry in entries] == [("outer", 8), ("inner", 64)]
    plain = world.ops(world.record("plain"))["ops"]
    assert named(plain, "relu")["bytes"] == 0
    entries = json.loads(world.run("ops", "run.dbr", "--json", "--compat"))["entries"]
    assert (entries[1]["output_elements"], entries[1]["memory_bytes"]) == (1, 8)


def test_nesting(world):
    rows = world.ops(world.record("nested"))["ops"]
    outer, inner = named(rows, "outer"), named(rows, "inner")
    assert outer["self_ns"] == outer["duration_ns"] - inner["duration_ns"] and inner["self_ns"] == inner["duration_ns"]
    stacks = world.run("ops", "run.dbr", "--flamegraph").decode()
    assert ";outer;inner " in stacks and stacks.endswith("\n")
    entries = json.loads(world.run("ops", "run.dbr", "--json", "--compat"))["entries"]
    assert entries[0]["duration_us"] * 1000 <= outer["self_ns"], "the inner op ended the outer one"


def test_shapes(world):
    bytes_of = {row["operation"]: row["bytes"] for row in world.ops(world.record("shapes"))["ops"]}
    assert bytes_of == {"scalar": 4, "empty": 0, "huge": 4 << 40, "overflow": (1 << 63) - 1, "deep": 4, "untyped": 80}
    assert "does not fit 63 bits" in world.stderr
    entries = json.loads(world.run("ops", "run.dbr", "--json", "--compat"))["entries"]
    old = {entry["operation"]: entry["output_elements"] for entry in entries}
    assert old["scalar"] == 1 and old["empty"] == 0 and old["huge"] == 1 << 40 and old["deep"] == 1


def test_names(world):
    names = {row["operation"] for row in world.ops(world.record("names"))["ops"]}
    assert {"a;b c", 'say "hi"\\', "nul\0in", "\ufffd\ufffd bad", "x" * 32768} == names
    for arguments in ([], ["--csv"], ["--flamegraph"], ["--flamegraph", "--compat"]):
        world.run("ops", "run.dbr", *arguments)
    lines = world.run("ops", "run.dbr", "--flamegraph").splitlines()
    assert all(line.count(b";") == 1 and line.rsplit(b" ", 1)[1].isdigit() for line in lines)
    assert b"\x00" not in world.run("ops", "run.dbr") and b"\xff" not in world.run("ops", "run.dbr")


# Recordings of many ranks, of the dead, and what becomes of them elsewhere.

def test_ranks(world):
    for rank in (1, 0):
        world.record("ranks", f"r{rank}.dbr", rank)
    answer = world.ops(".")
    assert answer["totals"]["ranks"] == [0, 1] and answer["totals"]["count"] == 4
    assert [row["device"] for row in answer["devices"]] == ["rank 0 cuda:0", "rank 1 cuda:1"]
    assert named(answer["ops"], "aten::mm")["count"] == 2
    assert 0 < answer["communication"]["of_wall_time"] < 1
    threads = {world.run("ops", ".", "--json", "--jobs", jobs) for jobs in (1, 2, 7)}
    assert len(threads) == 1
    findings = json.loads(world.run(".", "--json", "--quiet", "--no-report", "-o", "out"))
    assert findings is not None


def test_death(world):
    answer = world.ops(world.record("die", rank=1, killed=True))
    assert answer["open"][0]["operations"] == ["train_step", "all_reduce"] and answer["open"][0]["closed"] is False
    text = world.run("run.dbr", "--quiet", "--no-report", "--no-store", "-o", "out").decode()
    assert "Rank 1 died inside all_reduce" in text


def test_losses(world):
    answer = world.ops(world.record("ring"))
    lost = answer["losses"][0]
    assert lost["overwritten"] > 0 and lost["overwritten"] + answer["totals"]["count"] == 100_000
    assert 0 <= lost["from_ns"] <= lost["to_ns"]
    assert "the ring was full" in world.stderr


def test_mixed_inputs(world):
    world.record("plain")
    world.trace(op("json", 5))
    names = {row["operation"] for row in world.ops(".")["ops"]}
    assert {"json", "matmul"} <= names
    stacks = world.run("ops", ".", "--flamegraph").decode()
    assert "no device;json 5000" in stacks and ";matmul " in stacks


def test_conversions(world):
    world.record("nested")
    for kind in ("chrome", "perfetto", "collapsed"):
        world.run("convert", "run.dbr", "--to", kind, "-o", f"out.{kind}", "--quiet")
    events = json.loads((world.folder / "out.chrome").read_text())["traceEvents"]
    spans = {event["name"]: event for event in events if event["ph"] == "X"}
    assert set(spans) == {"outer", "inner"} and spans["inner"]["cat"] == "cpu_op"
    assert ";outer;inner " in (world.folder / "out.collapsed").read_text()
    (world.folder / "back").mkdir()
    for kind, name in (("chrome", "back/trace.json"), ("perfetto", "back/trace.pftrace")):
        (world.folder / f"out.{kind}").rename(world.folder / name)
        rows = world.run("profile", "ops", name, "--csv", "--quiet").decode()
        assert "inner" in rows and "outer" in rows, name


def test_clock_set_back(world):
    recording = Recording(rank=0)
    with recording.thread(1) as thread:
        thread.span("before", 1000, 1000)
    with recording.thread(2) as thread:
        thread.chunk.clock = (5000, 5000, recording.opened[2] - 3_600_000_000_000)
        thread.span("after", 6000, 1000)
    recording.write(world.folder / "run.dbr")
    answer = world.ops("run.dbr")
    assert answer["totals"]["wall_ns"] == 6000 and answer["totals"]["op_time_ns"] == 2000


def test_live_memory(world):
    recording = Recording(rank=0)
    with recording.thread(1) as thread:
        thread.span("a", 1000, 1000)
        for time, size in ((1100, 500), (1200, 300)):
            thread.alloc(time, time, size, "cuda:0")
        thread.free(1300, 1100, 500, "cuda:0")
        thread.alloc(1400, 1400, 100, "cuda:0")
    recording.write(world.folder / "run.dbr")
    assert world.ops("run.dbr")["totals"]["live_peak_bytes"] == 800
    assert world.ops(world.trace(op("a", 1)))["totals"]["live_peak_bytes"] is None
    assert "800" in world.run("profile", "memory", "run.dbr", "--csv").decode()


def test_steps(world):
    recording = Recording(rank=0)
    with recording.thread(1) as thread:
        for number in range(3):
            thread.step(number + 7, number * 10_000)
            thread.op("mm", number * 10_000 + 100, 9_000)
    recording.write(world.folder / "run.dbr")
    rows = world.run("profile", "steps", "run.dbr", "--csv").decode()
    assert ",7," in rows and ",8," in rows, rows


def test_no_ops(world):
    (world.folder / "notes.txt").write_text("nothing")
    world.run("ops", "notes.txt", code=1)
    assert "holds recorded ops" in world.stderr
    world.run("ops", "nowhere", code=2)
    world.run("ops", code=2)


def main():
    parser = in_folders.parser(__doc__)
    parser.add_argument("--recorder", type=Path, required=True)
    options = parser.parse_args()
    tests = [(name, lambda folder, test=test: test(World(folder, options.binary, options.recorder.resolve())))
             for name, test in in_folders.named("test_", globals())]
    return in_folders.run_all("ops", tests, options.patterns)


if __name__ == "__main__":
    sys.exit(main())
