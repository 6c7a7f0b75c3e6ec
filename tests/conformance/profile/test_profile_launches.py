"""Launches, queues, kernels and ops of profiles.

Two truths: what Holistic Trace Analysis printed for public traces (hta_expected.json), and for the recorded profiles the
same sums computed here a second time, from the JSON and without anything of debrief's.
"""
import ast
import gzip
import json
import math
from collections import defaultdict
from decimal import Decimal

EXPECTED = "public/kineto/hta_expected.json"
GRAPHS = "public/kineto/tracelens/graphs"
RECORDED = ("recorded/profiles/plain.json.gz", "recorded/profiles/stack.json.gz")
WORK = {"kernel", "gpu_memcpy", "gpu_memset"}
CALLS = {"cuda_runtime", "cuda_driver"}


def query(context, out, sql):
    return json.loads(context.run("query", out, sql, "--json").stdout)


def import_file(context, name):
    out = context.scratch / name.replace("/", "_")
    context.run(name, "-o", out, "--quiet")
    return out


def hta_traces(context):
    expected = context.data / EXPECTED
    if not expected.exists():
        print(f"  skipped: {EXPECTED} is not among the data")
        return
    for name, truth in json.loads(expected.read_text()).items():
        path = f"public/kineto/{name}"
        if (context.data / path).exists():
            yield name, truth, import_file(context, path)


def test_hta_launches(context):
    for name, truth, out in hta_traces(context):
        row = query(context, out, "FROM profile_launch_stats WHERE definition = 'hta'")[0]
        launch = truth["launch"]
        assert [row["launches"], row["short_works"], row["slow_calls"], row["slow_starts"]] == [
            launch["n"], launch["short"], launch["rt"], launch["ld"]], (name, row, launch)
        assert math.isclose(row["mean_delay_ns"] / 1000, launch["mean_delay"], rel_tol=1e-12), (name, row, launch)


def test_hta_queues(context):
    for name, truth, out in hta_traces(context):
        rows = query(context, out, "SELECT stream, max_depth FROM profile_queue WHERE definition = 'hta'")
        deepest = {ast.literal_eval(key)[1]: depth for key, depth in truth["queue"].items()}
        assert {row["stream"]: row["max_depth"] for row in rows} == deepest, (name, rows, deepest)
        for row in query(context, out, "FROM profile_queue WHERE definition = 'debrief'"):
            assert row["max_depth"] >= deepest.get(row["stream"], 0), (name, row)
            assert 0 <= row["mean_depth"] <= row["max_depth"], (name, row)


def fold(rows, most):
    """HTA's table with at most that many names of a class, from the one with its default of ten: the others become "others".

    Gives name, sum, largest, smallest and mean, in microseconds.
    """
    figures = [(row["name"], *(row[f"{column}_ns"] / 1000 for column in ("total", "max", "min", "mean"))) for row in rows]
    if len(figures) <= most:
        return figures
    kept = [row for row in figures if row[0] != "others"]
    kept.sort(key=lambda row: -row[1])
    rest = kept[most:] + [row for row in figures if row[0] == "others"]
    names = sum(round(row[1] / row[4]) for row in rest)
    total = sum(row[1] for row in rest)
    others = ("others", total, max(row[2] for row in rest), min(row[3] for row in rest), total / names)
    kept = [(name, total, total, total, total) for name, total, *_ in kept[:most]]  # HTA summarises sums
    return sorted(kept + [others])


def test_hta_kernels(context):
    """The expected figures were made with three names of a class."""
    for name, truth, out in hta_traces(context):
        rows = query(context, out, "FROM profile_kernel WHERE definition = 'hta'")
        found = [row for kind in ("communication", "computation")
                 for row in fold([row for row in rows if row["device_class"] == kind], 3)]
        assert len(found) >= len(truth["kern_top2"]), name
        for row, kernel in zip(found, truth["kern_top2"]):
            assert row[0][:30] == kernel["name"], (name, row, kernel)
            for value, key in zip(row[1:], ("sum (us)", "max (us)", "min (us)", "mean (us)")):
                assert math.isclose(value, kernel[key], rel_tol=1e-12), (name, row, kernel)


class Event:
    def __init__(self, event):
        self.name = event["name"]
        self.category = event["cat"]
        self.start = int(Decimal(event["ts"]) * 1000)
        self.end = self.start + int(Decimal(event["dur"]) * 1000)
        self.args = event.get("args", {})
        self.thread = (event["pid"], event["tid"])
        self.op = None  # innermost op around it

    @property
    def duration(self):
        return self.end - self.start


def load(path):
    with gzip.open(path, "rt") as file:
        events = json.load(file, parse_float=Decimal)["traceEvents"]
    return [Event(event) for event in events if event.get("ph") == "X" and event.get("cat") in WORK | CALLS | {"cpu_op"}]


def nest(events):
    """Gives every op and call the innermost op around it."""
    threads = defaultdict(list)
    for event in events:
        if event.category not in WORK:
            threads[event.thread].append(event)
    for thread in threads.values():
        thread.sort(key=lambda event: (event.start, -event.end))
        open_ops = []
        for event in thread:
            while open_ops and open_ops[-1].end <= event.start:
                open_ops.pop()
            event.op = next((op for op in reversed(open_ops) if op.end >= event.end), None)
            if event.category == "cpu_op":
                open_ops.append(event)


def chain(op):
    while op is not None:
        yield op
        op = op.op


def busy(intervals):
    total, end = 0, None
    for start, stop in sorted(intervals):
        total += max(0, stop - (start if end is None else max(start, end)))
        end = stop if end is None else max(end, stop)
    return total


def op_truth(events):
    ops = defaultdict(lambda: {"count": 0, "host_total_ns": 0, "host_self_ns": 0, "total": [], "self": []})
    for op in (event for event in events if event.category == "cpu_op"):
        row = ops[op.name]
        row["count"] += 1
        row["host_self_ns"] += op.duration
        if all(around.name != op.name for around in chain(op.op)):
            row["host_total_ns"] += op.duration
        if op.op is not None:
            ops[op.op.name]["host_self_ns"] -= op.duration
    calls = {event.args["correlation"]: event for event in events if event.category in CALLS and "correlation" in event.args}
    for work in (event for event in events if event.category in WORK):
        op = calls[work.args["correlation"]].op
        if op is not None:
            ops[op.name]["self"].append((work.start, work.end))
        for name in {around.name for around in chain(op)}:
            ops[name]["total"].append((work.start, work.end))
    return {name: (row["count"], row["host_total_ns"], row["host_self_ns"], busy(row["total"]), busy(row["self"]), len(row["total"]))
            for name, row in ops.items()}


def test_ops_computed_a_second_time(context):
    for name in RECORDED:
        events = load(context.data / name)
        nest(events)
        rows = query(context, import_file(context, name), "FROM profile_op")
        found = {row["name"]: (row["count"], row["host_total_ns"], row["host_self_ns"], row["device_total_ns"],
                               row["device_self_ns"], row["works"]) for row in rows}
        truth = op_truth(events)
        wrong = [(op, found.get(op), truth.get(op)) for op in found.keys() | truth.keys() if found.get(op) != truth.get(op)]
        assert truth and not wrong, (name, len(wrong), wrong[:5])


def test_kernels_computed_a_second_time(context):
    for name in RECORDED:
        truth = defaultdict(list)
        for event in load(context.data / name):
            if event.category in WORK:
                truth[event.name].append(event.duration)
        rows = query(context, import_file(context, name), "FROM profile_kernel WHERE definition = 'debrief'")
        assert {row["name"] for row in rows} == set(truth), name
        whole = sum(map(sum, truth.values()))
        for row in rows:
            times = sorted(truth[row["name"]])
            middle = (times[(len(times) - 1) // 2] + times[len(times) // 2]) / 2
            assert (row["count"], row["total_ns"], row["min_ns"], row["max_ns"], row["median_ns"]) == (
                len(times), sum(times), times[0], times[-1], middle), (name, row)
            assert math.isclose(row["share_pct"], 100 * sum(times) / whole), (name, row)
            mean = sum(times) / len(times)
            if len(times) == 1:
                assert row["stddev_ns"] is None, (name, row)
            else:
                deviation = math.sqrt(sum((time - mean) ** 2 for time in times) / (len(times) - 1))
                assert math.isclose(row["stddev_ns"], deviation, rel_tol=1e-9, abs_tol=1e-6), (name, row)


def test_kernels_by_op_add_up(context):
    for name in RECORDED:
        rows = query(context, import_file(context, name), """
            SELECT kernel.total_ns = sum(by_op.total_ns) AND kernel.count = sum(by_op.count) AS same
            FROM profile_kernel kernel JOIN profile_kernel_op by_op ON kernel.name = by_op.kernel
            WHERE kernel.definition = 'debrief' GROUP BY kernel.name, kernel.total_ns, kernel.count""")
        assert rows and all(row["same"] for row in rows), name


def test_every_kernel_of_a_graph_is_linked(context):
    graphs = sorted((context.data / GRAPHS).glob("*.json.gz"))
    if not graphs:
        print(f"  skipped: {GRAPHS} is not among the data")
    linked = 0
    for path in graphs:
        with gzip.open(path, "rt") as file:
            events = [event for event in json.load(file)["traceEvents"] if event.get("ph") == "X"]
        launches = {event["args"]["correlation"] for event in events if "GraphLaunch" in event["name"]}
        truth = [event for event in events if event.get("cat") in WORK and event["args"].get("correlation") in launches]
        out = import_file(context, f"{GRAPHS}/{path.name}")
        rows = query(context, out, "SELECT count(*) AS works, count(launch) AS linked FROM timeline_launch WHERE graph")
        assert (rows[0]["works"], rows[0]["linked"]) == (len(truth), len(truth)), (path.name, rows, len(truth))
        linked += len(truth)
    assert linked or not graphs, "no trace has a graph"


def test_steps_and_modules(context):
    """Times of a step's parts add up; own times of modules add up to that of the outermost."""
    for name in RECORDED:
        out = import_file(context, name)
        steps = query(context, out, "FROM profile_step")
        assert steps, name
        for step in steps:
            parts = ("compute_ns", "exposed_communication_ns", "exposed_memory_ns", "idle_ns")
            assert sum(step[part] for part in parts) == step["duration_ns"], (name, step)
        modules = query(context, out, "FROM profile_module")
        outermost = sum(row["host_total_ns"] for row in modules if row["parent"] is None)
        assert sum(row["host_self_ns"] for row in modules) == outermost, name
    assert modules, "no modules in a profile with Python stacks"
