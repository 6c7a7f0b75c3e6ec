"""A job that hung with one rank in its own line: stacks, NCCL RAS and traces, each alone, all together, each left out."""
import json
import shutil

KINDS = {"dumps": "fr/*", "stacks": "debug/stacks_*", "traces": "debug/fr_trace_*", "faulthandler": "faulthandler_rank*",
         "ras": "ncclras.txt", "launcher": "torchrun.txt", "output": "logs/*/attempt_0/*/*.log"}
WITH_LINE = {"stacks", "faulthandler"}  # kinds that show where the rank stands
GUILTY, LINE = [2], ("train.py", 41)


def gather(context, kinds, name):
    """The files of some kinds in one folder, so that nothing but their content says what belongs together."""
    job = context.data / "train/slow_save"
    if not job.exists():
        print("test_stacks: skipped, there is no train/slow_save in the data")
        return None
    folder = context.scratch / name
    folder.mkdir()
    for kind in kinds:
        for path in job.glob(KINDS[kind]):
            rank = f"_rank{path.parent.name}" if kind == "output" else ""
            if path.stat().st_size:
                shutil.copy(path, folder / f"{path.stem}{rank}{path.suffix}")
    return folder


def findings_of(context, kinds, name):
    folder = gather(context, kinds, name)
    if folder is None:
        return None
    out = context.scratch / f"{name}.out"
    context.run(folder, "--quiet", "--no-store", "--no-report", "-o", out, cwd=context.scratch)
    return json.loads((out / "findings.json").read_text())["findings"]


def lines_of(finding):
    return {(line["file"].rsplit("/", 1)[-1], line["line"]) for line in finding["source"]}


def check(findings, kinds, name):
    causes = [finding for finding in findings if finding["role"] == "cause"]
    assert causes, f"{name}: nobody is named"
    assert all(finding["ranks"] == GUILTY for finding in causes), (name, [finding["headline"] for finding in causes])
    if WITH_LINE & set(kinds):
        assert LINE in lines_of(causes[0]), (name, causes[0]["headline"])
        assert "train.py:41" in causes[0]["headline"], (name, causes[0]["headline"])


def test_each_kind_alone_names_the_rank(context):
    for kind in ("stacks", "traces", "faulthandler", "ras"):
        findings = findings_of(context, [kind], kind)
        if findings is None:
            return
        check(findings, [kind], kind)


def test_all_together_and_each_left_out(context):
    for left_out in [None, *KINDS]:
        kinds = [kind for kind in KINDS if kind != left_out]
        findings = findings_of(context, kinds, f"without_{left_out}")
        if findings is None:
            return
        check(findings, kinds, f"without {left_out}")
        assert findings[0]["severity"] == "error"
        assert "all_reduce #38" in findings[0]["headline"], findings[0]["headline"]


def test_a_launcher_that_names_the_aborted_rank_is_not_believed(context):
    for kind in ("stacks", "faulthandler"):
        findings = findings_of(context, [kind, "launcher"], f"{kind}_and_launcher")
        if findings is None:
            return
        check(findings, [kind], f"{kind} and launcher")
