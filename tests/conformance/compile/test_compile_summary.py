"""`debrief compile --summary` and the other answers on the recorded logs.

summaries/NAME.txt is what the summary of recorded/compile/NAME must be. The numbers in them were checked: those of `mixed`
and `cache` by test_compile_answers.py and test_compile_time.py, the others against the logs.
"""
import json
import py_compile
from pathlib import Path

EXPECTED = Path(__file__).parent / "summaries"


def summary(context, path, *words):
    return context.run("compile", path, "--summary", *words).stdout


def test_summaries(context):
    cases = sorted(EXPECTED.glob("*.txt"))
    assert len(cases) == 6
    for case in cases:
        found = summary(context, context.data / "recorded/compile" / case.stem).replace(str(context.data), "DATA")
        assert found == case.read_text(), f"{case.stem}:\n{found}"


def test_first_lines_of_mixed(context):
    lines = summary(context, context.data / "recorded/compile/mixed").splitlines()
    assert lines[0].startswith("12 compilations of 7 functions") and "3 failed" in lines[0] and "5 compiled again" in lines[0]
    assert lines[1].startswith("error: ") and "compile_cases.py:" in lines[1]
    assert lines[2].startswith("next: ")
    assert len(lines) < 60, "one screen"


def test_one_rank_differs(context):
    lines = summary(context, context.data / "recorded/jobs/compile_divergence").splitlines()
    assert lines[1].startswith("warning: Rank 3 alone compiles function extra (dist_job.py:27)"), lines[1]


def test_healthy_blames_nobody(context):
    lines = summary(context, context.data / "recorded/jobs/healthy").splitlines()
    assert lines[1] == "Nothing stands out.", lines[1]


def test_slow_compilation_of_a_hang(context):
    lines = summary(context, context.data / "recorded/jobs/recompile_hang").splitlines()
    assert "Rank 3 was compiling aux_slow (dist_job.py:34)" in lines[1], lines[1]


def test_one_compilation_alone(context):
    found = json.loads(summary(context, context.data / "recorded/compile/mixed", "--compile-id", "4/2", "--json"))
    assert [row["compile_id"] for row in found["compilation"]] == ["4/2"]
    assert found["compile_recompile"] and all(row["compile_id"] == "4/2" for row in found["compile_recompile"])


def test_graph_and_difference(context):
    log = context.data / "recorded/compile/mixed"
    table = context.run("compile", log, "--graph", "1/0").stdout
    assert "layer_norm" in table and "f32[4, 64, 128]" in table and "compile_cases.py:" in table
    difference = context.run("compile", log, "--graph", "1/1", "--against", "1/0").stdout
    assert "Sym(s27)" in difference.replace("s77", "s27") and "f32[4, 64, 128]" in difference
    wrong = context.run("compile", log, "--graph", "9/9", check=False)
    assert wrong.returncode == 1 and "there is no graph 9/9" in wrong.stderr


def test_runnables_compile(context):
    written = 0
    for name in ("mixed", "autotune", "compiled_autograd", "provenance_cpu", "cache"):
        folder = context.scratch / f"runnable_{name}"
        context.run("compile", context.data / "recorded/compile" / name, "--runnable", folder)
        for path in folder.glob("*.py"):
            py_compile.compile(str(path), cfile=str(path) + "c", doraise=True)
            written += 1
    assert written == 17, written


def test_flame_and_dot(context):
    log = context.data / "recorded/compile/mixed"
    lines = context.run("compile", log, "--collapsed").stdout.splitlines()
    assert len(lines) >= 6 and all(line.rsplit(" ", 1)[1].isdigit() for line in lines)
    assert json.loads(context.run("compile", log, "--speedscope").stdout)["profiles"]
    assert context.run("compile", log, "--dot").stdout.startswith("digraph")


def test_source_links(context):
    out = context.scratch / "linked"
    context.run("compile", context.data / "recorded/compile/mixed", "-o", out, "--no-browser",
                "--source-link", "https://host/{commit}/{path}#L{line}", "--commit", "abc")
    assert 'href="https://host/abc//home/user/projects/trainer/compile_cases.py#L43"' in (out / "index.html").read_text()
