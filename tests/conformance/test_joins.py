"""Joins between profiles, Flight Recorder dumps and compile logs of recorded jobs.

The truth is computed here a second time, from the JSON of the profiles, the pickles and the text of the logs: an
entry of the Flight Recorder is made while the op that issues the collective runs, on the same clock.
"""
import gzip
import json
import pickle
import re
import shutil
from decimal import Decimal

JOBS = ("healthy", "slow_rank", "slow_gpu")
RANKS = range(8)
CALLS = ("cuda_runtime", "cuda_driver")
KIND = {"AllReduce": "all_reduce", "AllGather": "all_gather", "ReduceScatter": "reduce_scatter"}


def query(context, out, sql):
    return json.loads(context.run("query", out, sql, "--json").stdout)


def import_folder(context, folder):
    out = context.scratch / f"out_{str(folder).replace('/', '_')}"
    context.run(folder, "-o", out, "--quiet", "--no-report")
    return out


def nanoseconds(profile, event):
    start = profile["baseTimeNanoseconds"] + int(event["ts"] * 1000)
    return start, start + int(event["dur"] * 1000)


class RankTruth:
    """Kernels of one profile, each with the record numbers of the entries that it may be."""

    def __init__(self, job, rank):
        with gzip.open(job / f"profile_rank{rank}.json.gz") as file:
            self.profile = json.load(file, parse_float=Decimal)
        events = [event for event in self.profile["traceEvents"] if event.get("ph") == "X"]
        self.issuers = [event for event in events if event["name"] == "record_param_comms"]
        self.by_external_id = {event["args"]["External id"]: event for event in self.issuers}
        self.calls = {event["args"]["correlation"]: event for event in events if event.get("cat") in CALLS}
        self.entries = pickle.loads((job / f"nccl_trace_rank_{rank}").read_bytes())["entries"]
        self.kernels = {}  # by start
        for event in events:
            if event.get("cat") == "kernel" and event["name"].startswith("nccl"):
                self.kernels[nanoseconds(self.profile, event)[0]] = event

    def issuer(self, kernel):
        if "External id" in kernel["args"]:
            return self.by_external_id[kernel["args"]["External id"]]
        launch = self.calls[kernel["args"]["correlation"]]  # a batch: its ops stand before the launch
        before = [event for event in self.issuers if event["tid"] == launch["tid"] and event["ts"] < launch["ts"]
                  and event["args"]["Collective name"] in ("send", "recv")]
        return max(before, key=lambda event: event["ts"])

    def entries_of(self, kernel):
        issuer = self.issuer(kernel)
        begin, end = nanoseconds(self.profile, issuer)
        group = issuer["args"]["Process Group Name"]
        made = [entry for entry in self.entries
                if entry["process_group"][0] == group and begin <= entry["time_created_ns"] <= end]
        assert len(made) == 1, (issuer, made)
        if not made[0]["is_p2p"]:
            return made
        return [entry for entry in self.entries if entry["process_group"][0] == group
                and entry["is_p2p"] and entry["p2p_seq_id"] == made[0]["p2p_seq_id"]]


def joined_rows(context, out):
    return query(context, out, """
        SELECT j.rank, j.off_ns, j.reason, p.start_ns, p.op AS profile_op, o.record, o.op
        FROM collective_join j JOIN profile_collective p USING (collective)
        LEFT JOIN comm_op o ON o.input = j.dump AND o.record = j.record""")


def check_against_truth(job, rows, least):
    truths = {rank: RankTruth(job, rank) for rank in RANKS}
    total = sum(len(truth.kernels) for truth in truths.values())
    joined = [row for row in rows if row["record"] is not None]
    assert len(rows) == total, (len(rows), total)
    assert len(joined) >= least * total, (len(joined), total)
    for row in joined:
        kernel = truths[row["rank"]].kernels[row["start_ns"]]
        expected = [entry["record_id"] for entry in truths[row["rank"]].entries_of(kernel)]
        assert row["record"] == expected[0], (row, expected)
        kind = next((plain for word, plain in KIND.items() if word in kernel["name"]), None)
        if kind:
            assert kind in row["op"], (row, kernel["name"])
        else:
            assert row["op"] in ("send", "recv", "all_to_all"), row


def test_kernels_are_entries(context):
    for name in JOBS:
        job = context.data / "recorded/jobs" / name
        rows = joined_rows(context, import_folder(context, f"recorded/jobs/{name}"))
        check_against_truth(job, rows, 0.95)
        # No op but one that sets up a communicator takes longer.
        slow = [row for row in rows if not 0 <= row["off_ns"] < 1_000_000]
        assert len(slow) <= 0.05 * len(rows), slow
        matches = query(context, context.scratch / f"out_recorded_jobs_{name}", """
            SELECT count(*) AS wrong FROM collective_join j JOIN comm_match m USING (match)
            JOIN comm_op o ON o.input = j.dump AND o.record = j.record WHERE m.group_name <> o.group_name""")
        assert matches[0]["wrong"] == 0, matches


def altered_job(context, name, change):
    """The healthy job with other dumps, profiles as they are."""
    job = context.data / "recorded/jobs/healthy"
    folder = context.scratch / name
    folder.mkdir()
    for rank in RANKS:
        shutil.copy(job / f"profile_rank{rank}.json.gz", folder)
        dump = pickle.loads((job / f"nccl_trace_rank_{rank}").read_bytes())
        change(rank, dump)
        (folder / f"nccl_trace_rank_{rank}").write_bytes(pickle.dumps(dump, protocol=2))
    return folder


def shift_odd_ranks(rank, dump):
    for entry in dump["entries"] if rank % 2 else []:
        for key in ("time_created_ns", "time_discovered_started_ns", "time_discovered_completed_ns"):
            entry[key] = entry[key] + 3_000_000_000 if entry[key] else entry[key]


def cut_beginning(rank, dump):
    del dump["entries"][:7]


def keep_beginning(rank, dump):
    del dump["entries"][20:]


def test_other_clocks_and_cut_dumps(context):
    job = context.data / "recorded/jobs/healthy"
    shifted = import_folder(context, altered_job(context, "shifted", shift_odd_ranks))
    check_against_truth(job, joined_rows(context, shifted), 0.95)
    for row in query(context, shifted, "SELECT rank, offset_ns FROM join_clock"):
        assert abs(row["offset_ns"] - row["rank"] % 2 * 3_000_000_000) < 1_000_000, row
    # Both sources of a rank come to one axis.
    for row in query(context, shifted, """
            SELECT p.rank, p.offset_ns - d.offset_ns AS apart FROM run_clock p JOIN run_clock d USING (job, attempt, rank)
            WHERE p.source = 'profile' AND d.source = 'dump'"""):
        assert abs(row["apart"] - row["rank"] % 2 * 3_000_000_000) < 1_000_000, row
    cut = import_folder(context, altered_job(context, "cut", cut_beginning))
    check_against_truth(job, joined_rows(context, cut), 0.95)


def test_dumps_of_other_steps_join_nothing(context):
    out = import_folder(context, altered_job(context, "early", keep_beginning))
    rows = joined_rows(context, out)
    assert rows and all(row["record"] is None and row["reason"] for row in rows), rows[:3]
    gaps = query(context, out, "FROM join_gap WHERE kind = 'collective'")
    assert sum(gap["missing"] for gap in gaps) == len(rows), gaps
    assert all(gap["joined"] == 0 and gap["reason"] for gap in gaps), gaps


def keys_of_log(path):
    """Cache keys of a compile log and the compile ids of the entries that name them."""
    keys, compile_id = {}, None
    for line in path.read_text().splitlines():
        if line.startswith("V"):
            header = json.loads(line[line.index("] {") + 2:])
            is_key = header.get("artifact", {}).get("name", "").startswith("fx_graph_cache")
            compile_id = f"{header['frame_id']}/{header['frame_compile_id']}" if is_key else None
        elif compile_id and (found := re.search(r'"key": "(\w+)"', line)):
            keys.setdefault(found.group(1), compile_id)
    return keys


def test_regions_have_their_compilation(context):
    for name in JOBS:
        job = context.data / "recorded/jobs" / name
        out = import_folder(context, f"recorded/jobs/{name}")
        rows = query(context, out, """
            SELECT r.rank, r.kind, r.region, r.compile_id, r.calls, r.how, c.compile_id AS compilation, c.function
            FROM region_join r LEFT JOIN compilation c
            ON c.input = r.compile_input AND c.rank = r.rank AND c.first_entry = r.entry""")
        for rank in RANKS:
            (log,) = (job / "torch_trace").glob(f"*rank_{rank}_*.log")
            keys, text = keys_of_log(log), log.read_text()
            with gzip.open(job / f"profile_rank{rank}.json.gz") as file:
                events = json.load(file)["traceEvents"]
            own = {(row["kind"], row["region"]): row for row in rows if row["rank"] == rank}
            regions = [event["name"].split()[-1] for event in events if event.get("name", "").startswith("Torch-Compiled")]
            graphs = [event["name"].split()[3] for event in events if event.get("cat") == "user_annotation"
                      and event["name"].startswith("## Call CompiledFxGraph")]
            files = [event["args"]["kernel_file"] for event in events if event.get("args", {}).get("kernel_file")]
            shown = {("region", region) for region in regions} | {("graph", key) for key in graphs}
            assert set(own) == shown | {("kernel", file) for file in files}, (name, rank, own.keys())
            for (kind, region), row in own.items():
                assert row["compilation"] == row["compile_id"], row
                if kind == "region":
                    assert (row["compile_id"], row["calls"]) == (region, regions.count(region)), row
                elif kind == "graph":
                    assert (row["compile_id"], row["calls"]) == (keys[region], graphs.count(region)), row
                else:
                    assert f"# kernel path: {region}" in text and row["how"] == "file", row


def test_what_is_missing_is_said(context):
    job = context.data / "recorded/jobs/healthy"
    folder = context.scratch / "profiles"
    folder.mkdir()
    for rank in RANKS:
        shutil.copy(job / f"profile_rank{rank}.json.gz", folder)
    gaps = query(context, import_folder(context, folder), "FROM join_gap")
    reasons = {(gap["kind"], gap["joined"], gap["reason"]) for gap in gaps if gap["kind"] != "clock"}
    assert reasons == {("collective", 0, "no Flight Recorder dump of this rank"),
                       ("region", 0, "no compile log of this rank"),
                       ("graph", 0, "no compile log of this rank"),
                       ("kernel", 0, "no compile log of this rank")}, reasons


def test_every_source_is_on_the_axis(context):
    out = import_folder(context, "recorded/jobs/healthy")
    rows = query(context, out, "SELECT rank, source, offset_ns, how FROM run_clock")
    for rank in RANKS:
        sources = {row["source"] for row in rows if row["rank"] == rank}
        assert {"profile", "dump", "compile_log"} <= sources, (rank, sources)
    assert all(row["offset_ns"] == 0 and row["how"] != "assumed" for row in rows), rows  # one machine
    processes = query(context, out, "SELECT rank, source, pid FROM rank_process")
    for rank in RANKS:
        pids = {row["source"]: row["pid"] for row in processes if row["rank"] == rank}
        assert pids["profile"] == pids["compile_log"] is not None, (rank, pids)
    assert len({row["pid"] for row in processes}) == len(RANKS), processes
