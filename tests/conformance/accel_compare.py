"""Compares what `debrief accel --compat` writes with what acelyzer wrote.

Numbers agree when they differ by no more than 1e-12 of their size or 5e-4 (a double at 2e12 us has steps of 2.4e-4).
Not compared: the number behind a job's name (a salted hash), the command line, and the folder of the profile.
"""
import json
import re

JOB_NUMBER = re.compile(r"\(\d+\)")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$")
ABSOLUTE, RELATIVE = 5e-4, 1e-12
SHOWN = 3


def same_number(a, b):
    return a == b or abs(a - b) <= max(ABSOLUTE, RELATIVE * max(abs(a), abs(b)))


def differences(want, got, where=""):
    """Paths at which two JSON values differ."""
    if isinstance(want, bool) or isinstance(got, bool) or want is None or got is None:
        if want is not got:
            yield f"{where}: {want!r} became {got!r}"
    elif isinstance(want, (int, float)) and isinstance(got, (int, float)):
        if not same_number(want, got):
            yield f"{where}: {want!r} became {got!r}"
    elif isinstance(want, dict) and isinstance(got, dict):
        for key in want.keys() | got.keys():
            if key == "jobhash":
                continue
            if key not in got or key not in want:
                yield f"{where}.{key}: only in {'the reference' if key in want else 'ours'}"
            else:
                yield from differences(want[key], got[key], f"{where}.{key}")
    elif isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            yield f"{where}: {len(want)} elements became {len(got)}"
        for index, pair in enumerate(zip(want, got)):
            yield from differences(*pair, f"{where}[{index}]")
    elif isinstance(want, str) and isinstance(got, str):
        if JOB_NUMBER.sub("()", want) != JOB_NUMBER.sub("()", got):
            yield f"{where}: {want!r} became {got!r}"
    elif want != got:
        yield f"{where}: {want!r} became {got!r}"


def without_paths(trace):
    other = trace.get("otherData")
    if isinstance(other, dict):
        other.pop("CmdLine", None)
        for key in ("profile", "input", "compiler_info"):
            other.get("Settings", {}).pop(key, None)
    return trace


def by_time(events):
    """Events of one time are in no order that means anything: they are brought into one."""
    def text(event):
        return JOB_NUMBER.sub("()", json.dumps({key: value for key, value in event.items() if key not in ("ts", "dur")},
                                               sort_keys=True))
    return sorted(events, key=lambda event: (round(event.get("ts") or 0, 2), text(event)))


def compare_json(want, got):
    want, got = without_paths(json.loads(want)), without_paths(json.loads(got))
    if "deviceProperties" in want and len(want["deviceProperties"]) > 1:
        for trace in (want, got):
            trace["deviceProperties"].sort(key=json.dumps)
    problems = list(differences(want, got))
    if not problems or not isinstance(want.get("traceEvents"), list):
        return problems
    for trace in (want, got):
        trace["traceEvents"] = by_time(trace["traceEvents"])
    return list(differences(want, got))


def compare_text(want, got):
    """Tables: word by word, numbers as numbers."""
    problems = []
    want_lines, got_lines = (JOB_NUMBER.sub("()", text).splitlines() for text in (want, got))
    if len(want_lines) != len(got_lines):
        problems.append(f"{len(want_lines)} lines became {len(got_lines)}")
    for number, (a, b) in enumerate(zip(want_lines, got_lines), 1):
        words = re.split(r"[\t,]| +", a.strip()), re.split(r"[\t,]| +", b.strip())
        same = len(words[0]) == len(words[1]) and all(
            x == y or (NUMBER.match(x) and NUMBER.match(y) and same_number(float(x), float(y))) for x, y in zip(*words))
        if not same:
            problems.append(f"line {number}: {a!r} became {b!r}")
    return problems


def compare_files(want, got):
    want, got = want.read_text(), got.read_text(errors="replace")
    return compare_json(want, got) if want.lstrip().startswith("{") else compare_text(want, got)
