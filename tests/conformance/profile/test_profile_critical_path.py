"""Critical paths hold against the events of the file: no holes, nothing before what it waits for, no verdict where none can be had."""
import gzip
import json
from collections import defaultdict
from fractions import Fraction

FILES = ["recorded/profiles/plain.json.gz", "recorded/profiles/stack.json.gz",
         "public/kineto/hta/benchmark_result_2869224_1695835535_trace.json.gz",
         "public/kineto/hta/benchmark_result_493459_1694039959_trace.json.gz",
         "public/kineto/hta/multi_stream_event_sync_trace.json.gz",
         "public/kineto/hta/nccl_data.json.gz",
         "public/kineto/hta/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
         "public/kineto/hta/trace_diff_control.json.gz",
         "public/kineto/hta/trace_diff_test.json.gz"]
WORK = {"kernel", "gpu_memcpy", "gpu_memset"}
BOUNDS = ["cpu", "data_loading", "gpu_compute", "gpu_communication", "gpu_memcpy", "kernel_launch_delay", "kernel_kernel_delay"]


def query(context, out, sql):
    return json.loads(context.run("query", out, sql, "--json").stdout)


def nanoseconds(microseconds):
    return int(Fraction(microseconds) * 1000)


def load(path):
    with gzip.open(path, "rt") as file:
        trace = json.load(file, parse_float=Fraction)
    return [event for event in trace["traceEvents"] if event.get("ph") == "X"]


def is_told(events, begin, end):
    """Whether the file tells what waits for what in [begin, end), in nanoseconds of the file."""
    if any(event.get("cat") == "cuda_sync" for event in events):
        return True
    calls = {event["args"]["correlation"]: event for event in events
             if event.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in event.get("args", {})}
    inside = [event for event in calls.values() if begin <= nanoseconds(event["ts"]) < end]
    if any("StreamSynchronize" in event["name"] or "EventSynchronize" in event["name"] for event in inside):
        return False
    launched = {event["args"]["correlation"] for event in inside}
    streams = {(event["pid"], event["tid"]) for event in events
               if event.get("cat") in WORK and event["args"].get("correlation") in launched}
    return len(streams) == 1


def check_path(path, summary):
    assert path and summary["path_nodes"] == len(path), summary
    for before, now in zip(path, path[1:]):
        assert before["end_ns"] == now["start_ns"], (before, now)
    assert path[0]["start_ns"] == summary["start_ns"] and path[-1]["end_ns"] == summary["end_ns"], summary
    sums = defaultdict(int)
    for row in path:
        assert row["end_ns"] > row["start_ns"], row
        sums[row["bound"]] += row["end_ns"] - row["start_ns"]
    assert all(sums[bound] == summary[f"{bound}_ns"] for bound in BOUNDS), (dict(sums), summary)
    assert sum(sums.values()) == summary["total_ns"], summary


def check_segments(path):
    """Each lies within what it is about; a delay ends where its work begins."""
    for row in path:
        if row["slice"] is None:
            assert row["bound"] == "cpu", row
        elif row["bound"].endswith("_delay"):
            assert row["end_ns"] == row["slice_start"] and row["kind"] in ("kernel", "memcpy", "memset"), row
            if row["edge"] == "launch":
                assert row["start_ns"] >= row["launch_start"], row
        else:
            assert row["slice_start"] <= row["start_ns"] and row["end_ns"] <= row["slice_start"] + row["slice_duration"], row
            assert row["bound"].startswith("gpu_") == (row["kind"] in ("kernel", "memcpy", "memset")), row


def test_paths(context):
    states = defaultdict(int)
    for name in FILES:
        if not (context.data / name).exists():
            print(f"  skipped: {name} is not among the data")
            continue
        out = context.scratch / name.replace("/", "_")
        context.run(name, "-o", out, "--quiet")
        summary, = query(context, out, "FROM profile_critical_summary WHERE definition = 'debrief'")
        window = query(context, out, "SELECT s.start_ns - coalesce(t.base_ns, 0) AS begin, s.end_ns - coalesce(t.base_ns, 0) AS stop "
                       f"FROM timeline_step s JOIN timeline t ON s.input = t.input WHERE s.step = {summary['step']}") \
            if summary["step"] is not None else [{"begin": 0, "stop": 1 << 62}]
        told = is_told(load(context.data / name), window[0]["begin"], window[0]["stop"])
        assert summary["state"] == ("computed" if told else "not_computable"), (name, summary)
        assert summary["reason"], summary
        states[summary["state"]] += 1
        path = query(context, out, "SELECT p.*, s.start_ns AS slice_start, s.duration_ns AS slice_duration, s.kind, c.start_ns AS launch_start "
                     "FROM profile_critical_path p LEFT JOIN (SELECT row_number() OVER () - 1 AS number, * FROM timeline_slice) s "
                     "ON s.number = p.slice LEFT JOIN timeline_launch l ON l.slice = p.slice "
                     "LEFT JOIN (SELECT row_number() OVER () - 1 AS number, * FROM timeline_slice) c ON c.number = l.launch "
                     "WHERE p.definition = 'debrief' ORDER BY p.segment")
        if told:
            check_path(path, summary)
            check_segments(path)
        else:
            assert not path and summary["total_ns"] is None, summary
    print(f"  {dict(states)}")
