"""Every profile of the reference data: each is read without loss, every question is answered or says why not, and the parts of
each answer add up."""
import json

SUBCOMMANDS = ["breakdown", "overlap", "idle", "kernels", "ops", "launches", "comms", "memory", "steps", "ranks", "critical-path", "roofline", "what-if", "devices"]


def profiles(context):
    public = sorted((context.data / "public/kineto").rglob("*.json.gz"))
    recorded = sorted((context.data / "recorded/profiles").glob("*.json.gz"))
    return public + [path for path in recorded if "execution_trace" not in path.name]


def sheets(context, subcommand, *paths):
    return json.loads(context.run("profile", subcommand, *paths, "--json").stdout)


def rows(answer, table):
    return [row for sheet in answer["sheets"] if sheet["table"] == table for row in sheet["rows"]]


def test_every_profile_is_read_whole(context):
    paths = profiles(context)
    report = json.loads(context.run(*paths, "--json", "--quiet", "--no-store", "-o", context.scratch / "out").stdout)
    assert len(report["inputs"]) == len(paths) > 20
    assert all(entry["state"] == "imported" for entry in report["inputs"]), report["inputs"]
    errors = [each for each in report["diagnostics"] if each["severity"] == "error"]
    assert not errors, errors
    failed = [each for each in report["analyses"] if each["state"] == "failed"]
    assert not failed, failed


def test_every_question_is_answered_or_says_why_not(context):
    for path in profiles(context):
        for subcommand in SUBCOMMANDS:
            answer = sheets(context, subcommand, path)
            assert answer["sheets"] or answer["not_computable"] or subcommand == "memory", (path, subcommand)
            assert all(each["reason"] for each in answer["not_computable"]), (path, subcommand)


def test_parts_add_up(context):
    checked = 0
    for path in profiles(context):
        for definition in ("debrief", "tracelens"):
            answer = json.loads(context.run("profile", "breakdown", path, "--json", "--definition", definition).stdout)
            for row in rows(answer, "profile_breakdown"):
                if row["definition"] != definition:
                    continue
                parts = row["compute_ns"] + row["exposed_communication_ns"] + row["exposed_memcpy_ns"] + row.get("other_ns", 0)
                assert parts == row["busy_ns"], (path, row)
                assert row["busy_ns"] + row["idle_ns"] == row["total_ns"], (path, row)
                checked += 1
    print(f"  {checked} windows")
    assert checked > 100


def test_causes_of_idle_time_are_the_idle_time(context):
    for path in profiles(context):
        idle = {}
        for row in rows(sheets(context, "idle", path), "profile_idle"):
            idle[row.get("device")] = idle.get(row.get("device"), 0) + row["idle_ns"]
        for row in rows(sheets(context, "breakdown", path), "profile_breakdown"):
            if row["scope"] == "all" and row.get("device") in idle:
                assert idle[row.get("device")] == row["idle_ns"], (path, row)


def test_time_of_graph_kernels_is_not_idle(context):
    """Brute force on the JSON: the union of all work on the device is what breakdown calls busy."""
    import gzip
    from decimal import Decimal
    for path in sorted((context.data / "public/kineto/tracelens/graphs").glob("*.json.gz")):
        events = json.loads(gzip.open(path).read(), parse_float=Decimal)["traceEvents"]
        work = sorted((int(Decimal(e["ts"]) * 1000), int(Decimal(e["ts"]) * 1000) + int(Decimal(e["dur"]) * 1000))
                      for e in events if e.get("ph") == "X" and e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"))
        busy, end = 0, None
        for begin, stop in work:
            busy += max(0, stop - max(begin, end if end is not None else begin))
            end = max(stop, end if end is not None else stop)
        row = next(row for row in rows(sheets(context, "breakdown", path), "profile_breakdown") if row["scope"] == "all")
        assert row["busy_ns"] == busy and row["total_ns"] == end - work[0][0], (path, row, busy)
