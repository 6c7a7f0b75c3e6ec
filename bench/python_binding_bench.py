#!/usr/bin/env python3
"""What a record costs from Python above an empty call: `with scope`, the decorator, begin and end, an op; on and off.

usage: python_binding_bench.py PACKAGE_FOLDER

A round runs base, body, body, base; the median of the differences over all rounds is printed. Checked first: the file has as
many records of each name as the loops made, and none of those that were made while it was off.
"""
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path[:0] = [sys.argv[1], str(Path(__file__).resolve().parent.parent / "tests/recorder")]
import debrief_recorder as recorder  # noqa: E402
from dbr import Recording  # noqa: E402

ROUNDS, LOOP = 31, 2_000
KEPT, SHAPES = recorder.scope("kept"), [(64, 128), (128, 10)]


def empty():
    pass


decorated = recorder.recorded("decorated")(empty)


def call_empty(count):
    for _ in range(count):
        empty()


def keep_one(count):
    for _ in range(count):
        with KEPT:
            pass


def make_each(count, scope=recorder.scope):
    for _ in range(count):
        with scope("made"):
            pass


def call_decorated(count):
    for _ in range(count):
        decorated()


def begin_and_end(count, begin=recorder.begin, end=recorder.end):
    for _ in range(count):
        begin("begun")
        end()


def make_ops(count, op=recorder.op):
    for _ in range(count):
        with op("op", SHAPES, (64, 10), "float32"):
            pass


# Key of the result -> loop, and the name of what it records; a decorated call is an empty call and more.
LOOPS = {"scope": (keep_one, "kept"), "made": (make_each, "made"), "recorded": (call_decorated, "decorated"),
         "begin": (begin_and_end, "begun"), "op": (make_ops, "op")}


def ns_of(loop):
    started = time.perf_counter_ns()
    loop(LOOP)
    return time.perf_counter_ns() - started


def above_empty_call(loop):
    differences = []
    for _ in range(ROUNDS):
        before = ns_of(call_empty)
        both = ns_of(loop) + ns_of(loop)
        differences.append(both - before - ns_of(call_empty))
    return statistics.median(differences) / (2 * LOOP)


def measure(suffix):
    return {f"{key}_{suffix}_ns": above_empty_call(loop) for key, (loop, _) in LOOPS.items()}


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/run.dbr"
        with recorder.open(path, max_bytes=256 << 20, policy="stop"):
            recorder.enable(False)
            values = measure("off")
            recorder.enable(True)
            values |= measure("on")
            lost = recorder.losses()
        counts = Counter(record.name for record in Recording(path).records)
    wrong = {name: counts[name] for _, name in LOOPS.values() if counts[name] != 2 * ROUNDS * LOOP}
    if wrong or any(lost):
        sys.exit(f"each must be recorded {2 * ROUNDS * LOOP} times: {wrong}, lost {lost}")
    print("python_binding", *(f"{key}={value:.1f}" for key, value in values.items()))


main()
