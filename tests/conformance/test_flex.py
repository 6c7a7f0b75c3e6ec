"""Flex traces and compiler logs of the reference data: every figure is computed here a second time, from the raw JSON and with
the rules of docs/formats/flex.md, without anything of debrief's."""
import gzip
import json
import re
from collections import defaultdict

INPUTS = "public/acelyzer/inputs"
PHASES = [(" DmaI", 0), (" Cmpt Prep", 1), (" Cmpt Exec", 2), (" DmaO", 3)]
TRACES = ["allreduce_tp4.json", "sample_flex_3062_job_4.json", "flexcpu_rank0_job_0.json", "flexcpu_rank0_job_1.json",
          "tp4_rank0_job_1.json", "tp4_rank1_job_1.json", "tp4_rank2_job_1.json", "tp4_rank3_job_1.json"]


def traces(context):
    found = [context.data / INPUTS / name for name in TRACES if (context.data / INPUTS / name).exists()]
    if not found:
        print(f"  skipped: {INPUTS} is not among the data")
    return found


def query(context, out, sql):
    return json.loads(context.run("query", out, sql, "--json").stdout)


def read(context, *paths):
    out = context.scratch / ("out_" + "_".join(path.name for path in paths))
    context.run(*paths, "-o", out, "--quiet", "--no-report", "--overwrite")
    return out


def events(path):
    """Begins with the times of their ends: Flex writes the two side by side."""
    raw = json.loads(path.read_text())
    folded = []
    for begin, end in zip(raw[::2], raw[1::2]):
        assert (begin["ph"], end["ph"], begin["name"]) == ("B", "E", end["name"])
        folded.append(dict(begin, end=end["ts"]))
    return folded


def stamps(event):
    attr = event.get("attr", {})
    if "TS1" not in attr:
        return None
    values = [int(attr[f"TS{i}"], 0) for i in range(1, 6)]
    for i in range(1, 5):
        if values[i] < values[i - 1]:
            values[i] += 2**32
    return values


def phase_of(name):
    return next((number for word, number in PHASES if word in name), None)


def cycles(event):
    values, phase = stamps(event), phase_of(event["name"])
    return values[4] - values[0] if phase is None else values[phase + 1] - values[phase]


def rates(path):
    """By device, cycles by duration of all its events together: the host of these traces computes its times from them."""
    sums = defaultdict(lambda: [0, 0.0])
    for event in events(path):
        if stamps(event) and event["end"] - event["ts"] > 1:
            sums[event["pid"]][0] += cycles(event)
            sums[event["pid"]][1] += event["end"] - event["ts"]
    return {pid: count / time for pid, (count, time) in sums.items()}


def test_every_trace_is_read_whole(context):
    for path in traces(context):
        report = json.loads(context.run(path, "--json", "--quiet", "--no-store", "-o", context.scratch / "out", "--overwrite").stdout)
        assert [entry["kind"] for entry in report["inputs"]] == ["flex"], path
        assert not report["diagnostics"], (path, report["diagnostics"])
        assert not [each for each in report["analyses"] if each["state"] == "failed"], path


def test_rates(context):
    for path in traces(context):
        out = read(context, path)
        found = {row["device"]: row["mhz"] for row in query(context, out, "FROM accel_rate")}
        for device, mhz in rates(path).items():
            assert abs(found[device] / mhz - 1) < 1e-4, (path, device, found[device], mhz)


def test_times_of_device_events(context):
    for path in traces(context):
        out = read(context, path)
        mhz = {row["device"]: row["mhz"] for row in query(context, out, "FROM accel_rate")}
        rows = query(context, out, "SELECT w.device, s.start_ns, s.duration_ns, s.name, s.kind FROM timeline_device_work w "
                                   "JOIN (SELECT *, row_number() OVER () - 1 AS slice FROM timeline_slice) s ON s.slice = w.slice")
        found = sorted((row["device"], row["name"], row["start_ns"] + row["duration_ns"], row["duration_ns"]) for row in rows)
        truth = sorted((event["pid"], event["name"], round(event["end"] * 1000), round(cycles(event) * 1000 / mhz[event["pid"]]))
                       for event in events(path) if stamps(event))
        assert len(found) == len(truth), path
        for (device, name, end, duration), (pid, true_name, true_end, true_duration) in zip(found, truth):
            # Doubles of microseconds since 1970 have a quarter of one as their last digit.
            assert (device, name) == (pid, true_name) and abs(end - true_end) <= 250 and abs(duration - true_duration) <= 1, (path, name)
        kinds = {row["name"]: row["kind"] for row in rows}
        for name, kind in kinds.items():
            want = "queue" if " Cmpt Prep" in name else "memcpy" if re.search(r" Dma[IO]", name) and "Rdma" not in name else "kernel"
            assert kind == want, (path, name, kind)


def test_stamps_are_continuous(context):
    for path in traces(context):
        out = read(context, path)
        rows = query(context, out, "SELECT ts1, ts2, ts3, ts4, ts5 FROM accel_stamp")
        found = sorted([value % 2**32 for value in row.values()] for row in rows)
        assert found == sorted([value % 2**32 for value in stamps(event)] for event in events(path) if stamps(event)), path
        assert all(row["ts1"] <= row["ts2"] <= row["ts3"] <= row["ts4"] <= row["ts5"] for row in rows), path


def test_collectives_are_one_row_a_rank(context):
    path = context.data / INPUTS / "allreduce_tp4.json"
    if not path.exists():
        return
    parts = defaultdict(int)
    for event in events(path):
        if "CollGroup" in event.get("attr", {}) and " Cmpt Prep" not in event["name"]:
            parts[event["pid"]] += 1
    rows = query(context, read(context, path), "SELECT rank, op, parts, bytes FROM profile_collective")
    assert {row["rank"]: row["parts"] for row in rows} == parts and len(rows) == len(parts)
    assert all(row["op"] == "all_reduce" and row["bytes"] == 524288 for row in rows)


def test_ranks_in_one_file_or_in_several_give_the_same(context):
    single = [context.data / INPUTS / f"tp4_rank{rank}_job_1.json" for rank in range(4)]
    if not all(path.exists() for path in single):
        return
    sql = "SELECT rank, name, start_ns, duration_ns, kind FROM timeline_slice ORDER BY ALL"
    together = query(context, read(context, context.data / INPUTS / "allreduce_tp4.json"), sql)
    apart = query(context, read(context, *single), sql)
    assert together == apart and len(together) == 28


def test_packed_is_the_same(context):
    for path in traces(context)[:2]:
        packed = context.scratch / (path.name + ".gz")
        packed.write_bytes(gzip.compress(path.read_bytes()))
        sql = "SELECT name, start_ns, duration_ns, kind FROM timeline_slice"
        assert query(context, read(context, packed), sql) == query(context, read(context, path), sql)


def test_utilisation(context):
    trace, log = (context.data / INPUTS / name for name in ("sample_flex_3062_job_4.json", "sample_comp_log_ideal.txt"))
    if not (trace.exists() and log.exists()):
        return
    ideal = {}
    for name, count in re.findall(r"^([A-Za-z0-9_-]+) +(\d+) *$", log.read_text(), re.M):
        if "Precompute" not in name and "-LxPreload" not in name:
            ideal.setdefault(re.sub(r"-opCat.*|-NA$", "", name), int(count))
    times, calls = defaultdict(float), defaultdict(int)
    for event in events(trace):
        kernel = event["name"].removesuffix(" Cmpt Exec")
        times[kernel] += cycles(event)
        calls[kernel] += 1
    rows = query(context, read(context, trace, log), "SELECT * FROM accel_utilisation WHERE kernel != 'Total'")
    compared = 0
    for row in rows:
        kernel = row["kernel"].removesuffix(" Cmpt Exec")
        assert row["calls"] == calls[kernel] and row["cycles"] == times[kernel], row
        if ideal.get(kernel):
            want = 100 * ideal[kernel] * calls[kernel] / times[kernel] / 1.1
            assert abs(row["utilisation_pct"] - want) < 0.01 * want, (row, want)
            compared += 1
    assert compared >= 8, compared


def test_iterations_and_steps(context):
    path = context.data / INPUTS / "flexcpu_rank0_job_0.json"
    if not path.exists():
        return
    out = read(context, path)
    kernels = [event for event in events(path) if event["name"].endswith(" Cmpt Exec")]
    names = {event["name"] for event in kernels}
    row = query(context, out, "FROM accel_iteration")[0]
    assert (row["period"], row["iterations"]) == (len(names), len(kernels) // len(names)), row
    assert len(query(context, out, "FROM timeline_step")) == row["iterations"]


def test_a_cut_trace_keeps_its_whole_events(context):
    for path in traces(context)[:3]:
        text = path.read_text()
        for at in (len(text) // 3, len(text) - 40):
            cut = context.scratch / f"cut_{at}_{path.name}"
            cut.write_text(text[:at])
            report = json.loads(context.run(cut, "--json", "--quiet", "--no-store", "-o", context.scratch / "cut", "--overwrite").stdout)
            assert report["inputs"][0]["state"] == "imported" and report["inputs"][0]["rows"] > 0, (path, at)


def test_a_flipped_byte_costs_little(context):
    path = context.data / INPUTS / "flexcpu_rank0_job_0.json"
    if not path.exists():
        return
    whole = path.read_bytes()
    slices = "SELECT count(*) AS n FROM timeline_slice"
    want = query(context, read(context, path), slices)[0]["n"]
    for at in range(1001, len(whole), len(whole) // 20):
        flipped = context.scratch / f"flipped_{at}.json"
        flipped.write_bytes(whole[:at] + bytes([whole[at] ^ 0x15]) + whole[at + 1:])
        assert query(context, read(context, flipped), slices)[0]["n"] >= want - 3, at


def test_malformed_inputs_never_crash(context):
    folder = context.data / INPUTS / "err"
    for path in sorted(folder.glob("*")) if folder.exists() else []:
        done = context.run(path, "-o", context.scratch / "err", "--overwrite", "--quiet", "--json", check=False)
        assert done.returncode in (0, 1), (path, done.returncode, done.stderr[-500:])


def test_a_missing_rank_costs_nothing_of_the_others(context):
    paths = [context.data / INPUTS / f"tp4_rank{rank}_job_1.json" for rank in range(4)]
    if not all(path.exists() for path in paths):
        return
    sql = "SELECT rank, name, start_ns, duration_ns, kind FROM timeline_slice WHERE rank != 2 ORDER BY ALL"
    three = [path for path in paths if "rank2" not in path.name]
    assert query(context, read(context, *three), sql) == query(context, read(context, *paths), sql)
    clocks = query(context, read(context, *three), "SELECT rank, state FROM timeline_clock")
    assert [(row["rank"], row["state"]) for row in clocks] == [(rank, "aligned") for rank in (0, 1, 3)], clocks
