#!/usr/bin/env python3
"""Makes inputs of every kind whose texts are all hostile.

usage: hostile_inputs.py FOLDER

Good inputs (examples/ and the goldens' inputs) are read, and EVIL is appended to every text in them that is not structure: function names,
files, groups, kernels, shapes, payloads, keys of free objects. One text of each kind is a line of 10 MB. What is a text
is decided by the format's own reader (json, pickle), so that a field nobody thought of is hostile, too.
"""
import gzip
import hashlib
import json
import pickle
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EVIL = ("</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>"
        "\"'`javascript:window.hacked=1 \u202egnp.exe\u202c \u2028\x1b[31m\x00{{data}}${window.hacked=1}")
LONG = "L" * 10_000_000
# Values that make the input what it is: with anything appended another kind of entry would be tested, or none.
STRUCTURE = {"ph", "cat", "state", "version", "has_payload", "encoding", "schema", "action", "segment_type", "comm_lib_version",
             "s", "bp", "pg_id", "collective_seq_id", "p2p_seq_id", "op_id", "displayTimeUnit", "Process Group Ranks", "ranks"}


def evil(value, key=""):
    """The same value with EVIL behind every text of it."""
    if isinstance(value, str):
        return value if key in STRUCTURE or value.isdigit() else value + EVIL
    if isinstance(value, dict):
        return {one: evil(inner, one if isinstance(one, str) else "") for one, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(evil(inner, key) for inner in value)
    return value


def compile_log(source, target):
    """Line by line: the envelope's texts and the payloads, checksums made anew."""
    lines = gzip.open(source).read().split(b"\n")
    out, at = [], 0
    while at < len(lines):
        line = lines[at]
        at += 1
        payload = []
        while at < len(lines) and lines[at].startswith(b"\t"):
            payload.append(lines[at][1:])
            at += 1
        head, bracket, text = line.partition(b"] {")
        if not bracket:
            continue
        entry = json.loads(b"{" + text)
        changed = evil(entry)
        if payload:
            body = b"\n".join(payload)
            try:
                body = json.dumps(evil(json.loads(body))).encode()
            except ValueError:
                body += b"\n# " + EVIL.replace("\u2028", " ").encode()
            changed["has_payload"] = hashlib.md5(body).hexdigest()
            payload = body.split(b"\n")
        out.append(head + b"] " + json.dumps(changed).encode())
        out += [b"\t" + one for one in payload]
    long = ("def forward(self):\n    # " + LONG).encode()
    entry = {"artifact": {"name": "long" + EVIL, "encoding": "string"}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0,
             "has_payload": hashlib.md5(long).hexdigest()}
    out.append(out[0].split(b"] ")[0] + b"] " + json.dumps(entry).encode())
    out += [b"\t" + one for one in long.split(b"\n")]
    target.write_bytes(b"\n".join(out) + b"\n")


def dump(source, target, is_long):
    """A Flight Recorder dump."""
    content = evil(pickle.loads(source.read_bytes()))
    if is_long:
        content["entries"][-1]["frames"][0]["name"] = LONG
    target.write_bytes(pickle.dumps(content))


def profile(source, target):
    content = evil(json.loads(source.read_text()))
    content["traceEvents"].append({"ph": "X", "cat": "cpu_op", "name": LONG, "pid": 1, "tid": 1, "ts": 1500, "dur": 10})
    target.write_text(json.dumps(content))


def snapshot(target):
    frames = [{"filename": "train.py" + EVIL, "line": 7, "name": "step" + EVIL}, {"filename": "a.py", "line": 1, "name": LONG}]
    block = {"address": 4096, "size": 1024, "requested_size": 1000, "state": "active_allocated", "frames": frames}
    segment = {"device": 0, "address": 4096, "total_size": 2048, "allocated_size": 1024, "active_size": 1024, "requested_size": 1000,
               "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": frames,
               "blocks": [block, {"address": 5120, "size": 1024, "state": "inactive", "frames": []}]}
    event = {"action": "alloc", "addr": 4096, "size": 1024, "stream": 0, "time_us": 1794709992158846, "frames": frames,
             "user_metadata": EVIL}
    target.write_bytes(pickle.dumps({"segments": [segment], "device_traces": [[event]],
                                     "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF" + EVIL: EVIL},
                                     "external_annotations": [{"name": EVIL, "device": 0, "stage": "START", "time_us": 1}]}))


def ops(target):
    entry = {"step": 0, "operation": "matmul" + EVIL, "device_id": "gpu:0" + EVIL, "input_shapes": [[64, 128]], "output_shape": [64, 10],
             "duration_us": 12.5, "output_elements": 640, "memory_bytes": 5120}
    target.write_text(json.dumps({"entries": [entry, entry | {"operation": LONG}], "total_duration_us": 25.0,
                                  "metadata": {"model" + EVIL: EVIL}}))


def output(source, target):
    """What a rank printed. A file with NUL at its head would be no text."""
    evil_line = EVIL.replace("\u2028", " ").replace("\x00", "")
    lines = [line + evil_line for line in source.read_text(errors="replace").splitlines()]
    target.write_text("\n".join([*lines, "RuntimeError: " + LONG, "RuntimeError: \x00"]) + "\n")


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    job, profiles = ROOT / "examples/hung-job", ROOT / "examples/two-rank-profile"
    for log in sorted(job.glob("*.log.gz")):
        compile_log(log, folder / log.name.removesuffix(".gz"))
    for one in sorted(job.glob("nccl_trace_rank_*")):
        dump(one, folder / one.name, is_long=one.name.endswith("5"))
    for one in sorted(job.glob("stdout_*")):
        output(one, folder / one.name)
    for one in sorted(profiles.glob("*.json")):
        profile(one, folder / one.name)
    trace = ROOT / "tests/golden/execution_trace/good"
    for one in trace.rglob("*.json"):
        if "expected" not in one.name:
            (folder / "execution_trace.json").write_text(json.dumps(evil(json.loads(one.read_text()))))
    snapshot(folder / "memory_snapshot.pickle")
    ops(folder / "op_trace.json")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: hostile_inputs.py FOLDER")
    main(Path(sys.argv[1]))
