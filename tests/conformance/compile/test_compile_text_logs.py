"""What TORCH_LOGS printed and what the TORCH_TRACE log of the same process says must agree, whatever launchers made of the text."""
import csv
import io
import shutil

FOLDER = "torch_logs/mixed"
REASONS = "SELECT compile_id, previous_id, position, is_main, kind, source, dimension, old_value, guard, reason, user_file, user_line FROM compile_recompile ORDER BY ALL"
BREAKS = "SELECT first_compile_id, reason, explanation, hints, link, also, user_file, user_line, user_code, count FROM compile_break WHERE kind = 'graph_break' ORDER BY ALL"


def rows(context, paths, sql, name):
    out = context.scratch / name
    if not out.exists():
        context.run(*paths, "-o", out, "--quiet")
    return list(csv.reader(io.StringIO(context.run("query", out, "--csv", sql).stdout)))


def test_agrees_with_the_trace(context):
    text, trace = [context.data / FOLDER / "output.txt"], [context.data / FOLDER / "trace"]
    for sql in (REASONS, BREAKS):
        expected = rows(context, trace, sql, "trace")
        assert len(expected) > 2, "the log of the data tells nothing"
        found = rows(context, text, sql, "text")
        assert found == expected, f"{found}\n!=\n{expected}"


def test_one_process_is_told_once(context):
    both = rows(context, [context.data / FOLDER], "SELECT count(*) FROM compile_recompile", "both")
    trace = rows(context, [context.data / FOLDER / "trace"], "SELECT count(*) FROM compile_recompile", "trace")
    assert both == trace, f"{both} instead of {trace}"


def test_marks_of_launchers(context):
    """The same lines by two ranks, by turns, behind the marks of torchrun and of a container."""
    lines = (context.data / FOLDER / "output.txt").read_text().splitlines()
    expected = rows(context, [context.data / FOLDER / "output.txt"], REASONS, "text")
    for name, mark in (("tee", "[default{0}]:[rank{0}]:"), ("container", "2026-11-15T23:26:10.278000000Z stderr F [rank{0}]:")):
        folder = context.scratch / f"in_{name}"
        folder.mkdir()
        mixed = [mark.format(rank) + line.replace(" 2065 ", f" {2065 + rank} ", 1) for line in lines for rank in range(2)]
        (folder / "job.txt").write_text("\n".join(mixed) + "\n")
        for rank in range(2):
            found = rows(context, [folder], REASONS.replace("ORDER BY", f"WHERE rank = {rank} ORDER BY"), name)
            assert found == expected, f"{name}, rank {rank}: {found}"


def test_summary_reads_text(context):
    done = context.run("compile", context.data / FOLDER / "output.txt", "--summary")
    assert "branchy (compile_cases.py:58) was compiled 5 x" in done.stdout, done.stdout
    assert "Graph breaks" in done.stdout and "compile_cases.py:66" in done.stdout, done.stdout


def test_prefixed_trace_is_whole(context):
    """A recorded log behind marks, with the line ends of Windows: every payload's checksum holds, and the tree is the same."""
    source = next((context.data / FOLDER / "trace").glob("*.log"))
    log = context.scratch / "log.txt"
    with open(source, "rb") as whole, open(log, "wb") as marked:
        for line in whole:
            marked.write(b"2026-11-15T23:26:10.278000000Z stdout F [default0]:" + line.rstrip(b"\n") + b"\r\n")
    for path, tree in ((source, "a"), (log, "b")):
        context.run("compile", path, "-o", context.scratch / tree, "--no-browser", "--strict", "-p")
    names = {tree: sorted(str(path.relative_to(context.scratch / tree)) for path in (context.scratch / tree).rglob("*") if path.is_file()) for tree in "ab"}
    assert names["a"] == names["b"], set(names["a"]) ^ set(names["b"])
    differ = [name for name in names["a"] if not name.startswith("raw.") and not name.endswith(".html") and
              (context.scratch / "a" / name).read_bytes() != (context.scratch / "b" / name).read_bytes()]
    assert not differ, differ[:10]
    shutil.rmtree(context.scratch / "b")
