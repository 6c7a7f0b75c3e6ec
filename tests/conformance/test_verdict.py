"""One folder, one verdict: the first finding of a whole job is the answer, and nothing contradicts it.

The truth is the README of the recorded jobs. Every job is looked at whole and with each kind of data left out; what the
rest can know is written down below, kind by kind. Variants are made from the jobs so that nothing is fitted to them:
all ranks with other numbers, and a rank that ends with other last words.
"""
import os
import pickle
import re
import shutil

KINDS = {
    "dumps": lambda name: name.startswith("nccl_trace"),
    "compile logs": lambda name: name == "torch_trace",
    "text": lambda name: name.endswith(".txt"),
    "profiles": lambda name: name.startswith("profile_"),
}
NOTHING = ("", [], "")
COMPILING = "was compiling aux_slow (dist_job.py:34) for 45"
EXITED = "exited at about 02:47:5"
EXTRA = ("compile.rank_differs", [3], "compiles function extra (dist_job.py:27)")
HOST = ("profile.straggler", [6], "its host takes 50")
GPU = ("profile.straggler", [4], "its GPU computes 28")
SENDS = ("flight.p2p_size", [4], "sends [16, 256]")

# job: what is left out: rule, ranks and words of the headline. What stands under None also holds where nothing is said.
# A "!" before a kind: it carried evidence, so the verdict without it must be less sure.
TRUTH = {
    "healthy": {None: NOTHING},
    # The dumps show the same rank late, not why. Texts and compile logs know nothing of a job that runs to its end.
    "slow_rank": {None: HOST, "!dumps": HOST, "!profiles": ("flight.straggler", [6], "is a straggler: arrives last")},
    # The host of a rank whose GPU is busy comes in time: dumps show no straggler.
    "slow_gpu": {None: GPU, "!profiles": NOTHING},
    "compile_divergence": {None: EXTRA, "!compile logs": NOTHING},
    # The job ends well and its ranks say nothing; only dumps have the sizes.
    "p2p_size": {None: SENDS, "!dumps": NOTHING},
    "missing_collective": {
        None: ("flight.skipped_collective", [5], "skipped 4 collectives of mesh_dp [5, 7]"),
        "!dumps": ("text_hang.differs", [5], "called all_gather as number 16 of mesh_dp"),
        "!text": ("flight.skipped_collective", [5], "skipped"),
        "!compile logs": ("flight.skipped_collective", [5], "skipped"),
    },
    # Watchdogs tell the sizes of both members of the group, and text has no third to vote.
    "size_mismatch": {
        None: ("flight.size_mismatch", [2], "called all_reduce #16 with size [65536], rank 0 with [512, 256]"),
        "!dumps": ("text_hang.differs", [0, 2], "all_reduce of 256 elements and all_reduce of 512"),
        "!text": ("flight.size_mismatch", [2], "called all_reduce #16 with size [65536], rank 0 with [512, 256]"),
        "!compile logs": ("flight.size_mismatch", [2], "called all_reduce #16 with size [65536], rank 0 with [512, 256]"),
    },
    "type_mismatch": {
        None: ("flight.type_mismatch", [1], "called broadcast"),
        "!dumps": ("text_hang.differs", [1], "did not join all_reduce #16 of mesh_dp in which rank 3 waits"),
        "!text": ("flight.type_mismatch", [1], "called broadcast"),
        "!compile logs": ("flight.type_mismatch", [1], "called broadcast"),
    },
    "straggler": {
        None: ("flight.host_never_came", [6], "did not reach all_reduce #16 of mesh_dp [4, 6] (dist_job.py:53)"),
        "!dumps": ("text_hang.silent", [6], "reported no timeout; ranks 0-5 and 7 timed out"),
        "!text": ("flight.host_never_came", [6], "did not reach"),
        "!compile logs": ("flight.host_never_came", [6], "did not reach"),
    },
    "crash": {
        None: ("text_hang.exited", [4], EXITED),
        "!dumps": ("text_hang.exited", [4], EXITED),
        "!text": ("flight.no_dump", [4], "left no dump, and ranks 0-3 and 5-7 wait for it"),
        "!compile logs": ("text_hang.exited", [4], EXITED),
    },
    "recompile_hang": {
        None: ("verdict.compiling_while_others_wait", [3], COMPILING),
        "!dumps": ("verdict.compiling_while_others_wait", [3], COMPILING),
        "!text": ("verdict.compiling_while_others_wait", [3], COMPILING),
        "!compile logs": ("flight.host_never_came", [3], "did not reach its side of send #5 of mesh_pp [3, 7]"),
    },
}


def job_without(context, job, kind):
    """A folder with the job's files but those of one kind; None when it has none of them."""
    source = context.data / "recorded/jobs" / job
    names = sorted(path.name for path in source.iterdir())
    if kind and not any(KINDS[kind](name) for name in names):
        return None
    folder = context.scratch / f"{job} without {kind}"
    folder.mkdir()
    for name in names:
        if not kind or not KINDS[kind](name):
            # Links to folders elsewhere are not followed, links to files are.
            (shutil.copytree if (source / name).is_dir() else os.symlink)(source / name, folder / name)
    return folder


def check_links(findings):
    """Nothing follows from itself, and what follows from something is no cause."""
    by_id = {finding["id"]: finding for finding in findings}
    place = {finding["id"]: number for number, finding in enumerate(findings)}
    for finding in findings:
        for effect in finding["explains"]:
            assert place[effect] > place[finding["id"]], f"{effect} stands before {finding['id']} that explains it"
            assert by_id[effect]["role"] == "consequence", by_id[effect]["headline"]


def sentence(finding):
    """The headline, or all of it where it was too long for one."""
    first = finding["evidence"][0]["text"] if finding["evidence"] else ""
    return first if first.startswith(finding["headline"].removesuffix("...")) else finding["headline"]


def verdict(findings):
    """Rule, ranks and headline of the answer; fails where another cause blames other ranks."""
    check_links(findings)
    causes = [finding for finding in findings if finding["role"] == "cause"]
    if not causes:
        return *NOTHING, 1.0
    assert len(causes) <= 3, [cause["headline"] for cause in causes]
    first = findings[0]
    assert first["role"] == "cause", first["headline"]
    others = [cause["headline"] for cause in causes if cause["ranks"] != first["ranks"]]
    assert not others, f"{first['headline']} is contradicted: {others}"
    return first["rule"], first["ranks"], sentence(first), first["confidence"]


def complaint(name, expected, got):
    rule, ranks, words = expected
    if (rule, ranks) == got[:2] and words in got[2]:
        return ""
    return f"{name}: {got[0] or 'nothing'} {got[1]}: {got[2]}\n    must be {rule or 'nothing'} {ranks}: {words}"


def test_whole_and_with_each_kind_left_out(context):
    problems = []
    for job, truth in TRUTH.items():
        sure = {}
        for kind in (None, *KINDS):
            folder = job_without(context, job, kind)
            if folder is None:
                continue
            got = verdict(context.report([folder])["findings"])
            expected = truth.get(f"!{kind}", truth.get(kind, truth[None]))
            problems.append(complaint(f"{job} without {kind}", expected, got))
            sure[kind] = got[3]
            lower = f"!{kind}" in truth and expected != NOTHING
            if lower and not got[3] < sure[None]:
                problems.append(f"{job} without {kind}: confidence {got[3]}, with it {sure[None]}")
            if not lower and kind and expected == truth[None] and got[3] != sure[None]:
                problems.append(f"{job} without {kind}, which tells nothing: {got[3]}, with it {sure[None]}")
    problems = [problem for problem in problems if problem]
    assert not problems, "\n".join(problems)


def test_reasons_of_a_hang_are_one_headline(context):
    findings = context.report([context.data / "recorded/jobs/recompile_hang"])["findings"]
    first = findings[0]
    assert sentence(first) == ("Rank 3 was compiling aux_slow (dist_job.py:34) for 45.1 s while ranks 0-2 and 4-7 waited "
                               "in send #5 of mesh_pp [3, 7]"), sentence(first)
    assert first["confidence"] >= 0.95, first
    assert first["compile_ids"] == ["1/0"], first
    lines = {(line["rank"], line["file"].rsplit("/", 1)[-1], line["line"]) for line in first["source"]}
    assert (3, "dist_job.py", 34) in lines and (7, "dist_job.py", 64) in lines, lines
    rest = [finding for finding in findings[1:] if finding["role"] != "consequence"]
    assert not rest, f"not folded: {[finding['headline'] for finding in rest]}"


def test_missing_data_is_named(context):
    for kind, words in {"dumps": "no Flight Recorder dumps", "text": "no rank output",
                        "compile logs": "no compile logs"}.items():
        first = context.report([job_without(context, "straggler", kind)])["findings"][0]
        assert words in first["why"], f"{kind}: {first['why']}"


def reflected(rank):
    return 7 - rank


def reflect_dump(source, target):
    """Members of all groups stand in the opposite order, so the two ends of a pair change places as well."""
    dump = pickle.loads(source.read_bytes())
    for group in dump["pg_config"].values():
        ranks = sorted(reflected(int(rank)) for rank in re.findall(r"\d+", group["ranks"]))
        group["ranks"] = str(ranks)
    for entry in dump["entries"]:
        entry["profiling_name"] = re.sub(r"(nccl:(?:send|recv) )(\d)(->|<-)(\d)",
                                         lambda m: f"{m[1]}{1 - int(m[2])}{m[3]}{1 - int(m[4])}", entry["profiling_name"])
    target.write_bytes(pickle.dumps(dump, protocol=2))


def reflect_text(source, target, pattern):
    text = source.read_text(errors="surrogateescape")
    target.write_text(re.sub(pattern, lambda m: f"{m[1]}{reflected(int(m[2]))}{m[3]}", text), errors="surrogateescape")


def reflect_job(context, job):
    """The job with rank 7 - N for rank N."""
    source, target = context.data / "recorded/jobs" / job, context.scratch / f"{job}_reflected"
    (target / "torch_trace").mkdir(parents=True)
    for path in sorted(source.rglob("*")):
        found = re.search(r"(.*rank_?)(\d)(.*)", path.name)
        if not found or path.name.endswith(".json"):
            continue
        new = target / path.parent.relative_to(source) / f"{found[1]}{reflected(int(found[2]))}{found[3]}"
        if path.name.startswith("nccl_trace"):
            reflect_dump(path, new)
        elif path.name.startswith("stdout"):
            reflect_text(path, new, r"(\[rank)(\d)(\])")
        else:
            reflect_text(path, new, r'("rank": )(\d)(\b)')
    return target


def test_other_numbers_of_ranks(context):
    expected = {
        "recompile_hang": ("verdict.compiling_while_others_wait", [4], "while ranks 0-3 and 5-7 waited in send #5 of mesh_pp [0, 4]"),
        "crash": ("text_hang.exited", [3], EXITED),
        "straggler": ("flight.host_never_came", [1], "did not reach all_reduce #16 of mesh_dp [1, 3]"),
        "missing_collective": ("flight.skipped_collective", [2], "mesh_dp [0, 2]"),
        "type_mismatch": ("flight.type_mismatch", [6], "called broadcast"),
    }
    problems = [complaint(job, truth, verdict(context.report([reflect_job(context, job)])["findings"]))
                for job, truth in expected.items()]
    problems = [problem for problem in problems if problem]
    assert not problems, "\n".join(problems)


TRACEBACK = """[rank4]: Traceback (most recent call last):
[rank4]:   File "/home/user/train.py", line 71, in <module>
[rank4]:     step(batch)
[rank4]:   File "/home/user/model.py", line 12, in step
[rank4]:     return layer(batch)
[rank4]: %s
"""
LAST_WORDS = {
    TRACEBACK % "ValueError: no such layer": "died with ValueError: no such layer at model.py:12",
    TRACEBACK % "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.":
        "died with OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB at model.py:12",
}


def test_last_words_are_the_reason(context):
    for number, (words, expected) in enumerate(LAST_WORDS.items()):
        for kind in (None, "dumps"):
            folder = context.scratch / f"{number}_{kind}"
            shutil.copytree(job_without(context, "crash", kind), folder, symlinks=True)
            output = folder / "stdout_rank4.txt"
            before = output.read_text()
            output.unlink()
            output.write_text(before + words)
            got = verdict(context.report([folder])["findings"])
            shutil.rmtree(context.scratch / f"crash without {kind}")
            assert not complaint(f"{number} without {kind}", ("text_hang.died", [4], expected), got), got
            waits = "ranks 0-3 and 5-7 waited in send #5 of mesh_pp [0, 4]" in got[2]
            assert waits == (kind is None), got[2]


def test_jobs_beside_each_other_are_kept_apart(context):
    for job in ("recompile_hang", "straggler", "healthy"):
        os.symlink(context.data / "recorded/jobs" / job, context.scratch / job)
    report = context.report([context.scratch / job for job in ("recompile_hang", "straggler", "healthy")])
    blamed = {}
    for finding in report["findings"]:
        if finding["role"] == "cause":
            blamed.setdefault(finding["job"], []).append(finding["ranks"])
    check_links(report["findings"])
    assert sorted(blamed.values()) == [[[3]], [[6]]], blamed
