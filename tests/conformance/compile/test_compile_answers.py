"""What debrief says of the recorded compile logs against recorded/compile/ANSWERS.md.

The answers for `mixed` were written by hand from the program that made the log; `healthy` must be told nothing worse
than info; `recompile_hang` cut inside of its last compilation must name it.
"""
import json
import re

PROGRAM = "/home/user/projects/trainer/compile_cases.py"

# compile id, function, line, outcome, operations (None: not told), words of `why`
ANSWERS = [
    ("0/0", "forward", 27, "failed", None, None),
    ("1/0", "forward", 14, "ok", 17, None),
    ("1/1", "forward", 14, "ok", 17, "size of x at dimension 1 was 64, now 48"),
    ("2/0", "bad", 46, "failed", None, None),
    ("3/0", "bad2", 54, "failed", None, None),
    ("4/0", "branchy", 58, "ok", 3, None),
    ("4/1", "branchy", 58, "ok", 3, "k was 1, now 2"),
    ("4/2", "branchy", 58, "ok", 4, "type of k was int, now float"),
    ("4/3", "branchy", 58, "ok", 3, "flag was True, now False"),
    ("4/4", "branchy", 58, "ok", 4, "type of k was int, now float"),
    ("5/0", "datadep", 64, "restarted", 1, None),
    ("6/0", "torch_dynamo_resume_in_datadep_at_66", 66, "ok", 1, None),
]


def store_of(context, *paths):
    out = context.scratch / "out"
    context.run(*paths, "--quiet", "-o", out)

    def query(sql):
        answer = json.loads(context.run("query", out, sql, "--json").stdout)
        rows = answer["rows"] if isinstance(answer, dict) else answer
        return [tuple(row.values()) if isinstance(row, dict) else tuple(row) for row in rows]
    return query


def expect(found, expected, what):
    assert found == expected, f"{what}:\n  found    {found}\n  expected {expected}"


def mixed(context):
    return store_of(context, context.data / "recorded/compile/mixed")


def test_table_of_answers(context):
    text = (context.data / "recorded/compile/ANSWERS.md").read_text()
    told = re.findall(r"^\| (\d+/\d+) \| (\S+) \((\d+)\) \|", text, flags=re.M)
    expect([(i, f, int(line)) for i, f, line in told], [row[:3] for row in ANSWERS], "this test and ANSWERS.md")
    query = mixed(context)
    found = query("SELECT compile_id, function, line, outcome, ops, why FROM compilation ORDER BY first_entry")
    expect(found, ANSWERS, "compilation")
    expect(query("SELECT DISTINCT file FROM compilation"), [(PROGRAM,)], "files")
    expect(query("SELECT compile_id, restarts FROM compilation WHERE restarts > 0"), [("5/0", 1)], "restarts")
    expect(query("SELECT compile_id, previous_id, number FROM compilation WHERE previous_id IS NOT NULL ORDER BY first_entry"),
           [("1/1", "1/0", 1), ("4/1", "4/0", 1), ("4/2", "4/1", 2), ("4/3", "4/2", 3), ("4/4", "4/3", 4)], "chains")


def test_recompilations(context):
    query = mixed(context)
    expect(query("SELECT count(DISTINCT compile_id), count(DISTINCT split_part(compile_id, '/', 1)) FROM compile_recompile"),
           [(5, 2)], "five recompilations in two frames")
    columns = "compile_id, previous_id, kind, source, dimension, old_value, new_value, symbol, user_line"
    found = query(f"SELECT {columns} FROM compile_recompile WHERE is_main ORDER BY compile_id")
    expect(found, [("1/1", "1/0", "size", "L['x']", 1, "64", "48", "s27", 14),
                   ("4/1", "4/0", "value", "L['k']", None, "1", "2", "s16", 60),
                   ("4/2", "4/1", "type", "L['k']", None, "int", "float", "zf16", 60),
                   ("4/3", "4/1", "flag", "L['flag']", None, "True", "False", None, 60),
                   ("4/4", "4/3", "type", "L['k']", None, "int", "float", "zf16", 61)], "main changes")
    expect(query("SELECT previous_id, kind, old_value, new_value FROM compile_recompile WHERE compile_id = '4/3' ORDER BY position"),
           [("4/2", "type", "float", "int"), ("4/1", "flag", "True", "False"), ("4/0", "flag", "True", "False")], "4/3")
    expect(query("SELECT count(*) FROM compile_recompile WHERE new_value IS NULL OR kind = 'other'"), [(0,)], "unknown")
    step = query("SELECT next_step FROM compile_recompile WHERE compile_id = '1/1'")[0][0]
    assert step.startswith(f"Call `torch._dynamo.mark_dynamic(x, 1)` before the call at {PROGRAM}:30"), step
    expect(query("SELECT function, frames, compilations, recompilations, kind FROM compile_frame_group WHERE compilations > 1 ORDER BY 1"),
           [("branchy", [4], 5, 4, "type"), ("forward", [1], 2, 1, "size")], "groups")


def test_breaks_and_failures(context):
    query = mixed(context)
    found = query("SELECT kind, reason, user_file, user_line, compile_ids, count, resumes FROM compile_break ORDER BY kind DESC, user_line")
    expect(found, [("graph_break", "Failed to trace builtin operator", PROGRAM, 32, "0/0", 1, 0),
                   ("graph_break", "Unsupported Tensor.item() call with capture_scalar_outputs=False", PROGRAM, 66, "5/0", 1, 1),
                   ("failure", "Call to `torch._dynamo.graph_break()`", PROGRAM, 49, "2/0", 1, 0)], "breaks")
    expect(query("SELECT compile_id, fail_type, reason, user_line FROM compile_failure ORDER BY 1"),
           [("0/0", "Unsupported", "Failed to trace builtin operator", 32),
            ("2/0", "Unsupported", "Call to `torch._dynamo.graph_break()`", 49),
            ("3/0", "BackendCompilerFailed", "backend='broken_backend' raised: RuntimeError: backend refuses this graph", None)],
           "failures")
    expect(query("SELECT frames, whole, broken, empty, failed, unfinished, resumed, ops FROM compile_progress"),
           [(7, 3, 1, 0, 3, 0, 1, 23)], "progress")
    expect(query("SELECT kind, user_line FROM compile_blocker ORDER BY position LIMIT 1"), [("graph_break", 32)], "blocker")


def test_guards(context):
    query = mixed(context)
    found = query("SELECT compile_id, kind, source, failed FROM compile_guard WHERE failed > 0 ORDER BY 1, position")
    expect(found, [("1/0", "TENSOR_MATCH", "L['x']", 1),
                   ("4/0", "EQUALS_MATCH", "L['k']", 3), ("4/0", "TRUE_MATCH", "L['flag']", 1),
                   ("4/1", "TYPE_MATCH", "L['k']", 2), ("4/1", "TRUE_MATCH", "L['flag']", 1),
                   ("4/2", "TYPE_MATCH", "L['k']", 1), ("4/2", "TRUE_MATCH", "L['flag']", 1),
                   ("4/3", "TYPE_MATCH", "L['k']", 1)], "guards that failed")
    expect(query("SELECT sum(failed) FROM compile_guard"), query("SELECT count(*) FROM compile_recompile"), "all found")
    text = next((context.data / "recorded/compile/mixed").glob("*.log")).read_text()
    leaves = re.findall(r"^\t[| ]*\+- (?!\w*Manager)", text, flags=re.M)
    expect(query("SELECT count(*) FROM compile_guard"), [(len(leaves),)], "number of guards")


def rules(report, level=("error", "warning")):
    return sorted((f["rule"], f["severity"]) for f in report["findings"]
                  if f["rule"].startswith("compile.") and f["severity"] in level)


def test_findings(context):
    report = context.report([context.data / "recorded/compile/mixed"])
    expect(rules(report), [("compile.failed", "error"), ("compile.failed", "error"), ("compile.failed", "warning"),
                           ("compile.graph_breaks", "warning"), ("compile.recompile_storm", "warning")], "mixed")
    for job in ("healthy", "slow_rank"):
        expect(rules(context.report([context.data / f"recorded/jobs/{job}/torch_trace"])), [], job)


def test_unfinished(context):
    log = next((context.data / "recorded/jobs/recompile_hang/torch_trace").glob("*rank_3_*"))
    lines = log.read_text().splitlines(keepends=True)
    end = next(i for i, line in enumerate(lines) if "03:54:23" in line)  # 45 s after the compilation began
    cut = context.scratch / "cut"
    cut.mkdir()
    (cut / log.name).write_text("".join(lines[:end]))
    report = context.report([cut])
    found = [f for f in report["findings"] if f["rule"] == "compile.unfinished"]
    assert len(found) == 1, report["findings"]
    expect((found[0]["severity"], found[0]["ranks"], found[0]["compile_ids"]), ("error", [3], ["1/0"]), "finding")
    assert "aux_slow (dist_job.py:34)" in found[0]["headline"], found[0]["headline"]
