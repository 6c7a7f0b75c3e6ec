"""The recorded snapshot of the caching allocator and the recorded execution trace, read a second time in plain Python.

Everything is computed here from the file itself (pickle.load, json.load) and compared with what debrief's tables say.
"""
import gzip
import json
import pickle
from collections import Counter

SNAPSHOT = "recorded/profiles/memory_snapshot.pickle.gz"
EXECUTION = "recorded/profiles/execution_trace.json.gz"
SIGNS = {"alloc": 1, "free_requested": -1}
RESERVED_SIGNS = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}


def query(context, out, sql):
    return json.loads(context.run("query", out, sql, "--json").stdout)


def import_file(context, name):
    """The store of that file, or None (with a line that says so) when it is not among the data."""
    if not (context.data / name).exists():
        print(f"  skipped: {name} is not among the data")
        return None
    out = context.scratch / "out"
    context.run(name, "-o", out, "--quiet")
    return out


def load_snapshot(context):
    with gzip.open(context.data / SNAPSHOT) as file:
        return pickle.load(file)


def key_of(frames):
    return tuple((frame["filename"], frame["line"], frame["name"]) for frame in frames)


def stack_texts(frames):
    """As the store shows a stack."""
    return tuple(f"{file}:{line} {name}" for file, line, name in key_of(frames))


def sums_by_stack(allocations):
    """{stack: (bytes, count)} of (frames, bytes) pairs."""
    sums = {}
    for frames, size in allocations:
        stack = stack_texts(frames)
        held, count = sums.get(stack, (0, 0))
        sums[stack] = (held + size, count + 1)
    return sums


def shown_sums(context, out, moment, device):
    rows = query(context, out, f"SELECT stack, bytes, count FROM memory_holder WHERE moment = '{moment}' AND device = {device}")
    sums = {}
    for row in rows:  # rows of one stack in several pools are added up
        stack = tuple(row["stack"] or ())
        held, count = sums.get(stack, (0, 0))
        sums[stack] = (held + row["bytes"], count + row["count"])
    return sums


def live_blocks(snapshot, device):
    """Blocks in use at the end, with their addresses."""
    for segment in snapshot["segments"]:
        for block in segment["blocks"] if segment["device"] == device else []:
            if block["state"] == "active_allocated":
                yield block


def replay(snapshot, device):
    """Sums behind every entry of the trace, those of before it included, and what lived at the peak."""
    trace = snapshot["device_traces"][device]
    early, live = [], {}
    for entry in trace:
        if entry["action"] == "alloc":
            live[entry["addr"]] = entry
        elif entry["action"] == "free_requested" and live.pop(entry["addr"], None) is None:
            early.append(entry["size"])
    early += [block["requested_size"] for block in live_blocks(snapshot, device) if block["address"] not in live]
    reserved = sum(segment["total_size"] for segment in snapshot["segments"] if segment["device"] == device)
    reserved -= sum(RESERVED_SIGNS.get(entry["action"], 0) * entry["size"] for entry in trace)
    allocated, states = sum(early), []
    for entry in trace:
        allocated += SIGNS.get(entry["action"], 0) * entry["size"]
        reserved += RESERVED_SIGNS.get(entry["action"], 0) * entry["size"]
        states.append((allocated, reserved))
    return sum(early), states


def test_rows(context):
    out = import_file(context, SNAPSHOT)
    if out is None:
        return
    snapshot = load_snapshot(context)
    truth = Counter((device, entry["action"], entry["addr"], entry["size"], entry["time_us"] * 1000, stack_texts(entry["frames"]))
                    for device, trace in enumerate(snapshot["device_traces"]) for entry in trace)
    rows = query(context, out, "SELECT device, action, address, bytes, time_ns, stack FROM memory_event")
    assert truth == Counter((row["device"], row["action"], row["address"], row["bytes"], row["time_ns"], tuple(row["stack"] or ()))
                            for row in rows), "trace entries differ"
    truth = Counter((number, block["address"], block["size"], block["requested_size"], block["state"], stack_texts(block["frames"]))
                    for number, segment in enumerate(snapshot["segments"]) for block in segment["blocks"])
    rows = query(context, out, "SELECT segment, address, bytes, requested_bytes, state, stack FROM memory_block")
    assert truth == Counter((row["segment"], row["address"], row["bytes"], row["requested_bytes"], row["state"],
                             tuple(row["stack"] or ())) for row in rows), "blocks differ"
    totals = query(context, out, "SELECT sum(bytes)::BIGINT AS bytes, sum(allocated_bytes)::BIGINT AS allocated FROM memory_segment")[0]
    assert totals == {"bytes": sum(segment["total_size"] for segment in snapshot["segments"]),
                      "allocated": sum(segment["allocated_size"] for segment in snapshot["segments"])}, totals


def test_peak_and_end(context):
    out = import_file(context, SNAPSHOT)
    if out is None:
        return
    snapshot = load_snapshot(context)
    compared = 0
    for device, trace in enumerate(snapshot["device_traces"]):
        if not trace:
            continue
        start, states = replay(snapshot, device)
        peak = max(range(len(states)), key=lambda event: states[event][0])
        use = query(context, out, f"FROM memory_use WHERE device = {device}")[0]
        assert use["start_allocated_bytes"] == start, use
        assert (use["peak_allocated_bytes"], use["peak_reserved_bytes"]) == states[peak], (use, states[peak])
        assert use["peak_ns"] == trace[peak]["time_us"] * 1000, use
        assert use["most_reserved_bytes"] == max(reserved for _, reserved in states), use
        live = {}
        for entry in trace[:peak + 1]:
            if entry["action"] == "alloc":
                live[entry["addr"]] = (entry["frames"], entry["size"])
            elif entry["action"] == "free_requested":
                live.pop(entry["addr"], None)
        if start == 0:
            assert shown_sums(context, out, "peak", device) == sums_by_stack(live.values()), "the living at the peak differ"
        blocks = list(live_blocks(snapshot, device))
        truth = sums_by_stack((block["frames"], block["requested_size"]) for block in blocks)
        assert shown_sums(context, out, "end", device) == truth, "the living at the end differ"
        assert use["end_allocated_bytes"] == sum(block["size"] for block in blocks), use
        free = [(block["size"], len(segment["blocks"]) > 1) for segment in snapshot["segments"] for block in segment["blocks"]
                if segment["device"] == device and block["state"] == "inactive"]
        assert use["end_free_bytes"] == sum(size for size, _ in free), use
        assert use["end_split_bytes"] == sum(size for size, is_split in free if is_split), use
        assert use["largest_free_bytes"] == max(size for size, _ in free), use
        timeline = query(context, out, f"FROM memory_timeline WHERE device = {device} ORDER BY first_event")
        check_timeline(timeline, states)
        compared += 1
    assert compared, "no device has a trace"


def check_timeline(timeline, states):
    assert len(timeline) <= 1000
    begin = 0
    for row in timeline:
        span = states[begin:begin + row["events"]]
        assert (row["allocated_bytes"], row["reserved_bytes"]) == span[-1], row
        assert row["most_allocated_bytes"] == max(allocated for allocated, _ in span), row
        begin += row["events"]
    assert begin == len(states)


def test_execution_trace(context):
    out = import_file(context, EXECUTION)
    if out is None:
        return
    with gzip.open(context.data / EXECUTION, "rt") as file:
        text = file.read()
    trace = json.loads(text)
    rows = query(context, out, "FROM execution_node ORDER BY byte_begin")
    assert len(rows) == len(trace["nodes"]), len(rows)
    for row, node in zip(rows, trace["nodes"]):
        attributes = {attribute["name"]: attribute["value"] for attribute in node["attrs"]}
        assert json.loads(text[row["byte_begin"]:row["byte_begin"] + row["bytes"]]) == node, row
        assert (row["node"], row["parent"], row["name"]) == (node["id"], node["ctrl_deps"], node["name"]), row
        assert json.loads(row["input_shapes"]) == node["inputs"]["shapes"], row
        assert json.loads(row["input_types"]) == node["inputs"]["types"], row
        assert json.loads(row["output_shapes"]) == node["outputs"]["shapes"], row
        assert json.loads(row["output_types"]) == node["outputs"]["types"], row
        for column, name in {"rf_id": "rf_id", "thread": "tid", "forward_thread": "fw_tid", "scope": "scope"}.items():
            assert row[column] == attributes[name], (row, name)
        assert (row["op_schema"] or "") == attributes["op_schema"], row
        assert row["sequence"] == (None if attributes["seq_id"] == -1 else attributes["seq_id"]), row
