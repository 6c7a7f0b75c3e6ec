#!/usr/bin/env python3
"""What the report costs to make, and how it feels when there is much in it.

usage: report_bench.py make FOLDER               inputs with 1 M timeline events and 10,000 compilations
       report_bench.py feel DEBRIEF FOLDER       the report of these: first screen, frames a second, heap of the page
       report_bench.py cost DEBRIEF TRACE        CPU seconds that the report adds to the analysis of TRACE

Checked first: the page has all slices and compilations, and the first screen its headline. Then prints `name key=value ...`.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from torch_trace_writer import good_log  # noqa: E402

SHARED = Path(os.environ.get("DEBRIEF_SHARED_DATA", ROOT.parent / "shared/data")).parent
EVENTS, COMPILATIONS = 1_000_000, 10_000
EVENTS_A_MB = 2_300  # of the trace that is repeated, on the low side


class WrongResult(Exception):
    pass


def make_big(kind, small, megabytes, out):
    subprocess.run([sys.executable, SHARED / "tools/make_big.py", kind, small, str(megabytes), out], check=True)


def make(folder):
    """The trace of one rank, and its compile log."""
    folder.mkdir(parents=True, exist_ok=True)
    trace = ROOT / "build/shared-data/public/kineto/hta/trace_diff_control.json.gz"
    make_big("kineto", trace, EVENTS // EVENTS_A_MB, folder / "profile_rank0.json")
    with tempfile.TemporaryDirectory() as scratch:
        small = Path(scratch) / "small.log"
        small.write_bytes(good_log(rank=0).bytes())
        megabytes = -(-small.stat().st_size * COMPILATIONS * 105 // 100 // 1_000_000)
        make_big("torch_trace", small, megabytes, folder / "dedicated_log_torch_trace_rank_0.log")


def cpu_of(words):
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise WrongResult(f"exit code {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime


def rows_of(page):
    """Rows of every table, as the page has them."""
    text = page.read_text(errors="replace")
    return json.loads(re.search(r'id="debrief-contents">(.*?)</script>', text).group(1))["rows"]


def feel(debrief, folder):
    out = folder.parent / f"{folder.name}_out"
    cpu_of([debrief, folder, "-o", out, "--overwrite", "--no-store", "--quiet"])
    rows = rows_of(out / "index.html")
    if rows.get("timeline_slice", 0) < EVENTS or rows.get("compilation", 0) < COMPILATIONS:
        raise WrongResult(f"too little in the page: {rows.get('timeline_slice')} slices, {rows.get('compilation')} compilations")
    done = subprocess.run(["node", ROOT / "tests/browser/timeline_speed.mjs", out / "index.html"], check=True, text=True,
                          capture_output=True)
    values = dict(word.split("=", 1) for word in done.stdout.split() if "=" in word)
    fps, empty = float(values["fps"]), float(values["empty_fps"])
    smooth = max(fps / 30, fps / (0.8 * empty))  # at least 1: 30 frames a second, or 0.8 of what an empty canvas reaches
    print(f"report_feel first_ms={values['first_ms']} timeline_ms={values['timeline_ms']} fps={fps:.1f} empty_fps={empty:.1f} smooth={smooth:.2f} "
          f"heap_mb={values['heap_mb']}")


def cost(debrief, trace):
    """One thread; the least of three runs each, in turns."""
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as scratch:
        common = [debrief, trace, "-o", Path(scratch) / "out", "--overwrite", "--no-store", "--quiet", "--jobs", "1"]
        without, complete = [], []
        for _ in range(3):
            without.append(cpu_of([*common, "--no-report"]))
            complete.append(cpu_of(common))
        data = Path(scratch) / "out/report_data"
        size = sum(file.stat().st_size for file in data.rglob("*.js"))
        if size < 1_000_000 or rows_of(Path(scratch) / "out/index.html").get("timeline_slice", 0) == 0:
            raise WrongResult("the report has no timeline")
    added = min(complete) / min(without) - 1
    print(f"report_cost analysis_s={min(without):.3f} with_report_s={min(complete):.3f} added={added:.3f} report_mb={size / 1e6:.1f}")


def main(mode, *words):
    if mode == "make":
        return make(Path(words[0]))
    if mode == "feel":
        return feel(words[0], Path(words[1]))
    return cost(words[0], words[1])


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("make", "feel", "cost"):
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except WrongResult as wrong:
        sys.exit(f"wrong result: {wrong}")
