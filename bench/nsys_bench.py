#!/usr/bin/env python3
"""What it costs to read an export of Nsight Systems, against libsqlite3 that sums up the same columns.

usage: nsys_bench.py make SMALL.sqlite LARGE.sqlite MB      the real export SMALL, repeated in time until the file has so many MB
       nsys_bench.py breakdown DEBRIEF LARGE.sqlite         one thread, until it is known where device time went

Every table of LARGE has the rows of SMALL in turn, as many times as the others: the mixture of kernels, calls, samples and stacks
is that of the real one. Checked first: kernels, copies and fills are as many as SQL counts, and busy and idle time add up to
the span. Then prints `name key=value ...`.
"""
import shutil
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from profile_bench import WrongResult, breakdown_rows, run  # noqa: E402

# Columns of events that say when, which are moved for each copy; those with the number of a call; those with an id of their own.
TIMES = ("start", "end")
NUMBERED = {"COMPOSITE_EVENTS": "id", "SAMPLING_CALLCHAINS": "id", "OSRT_CALLCHAINS": "id"}
REPEATED = ("SCHED_EVENTS", "COMPOSITE_EVENTS", "SAMPLING_CALLCHAINS", "PROFILER_OVERHEAD", "OSRT_API", "OSRT_CALLCHAINS",
            "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
            "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "NVTX_EVENTS")
# What debrief reads of each event, as one query for libsqlite3.
READ = {
    "CUPTI_ACTIVITY_KIND_KERNEL": "start end deviceId contextId streamId correlationId globalPid graphNodeId demangledName shortName gridX gridY gridZ "
                                  "blockX blockY blockZ registersPerThread staticSharedMemory dynamicSharedMemory",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "start end deviceId contextId streamId correlationId globalPid graphNodeId bytes copyKind srcKind dstKind",
    "CUPTI_ACTIVITY_KIND_MEMSET": "start end deviceId contextId streamId correlationId globalPid graphNodeId bytes memKind",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": "start end deviceId contextId streamId correlationId globalPid syncType",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start end globalTid nameId correlationId eventClass returnValue",
    "OSRT_API": "start end globalTid nameId eventClass",
    "PROFILER_OVERHEAD": "start end globalTid nameId",
    "NVTX_EVENTS": "start end globalTid eventType textId domainId",
}


def tables_of(database):
    return {name for name, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def columns_of(database, table):
    return [row[1] for row in database.execute(f"PRAGMA table_info({table})")]


def copy_rows(database, table, number, span, calls):
    """Adds copy `number` of the rows that SMALL has."""
    def value(column):
        if column in TIMES or column == "correlationId":
            return f'"{column}" + {number * (calls if column == "correlationId" else span)}'
        return f'"{column}" + {number} * 10000000' if NUMBERED.get(table) == column else f'"{column}"'

    columns = columns_of(database, table)
    database.execute(f"INSERT INTO {table} SELECT {', '.join(value(column) for column in columns)} FROM small.{table}")


def make(small, large, megabytes):
    shutil.copyfile(small, large)
    database = sqlite3.connect(large, isolation_level=None)
    for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -200000"):
        database.execute(f"PRAGMA {setting}")
    database.execute("ATTACH ? AS small", (str(small),))
    tables = [table for table in REPEATED if table in tables_of(database)]
    first, last = database.execute("SELECT min(start), max(end) FROM CUPTI_ACTIVITY_KIND_RUNTIME").fetchone()
    calls = database.execute("SELECT max(correlationId) FROM CUPTI_ACTIVITY_KIND_RUNTIME").fetchone()[0] + 1
    number = 0
    database.execute("BEGIN")
    while database.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()[0] < megabytes * 1e6:
        number += 1
        for table in tables:
            copy_rows(database, table, number, last - first, calls)
    database.execute("COMMIT")
    database.close()


def sum_columns(path):
    """CPU seconds of libsqlite3 in a process of its own, which sums up every column that debrief reads."""
    database = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    tables = tables_of(database)
    queries = []
    for table, columns in READ.items():
        if table in tables:
            sums = ", ".join(f"total([{column}])" for column in columns.split())
            queries.append(f"SELECT {sums} FROM {table};")
    database.close()
    return run(["sqlite3", f"file:{path}?immutable=1", " ".join(queries)])


def check(path, rows):
    database = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    work = sum(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
               for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET") if table in tables_of(database))
    database.close()
    if sum(row["kernels"] for row in rows) != work:
        raise WrongResult(f"{rows} pieces of work, must be {work}")
    if any(row["busy_ns"] + row["idle_ns"] != row["total_ns"] for row in rows):
        raise WrongResult("busy and idle time are not the span")


def breakdown(debrief, path):
    text, wall, cpu, peak = run([debrief, "profile", "breakdown", path, "--json", "--jobs", "1"])
    check(path, breakdown_rows(text))
    _, _, sums, _ = min((sum_columns(path) for _ in range(2)), key=lambda result: result[2])
    megabytes = Path(path).stat().st_size / 1e6
    print(f"nsys_breakdown speed_of_sqlite={sums / cpu:.2f} mb_per_cpu_s={megabytes / cpu:.0f} sqlite_cpu_s={sums:.2f} cpu_s={cpu:.2f} wall_s={wall:.2f} "
          f"peak_mb={peak:.0f} memory_ratio={peak / megabytes:.2f}")


def main():
    mode, *rest = sys.argv[1:]
    try:
        if mode == "make":
            make(rest[0], rest[1], float(rest[2]))
        else:
            breakdown(*rest)
    except WrongResult as wrong:
        print(f"wrong result: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
