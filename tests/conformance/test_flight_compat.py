"""debrief flight --compat against what PyTorch's own analyzer (2.11) printed for the recorded jobs.

Beside the dumps of each recorded job lie torchfrtrace.txt, torchfrtrace-j.txt and torchfrtrace-v.txt. All 33 are
compared byte for byte, after only these changes:

* The analyzer takes ranks in the order of the directory, which was the one below; debrief takes them in order of
  rank, so the test tells it this order. -j sorts by rank itself and is compared without it, too.
* A crash of the analyzer is a Python traceback; debrief prints its last line. The lines before it must be equal, and
  so must the exit code, which is 1.
* -v prints how long loading took, and the address of an object.
"""
import os
import re
import subprocess

DIRECTORY_ORDER = "5,4,0,7,6,2,3,1"
CRASHES = {"crash", "recompile_hang", "size_mismatch", "type_mismatch"}
JOBS = {"compile_divergence", "healthy", "missing_collective", "p2p_size", "slow_gpu", "slow_rank", "straggler"} | CRASHES


def analyzer_text(job, suffix):
    """What the analyzer printed, a traceback folded to its last line."""
    text = (job / f"torchfrtrace{suffix}.txt").read_text()
    before, traceback, after = text.partition("Traceback (most recent call last):\n")
    return before + after.splitlines()[-1] + "\n" if traceback else text


def without_noise(text):
    text = re.sub(r"^loaded (\d+) files in \S+s$", r"loaded \1 files", text, flags=re.M)
    return re.sub(r"object at 0x[0-9a-f]{12}>", "object>", text)


def compat(context, job, *flags, order=DIRECTORY_ORDER):
    return subprocess.run([context.binary, "flight", str(job), "-p", "nccl_trace_rank_", "--compat", *flags],
                          env={**os.environ, "DEBRIEF_TEST_RANK_ORDER": order}, text=True, capture_output=True,
                          stdin=subprocess.DEVNULL)


def compare(context, suffix, *flags, order=DIRECTORY_ORDER):
    found = {path.name: path for path in (context.data / "recorded/jobs").iterdir()}
    assert set(found) == JOBS, sorted(found)
    for name, job in sorted(found.items()):
        done = compat(context, job, *flags, order=order)
        assert done.stdout == "", f"{name}: stdout must stay empty"
        ours, theirs = without_noise(done.stderr), without_noise(analyzer_text(job, suffix))
        if ours != theirs:
            lines = zip(ours.splitlines() + ["(end)"], theirs.splitlines() + ["(end)"])
            number, pair = next((i, p) for i, p in enumerate(lines, 1) if p[0] != p[1])
            raise AssertionError(f"{name} {suffix}: line {number}\n  ours   {pair[0][:300]}\n  theirs {pair[1][:300]}")
        assert done.returncode == (1 if name in CRASHES and suffix != "-j" else 0), f"{name}: {done.returncode}"


def test_report(context):
    compare(context, "")


def test_entries(context):
    compare(context, "-j", "-j")
    compare(context, "-j", "-j", order="")


def test_verbose(context):
    compare(context, "-v", "-v")
