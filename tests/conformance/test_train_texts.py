"""Texts alone, without any dump, of the jobs in train/: who is named, and that a failed job is never without an error."""
import json
import re
import shutil

# job: (ranks of the first error of each attempt; None where there is no error, words in its headline)
TRUTH = {
    "killed": [([1], "SIGKILL (signal 9)")],
    "aborted": [([5], "SIGABRT (signal 6)")],
    "slow_save": [([2], "its last there is 37")],
    "comm_setup": [([], "Ranks 1, 3 and 5")],  # for whom they wait, no text tells
    "two_attempts": [([1], "No space left on device"), ([], "attempt 0 had left a dump signal")],
    "on_demand": [None], "roots_healthy": [None], "roots_size": [None]}
# What is left when only the launcher's text is: a rank that ended by SIGABRT may have been ended by its watchdog.
LAUNCHER = {"killed": [1], "aborted": [5], "slow_save": [], "comm_setup": []}


def texts_of(context, job, change=lambda text: text, ranks=True, launcher=True):
    """A copy with nothing but what ranks and launcher printed."""
    source, target = context.data / "train" / job, context.scratch / job
    shutil.rmtree(target, ignore_errors=True)
    for log in source.glob("logs/*/attempt_*/*/*.log") if ranks else []:
        place = target.joinpath(*log.parts[-3:])
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(change(log.read_bytes()))
    if launcher:
        target.mkdir(exist_ok=True)
        (target / "torchrun.txt").write_bytes(change((source / "torchrun.txt").read_bytes()))
    return target


def errors_of(context, folder):
    out = context.scratch / "out"
    context.run(folder, "--quiet", "--no-store", "--overwrite", "-o", out, check=False)
    findings = json.loads((out / "findings.json").read_text())["findings"]
    return [finding for finding in findings if finding["severity"] == "error"]


def check(context, job, folder):
    errors = errors_of(context, folder)
    for attempt, truth in enumerate(TRUTH[job]):
        own = [finding for finding in errors if finding["attempt"] == attempt]
        if truth is None:
            assert not own, (job, own[0]["headline"])
            continue
        assert own, f"{job}: no error of attempt {attempt}"
        assert own[0]["ranks"] == truth[0] and truth[1] in own[0]["headline"], (job, own[0]["ranks"], own[0]["headline"])


def test_texts_alone(context):
    for job in TRUTH:
        check(context, job, texts_of(context, job))


def test_texts_with_carriage_returns(context):
    for job in TRUTH:
        check(context, job, texts_of(context, job, change=lambda text: text.replace(b"\n", b"\r\n")))


def test_without_the_launchers_text_nobody_else_is_named(context):
    for job, (first, *_) in TRUTH.items():
        for finding in errors_of(context, texts_of(context, job, launcher=False)):
            wanted = [] if first is None else first[0]
            assert finding["ranks"] in ([], wanted), (job, finding["headline"])


def test_with_the_launchers_text_alone(context):
    for job, ranks in LAUNCHER.items():
        folder = texts_of(context, job, ranks=False)
        (folder / "stdout_rank0.txt").write_text("x\n")  # a folder with a rank is a job
        errors = errors_of(context, folder)
        assert errors and errors[0]["ranks"] == ranks, (job, errors and errors[0]["headline"])


def test_nothing_tells_the_absent_member_from_an_outsider(context):
    """comm_setup: rank 6 is the member that did not come, rank 2 is outside of the group; what they printed is the same."""
    said = []
    for rank in (2, 6):
        text = next((context.data / "train/comm_setup").glob(f"logs/*/attempt_0/{rank}/stderr.log")).read_text()
        text = re.sub(r"([Rr]ank ?)\d+|\d\d:\d\d:\d\d\.\d+|ran for \d+", r"\1", text)
        said.append(text)
    assert said[0] == said[1]
