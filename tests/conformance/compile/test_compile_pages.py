"""What pages of debrief compile must say: the facts that tlparse's own tests look for.

Where the inputs of those tests are not among the data (execution order, parity of collectives), small logs stand in.
"""
import html
import json
import re
import shutil
from pathlib import Path

import compile_golden as golden
import compile_provenance
from torch_trace_writer import CODE, Log, good_log

INPUTS = "public/tlparse/inputs"

# input: (files that must be there, entries of the line mappings); a map that is not named is empty, see EMPTY
PROVENANCE = {
    "aot_cuda": (["before_pre_grad_graph_0.txt", "after_post_grad_graph_6.txt", "inductor_provenance_tracking_node_mappings_12.json"],
                 {"cppCodeToPost": {"1060": [14, 27, 24], "1084": [35, 31, 28, 34, 33, 32]}}),
    "aot_debug_handle": (["inductor_provenance_tracking_node_mappings_10.json"],
                         {"cppCodeToPost": {"1074": [12], "1079": [19, 16, 13], "1087": [22], "1096": [25],
                                            "1102": [33, 29, 26, 32, 31, 30]}}),
    "aot": (["inductor_provenance_tracking_node_mappings_11.json"],
            {"cppCodeToPost": {"813": None, "821": None, "829": None, "834": None}}),
    "aot_old": (["inductor_pre_grad_graph_0.txt", "inductor_post_grad_graph_8.txt", "inductor_provenance_tracking_node_mappings_11.json"],
                {"cppCodeToPost": {"704": [21], "717": [31, 27, 30, 29, 28]}}),
    "jit_cuda": (["before_pre_grad_graph_1.txt", "after_post_grad_graph_8.txt", "inductor_provenance_tracking_node_mappings_14.json"],
                 {"pyCodeToPost": {"186": None, "192": None, "197": None, "201": None, "207": None}}),
    "jit": (["inductor_provenance_tracking_node_mappings_13.json"],
            {"pyCodeToPost": {"132": None, "138": None, "142": None, "147": None}}),
}


def compile_tree(context, source, *flags, name="out", check=True):
    """(folder, CompletedProcess)"""
    out = context.scratch / name
    return out, context.run("compile", source, "-o", out, "--no-browser", *flags, check=check)


def rank_folder(context, name, logs):
    """A folder of rank logs: {rank: bytes or a path under the inputs}."""
    folder = context.scratch / name
    folder.mkdir()
    for rank, content in logs.items():
        data = content if isinstance(content, bytes) else (context.data / INPUTS / content).read_bytes()
        (folder / f"dedicated_log_torch_trace_rank_{rank}.log").write_bytes(data)
    return folder


def landing_page(context, logs, name="ranks"):
    out, _ = compile_tree(context, rank_folder(context, name, logs), "--all-ranks-html", name=f"{name}_out")
    return (out / "index.html").read_text()


def chosen_ranks(folder, ranks):
    """{rank: path} of an input folder, only those ranks."""
    return {int(match[1]): path.read_bytes() for path in sorted(folder.iterdir())
            if (match := golden.RANK_LOG.fullmatch(path.name)) and int(match[1]) in ranks}


def provenance_log(kind):
    return f"{INPUTS}/inductor_provenance_{'aot_log_old' if kind == 'aot_old' else kind + '_log'}.txt"


def mappings_of(page):
    script = re.search(r'<script id="lineMappings" type="application/json">(.*?)</script>', page, re.S)
    assert script, "no script with id lineMappings"
    return json.loads(script[1])


# --- one log ---

def test_names_of_files(context):
    """Prefixes and numbers that tlparse's tests name."""
    wanted = {
        "simple": ["-_0_0_0/aot_forward_graph", "-_0_0_0/dynamo_output_graph", "-_0_0_0/inductor_post_grad_graph",
                   "-_0_0_0/inductor_output_code", "index.html", "compile_directory.json", "failures_and_restarts.html"],
        "comp_metrics": [f"{id}/{name}" for id in ("-_0_0_1", "-_1_0_1", "-_2_0_0")
                         for name in ("dynamo_output_graph", "compilation_metrics")],
        "comp_failure": ["-_0_0_0/dynamo_output_graph", "-_0_0_0/compilation_metrics"],
        "artifacts": ["-_0_0_0/fx_graph_cache_hash", "index.html"],
        "chromium_events": ["chromium_events.json", "index.html"],
        "cache_hit_miss": [f"-_1_0_0/fx_graph_cache_{name}.json" for name in ("miss_33", "miss_9", "hit_20")],
    }
    for log, prefixes in wanted.items():
        out, _ = compile_tree(context, f"{INPUTS}/{log}.log", "--strict", name=log)
        paths = golden.paths_of(out)
        missing = [prefix for prefix in prefixes if not any(path.startswith(prefix) for path in paths)]
        assert not missing, f"{log}: {missing}"


def test_index_links_every_file(context):
    """Each listed file is linked from the index with its number, and every link inside a page leads somewhere."""
    for log in ("simple", "cache_hit_miss", "comp_metrics", "links", "comp_failure"):
        out, _ = compile_tree(context, f"{INPUTS}/{log}.log", name=log)
        index = (out / "index.html").read_text()
        directory = json.loads((out / "compile_directory.json").read_text())
        listed = [file for entry in directory.values() for file in entry["artifacts"]]
        links = [html.unescape(link) for link in re.findall(r'href="([^"]*)"', index)]
        assert not [file["url"] for file in listed if file["url"] not in links], log
        for page in out.rglob("*.html"):
            for link in re.findall(r"""<a\s[^>]*href=["']([^"'#?]+)["'#?]""", page.read_text()):
                link = html.unescape(link)
                if not re.match(r"[a-z]+:", link):
                    assert (page.parent / link).exists(), f"{log}: {page.relative_to(out)} links to {link}, which is not there"


def test_header(context):
    header = "<b id='mine'>a &amp; b</b>"
    out, _ = compile_tree(context, f"{INPUTS}/simple.log", "--custom-header-html", header)
    assert header in (out / "index.html").read_text()
    flags = ["--all-ranks-html", "--custom-header-html", header]
    out, _ = compile_tree(context, f"{INPUTS}/multi_rank_schedule", *flags, name="ranks")
    assert header in (out / "index.html").read_text()


def test_failures(context):
    out, _ = compile_tree(context, f"{INPUTS}/comp_failure.log")
    page = (out / "failures_and_restarts.html").read_text()
    metrics = [json.loads(line)["compilation_metrics"] for line in (out / "raw.jsonl").read_text().splitlines()[1:]
               if "compilation_metrics" in json.loads(line)]
    assert metrics and metrics[0]["fail_type"]
    for words in ("Compile Id", "Failure Type", "Failure Description", "Failure Source", "[0/0]", metrics[0]["fail_type"]):
        assert words in html.unescape(page), words
    assert "Failures and Restarts" in (out / "index.html").read_text()
    out, _ = compile_tree(context, f"{INPUTS}/comp_metrics.log", name="restarts")
    assert "RestartAnalysis" in (out / "failures_and_restarts.html").read_text()


def test_colours(context):
    """ok, break, empty, error: one compilation of each in the stack trie."""
    log = good_log().start((1, 0, 0), 3).metrics((1, 0, 0), restart_reasons=["graph break"]).start((2, 0, 0), 4)
    log.metrics((2, 0, 0), graph_op_count=0).start((3, 0, 0), 5).metrics((3, 0, 0), fail_type="E", fail_reason="because")
    log.start((4, 0, 0), 6)
    path = context.scratch / "colours.log"
    path.write_bytes(log.bytes())
    out, _ = compile_tree(context, path)
    index = (out / "index.html").read_text()
    found = re.findall(r'<a class="(\w+)[^"]*" href="#\[(\d)/0\]">', index)
    assert sorted(found, key=lambda pair: pair[1]) == [("ok", "0"), ("break", "1"), ("empty", "2"), ("error", "3"), ("missing", "4")], found


def test_readable_stack_traces(context):
    out, _ = compile_tree(context, provenance_log("extended"), "-i")
    readable = [path for path in golden.paths_of(out) if path.endswith("_readable.html")]
    assert len(readable) == 1 and "kernel_stack_traces" in readable[0], readable
    page = html.unescape((out / readable[0]).read_text())
    assert "line 1\n  foo()" in page and "\\n" not in page
    assert '_readable.html">readable_html</a>' in (out / "index.html").read_text()


# --- provenance ---

def test_provenance_literals(context):
    for kind, (files, maps) in PROVENANCE.items():
        folder = "-_0_0_0" if kind.startswith("jit") else "-_-_-_-"
        out, _ = compile_tree(context, provenance_log(kind), "-i", name=kind)
        missing = [file for file in files if not (out / folder / file).is_file()]
        assert not missing, f"{kind}: {missing}"
        found = mappings_of((out / f"provenance_tracking_{folder}.html").read_text())
        language = next(iter(maps))
        for line, targets in maps[language].items():
            assert line in found[language], f"{kind}: {language} has no line {line}: {found[language]}"
            assert targets is None or found[language][line] == targets, f"{kind}: line {line}: {found[language][line]}"
        assert set(found[language]) == set(maps[language]) or kind == "aot_cuda", f"{kind}: {found[language]}"
        other = ("pyCodeToPost", "postToPyCode") if language == "cppCodeToPost" else ("cppCodeToPost", "postToCppCode")
        assert not any(found[name] for name in other), f"{kind}: maps of the other language are not empty"


def test_provenance_against_independent_reading(context):
    """All six maps of every provenance log, with and without -p, as compile_provenance.py makes them."""
    for case in golden.find_cases(context.data):
        if "-i" not in case.flags:
            continue
        out, _ = compile_tree(context, case.input, *case.flags, name=case.name)
        plain = case.expected.parent / (case.name.partition("__")[0] + "__prov_plain")
        for page in out.glob("provenance_tracking_*.html"):
            folder = page.stem.removeprefix("provenance_tracking_")
            wanted, found = compile_provenance.line_mappings(plain / folder), mappings_of(page.read_text())
            assert {name: found.get(name, {}) for name in wanted} == wanted, f"{case.name} {folder}:\n  ours {found}\n  must {wanted}"


# --- several ranks ---

def test_all_ranks_basic(context):
    out, done = compile_tree(context, f"{INPUTS}/multi_rank_logs", "--all-ranks-html")
    page = (out / "index.html").read_text()
    for rank in range(4):
        assert f'<a href="rank_{rank}/index.html">' in page
        assert "collectives_parity.json" in (out / f"rank_{rank}/index.html").read_text()
    assert "collectives_parity.json" not in page
    assert "Multi-Rank TLParse Report" in page
    lines = done.stdout.splitlines()
    assert lines == [*(f"Processing rank {rank} \u2192 {out}/rank_{rank}" for rank in range(4)),
                     f"Multi-rank report generated under {out}", "Individual pages: rank_*/index.html"], done.stdout


def test_all_ranks_lines_about_files(context):
    out, done = compile_tree(context, f"{INPUTS}/multi_rank_runtime", "--all-ranks-html")
    for words in ("Runtime estimations: ", "Collective schedules: "):
        named = [line.removeprefix(words) for line in done.stdout.splitlines() if line.startswith(words)]
        assert len(named) == 1 and (out / Path(named[0]).name).is_file(), done.stdout


def test_messy_input(context):
    folder = context.scratch / "messy"
    shutil.copytree(context.data / INPUTS / "multi_rank_messy_input", folder)
    (folder / "sub").mkdir()
    shutil.copy(folder / "dedicated_log_torch_trace_rank_0.log", folder / "sub/dedicated_log_torch_trace_rank_5.log")
    (folder / "dedicated_log_torch_trace_rank_x.log").write_text("no rank\n")
    (folder / "dedicated_log_torch_trace_rank_99999999999.log").write_text("no rank\n")
    out, _ = compile_tree(context, folder, "--all-ranks-html")
    assert sorted(path.name for path in out.iterdir() if path.is_dir()) == ["rank_0", "rank_1"]
    assert '<a href="rank_1/index.html">' in (out / "index.html").read_text()


def test_sparse_chromium_events(context):
    logs = {0: "multi_rank_logs/dedicated_log_torch_trace_rank_0.log", 1: b"", 2: "chromium_events.log",
            3: "multi_rank_logs/dedicated_log_torch_trace_rank_3.log"}
    out, _ = compile_tree(context, rank_folder(context, "sparse", logs), "--all-ranks-html")
    combined = json.loads((out / "chromium_events.json").read_text())
    assert {event["pid"] for event in combined} == {0, 2, 3}
    for rank in range(4):
        own = json.loads((out / f"rank_{rank}/chromium_events.json").read_text())
        assert len(own) == sum(event["pid"] == rank for event in combined), f"rank {rank}"
        assert f"rank_{rank}" in (out / "index.html").read_text()
    assert "chromium_events.json" in (out / "index.html").read_text()


def test_combined_events_of_full_logs(context):
    out, _ = compile_tree(context, f"{INPUTS}/multi_rank_logs", "--all-ranks-html")
    assert {event["pid"] for event in json.loads((out / "chromium_events.json").read_text())} == {0, 1, 2, 3}


def test_diverging_compile_ids(context):
    words = "Diverging Compilation IDs detected"
    assert words in landing_page(context, chosen_ranks(context.data / INPUTS / "multi_rank_logs", range(4)), "differ")
    assert words not in landing_page(context, {0: "simple.log", 1: "simple.log"}, "same")


def test_diverging_caches(context):
    words = "Diverging Cache hit/miss patterns detected"
    page = landing_page(context, {0: "cache_hit_miss.log", 1: "simple.log"}, "differ")
    assert words in page
    assert "Ranks: 0" in page and "Ranks: 1" in page
    assert words not in landing_page(context, {0: "cache_hit_miss.log", 1: "cache_hit_miss.log"}, "same")
    page = landing_page(context, chosen_ranks(context.data / INPUTS / "multi_rank_logs", range(4)), "groups")
    assert words in page
    assert "Ranks: 0, 2" in page, "the ranks without caches are one group"


def test_collective_schedules(context):
    folder = context.data / INPUTS / "multi_rank_schedule"
    out, _ = compile_tree(context, folder, "--all-ranks-html")
    ops = {entry["rank"]: entry["ops"] for entry in json.loads((out / "collective_schedules.json").read_text())
           if entry["graph"] == "-_0_0_0"}
    assert ops[0] == ops[2] and len(ops[0]) == 6 and len(ops[1]) == 4, ops
    words = "Warning:</strong> Diverging collective operation sequences"
    page = (out / "index.html").read_text()
    assert words in page and "Ranks: 0, 2" in page and "Ranks: 1" in page
    assert words not in landing_page(context, chosen_ranks(folder, {0, 2}), "same")


def test_runtime_estimations(context):
    out, _ = compile_tree(context, f"{INPUTS}/multi_rank_runtime", "--all-ranks-html")
    entries = json.loads((out / "runtime_estimations.json").read_text())
    assert {0, 1} <= {entry["rank"] for entry in entries}
    for op in (op for entry in entries for op in entry["ops"]):
        assert isinstance(op["name"], str) and isinstance(op["estimated_runtime_ns"], float) and "type" not in op, op
    page = (out / "index.html").read_text()
    assert "Runtime analysis not available" in page and "ms delta" not in page, "ranks have different numbers of graphs"
    four = landing_page(context, chosen_ranks(context.data / INPUTS / "multi_rank_runtime", range(4)))
    assert "Graph Runtime Analysis" in four and "ms delta" in four and "Runtime analysis not available" not in four


def test_runtime_trace(context):
    out, _ = compile_tree(context, f"{INPUTS}/multi_rank_runtime", "--all-ranks-html")
    events = [event for event in json.loads((out / "chromium_trace_with_runtime.json").read_text()) if event["ph"] == "X"]
    for event in events:
        assert event["cat"] == "runtime" and event["dur"] > 0 and event["pid"] == event["args"]["rank"] and "tid" in event
        assert isinstance(event["args"]["runtime_ns"], int) and isinstance(event["args"]["graph"], str)
    assert {event["pid"] for event in events} == set(range(7))
    assert {event["tid"] for event in events if event["pid"] == 0 and event["args"]["graph"] == "-_0_1_0"} == {3096134113}


def test_tensor_metadata(context):
    """Ranks 5 and 6 differ in shapes; ranks 0 to 3 only in estimates of time, which is no difference of tensors."""
    page = landing_page(context, chosen_ranks(context.data / INPUTS / "multi_rank_runtime", range(7)))
    assert "Tensor Metadata Analysis" in page
    assert "Ranks exhibit divergent inductor tensor meta" in page and "Ranks: 5, 6" in page


def ordered_log(rank, order, schedule, cache):
    """One rank: graphs 0/0, 0/1, 0/2 run in `order`; what `schedule` and `cache` say of each."""
    log = Log(rank)
    for number in range(3):
        ids = (0, number, 0)
        log.artifact(f"fx_graph_cache_{cache.get(number, 'hit')}", {"key": "k"}, ids)
        log.artifact("inductor_collective_schedule", schedule.get(number, ["all_reduce"]), ids)
    return log.artifact("graph_execution", {"graph_execution_order": order}, None).bytes()


def test_execution_order(context):
    """Row 0: schedules differ; row 1: caches differ; row 2: neither."""
    first = ordered_log(0, ["0/0", {"compile_id": "0/1"}, "0/2"], {0: ["a", "b"], 1: ["c"]}, {1: "miss"})
    second = ordered_log(1, ["0/1", "0/0", "0/2"], {1: ["c"], 0: ["c"]}, {})
    page = landing_page(context, {0: first, 1: second})
    assert "Graph Execution-Order Diagnostics" in page
    assert "Graph execution order differs across ranks" in page
    assert page.count("Rank 0, Rank 1") >= 2, "the ranks of both mismatches are named"
    assert "Cache hit/miss sequence: Consistent across ranks" not in page


def test_execution_order_without_cache_differences(context):
    logs = {rank: ordered_log(rank, order, {}, {}) for rank, order in enumerate((["0/0", "0/1"], ["0/1", "0/0"]))}
    page = landing_page(context, logs)
    assert "Graph execution order differs across ranks" in page
    assert "Cache hit/miss sequence: Consistent across ranks" in page
    assert "Diverging Cache hit/miss patterns detected" not in page
    assert "Execution-order analysis unavailable" in landing_page(context, {0: logs[0], 1: good_log(1).bytes()}, "one")


def code_with(collectives, waits):
    line = "    buf = torch.ops._c10d_functional.{}.default(buf)\n"
    return CODE.partition("    buf0")[0] + line.format("all_reduce") * collectives + line.format("wait_tensor") * waits


def test_collectives_parity(context):
    log = Log(0)
    for number, missing in ((0, 1), (1, 3)):
        log.artifact("inductor_collective_schedule", ["torch.ops._c10d_functional.all_reduce_.default"] * 4, (0, number, 0))
        log.add("inductor_output_code", {"filename": "/tmp/c.py"}, code_with(4, 4 - missing), (0, number, 0))
    for flags in ([], ["-p"]):
        folder = rank_folder(context, f"parity{len(flags)}", {0: log.bytes()})
        out, _ = compile_tree(context, folder, "--all-ranks-html", *flags, name=f"{folder.name}_out")
        graphs = json.loads((out / "rank_0/collectives_parity.json").read_text())["graphs"]
        found = {graph["graph"]: (graph["compile_id"], graph["offset"], graph["missing_waits"]) for graph in graphs}
        assert found == {"-_0_0_0": ("[0/0]", 0, 1), "-_0_1_0": ("[0/1]", 0, 3)}, found


# --- export ---

def test_export(context):
    out, done = compile_tree(context, f"{INPUTS}/export.log", "-e", "--strict")
    paths = golden.paths_of(out)
    for prefix in ("-_-_-_-/exported_program", "-_-_-_-/symbolic_guard_information", "index.html"):
        assert any(path.startswith(prefix) for path in paths), f"{prefix}: {paths}"
    page = html.unescape((out / "index.html").read_text())
    assert "Draft Export Report" in page and "issue(s) were found during export" in page
    assert "Data Dependent Error" in page or "Guard Evaluated" in page
    assert "Stats" not in done.stderr
