"""Recorded compile logs: all of each is read and understood, and logs of tangled ranks come apart again.

The truth is torch_trace_reader.py, a plain reading of the same files.
"""
import hashlib
import json
import random
from collections import Counter

import torch_trace_reader

PAIRS = [("healthy", 0, 5), ("healthy", 4, 6), ("compile_divergence", 0, 3), ("recompile_hang", 2, 3),
         ("missing_collective", 1, 5)]
COUNTERS = ("bad_prefix", "bad_json", "bad_json_lost", "bad_checksum", "lost", "unknown_keys")
SHOWN = 10
# debrief reads these; tlparse 0.4.3 does not, and --compat counts as it does.
NEWER_KINDS = {"compilation_metrics_runtime", "bwd_compilation_metrics_runtime", "create_symbol"}


def recorded_logs(data):
    """{path as the command shows it: content}"""
    found = [*(data / "recorded/compile").glob("*/*.log"), *(data / "recorded/jobs").glob("*/torch_trace/*.log")]
    assert len(found) > 80, len(found)
    return {path.relative_to(data).as_posix(): path.read_bytes() for path in sorted(found)}


def query(context, out, sql):
    return json.loads(context.run("query", out, sql, "--json").stdout)


def import_all(context):
    """The store of all recorded logs."""
    out = context.scratch / "out"
    context.run(*recorded_logs(context.data), "-o", out, "--quiet")
    return out


def assert_nothing(wrong):
    assert not wrong, "\n".join(wrong[:SHOWN]) + (f"\n... {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else "")


def test_reader(context):
    """The independent reading itself: it must take every line, and see a changed payload."""
    for path, content in recorded_logs(context.data).items():
        entries, strings, strays = torch_trace_reader.read_log(content)
        assert strays == 0, f"{path}: {strays} stray lines"
        assert all(entry.payload_ok for entry in entries if entry.has_payload), path
        assert sum(len(entry.lines) for entry in entries) + content.count(b'{"str": [') == content.count(b"\n"), path
    text = b'V1115 02:33:12.159000 425 torch/a.py:1] {"artifact": {}, "has_payload": "%s"}\n\tx\n\t\n\ty\n'
    for payload, right in ((b"x\n\ny", True), (b"x\ny", False)):
        log = text % hashlib.md5(payload).hexdigest().encode()
        assert torch_trace_reader.read_log(log)[0][0].payload_ok == right


def test_counts(context):
    """Of every log: entries of each kind of each compilation, payloads with their checksums, strings."""
    logs, out, wrong = recorded_logs(context.data), import_all(context), []
    rows = query(context, out, "SELECT input, path FROM input WHERE kind = 'torch_trace'")
    paths = {row["input"]: row["path"] for row in rows}
    assert set(paths.values()) == set(logs), sorted(set(paths.values()) ^ set(logs))[:SHOWN]
    found = {path: Counter() for path in logs}
    for row in query(context, out, "SELECT input, compile_id, kind, count(*) AS n FROM compile_entry GROUP BY ALL"):
        found[paths[row["input"]]][(row["compile_id"], row["kind"])] = row["n"]
    payloads = {paths[row["input"]]: (row["n"], row["good"]) for row in query(
        context, out, "SELECT input, count(DISTINCT entry) AS n, count(DISTINCT entry) FILTER (payload_ok) AS good "
                      "FROM compile_entry WHERE payload_offset IS NOT NULL GROUP BY input")}
    strings = {path: {} for path in logs}
    for row in query(context, out, "SELECT input, number, text FROM compile_string ORDER BY input, entry"):
        strings[paths[row["input"]]][row["number"]] = row["text"]
    for path, content in logs.items():
        entries, table, _ = torch_trace_reader.read_log(content)
        wanted = torch_trace_reader.count_kinds(entries)
        if wanted != found[path]:
            wrong.append(f"{path}: too few {dict(wanted - found[path])}, too many {dict(found[path] - wanted)}")
        with_payload = sum(entry.has_payload for entry in entries)
        if payloads.get(path, (0, 0)) != (with_payload, sum(entry.payload_ok for entry in entries)):
            wrong.append(f"{path}: payloads and good ones {payloads.get(path)}, must be {with_payload}")
        if strings[path] != table:
            wrong.append(f"{path}: string table {strings[path]}, must be {table}")
    assert_nothing(wrong)


def test_all_is_understood(context):
    out, wrong = import_all(context), []
    for row in query(context, out, "SELECT i.path, l.* FROM compile_log l JOIN input i USING (input)"):
        bad = {name: row[name] for name in COUNTERS if row[name]}
        if bad:
            wrong.append(f"{row['path']}: {bad}")
    wrong += [f"{row['path']}: {row['name']} x {row['count']}" for row in query(
        context, out, "SELECT path, name, count FROM diagnostic WHERE severity = 'error'")]
    assert_nothing(wrong)


def test_places(context):
    """Where the line, the JSON and the payload of each entry lie."""
    out, wrong, logs = import_all(context), [], recorded_logs(context.data)
    rows = query(context, out, "SELECT i.path, entry, line, header_bytes, json_offset, payload_offset, payload_bytes "
                               "FROM compile_entry JOIN input i USING (input) WHERE i.path LIKE '%compile/%'")
    entries = {path: {entry.offset: entry for entry in torch_trace_reader.read_log(content)[0]}
               for path, content in logs.items() if "recorded/compile/" in path}
    assert len(rows) >= sum(map(len, entries.values())) > 2000
    for row in rows:
        content, entry = logs[row["path"]], entries[row["path"]].get(row["entry"])
        place = f"{row['path']} line {row['line']}"
        if entry is None or entry.line != row["line"]:
            wrong.append(f"{place}: no entry begins at byte {row['entry']}")
            continue
        if row["header_bytes"] != len(entry.lines[0]) or json.loads(entry.lines[0][row["json_offset"]:]) != entry.envelope:
            wrong.append(f"{place}: header_bytes {row['header_bytes']} or json_offset {row['json_offset']} is wrong")
        lines = content[row["payload_offset"] or 0:][:row["payload_bytes"] or 0]
        if lines.removesuffix(b"\n") != b"\n".join(entry.lines[1:]):
            wrong.append(f"{place}: payload at {row['payload_offset']}, {row['payload_bytes']} bytes")
    assert_nothing(wrong)


def test_trees_of_recorded_logs(context):
    """Each compiles to a tree without a complaint, and raw.jsonl has all entries but the chromium events."""
    wrong = []
    for number, (path, content) in enumerate(recorded_logs(context.data).items()):
        if number % 5 and "recorded/compile" not in path:
            continue  # the logs of a job are much alike
        out = context.scratch / str(number)
        done = context.run("compile", path, "-o", out, "--no-browser", "--strict", "--compat", check=False)
        entries, _, _ = torch_trace_reader.read_log(content)
        events = sum("chromium_event" in entry.envelope for entry in entries)
        newer = sum(kind in NEWER_KINDS for entry in entries for kind in entry.kinds)
        line = f"Stats {{ ok: {len(entries)}{f', unknown: {newer}' if newer else ''} }}"
        if done.returncode != 0 or line not in done.stderr.splitlines():
            wrong.append(f"{path}: exit code {done.returncode}, no '{line}': {done.stderr[-300:]}")
            continue
        if len((out / "raw.jsonl").read_text().splitlines()) != len(entries) - events + 1:
            wrong.append(f"{path}: raw.jsonl has not one line for each of {len(entries) - events} entries")
        if len(json.loads((out / "chromium_events.json").read_text())) != events:
            wrong.append(f"{path}: not {events} chromium events")
        if (out / "raw.log").read_bytes() != content:
            wrong.append(f"{path}: raw.log differs")
    assert_nothing(wrong)


# --- ranks that wrote into one file ---

def alternate(first, second, _):
    """Line by line; what is left of the longer one at the end."""
    shared = min(len(first), len(second))
    return [line for pair in zip(first, second) for line in pair] + first[shared:] + second[shared:]


def riffle(first, second, numbers, longest=1):
    """Runs of up to `longest` lines from either, by lot."""
    mixed, rest = [], [list(reversed(first)), list(reversed(second))]
    while rest[0] or rest[1]:
        side = numbers.randrange(2) if rest[0] and rest[1] else (0 if rest[0] else 1)
        for _ in range(min(numbers.randint(1, longest), len(rest[side]))):
            mixed.append(rest[side].pop())
    return mixed


def by_blocks(first, second, numbers):
    return riffle(first, second, numbers, 40)


def job_log(data, job, rank):
    """The largest log of a rank: a job that was restarted has several."""
    found = (data / f"recorded/jobs/{job}/torch_trace").glob(f"dedicated_log_torch_trace_rank_{rank}_*.log")
    return max(found, key=lambda path: path.stat().st_size).read_bytes()


def split_again(context, mixed, name):
    path, folder = context.scratch / f"{name}.log", context.scratch / f"{name}_split"
    path.write_bytes(mixed)
    words = ["--split-ranks", folder, "--no-browser", "-o", context.scratch / f"{name}_out"]
    return context.run("compile", path, *words, check=False), folder


def complaint_about(folder, rank, original):
    path = folder / f"dedicated_log_torch_trace_rank_{rank}.log"
    if not path.is_file():
        return f"no {path.name}; there are {sorted(file.name for file in folder.iterdir()) if folder.exists() else 'none'}"
    got, wanted = path.read_bytes().split(b"\n"), original.split(b"\n")
    if got == wanted:
        return None
    at = next((index for index, pair in enumerate(zip(got, wanted)) if pair[0] != pair[1]), min(len(got), len(wanted)))
    return (f"rank {rank}: {len(got)} lines, must be {len(wanted)}; line {at + 1}\n"
            f"    ours    {got[at:at + 1]}\n    must be {wanted[at:at + 1]}")


def falsehood_about(folder, rank, original):
    """What stands in the log of a rank and not in its original; payloads that could not be proved may be missing."""
    path, rest = folder / f"dedicated_log_torch_trace_rank_{rank}.log", iter(original.split(b"\n"))
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if not any(line == other for other in rest):
            return f"rank {rank}: line {number} is not the rank's, or not in order: {line[:100]}"
    return None


def headers(content):
    return [line for line in content.split(b"\n") if line and not line.startswith(b"\t")]


def unmix(context, mix, about=complaint_about):
    wrong = []
    for job, one, other in PAIRS:
        first, second = job_log(context.data, job, one), job_log(context.data, job, other)
        lines = mix(first.removesuffix(b"\n").split(b"\n"), second.removesuffix(b"\n").split(b"\n"), random.Random(17))
        name = f"{job}_{one}_{other}"
        done, folder = split_again(context, b"\n".join(lines) + b"\n", name)
        if done.returncode != 0:
            wrong.append(f"{name}: exit code {done.returncode}: {done.stderr[-300:]}")
            continue
        found = [about(folder, one, first), about(folder, other, second)]
        wrong += [f"{name}: {complaint}" for complaint in found if complaint]
    assert_nothing(wrong)


def test_split_riffled(context):
    unmix(context, riffle)


def test_split_alternating(context):
    unmix(context, alternate)


def test_split_blocks(context):
    """Long payloads of two ranks that are nearly the same cannot always be told apart: what comes out is true."""
    unmix(context, by_blocks, falsehood_about)


def test_split_one_rank(context):
    """A log of one rank stays what it is."""
    content = job_log(context.data, "healthy", 2)
    done, folder = split_again(context, content, "one")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in folder.iterdir() if path.name != ".debrief"] == ["dedicated_log_torch_trace_rank_2.log"]
    assert complaint_about(folder, 2, content) is None


def test_split_eight_ranks(context):
    """All ranks of a job, by blocks: every entry comes back, and every payload line is the rank's."""
    logs = {rank: job_log(context.data, "compile_divergence", rank) for rank in range(8)}
    numbers, rest = random.Random(17), {rank: log.removesuffix(b"\n").split(b"\n")[::-1] for rank, log in logs.items()}
    mixed = []
    while any(rest.values()):
        lines = rest[numbers.choice([rank for rank in rest if rest[rank]])]
        mixed += [lines.pop() for _ in range(min(numbers.randint(1, 30), len(lines)))]
    done, folder = split_again(context, b"\n".join(mixed) + b"\n", "eight")
    assert done.returncode == 0, done.stderr
    assert_nothing([complaint for rank, log in logs.items() if (complaint := falsehood_about(folder, rank, log))])
    for rank, log in logs.items():
        split = (folder / f"dedicated_log_torch_trace_rank_{rank}.log").read_bytes()
        assert headers(split) == headers(log), f"rank {rank}: entries"
        assert split.count(b"\n\t") > 0.3 * log.count(b"\n\t"), f"rank {rank}: most payloads are lost"
