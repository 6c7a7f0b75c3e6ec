"""Figures of profiles by HTA's definition against what HTA itself (pandas 1.5.3) printed for public traces.

public/kineto/hta_expected.json has its temporal breakdown, overlap, idle breakdown and kernel types of several traces.
Every number must agree to the digits that HTA prints. Our own definition is checked to add up on the same traces.
"""
import json
import math


def expected(context):
    path = context.data / "public/kineto/hta_expected.json"
    if not path.exists():
        print(f"skipped: no {path}")
        return {}
    figures = json.loads(path.read_text())
    assert figures, path
    return figures


def store_of(context, trace):
    folder = context.scratch / trace.replace("/", "_")
    if not folder.exists():
        context.run(context.data / "public/kineto" / trace, "--quiet", "-o", folder)
    return folder


def rows(context, trace, sql):
    return json.loads(context.run("query", store_of(context, trace), "--json", sql).stdout)


def one(context, trace, sql):
    found = rows(context, trace, sql)
    assert len(found) == 1, f"{trace}: {len(found)} rows of {sql}"
    return found[0]


def same(ours, theirs):
    if ours is None or theirs is None or math.isnan(theirs):
        return ours is None and (theirs is None or math.isnan(theirs))
    return math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=1e-9)


def compare(where, ours, theirs):
    different = [f"{key}: ours {ours.get(key)}, HTA {value}" for key, value in theirs.items()
                 if not (same(ours.get(key), value) if isinstance(value, float) else ours.get(key) == value)]
    assert not different, f"{where}\n  " + "\n  ".join(different)


def test_temporal_breakdown(context):
    for trace, figures in expected(context).items():
        row = one(context, trace, "SELECT * FROM profile_breakdown WHERE definition = 'hta' AND scope = 'all'")
        compare(trace, {"idle_time(us)": row["idle_ns"] / 1000, "compute_time(us)": row["compute_ns"] / 1000,
                        "non_compute_time(us)": row["other_ns"] / 1000, "kernel_time(us)": row["total_ns"] / 1000,
                        "idle_time_pctg": row["idle_pct"], "compute_time_pctg": row["compute_pct"],
                        "non_compute_time_pctg": row["other_pct"]},
                {key: value for key, value in figures["temporal"].items() if key != "rank"})


def test_overlap(context):
    for trace, figures in expected(context).items():
        row = one(context, trace, "SELECT overlap_pct FROM profile_overlap WHERE definition = 'hta'")
        theirs = figures["overlap"]["comp_comm_overlap_pctg"]
        assert same(row["overlap_pct"], theirs), f"{trace}: ours {row['overlap_pct']}, HTA {theirs}"


def test_idle_breakdown(context):
    for trace, figures in expected(context).items():
        ours = {(row["stream"], row["category"]): row for row in
                rows(context, trace, "SELECT stream, category, idle_ns, ratio FROM profile_idle WHERE definition = 'hta'")}
        assert figures["idle"], trace
        for theirs in figures["idle"]:
            key = (theirs["stream"], theirs["idle_category"])
            assert key in ours, f"{trace}: no row {key}, only {sorted(ours)}"
            compare(f"{trace} {key}", {"idle_time": ours[key]["idle_ns"] / 1000, "idle_time_ratio": ours[key]["ratio"]},
                    {name: theirs[name] for name in ("idle_time", "idle_time_ratio")})


def test_kernel_types(context):
    for trace, figures in expected(context).items():
        ours = {row["kernel_type"]: row for row in
                rows(context, trace, "SELECT * FROM profile_kernel_types WHERE definition = 'hta'")}
        for theirs in figures["kern_type"]:
            assert theirs["kernel_type"] in ours, f"{trace}: {theirs['kernel_type']} not in {sorted(ours)}"
            row = ours[theirs["kernel_type"]]
            compare(f"{trace} {theirs['kernel_type']}", {"sum": row["time_ns"] // 1000, "percentage": row["share_pct"]},
                    {"sum": theirs["sum"], "percentage": theirs["percentage"]})


def test_our_own_adds_up(context):
    for trace in expected(context):
        found = rows(context, trace, "SELECT * FROM profile_breakdown WHERE definition <> 'hta'")
        assert found, trace
        for row in found:
            assert row["busy_ns"] + row["idle_ns"] == row["total_ns"], (trace, row)
            assert (row["compute_ns"] + row["exposed_communication_ns"] + row["exposed_memcpy_ns"] + row["idle_ns"]
                    == row["total_ns"]), (trace, row)
        idle = one(context, trace, "SELECT idle_ns FROM profile_breakdown WHERE definition = 'debrief' AND scope = 'all'")
        causes = one(context, trace, "SELECT sum(idle_ns) AS idle_ns FROM profile_idle WHERE definition = 'debrief'")
        assert int(causes["idle_ns"]) == idle["idle_ns"], (trace, causes, idle)
