"""The jobs of train/ whole and with any one kind of file removed: one job, an error on every failed one, nobody wrong is named."""
import json
import shutil

# job: the rank to name and the kinds of files without which no other file names it; None: healthy. Whose set-up comm_setup waits for is
# in none of its files.
TRUTH = {"slow_save": (2, ()), "killed": (1, ("launcher",)), "aborted": (5, ("launcher",)), "two_attempts": (1, ("logs",)),
         "comm_setup": (6, ("launcher", "dumps", "logs", "")), "on_demand": None, "roots_healthy": None, "roots_size": None}
KINDS = {"dumps": ["fr"], "logs": ["logs"], "launcher": ["torchrun.txt"], "ras": ["ncclras.txt"], "debug": ["debug"],
         "stacks": ["faulthandler_rank*.txt"]}


def without(context, job, kind):
    """A copy without the files of a kind; null where there are none of them."""
    source, target = context.data / "train" / job, context.scratch / "kinds"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    removed = [path for pattern in KINDS.get(kind, []) for path in target.glob(pattern)]
    for path in removed:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return target if removed or not kind else None


def answer(context, folder):
    out = context.scratch / "kinds_out"
    context.run(folder, "--quiet", "--no-store", "--overwrite", "-o", out, check=False)
    return json.loads((out / "findings.json").read_text())


def check(job, kind, found):
    errors = [finding for finding in found["findings"] if finding["severity"] == "error"]
    where = f"{job} without {kind or 'nothing'}: {errors[0]['ranks'] if errors else None} {errors[0]['headline'] if errors else 'no error'}"
    assert len(found["jobs"]) == 1, f"{job} without {kind}: {len(found['jobs'])} jobs"
    if TRUTH[job] is None:
        assert not errors, where
        return
    rank, unnamed = TRUTH[job]
    assert errors, where
    named = [finding["ranks"] for finding in errors if finding["ranks"]]
    assert all(ranks == [rank] for ranks in named), where
    if kind not in unnamed:
        assert errors[0]["ranks"] == [rank], where


def test_whole_and_without_each_kind(context):
    for job in TRUTH:
        for kind in ("", *KINDS):
            folder = without(context, job, kind)
            if folder:
                check(job, kind, answer(context, folder))
