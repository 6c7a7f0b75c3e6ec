"""Analyses that say they look at one rank: what they make of a job is what they make of its ranks one by one."""
import json

JOB = "recorded/jobs/slow_gpu"
RANKS = (5,)
# Numbers that count through all inputs or rows of a run.
OF_THE_RUN = ("job", "attempt", "input", "collective")


def tables_of_ranks(context):
    """Names of the tables that only analyses of one rank make: a table is declared beside who makes it."""
    scope = {one["name"]: one["scope"] for one in json.loads(context.start(["list", "analyses", "--json"]).stdout)}
    assert set(scope.values()) == {"rank", "job"}, scope
    made = {}
    for table in json.loads(context.start(["list", "tables", "--json"]).stdout):
        room, _, place = table["owner"].partition("/")
        if room == "analyses":
            made[table["name"]] = scope.get(place.replace("/", "_"), scope.get(place.rpartition("/")[2]))
    return [name for name, of in made.items() if of == "rank"]


def difference(table, rank, whole, alone):
    """SQL: name, rows of the rank in the whole, rows that only one of the two has."""
    there = [f"'{out}/parquet/{table}.parquet'" for out in (whole, alone) if (out / f"parquet/{table}.parquet").exists()]
    if not there:
        return None
    parts = {}
    for name, out in (("whole", whole), ("alone", alone)):
        file = f"'{out}/parquet/{table}.parquet'"
        condition = f"rank = {rank}" if file in there else "false"  # a table without rows has no file
        parts[name] = f"SELECT COLUMNS(c -> c NOT IN {OF_THE_RUN}) FROM {file if file in there else there[0]} WHERE {condition}"
    return (f"SELECT '{table}' AS name, (SELECT count(*) FROM ({parts['whole']})) AS rows, "
            f"(SELECT count(*) FROM ({parts['whole']} EXCEPT ALL {parts['alone']})) + "
            f"(SELECT count(*) FROM ({parts['alone']} EXCEPT ALL {parts['whole']})) AS others")


def test_a_rank_alone_gives_the_rows_of_the_whole(context):
    store = ["--store", "parquet", "--no-report", "--quiet", "-o"]
    whole = context.scratch / "whole"
    context.run(JOB, *store, whole)
    inputs = json.loads(context.run("query", whole, "SELECT path, rank FROM input WHERE state = 'imported'", "--json").stdout)
    tables = tables_of_ranks(context)
    compared = set()
    for rank in RANKS:
        alone = context.scratch / f"rank_{rank}"
        context.run(*(one["path"] for one in inputs if one["rank"] == rank), *store, alone)
        sql = " UNION ALL ".join(filter(None, (difference(table, rank, whole, alone) for table in tables)))
        for row in json.loads(context.run("query", whole, sql, "--json").stdout):
            assert row["others"] == 0, f"rank {rank}: {row}"
            if row["rows"]:
                compared.add(row["name"])
    assert len(compared) > 15, compared
