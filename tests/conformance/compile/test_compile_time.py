"""What debrief says of compile time, caches, log size and ranks, beside a plain recomputation from the logs.

The logs are read here again in the simplest way: a line that begins with V is an entry, lines with a tab are its
payload. Numbers must agree to the nanosecond, the byte and the key.
"""
import json
import re
from collections import Counter, defaultdict
from fractions import Fraction

ENVELOPE = {"rank", "frame_id", "frame_compile_id", "attempt", "has_payload", "compiled_autograd_id", "stack", "process"}
PREFIX = re.compile(rb"^V\S+ \S+ +(\d+) (\S+?)\] ")


def entries(path):
    """(object, payload, bytes, thread, source) of each entry, the string table included."""
    found = []
    for line in path.read_bytes().splitlines(keepends=True):
        match = PREFIX.match(line)
        if match:
            found.append([json.loads(line[match.end():]), b"", len(line), int(match[1]), match[2].decode()])
        else:
            found[-1][1] += line[1:]
            found[-1][2] += len(line)
    return found


def kind_of(entry):
    if "artifact" in entry:
        return f"artifact: {entry['artifact']['name']}"
    if "str" in entry:
        return "(string table)"
    return next(key for key in entry if key not in ENVELOPE)


def log_of(context, case):
    (path,) = (context.data / "recorded/compile" / case).glob("*.log")
    return path


def tables(context, path, *queries):
    """The answers to SQL over the report of a path, as lists of rows."""
    folder = context.scratch / "report"
    context.run(path, "-o", folder, "--overwrite", "--quiet")
    answers = []
    for query in queries:
        answers.append(json.loads(context.run("query", folder, query, "--json").stdout))
    return answers


def phases_of(log):
    """Own and whole nanoseconds of each phase by name; begins and ends are paired by name, innermost first."""
    own, whole, count = Counter(), Counter(), Counter()
    open_phases = defaultdict(list)
    for entry, payload, _, thread, _ in log:
        if "chromium_event" not in entry:
            continue
        event = json.loads(payload)
        track = open_phases[thread, "frame_id" in entry]
        time = int(Fraction(event["ts"]) * 1000)  # the double that was written, without another rounding
        if event["ph"] == "B":
            track.append([event["name"], time, 0])
        elif event["ph"] == "E":
            name, start, inside = track.pop()
            assert name == event["name"]
            own[name] += time - start - inside
            whole[name] += time - start
            count[name] += 1
            if track:
                track[-1][2] += time - start
    return own, whole, count


def test_phases_of_mixed(context):
    path = log_of(context, "mixed")
    own, whole, count = phases_of(entries(path))
    (answer, spans) = tables(context, path, "SELECT name, count, total_ns, self_ns, share FROM compile_phase_total",
                             "SELECT sum(seconds) AS seconds FROM compile_span")
    got = {row["name"]: row for row in answer}
    assert set(got) == set(own), set(got) ^ set(own)
    for name, row in got.items():
        assert row["count"] == count[name], name
        assert row["total_ns"] == whole[name], name
        assert row["self_ns"] == own[name], name
        assert abs(row["share"] - own[name] / sum(own.values())) < 1e-6, name
    assert abs(spans[0]["seconds"] - sum(own.values()) / 1e9) < 1e-6


def test_cache_saving(context):
    path = log_of(context, "cache")
    want = []
    for entry, payload, *_ in entries(path):
        match = re.match(r"(.*cache)_(hit|miss|bypass)$", entry.get("artifact", {}).get("name", ""))
        if match:
            said = json.loads(payload)
            saved = said["time_saved_ns"] / 1e9 if "time_saved_ns" in said else said.get("time_saved_ms", 0) / 1e3
            want.append((match[1], match[2], said["key"], saved, said.get("time_taken_ns", 0) / 1e9))
    (answer,) = tables(context, path, "SELECT cache, status, key, saved_s, spent_s FROM compile_cache_use ORDER BY entry")
    got = [(row["cache"], row["status"], row["key"], row["saved_s"] or 0, row["spent_s"] or 0) for row in answer]
    assert len(want) == 4
    for a, b in zip(got, want, strict=True):
        assert a[:3] == b[:3] and abs(a[3] - b[3]) < 1e-9 and abs(a[4] - b[4]) < 1e-9, (a, b)


def test_weight_adds_up(context):
    for case in ("mixed", "cache", "autotune", "export"):
        path = log_of(context, case)
        kinds, sources = Counter(), Counter()
        for entry, _, size, _, source in entries(path):
            kinds[kind_of(entry)] += size
            sources["(string table)" if "str" in entry else source] += size
        (answer,) = tables(context, path, "SELECT divided_by, name, bytes FROM compile_weight")
        got = defaultdict(dict)
        for row in answer:
            got[row["divided_by"]][row["name"]] = row["bytes"]
        assert got["kind"] == dict(kinds), case
        assert got["source"] == dict(sources), case
        for way, names in got.items():
            assert sum(names.values()) == path.stat().st_size, (case, way)


def compiled(path):
    """Functions that a rank compiled, by its metrics, and the seconds of its events."""
    log = entries(path)
    functions = Counter()
    for entry, *_ in log:
        if "compilation_metrics" in entry:
            metrics = entry["compilation_metrics"]
            functions[metrics["co_name"], metrics["co_filename"], metrics["co_firstlineno"]] += 1
    return functions, sum(phases_of(log)[0].values()) / 1e9


def rank_findings(context, job):
    report = context.report([context.data / "recorded/jobs" / job])
    return [finding for finding in report["findings"] if finding["rule"] == "compile.rank_differs"]


def test_the_rank_that_compiles_something_else(context):
    folder = context.data / "recorded/jobs/compile_divergence"
    ranks = {int(re.search(r"rank_(\d+)", path.name)[1]): compiled(path) for path in folder.glob("torch_trace/*.log")}
    extra = {rank: functions - ranks[0][0] for rank, (functions, _) in ranks.items() if functions != ranks[0][0]}
    assert list(extra) == [3]
    ((name, file, line),) = extra[3]
    (finding,) = rank_findings(context, "compile_divergence")
    assert finding["ranks"] == [3] and finding["severity"] == "warning"
    assert f"{name} (" in finding["headline"] and finding["source"][0] == {"rank": 3, "file": file, "line": line}
    (times, only) = tables(context, folder, "SELECT rank, seconds, compilations FROM compile_rank_time",
                           "SELECT function, line FROM compile_rank_only")
    assert [(row["function"], row["line"]) for row in only] == [(name, line)]
    assert len(times) == len(ranks)
    for row in times:
        functions, seconds = ranks[row["rank"]]
        assert row["compilations"] == sum(functions.values())
        assert abs(row["seconds"] - seconds) < 1e-6


def test_other_jobs_blame_nobody(context):
    for job in ("healthy", "crash", "straggler", "missing_collective", "size_mismatch", "p2p_size", "slow_gpu"):
        found = rank_findings(context, job)
        assert not found, (job, found[0]["headline"])
    (finding,) = rank_findings(context, "recompile_hang")
    assert finding["ranks"] == [3] and "aux_slow" in finding["headline"]


def test_flame_has_all_compilations(context):
    path = log_of(context, "mixed")
    folder = context.scratch / "flame"
    context.run(path, "-o", folder, "--quiet", "--no-store", "--with", "compile_flame")
    own = sum(phases_of(entries(path))[0].values())
    lines = (folder / "compile_flame.collapsed").read_text().splitlines()
    assert abs(sum(int(line.rsplit(" ", 1)[1]) for line in lines) - own / 1000) < 100
    scope = json.loads((folder / "compile_flame.speedscope.json").read_text())
    (profile,) = scope["profiles"]
    assert len(profile["samples"]) == len(profile["weights"]) == 12
    assert max(max(sample) for sample in profile["samples"]) == len(scope["shared"]["frames"]) - 1
    dot = (folder / "compile_stacks.dot").read_text()
    assert dot.startswith("digraph") and dot.endswith("}\n")
