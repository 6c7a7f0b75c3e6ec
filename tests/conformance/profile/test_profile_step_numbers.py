"""Steps have one numbering: that of the profiler's marks in the files, in every table, sheet and finding about the same job."""
import csv
import gzip
import io
import json
import re

JOBS = ("recorded/jobs/slow_rank", "recorded/jobs/slow_gpu", "recorded/jobs/healthy")
TABLES = ("timeline_step", "profile_step", "profile_breakdown", "profile_overlap", "timeline_launch", "profile_critical_summary")


def marks_of(folder):
    """Numbers of ProfilerStep#N in the profiles of a job."""
    found = set()
    for path in folder.glob("*.json.gz"):
        with gzip.open(path, "rt") as file:
            found |= {int(number) for number in re.findall(r'"ProfilerStep#(\d+)"', file.read())}
    return found


def steps_in(rows):
    return {int(row["step"]) for row in rows if row["step"] not in (None, "")}


def test_one_numbering(context):
    for job in JOBS:
        marks = marks_of(context.data / job)
        assert marks, job
        out = context.scratch / job.replace("/", "_")
        context.run(job, "-o", out, "--quiet", "--no-report")
        for table in TABLES:
            steps = steps_in(json.loads(context.run("query", out, f"SELECT DISTINCT step FROM {table}", "--json").stdout))
            assert steps <= marks, (job, table, steps, marks)
        assert steps_in(json.loads(context.run("query", out, "SELECT DISTINCT step FROM timeline_step", "--json").stdout)) == marks
        sheet = context.run("profile", "steps", job, "--csv", "--quiet").stdout.split("\n# ")[0]
        assert steps_in(csv.DictReader(io.StringIO(sheet))) == marks, (job, sheet[:300])
        findings = json.loads((out / "findings.json").read_text())["findings"]
        told = {int(number) for finding in findings for number in re.findall(r"\bStep (\d+)", finding["headline"])}
        assert told <= marks, (job, told, marks)


def test_a_step_of_the_output_is_the_profilers(context):
    """A program that prints the number it gives to the profiler: both are one number."""
    folder = context.scratch / "both"
    folder.mkdir()
    events, at = [], 0
    for step in range(400, 408):
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": at, "dur": 9_000})
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at + 10, "dur": 5, "args": {"correlation": step}})
        events.append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": at + 30, "dur": 8_000,
                       "args": {"correlation": step, "device": 0, "stream": 7}})
        at += 10_000
    content = {"deviceProperties": [{"id": 0}], "distributedInfo": {"rank": 0, "world_size": 1}, "traceEvents": events}
    (folder / "rank0.pt.trace.json").write_text(json.dumps(content))
    (folder / "rank0.log").write_text("".join(f"step {step} loss 2.5\n" for step in range(400, 408)))
    out = context.scratch / "both_out"
    context.run(folder, "-o", out, "--quiet", "--no-report")
    numbers = [steps_in(json.loads(context.run("query", out, f"SELECT DISTINCT step FROM {table}", "--json").stdout))
               for table in ("timeline_step", "profile_step", "progress")]
    assert numbers == [set(range(400, 408))] * 3, numbers
