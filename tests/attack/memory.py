#!/usr/bin/env python3
"""Little memory, few threads, files of any size: debrief says so, reports the rest, and never ends by a signal.

usage: memory.py [--binary PATH] [--long] [PATTERN...]

Every case is a function `case_...` with an empty folder of its own; it fails by an assertion. --long tries more limits and, where
they are, the recorded and public inputs with 4 GB of address space.
"""
import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from recording_writer import Recording, packed_op, word  # noqa: E402

JOB = ROOT / "examples/hung-job"
PROFILE = ROOT / "examples/two-rank-profile"
MB = 1 << 20
TIMEOUT_S = 120
OPS_IN_CHUNK = 1364  # of 48 bytes


class Skip(Exception):
    """What this machine cannot do."""


class Run:
    """One run, with what it printed and what it took."""

    def __init__(self, words, limits, folder, demote=None):
        def before():
            for what, value in limits.items():
                resource.setrlimit(what, (value, value))
            if demote:
                demote()
        with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
            process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder,
                                       preexec_fn=before, env=dict(os.environ, TMPDIR=str(folder), HOME=str(folder), LC_ALL="C.UTF-8"))
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = self.code = os.waitstatus_to_exitcode(status)
        self.rss = usage.ru_maxrss * 1024
        self.out = (folder / "stdout").read_text(errors="replace")
        self.err = (folder / "stderr").read_text(errors="replace")


class Lab:
    def __init__(self, binary, folder, is_long):
        self.binary, self.folder, self.is_long = binary, folder, is_long

    def run(self, *words, **limits):
        names = {"memory": resource.RLIMIT_AS, "files": resource.RLIMIT_NOFILE, "cpu": resource.RLIMIT_CPU}
        return Run([self.binary, *words], {names[name]: value for name, value in limits.items()}, self.folder)


def check_end(run, what):
    """A documented exit code, and a reason where there is no report."""
    assert run.code in (0, 1), f"{what}: exit code {run.code}\n{run.err[-500:]}"
    assert run.code == 0 or "debrief: " in run.err, f"{what}: no word about why\n{run.err[-500:]}"


def diagnostics(folder):
    return {each["name"] for each in json.loads((folder / "findings.json").read_text())["diagnostics"]}


def write_profile(path, megabytes):
    """A profile of about that size."""
    event = ('{"ph":"X","cat":"cpu_op","name":"aten::op_%d","pid":1,"tid":%d,"ts":%d.5,"dur":5.25,"args":{"External id":%d,'
             '"Input Dims":"[[%d, 4]]"}}')
    with open(path, "w") as out:
        out.write('{"schemaVersion": 1, "traceEvents": [\n')
        number = 0
        while out.tell() < megabytes * MB:
            out.write(",\n".join(event % (i, i % 7, i * 10, i, i) for i in range(number, number + 10000)) + ",\n")
            number += 10000
        out.write('{"ph":"X","cat":"cpu_op","name":"end","pid":1,"tid":1,"ts":1,"dur":1,"args":{}}]}')


def write_recording(path, chunks):
    """A recording of full chunks of ops with six dims, 48 bytes each."""
    recording = Recording(rank=0)
    names = [recording.name(f"aten::op_{i}") for i in range(40)]
    _, shapes = packed_op(inputs=[[64, 128], [128, 10]], output=[64, 10], dtype=9)
    for chunk in range(chunks):
        thread = recording.thread(recording.pid)
        for i in range(OPS_IN_CHUNK):
            number = chunk * OPS_IN_CHUNK + i
            thread.chunk.words += [word(4, 6, names[number % 40]), number * 1000, 100 + number % 700, *shapes]
    recording.write(path)
    return path.stat().st_size


def case_recording(lab):
    """Reading a recording takes no more than twice its file above what a small one takes."""
    write_recording(lab.folder / "small.dbr", 1)
    size = write_recording(lab.folder / "large.dbr", 400)
    small, large = (lab.run("ops", name, "--json") for name in ("small.dbr", "large.dbr"))
    assert json.loads(large.out)["totals"]["count"] == 400 * OPS_IN_CHUNK
    assert large.rss - small.rss <= 2 * size, f"{(large.rss - small.rss) / size:.2f} times the file"


def case_little_address_space(lab):
    """At every limit there is a report, or a sentence."""
    sizes = range(100, 1500, 40) if lab.is_long else (150, 250, 350, 500, 700, 1000)
    reports = 0
    for megabytes in sizes:
        out = lab.folder / f"out{megabytes}"
        run = lab.run(JOB, PROFILE, "-o", out, "--jobs", 4, memory=megabytes * MB)
        if run.code == 127 or "error while loading shared libraries" in run.err:
            continue  # not even the program fits
        check_end(run, f"{megabytes} MB")
        assert (run.code == 0) == (out / "findings.json").exists(), f"{megabytes} MB: {run.code}, {run.err}"
        reports += run.code == 0
    assert reports > 0, "no report at any limit"


def case_one_input_is_too_large(lab):
    """The others are reported, and it is told."""
    job = lab.folder / "job"
    shutil.copytree(JOB, job)
    write_profile(job / "huge.pt.trace.json", 120)
    run = lab.run(job, "-o", lab.folder / "out", "--no-store", "--jobs", 2, memory=420 * MB)
    check_end(run, "420 MB")
    assert run.code == 0, run.err
    assert "input.no_memory" in diagnostics(lab.folder / "out"), diagnostics(lab.folder / "out")
    alone = lab.run(JOB, "-o", lab.folder / "alone", "--no-store")
    first = [json.loads((lab.folder / name / "findings.json").read_text())["findings"][0]["headline"] for name in ("out", "alone")]
    assert alone.code == 0 and first[0] == first[1], first


def case_every_command_with_little_memory(lab):
    write_profile(lab.folder / "a.pt.trace.json", 20)
    for words in (("profile", "breakdown", "a.pt.trace.json"), ("convert", "a.pt.trace.json", "--to", "chrome", "-o", "b.json"),
                  ("diff", JOB, PROFILE), ("flight", JOB), ("list", "jobs", JOB), ("accel", "-i", "a.pt.trace.json", "-o", "c.json")):
        for megabytes in (180, 260):
            run = lab.run(*words, memory=megabytes * MB)
            if run.code == 127 or "error while loading shared libraries" in run.err:
                continue
            check_end(run, f"{words[0]} with {megabytes} MB")


def case_no_threads(lab):
    """Who may start no thread works with the one there is."""
    if os.geteuid() != 0:
        raise Skip("only root can become a user of whom no other process runs")
    for path in (lab.folder, lab.folder.parent):
        path.chmod(0o777)
    for path in (Path(lab.binary), JOB):
        if any(not parent.stat().st_mode & 0o005 for parent in path.resolve().parents):
            raise Skip(f"{path} cannot be reached by others")

    def demote():
        os.setgroups([])
        os.setgid(54321)
        os.setuid(54321)
    for most in (1, 2, 4):
        out = lab.folder / f"out{most}"
        run = Run([lab.binary, JOB, "-o", out, "--jobs", 8], {resource.RLIMIT_NPROC: most}, lab.folder, demote)
        check_end(run, f"{most} processes")
        assert run.code == 0 and (out / "index.html").exists(), run.err


def sparse(path, head, size, tail=b""):
    with open(path, "wb") as out:
        out.write(head)
        out.seek(size)
        out.write(tail or b"\0")


def case_files_with_holes(lab):
    """A hole costs no memory, whatever it pretends to be."""
    size = (10 if lab.is_long else 1) << 30
    event = b'{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{}}'
    inputs = {
        "before.pt.trace.json": (b'{"schemaVersion": 1, "x": "', b'", "traceEvents": [' + event + b"]}"),
        "inside.pt.trace.json": (b'{"schemaVersion": 1, "traceEvents": [' + event + b",", b"," + event + b"]}"),
        "behind.pt.trace.json": (b'{"schemaVersion": 1, "traceEvents": [' + event + b'], "x": "', b'"}'),
        "line/rank_0.log": (b"step 1 loss 2.0\n", b"\n[rank0]: RuntimeError: x\n"),
        "dump/nccl_trace_rank_0": (b"\x80\x02}q\x00(X\x07\x00\x00\x00entriesq\x01]", b"."),
        "dump_json/nccl_trace_rank_0.json": (b'{"version": "2.10", "entries": [', b"]}"),
    }
    for name, (head, tail) in inputs.items():
        path = lab.folder / name
        path.parent.mkdir(exist_ok=True)
        sparse(path, head, size, tail)
        run = lab.run(path, "-o", lab.folder / "out", "--overwrite", "--no-store", "--jobs", 2)
        check_end(run, name)
        assert run.rss < (1200 if name.startswith("dump") else 900) * MB, f"{name}: {run.rss / MB:.0f} MB"
        path.unlink()


def case_recorded_inputs_in_4_gb(lab):
    data = Path(os.environ.get("DEBRIEF_DATA", ROOT / "build/shared-data"))
    if not lab.is_long or not (data / "recorded").is_dir():
        raise Skip("with --long, where the recorded inputs are")
    for name in ("recorded", "public"):
        run = lab.run(data / name, "-o", lab.folder / name, memory=4096 * MB)
        assert run.code == 0, f"{name}: {run.code} {run.err[-500:]}"
        assert "input.no_memory" not in diagnostics(lab.folder / name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / "build/release/debrief"))
    parser.add_argument("--long", action="store_true")
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args()
    cases = [(name, case) for name, case in globals().items() if name.startswith("case_")
             and (not options.patterns or any(pattern in name for pattern in options.patterns))]
    failed = 0
    for name, case in cases:
        with tempfile.TemporaryDirectory(prefix="memory.") as folder:
            try:
                case(Lab(os.path.abspath(options.binary), Path(folder), options.long))
                print(f"  {name}: ok", flush=True)
            except Skip as skip:
                print(f"  {name}: skipped, {skip}", flush=True)
            except AssertionError:
                failed += 1
                print(f"  {name}: FAILED\n{traceback.format_exc(limit=1)}", flush=True)
    print(f"memory: {len(cases)} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
