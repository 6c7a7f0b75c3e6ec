"""`debrief profile diff`: its pieces add up, and what it says of kernels is what the files say, clipped to the steps in plain Python."""
import bisect
import csv
import gzip
import io
import json
from collections import defaultdict
from fractions import Fraction

PAIRS = [("public/kineto/hta/trace_diff_control.json.gz", "public/kineto/hta/trace_diff_test.json.gz"),
         ("public/kineto/tracelens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
          "public/kineto/tracelens/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"),
         ("recorded/profiles/plain.json.gz", "recorded/profiles/stack.json.gz")]
WORK = {"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"}


def diff(context, a, b):
    return list(csv.DictReader(io.StringIO(context.run("profile", "diff", a, b, "--csv", "--quiet").stdout)))


def query(context, out, sql):
    return json.loads(context.run("query", out, sql, "--json").stdout)


def pairs(context):
    for a, b in PAIRS:
        if (context.data / a).exists() and (context.data / b).exists():
            yield a, b
        else:
            print(f"  skipped: {a} and {b} are not among the data")


def check_sums(rows):
    for column in ("a_ns", "b_ns", "difference_ns"):
        total, = (int(row[column]) for row in rows if row["level"] == "total")
        parts = {row["part"]: int(row[column]) for row in rows if row["level"] == "part"}
        assert sum(parts.values()) == total, (column, parts, total)
        for part in parts.keys() - {"idle"}:
            pieces = sum(int(row[column]) for row in rows if row["level"] in ("kernel", "overlap") and row["part"] == part)
            assert pieces == parts[part], (column, part, pieces, parts[part])
    for row in rows:
        assert int(row["b_ns"]) - int(row["a_ns"]) == int(row["difference_ns"]), row
        if row["level"] in ("kernel", "op"):
            assert int(row["count_effect_ns"]) + int(row["duration_effect_ns"]) == int(row["difference_ns"]), row


def test_pieces_add_up(context):
    for a, b in pairs(context):
        rows = diff(context, a, b)
        check_sums(rows)
        turned = {(row["level"], row["part"], row["name"]): row for row in diff(context, b, a)}
        assert len(turned) == len(rows)
        for row in rows:
            other = turned[row["level"], row["part"], row["name"]]
            assert (other["a_ns"], other["b_ns"], other["significance"]) == (row["b_ns"], row["a_ns"], row["significance"]), row


def test_the_same_twice(context):
    for a, _ in pairs(context):
        rows = diff(context, a, a)
        check_sums(rows)
        assert all(row["difference_ns"] == "0" and row["verdict"] in ("", "same") for row in rows), "a profile differs from itself"


def windows_of(context, name, unit):
    """What is compared: whole steps as debrief found them, without those half again as long as the median, or the timeline."""
    out = context.scratch / name.replace("/", "_")
    context.run(name, "-o", out, "--quiet")
    rows = query(context, out, "SELECT b.window_start_ns, b.window_end_ns, s.whole FROM profile_breakdown b LEFT JOIN timeline_step s "
                 f"ON b.input = s.input AND b.step = s.step WHERE b.definition = 'debrief' AND b.scope = '{unit}' AND b.total_ns > 0")
    whole = [row for row in rows if row["whole"]]
    base = query(context, out, "SELECT base_ns FROM timeline")[0]["base_ns"] or 0
    windows = sorted((row["window_start_ns"] - base, row["window_end_ns"] - base) for row in whole or rows)
    lengths = sorted(end - begin for begin, end in windows)
    middle = (lengths[(len(lengths) - 1) // 2] + lengths[len(lengths) // 2]) // 2
    usual = [window for window in windows if window[1] - window[0] <= middle * 3 // 2]
    return usual if len(usual) >= 3 else windows


def kernels_of(context, name, windows):
    """{name: (nanoseconds, count)} of what runs in the windows."""
    with gzip.open(context.data / name, "rt") as file:
        events = json.load(file, parse_float=Fraction)["traceEvents"]
    sums, ends = defaultdict(lambda: [0, 0]), [end for _, end in windows]
    for event in events:
        if event.get("ph") != "X" or event.get("cat") not in WORK:
            continue
        begin = int(Fraction(event["ts"]) * 1000)
        end = begin + int(Fraction(event["dur"]) * 1000)
        for start, stop in windows[bisect.bisect_right(ends, begin):]:
            if start >= end or end < begin:
                break
            sums[event["name"]][0] += min(end, stop) - max(begin, start)
            sums[event["name"]][1] += begin >= start
    return sums


def test_kernels_are_those_of_the_files(context):
    for pair in pairs(context):
        rows = diff(context, *pair)
        unit = next(row["name"] for row in rows if row["level"] == "total")
        for side, name in zip("ab", pair):
            windows = windows_of(context, name, "step" if unit == "step" else "all")
            truth = kernels_of(context, name, windows)
            shown = defaultdict(lambda: [0, 0])
            for row in rows:
                if row["level"] == "kernel":
                    shown[row["name"]][0] += int(row[f"{side}_ns"])
                    shown[row["name"]][1] += int(row[f"count_{side}"])
            for kernel, (time, count) in truth.items():
                assert shown[kernel][1] == count, (name, kernel, shown[kernel], count)
                assert abs(shown[kernel][0] - Fraction(time, len(windows))) <= 1, (name, kernel, shown[kernel], time)
            assert sum(count for _, count in shown.values()) == sum(count for _, count in truth.values()), name
