"""Profiles of all ranks of a job: clocks, matched collectives, and who the others wait for.

The recorded jobs ran 8 ranks on one GPU that they shared in turns, so ends of a collective lie some milliseconds apart
on one and the same clock. Variants are made from them: a rank with another clock, a rank whose file is missing, ranks
with other numbers, a rank that recorded later.
"""
import gzip
import json
import shutil

JOBS = {"healthy": [], "slow_rank": [(6, "host")], "slow_gpu": [(4, "gpu")]}
RANKS = range(8)
NOISE_NS = 30_000_000  # turns of the shared GPU


def profiles(context, job):
    return [context.data / f"recorded/jobs/{job}/profile_rank{rank}.json.gz" for rank in RANKS]


def store_of(context, paths, name):
    out = context.scratch / name
    report = json.loads(context.run(*paths, "--json", "--quiet", "-o", out).stdout)

    def query(sql):
        answer = json.loads(context.run("query", out, sql, "--json").stdout)
        rows = answer["rows"] if isinstance(answer, dict) else answer
        return [tuple(row.values()) if isinstance(row, dict) else tuple(row) for row in rows]
    return report, query


def blamed(report, query):
    """Ranks and reasons, by the finding and by the row that it names."""
    found = []
    for finding in report["findings"]:
        if finding["rule"] != "profile.straggler":
            continue
        assert finding["severity"] == "warning" and finding["role"] == "cause", finding
        evidence = next(e for e in finding["evidence"] if e["table"] == "profile_rank")
        rank, reason = query("SELECT rank, reason FROM profile_rank")[evidence["rows"][0]]
        assert finding["ranks"] == [rank], finding
        assert {"host": "host takes", "gpu": "GPU computes", "data": "loads data"}[reason] in finding["headline"], finding
        assert finding["groups"] and finding["op"], finding
        found.append((rank, reason))
    return found


def changed(context, source, name, change):
    """A copy of a profile with every event, and what stands around them, changed."""
    document = json.loads(gzip.decompress(source.read_bytes()))
    change(document)
    path = context.scratch / name
    path.write_bytes(gzip.compress(json.dumps(document).encode(), 1))
    return path


def with_changed(context, job, name, rank, change):
    """The profiles of a job in a folder of their own, that of one rank changed."""
    folder = context.scratch / f"{name}_input"
    folder.mkdir()
    for path in profiles(context, job):
        shutil.copy(path, folder)
    changed(context, profiles(context, job)[rank], folder / f"profile_rank{rank}.json.gz", change)
    return [folder]


def shift(by_us):
    def change(document):
        for event in document["traceEvents"]:
            if "ts" in event:
                event["ts"] += by_us
    return change


def test_stragglers(context):
    for job, expected in JOBS.items():
        report, query = store_of(context, profiles(context, job), job)
        assert blamed(report, query) == expected, f"{job}: {blamed(report, query)}"


def test_stragglers_of_whole_folder(context):
    for job, expected in JOBS.items():
        report, query = store_of(context, [context.data / f"recorded/jobs/{job}"], job)
        assert blamed(report, query) == expected, f"{job}: {blamed(report, query)}"


def test_matched_collectives_overlap(context):
    for job in JOBS:
        _, query = store_of(context, profiles(context, job), job)
        apart = query("SELECT count(*) FROM profile_collective_wait a JOIN profile_collective_wait b USING (match) "
                      "JOIN profile_collective_match m USING (match) WHERE m.synchronises AND a.end_ns < b.start_ns")
        assert apart == [(0,)], f"{job}: {apart} pairs do not overlap"
        told = query("SELECT count(*), count(*) FILTER (complete), min(len(ranks)) FROM profile_collective_match")
        assert told[0][0] > 100 and told[0][0] == told[0][1], f"{job}: matches, complete ones: {told}"
        clocks = query("SELECT rank, offset_ns, state, matched FROM timeline_clock ORDER BY rank")
        assert [(rank, offset, state) for rank, offset, state, _ in clocks] == \
            [(rank, 0, "aligned") for rank in RANKS], f"{job}: one host, one clock: {clocks}"
        assert all(matched > 20 for *_, matched in clocks), clocks


def test_another_clock_is_recovered(context):
    for by_ms in (60, -250, 11_560):
        paths = with_changed(context, "healthy", f"by{by_ms}", 3, shift(by_ms * 1000))
        report, query = store_of(context, paths, f"shift{by_ms}")
        clocks = dict(query("SELECT rank, offset_ns FROM timeline_clock"))
        assert abs(clocks[3] + by_ms * 1_000_000) < NOISE_NS, f"{by_ms} ms: {clocks}"
        assert all(abs(clocks[rank]) < NOISE_NS for rank in RANKS if rank != 3), f"{by_ms} ms: {clocks}"
        assert blamed(report, query) == [], f"{by_ms} ms: {blamed(report, query)}"


def test_a_straggler_with_another_clock(context):
    paths = with_changed(context, "slow_gpu", "clock", 4, shift(-5_000_000))
    report, query = store_of(context, paths, "shifted")
    assert blamed(report, query) == [(4, "gpu")], blamed(report, query)


def test_without_one_rank(context):
    for job, expected in JOBS.items():
        paths = [path for path in profiles(context, job) if "rank1." not in path.name]
        report, query = store_of(context, paths, job)
        assert blamed(report, query) == expected, f"{job}: {blamed(report, query)}"


def test_ranks_with_other_numbers(context):
    """Rank r becomes 7 - r, in the name of the file and wherever the file tells."""
    def renumber(document):
        def flip(text):
            return json.dumps(sorted(7 - rank for rank in json.loads(text)))
        told = document["distributedInfo"]
        told["rank"] = 7 - told["rank"]
        for group in told["pg_config"]:
            group["ranks"] = sorted(7 - rank for rank in group["ranks"])
        for event in document["traceEvents"]:
            args = event.get("args", {})
            if args.get("Process Group Ranks"):
                args["Process Group Ranks"] = flip(args["Process Group Ranks"])
            for key in ("Src Rank", "Dst Rank"):
                if key in args:
                    args[key] = 7 - args[key]
    for job, expected in JOBS.items():
        paths = [changed(context, path, f"{job}_rank{7 - rank}.json.gz", renumber)
                 for rank, path in enumerate(profiles(context, job))]
        report, query = store_of(context, paths, job)
        assert blamed(report, query) == [(7 - rank, reason) for rank, reason in expected], f"{job}: {blamed(report, query)}"


def test_a_rank_that_recorded_later(context):
    """Without its first collectives a rank is matched as before."""
    def cut(document):
        steps = sorted(e["ts"] for e in document["traceEvents"] if e.get("name") == "ProfilerStep#3")
        document["traceEvents"] = [e for e in document["traceEvents"] if e.get("ph") == "M" or e.get("ts", 0) >= steps[0]]
    paths = with_changed(context, "healthy", "cut", 5, cut)
    _, query = store_of(context, paths, "later")
    clocks = dict(query("SELECT rank, offset_ns FROM timeline_clock"))
    assert all(abs(offset) < NOISE_NS for offset in clocks.values()), clocks
    apart = query("SELECT count(*) FROM profile_collective_wait a JOIN profile_collective_wait b USING (match) "
                  "JOIN profile_collective_match m USING (match) WHERE m.synchronises AND a.end_ns < b.start_ns")
    assert apart == [(0,)], apart


def test_one_rank_alone(context):
    shutil.copy(profiles(context, "slow_gpu")[4], context.scratch / "profile_rank4.json.gz")
    report, query = store_of(context, [context.scratch / "profile_rank4.json.gz"], "alone")
    assert query("SELECT state FROM timeline_clock") == [("alone",)]
    assert query("SELECT DISTINCT basis FROM profile_bandwidth") == [("own_duration",)]
    assert blamed(report, query) == []
