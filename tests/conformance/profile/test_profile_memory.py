"""Memory that the profiler recorded, replayed a second time in plain Python from the [memory] events of the file."""
import gzip
import json
from collections import defaultdict
from fractions import Fraction

FILES = ["recorded/profiles/stack.json.gz",
         "public/kineto/tracelens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
         "public/kineto/tracelens/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
         "public/kineto/tracelens/h100/gaunernst_bert-small-uncased__1016001.json.gz"]
OP_CATEGORIES = {"cpu_op", "Operator"}


def query(context, out, sql):
    return json.loads(context.run("query", out, sql, "--json").stdout)


def load(path):
    """Times stay decimal: binary fractions of microseconds would not give whole nanoseconds."""
    with gzip.open(path, "rt") as file:
        return json.load(file, parse_float=Fraction)


def nanoseconds(microseconds):
    return int(Fraction(microseconds) * 1000)


def devices_of(trace):
    """{(type, device): events in order of time}"""
    devices = defaultdict(list)
    for event in trace["traceEvents"]:
        if event.get("name") == "[memory]":
            args = event["args"]
            devices[args["Device Type"], args["Device Id"]].append((nanoseconds(event["ts"]), event))
    for events in devices.values():
        events.sort(key=lambda timed: timed[0])
    return devices


def ops_of(trace):
    """{thread: [(begin, end, name)]} of ops, by begin, an enclosing one before what it encloses."""
    threads = defaultdict(list)
    for event in trace["traceEvents"]:
        if event.get("ph") == "X" and event.get("cat") in OP_CATEGORIES:
            begin = nanoseconds(event["ts"])
            threads[event["pid"], event["tid"]].append((begin, begin + nanoseconds(event.get("dur", 0)), event["name"]))
    for ops in threads.values():
        ops.sort(key=lambda op: (op[0], -op[1]))
    return threads


def name_events(devices, threads):
    """The innermost op around each event, by id of the event: a sweep over each thread with a stack of open ops."""
    by_thread = defaultdict(list)
    for events in devices.values():
        for time, event in events:
            by_thread[event["pid"], event["tid"]].append((time, event))
    names = {}
    for thread, events in by_thread.items():
        ops, position, stack = threads[thread], 0, []
        for time, event in sorted(events, key=lambda timed: timed[0]):
            while position < len(ops) and ops[position][0] <= time:
                while stack and stack[-1][1] <= ops[position][0]:
                    stack.pop()
                stack.append(ops[position])
                position += 1
            open_ops = [op for op in stack if op[1] >= time]
            names[id(event)] = open_ops[-1][2] if open_ops else None
    return names


def alive_at(events, last, names):
    """{op: (bytes, count)} of what was allocated in the recording and is not freed after event `last`."""
    alive = {}
    for _, event in events[:last + 1]:
        size, address = event["args"]["Bytes"], event["args"]["Addr"]
        if size > 0:
            alive[address] = (size, names[id(event)])
        else:
            alive.pop(address, None)
    sums = defaultdict(lambda: [0, 0])
    for size, op in alive.values():
        sums[op][0] += size
        sums[op][1] += 1
    return {op: tuple(both) for op, both in sums.items()}


def changes_by_op(events, names):
    sums = defaultdict(lambda: [0, 0, 0, 0])
    for _, event in events:
        size, row = event["args"]["Bytes"], sums[names[id(event)]]
        row[0 if size >= 0 else 2] += abs(size)
        row[1 if size >= 0 else 3] += 1
    return {op: tuple(row) for op, row in sums.items()}


def check_device(context, out, key, events, names, capacity):
    where = f"WHERE device_type = {key[0]} AND device = {key[1]}"
    totals = [(event["args"]["Total Allocated"], event["args"]["Total Reserved"]) for _, event in events]
    last = max(range(len(events)), key=lambda number: totals[number][0])
    peak = query(context, out, f"FROM profile_memory_peak {where}")[0]
    assert (peak["peak_allocated_bytes"], peak["reserved_at_peak_bytes"]) == totals[last], (peak, totals[last])
    assert peak["peak_reserved_bytes"] == max(reserved for _, reserved in totals), peak
    assert peak["op"] == names[id(events[last][1])], (peak, names[id(events[last][1])])
    assert peak["capacity_bytes"] == capacity.get(key[1]), peak
    rows = query(context, out, f"FROM profile_memory_op {where}")
    shown = {row["op"]: (row["allocated_bytes"], row["allocations"], row["freed_bytes"], row["frees"]) for row in rows}
    assert shown == changes_by_op(events, names), "ops differ"
    shown = defaultdict(lambda: [0, 0])
    for row in query(context, out, f"FROM profile_memory_holder {where} AND source = 'recorded'"):
        shown[row["op"]][0] += row["bytes"]
        shown[row["op"]][1] += row["allocations"]
    assert {op: tuple(both) for op, both in shown.items()} == alive_at(events, last, names), "the living at the peak differ"
    curve = query(context, out, f"FROM profile_memory_curve {where} ORDER BY point")
    assert len(curve) <= 1000 and sum(row["events"] for row in curve) == len(events), len(curve)
    begin = 0
    for row in curve:
        span = totals[begin:begin + row["events"]]
        assert (row["allocated_bytes"], row["reserved_bytes"]) == span[-1], row
        assert row["most_allocated_bytes"] == max(allocated for allocated, _ in span), row
        begin += row["events"]


def test_recorded_memory(context):
    compared = 0
    for name in FILES:
        if not (context.data / name).exists():
            print(f"  skipped: {name} is not among the data")
            continue
        out = context.scratch / name.replace("/", "_")
        context.run(name, "-o", out, "--quiet")
        trace = load(context.data / name)
        capacity = {device["id"]: device["totalGlobalMem"] for device in trace.get("deviceProperties", [])}
        devices = devices_of(trace)
        names = name_events(devices, ops_of(trace))
        for key, events in devices.items():
            check_device(context, out, key, events, names, capacity)
            compared += 1
    print(f"  compared: {compared} devices")
