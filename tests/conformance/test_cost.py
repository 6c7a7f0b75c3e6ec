"""Lost time of recorded jobs, computed a second time from the JSON of their profiles.

A step of a rank ends with the host's mark or with the last work that was launched in it. Lost is what neither a kernel
that computes, nor a copy, nor the moving part of a collective covers: from the begin of the last member on, members
found by counting the collectives of each group.
"""
import ast
import gzip
import json
from collections import defaultdict

RANKS = range(8)
STAGE = 4  # ranks of a pipeline stage: sends and receives go between ranks that far apart, and their kernels do not say so
SYNCHRONISING = {"allreduce", "all_gather", "_allgather_base", "_reduce_scatter_base", "reduce_scatter", "all_to_allv",
                 "all_to_all", "barrier", "all_gather_into_tensor_coalesced", "reduce_scatter_tensor_coalesced"}


def union(intervals):
    merged = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        elif end > begin:
            merged.append([begin, end])
    return merged


def length_in(intervals, windows):
    return sum(max(0, min(end, to) - max(begin, since)) for begin, end in intervals for since, to in windows)


def read(context, job, rank):
    path = context.data / f"recorded/jobs/{job}/profile_rank{rank}.json.gz"
    events = [e for e in json.loads(gzip.decompress(path.read_bytes()))["traceEvents"] if e.get("ph") == "X"]
    work = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    steps = sorted((e["ts"], e["ts"] + e["dur"]) for e in events
                   if e.get("cat") == "user_annotation" and e["name"].startswith("ProfilerStep"))
    return events, work, steps


def windows_of(events, work, steps):
    launched = {e["args"]["correlation"]: e["ts"] for e in events
                if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})}
    windows = []
    for number, (begin, end) in enumerate(steps):
        until = steps[number + 1][0] if number + 1 < len(steps) else end
        ends = [e["ts"] + e["dur"] for e in work if begin <= launched.get(e["args"].get("correlation"), 0) < until]
        since = max(begin, windows[-1][1]) if windows else begin
        windows.append((since, max([since, end, *ends])))
    return windows


def is_communication(event):
    return event["cat"] == "kernel" and "nccl" in event["name"].lower()


def lost_by_rank(context, job):
    """Milliseconds of (wall, lost, waiting) by rank."""
    files = {rank: read(context, job, rank) for rank in RANKS}
    members = defaultdict(dict)  # begins by group and place, by rank
    places = {}
    for rank, (_, work, _) in files.items():
        seen = defaultdict(int)
        for event in sorted(filter(is_communication, work), key=lambda e: e["ts"]):
            group = event["args"].get("Process Group Ranks")
            if "SendRecv" in event["name"] and group is None:
                key = "pipeline", frozenset((rank, (rank + STAGE) % len(RANKS)))
            elif group is not None and event["args"].get("Collective name") in SYNCHRONISING:
                key = event["args"]["Process Group Name"], tuple(ast.literal_eval(group))
            else:
                continue
            members[key, seen[key]][rank] = event["ts"]
            places[rank, event["args"]["correlation"], event["ts"]] = key, seen[key]
            seen[key] += 1
    results = {}
    for rank, (events, work, steps) in files.items():
        busy, moving, waiting = [], [], []
        for event in work:
            begin, end = event["ts"], event["ts"] + event["dur"]
            if not is_communication(event):
                busy.append((begin, end))
                continue
            place = places.get((rank, event["args"]["correlation"], begin))
            last = min(end, max(members[place].values())) if place else begin
            moving.append((last, end))
            waiting.append((begin, last))
        windows = windows_of(events, work, steps)
        wall = sum(end - begin for begin, end in windows)
        working = length_in(union(busy + moving), windows)
        with_waiting = length_in(union(busy + moving + waiting), windows)
        results[rank] = wall / 1e3, (wall - working) / 1e3, (with_waiting - working) / 1e3
    return results


def tables_of(context, job, name):
    out = context.scratch / name
    report = json.loads(context.run(context.data / f"recorded/jobs/{job}", "--json", "--quiet", "-o", out).stdout)

    def query(sql):
        answer = json.loads(context.run("query", out, sql, "--json").stdout)
        rows = answer["rows"] if isinstance(answer, dict) else answer
        return [tuple(row.values()) if isinstance(row, dict) else tuple(row) for row in rows]
    return report, query


def near(found, expected, share, least):
    return abs(found - expected) <= max(least, share * abs(expected))


def test_lost_time_of_recorded_jobs(context):
    for job in ("healthy", "slow_rank", "slow_gpu"):
        _, query = tables_of(context, job, job)
        expected = lost_by_rank(context, job)
        rows = query("SELECT rank, wall_ns, lost_ns, wait_ns FROM cost_rank ORDER BY rank")
        assert [row[0] for row in rows] == list(RANKS), rows
        for rank, wall, lost, wait in rows:
            for what, found, truth in zip(("wall", "lost", "wait"), (wall, lost, wait), expected[rank]):
                assert near(found / 1e6, truth, 0.01, 0.5), f"{job} rank {rank}: {what} {found / 1e6:.2f}, not {truth:.2f} ms"


def test_parts_add_up(context):
    _, query = tables_of(context, "healthy", "healthy")
    parts = "wait_ns + compile_ns + data_ns + sync_ns + allocation_ns + host_ns + pace_ns + unknown_ns"
    assert query(f"SELECT count(*) FROM cost_rank WHERE {parts} <> lost_ns OR busy_ns + lost_ns <> wall_ns") == [(0,)]
    in_steps, caused, waited = query("SELECT sum(lost_ns), sum(caused_ns), sum(wait_ns) FROM cost_rank")[0]
    late_or_idle, = query("SELECT sum(lost_ns) FROM cost_fix WHERE kind <> 'compile'")[0]
    compiled, = query("SELECT sum(compile_ns) FROM cost_rank")[0]
    assert caused == waited and late_or_idle + compiled == in_steps


def test_late_host_is_fixed_first(context):
    report, query = tables_of(context, "slow_rank", "slow_rank")
    culprit, reason, lost, ranks = query(
        "SELECT culprit, reason, lost_ns, len(ranks) FROM cost_fix WHERE kind <> 'compile' ORDER BY position LIMIT 1")[0]
    assert (culprit, reason, ranks) == (6, "host", 7), (culprit, reason, ranks)
    # It sleeps for 50 ms a step. Were all others to wait for all of that, they would lose seven times as much; but what
    # it launched before, and the turns of the GPU that all ranks share, hide a part of it.
    steps, = query("SELECT max(windows) FROM cost_rank")[0]
    assert 50e6 * steps <= lost <= 50e6 * steps * 7, f"{lost / 1e6:.0f} ms"
    assert [f["ranks"] for f in report["findings"] if f["rule"] == "cost.fix_first"] == [[6]]


def test_slow_gpu_is_fixed_first(context):
    report, query = tables_of(context, "slow_gpu", "slow_gpu")
    assert query("SELECT culprit, reason FROM cost_fix WHERE kind <> 'compile' ORDER BY position LIMIT 1") == [
        (4, "compute")]
    first = [f for f in report["findings"] if f["rule"] == "cost.fix_first"]
    assert len(first) == 1 and first[0]["ranks"] == [4] and "GPU" in first[0]["headline"], first


def test_regions_of_healthy(context):
    report, query = tables_of(context, "healthy", "healthy")
    regions, compiled, with_gpu = query(
        "SELECT count(*), count(compile_ns), count(gpu_ns) FILTER (gpu_ns > 0) FROM cost_region WHERE runs > 0")[0]
    assert regions > 0 and regions == compiled and with_gpu > 0, (regions, compiled, with_gpu)
    assert query("SELECT count(*) FROM cost_rank WHERE region_ns > 0 AND region_ns < wall_ns") == [(len(RANKS),)]
    assert not [f for f in report["findings"] if f["rule"] == "cost.fix_first"], "no cause stands out"


def test_compile_logs_alone(context):
    out = context.scratch / "compile"
    context.run(context.data / "recorded/compile/mixed", "--json", "--quiet", "-o", out)
    answer = json.loads(context.run("query", out, "SELECT sum(compile_ns) / 1e9 AS a FROM cost_region", "--json").stdout)
    spans = json.loads(context.run("query", out, "SELECT sum(seconds) AS a FROM compile_span", "--json").stdout)
    value = lambda one: list((one["rows"] if isinstance(one, dict) else one)[0].values())[0]
    assert near(value(answer), value(spans), 1e-6, 1e-6)
