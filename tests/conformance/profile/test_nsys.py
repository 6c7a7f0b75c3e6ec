"""Exports of Nsight Systems.

Two truths: plain SQL over the real export; and profiles of PyTorch that are written here as an export (tests/nsys_writer.py, with
nothing of debrief's), of which debrief must say the same as of the originals.
"""
import gzip
import json
import sqlite3
import sys
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from job_simulator import DataParallel  # noqa: E402
from nsys_writer import NsysExport  # noqa: E402

REAL = "public_more/nsys"
PROFILES = ("public/kineto/hta/nccl_data.json.gz", "public/kineto/hta/benchmark_result_2869224_1695835535_trace.json.gz")
COPIES = {"HtoD": 1, "DtoH": 2, "DtoD": 8, "PtoP": 10}
MEMORIES = {"Pageable": 0, "Pinned": 1, "Device": 2}
DEVICE_EVENTS = ("kernel", "gpu_memcpy", "gpu_memset", "cuda_sync")
SYNCS = {"Event Sync": 1, "Stream Wait Event": 2, "Stream Sync": 3, "Context Sync": 4}
KERNEL_COLUMNS = "name, device_class, count, total_ns, min_ns, max_ns, median_ns, blocks, threads, registers"


def query(context, out, sql):
    return json.loads(context.run("query", out, sql, "--json").stdout)


def import_files(context, name, *paths):
    out = context.scratch / name
    context.run(*paths, "-o", out, "--quiet", "--no-report")
    return out


def in_database(path, sql):
    database = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    rows = database.execute(sql).fetchall()
    database.close()
    return rows


def test_real_export(context):
    files = sorted((context.data / REAL).glob("*.sqlite"))
    if not files:
        print(f"  skipped: {REAL} is not among the data")
        return
    for path in files:
        before = sorted(path.parent.iterdir())
        out = import_files(context, path.stem, path)
        rows = query(context, out, "SELECT name, count, total_ns FROM profile_kernel WHERE definition = 'debrief' AND device_class = 'compute'")
        truth = in_database(path, """SELECT value, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName
                                     GROUP BY value""")
        assert sorted((row["name"], row["count"], row["total_ns"]) for row in rows) == sorted(truth), (rows, truth)
        copies = query(context, out, "SELECT count(*) AS n, sum(duration_ns) AS ns FROM timeline_slice WHERE kind = 'memcpy'")[0]
        assert [(copies["n"], copies["ns"])] == in_database(path, "SELECT count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY"), copies
        calls = query(context, out, "SELECT count(*) AS n, sum(duration_ns) AS ns FROM timeline_slice WHERE kind = 'runtime'")[0]
        assert [(calls["n"], calls["ns"])] == in_database(path, "SELECT count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_RUNTIME"), calls
        definitions = query(context, out, "SELECT DISTINCT definition FROM profile_breakdown")
        assert definitions == [{"definition": "debrief"}], f"{definitions}: HTA and TraceLens read no exports"
        linked = query(context, out, "SELECT count(*) AS n FROM timeline_launch WHERE launch IS NOT NULL")[0]["n"]
        assert linked == in_database(path, """SELECT (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL) + (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY)""")[0][0]
        assert query(context, out, "FROM finding WHERE severity = 'error' OR role = 'cause'") == [], "a healthy run is accused"
        assert sorted(path.parent.iterdir()) == before, "something was written beside the input"


# ---- A profile of PyTorch as an export.

def nanoseconds(microseconds):
    return microseconds * 1000 if isinstance(microseconds, int) else int((microseconds * 1000).to_integral_value())


class Numbers:
    """Numbers for the names of threads, which need not be numbers."""

    def __init__(self):
        self.known = {}

    def of(self, tid):
        return self.known.setdefault(str(tid), len(self.known) + 1)


def write_device_event(export, process, event, start, end):
    args, category = event.get("args", {}), event["cat"]
    place = {"stream": int(args.get("stream", event["tid"])) & 0xffffffff, "device": int(args.get("device", 0)), "correlation": args.get("correlation")}
    if category == "kernel":
        export.kernel(process, event["name"], start, end, grid=args.get("grid", (1, 1, 1)), block=args.get("block", (1, 1, 1)),
                      registers=args.get("registers per thread", 0), shared=args.get("shared memory", 0), **place)
    elif category == "gpu_memcpy":
        _, kind, source, _, target = event["name"].replace("(", "").replace(")", "").split()
        export.copy(process, start, end, args.get("bytes", 0), COPIES[kind], MEMORIES[source], MEMORIES[target], **place)
    elif category == "gpu_memset":
        export.fill(process, start, end, args.get("bytes", 0), **place)
    elif category == "cuda_sync":
        export.sync(process, start, end, SYNCS[event["name"]], **place)


def write_as_export(source, target):
    with gzip.open(source) if source.suffix == ".gz" else open(source) as file:
        trace = json.load(file, parse_float=Decimal)
    base = int(trace.get("baseTimeNanoseconds", 0))
    slices = [event for event in trace["traceEvents"] if event.get("ph") == "X"]
    first = min(nanoseconds(event["ts"]) for event in slices)
    export = NsysExport(target, page_size=4096, epoch_ns=base + first)
    threads, pid = Numbers(), 4711
    process = export.process(pid)
    for event in slices:
        start = nanoseconds(event["ts"]) - first
        end = start + nanoseconds(event.get("dur", 0))
        category = event.get("cat", "")
        if category in ("cuda_runtime", "cuda_driver"):
            export.call(process, threads.of(event["tid"]), event["name"] + "_v3020", start, end, event.get("args", {}).get("correlation"),
                        driver=category == "cuda_driver")
        elif category in ("cpu_op", "user_annotation"):
            export.nvtx(process, threads.of(event["tid"]), event["name"], start, end)
        elif category in DEVICE_EVENTS:
            write_device_event(export, process, event, start, end)
    export.close()


def test_kineto_as_export(context):
    for name in PROFILES:
        if not (context.data / name).exists():
            print(f"  skipped: {name} is not among the data")
            continue
        short = Path(name).name.split(".")[0]
        path = context.scratch / f"{short}.sqlite"
        write_as_export(context.data / name, path)
        ours, theirs = import_files(context, f"export_{short}", path), import_files(context, f"profile_{short}", context.data / name)
        for table, columns in (("profile_kernel", KERNEL_COLUMNS), ("profile_breakdown", "* EXCLUDE (job, attempt, rank, input)"),
                               ("profile_launch_stats", "* EXCLUDE (job, attempt, rank, input)")):
            sql = f"SELECT {columns} FROM {table} WHERE definition = 'debrief' ORDER BY ALL"
            said, truth = query(context, ours, sql), query(context, theirs, sql)
            assert truth and said == truth, (name, table, [pair for pair in zip(said, truth) if pair[0] != pair[1]][:3], len(said), len(truth))


def test_exports_that_lack_tables(context):
    """`nsys export --tables` leaves out what is not asked for: what is there still tells how busy devices were."""
    job, folder = DataParallel(ranks=2, steps=4), context.scratch / "profiles"
    job.run().write(folder)
    figures = "SELECT rank, busy_ns, idle_ns FROM profile_breakdown WHERE scope = 'all' AND definition = 'debrief' ORDER BY rank"
    truth = query(context, import_files(context, "original", folder), figures)
    for number, lacking in enumerate((("ThreadNames", "PROCESSES", "TARGET_INFO_CUDA_CONTEXT_INFO"), ("NVTX_EVENTS",), ("CUPTI_ACTIVITY_KIND_RUNTIME",), ("StringIds",))):
        exports = context.scratch / f"exports{number}"
        exports.mkdir()
        for profile in sorted(folder.iterdir()):
            path = exports / f"{profile.stem}.sqlite"
            write_as_export(profile, path)
            database = sqlite3.connect(path)
            for table in lacking:
                database.execute(f"DROP TABLE {table}")
            database.commit()
            database.close()
        said = query(context, import_files(context, f"lacking{number}", exports), figures)
        assert len(truth) == 2 and said == truth, (lacking, said, truth)


def test_jobs_as_exports(context):
    """The verdict on jobs is the same, whichever profiler was there: who is slow, and nobody where nobody is."""
    for job, blamed in (("healthy", []), ("slow_rank", [6]), ("slow_gpu", [4])):
        profiles = sorted((context.data / "recorded/jobs" / job).glob("profile_rank*.json.gz"))
        if not profiles:
            print(f"  skipped: recorded/jobs/{job} is not among the data")
            continue
        folder = context.scratch / job
        folder.mkdir()
        for profile in profiles:
            write_as_export(profile, folder / profile.name.replace(".json.gz", ".sqlite"))
        done = context.run(folder, "-o", context.scratch / f"out_{job}", "--quiet", "--no-report", "--no-store", "--json")
        causes = [finding for finding in json.loads(done.stdout)["findings"] if finding["role"] == "cause" and finding["severity"] in ("error", "warning")]
        assert [rank for finding in causes for rank in finding["ranks"]] == blamed, (job, [finding["headline"] for finding in causes])
        assert all(finding["rule"] == "profile.straggler" for finding in causes), causes
