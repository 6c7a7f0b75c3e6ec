#!/usr/bin/env python3
"""What debrief writes, on a bad day: interrupted, on a full disk, twice at once, over what is not its own, with few descriptors.

usage: outputs.py [--binary PATH] [--kills N] [PATTERN...]

Every case is a function `case_...` with an empty folder of its own; it fails by an assertion.
"""
import gzip
import json
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import in_folders  # noqa: E402
from in_folders import Skip  # noqa: E402

TIMEOUT_S = 120
MARKER = ".debrief"


class Lab:
    def __init__(self, binary, folder, kills):
        self.binary = binary
        self.folder = folder
        self.kills = kills  # runs that are killed or interrupted

    def start(self, *words, **more):
        environment = dict(os.environ, HOME=str(self.folder), TMPDIR=str(self.folder), LC_ALL="C.UTF-8", TZ="UTC")
        words = [str(word) for word in (self.binary, *words)]
        return subprocess.Popen(words, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, text=True,
                                **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more)

    def run(self, *words, code=0, **more):
        running = self.start(*words, **more)
        out, err = running.communicate(timeout=TIMEOUT_S)
        assert code is None or running.returncode == code, f"{words}: exit code {running.returncode}\n{out}\n{err}"
        running.out, running.err = out, err
        return running

    def refused(self, *words, sentence=""):
        """Ends with 1 or 2 and a sentence, and changes nothing in the folder."""
        before = tree_of(self.folder)
        done = self.run(*words, code=None)
        assert done.returncode in (1, 2), f"{words}: exit code {done.returncode}"
        assert sentence in done.err, f"{words}: {done.err}"
        assert tree_of(self.folder) == before, f"{words}: changed {changed(before, tree_of(self.folder))}"


def tree_of(folder):
    """path -> content of everything below."""
    return {path.relative_to(folder).as_posix(): "link" if path.is_symlink() else path.read_bytes() if path.is_file() else "other"
            for path in sorted(folder.rglob("*"))}


def changed(one, other):
    return sorted(path for path in set(one) | set(other) if one.get(path) != other.get(path))


def litter(folder):
    """Names that only unfinished outputs have."""
    return [path.name for path in folder.rglob("*") if ".debrief-" in path.name or path.name.endswith((".partial", ".tmp"))]


# --- inputs ---

def dump(rank, ranks, state="completed"):
    """A Flight Recorder dump as JSON with three collectives of one group."""
    entries = [{"frames": [], "record_id": i, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": i + 1,
                "p2p_seq_id": 0, "op_id": i + 1, "profiling_name": "nccl:all_reduce", "time_created_ns": 10 ** 18 + 1000 * i,
                "input_sizes": [[4]], "input_dtypes": ["Float"], "output_sizes": [[4]], "output_dtypes": ["Float"],
                "state": "completed" if i < 2 else state, "time_discovered_started_ns": 10 ** 18 + 1000 * i + 1,
                "time_discovered_completed_ns": None, "retired": True, "timeout_ms": 600000, "is_p2p": False}
               for i in range(3)]
    return json.dumps({"version": "2.10", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(ranks)))}},
                       "pg_status": {}, "entries": entries, "rank": rank})


def write_dumps(folder, ranks, state="completed"):
    folder.mkdir(parents=True)
    for rank in range(ranks):
        (folder / f"nccl_trace_{rank}").write_text(dump(rank, ranks, state))
    return folder


def write_trace(path, events=200):
    slices = [{"ph": "X", "cat": "kernel", "name": f"k{i % 7}", "pid": 0, "tid": 7, "ts": 1e15 + 10 * i, "dur": 5, "args": {"stream": 7}}
              for i in range(events)]
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], "distributedInfo": {"rank": 0, "world_size": 1},
                                "traceEvents": slices}))
    return path


def write_log(path):
    path.write_text('V1115 02:42:22.000000 7 torch/_logging/structured.py:28] {"str": ["train.py", 0]}\n'
                    'V1115 02:42:22.100000 7 torch/_dynamo/convert_frame.py:900] {"dynamo_start": {"stack": '
                    '[{"line": 1, "name": "f", "filename": 0}]}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}\n')
    return path


# --- many inputs ---

def few_descriptors(count):
    def apply():
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))
    return apply


def case_more_inputs_than_descriptors(lab):
    job = write_dumps(lab.folder / "job", 1100)
    for count in (256, 64):
        done = lab.run(job, "-o", f"out{count}", "--json", preexec_fn=few_descriptors(count))
        report = json.loads(done.out)
        states = {entry["state"] for entry in report["inputs"]}
        assert len(report["inputs"]) == 1100 and states == {"imported"}, states
        assert not report["findings"] and not report["diagnostics"], (report["findings"], report["diagnostics"])
        assert (lab.folder / f"out{count}/index.html").is_file() and (lab.folder / f"out{count}/run.duckdb").is_file()
    done = lab.run("flight", job, "--json", preexec_fn=few_descriptors(64))
    assert not json.loads(done.out)["findings"], done.out


def case_packed_inputs_and_few_descriptors(lab):
    """Packed logs whose payloads are read again when the report is written."""
    job = lab.folder / "job"
    job.mkdir()
    text = write_log(lab.folder / "log").read_bytes()
    for rank in range(300):
        (job / f"dedicated_log_torch_trace_rank_{rank}.log.gz").write_bytes(gzip.compress(text, mtime=0))
    done = lab.run(job, "--json", "-o", "out", preexec_fn=few_descriptors(64))
    report = json.loads(done.out)
    assert {entry["state"] for entry in report["inputs"]} == {"imported"}, report["diagnostics"][:3]


def case_unread_is_not_missing(lab):
    """A dump that cannot be read says nothing about its rank."""
    job = write_dumps(lab.folder / "job", 8, state="scheduled")
    (job / "nccl_trace_5").unlink()
    (job / "nccl_trace_5").symlink_to("nowhere")
    for words in ((job, "-o", "out"), ("flight", job)):
        report = json.loads(lab.run(*words, "--json").out)
        headlines = [finding["headline"] for finding in report["findings"]]
        assert not any("left no" in headline for headline in headlines), headlines
        assert any(entry["name"] == "input.unreadable" for entry in report["diagnostics"]), report["diagnostics"]
    (job / "nccl_trace_5").unlink()
    report = json.loads(lab.run("flight", job, "--json").out)
    assert any("left no dump" in finding["headline"] for finding in report["findings"]), "a rank that is missing is told"


# --- a report appears whole ---

def content_of(report):
    """What tells one report from another: the findings, and the names of all files."""
    return sorted(tree_of(report)), (report / "findings.json").read_bytes(), (report / "index.html").read_bytes()


def two_reports(lab):
    """Two jobs with different reports; (words of a run that overwrites `out`, content of either)."""
    jobs = write_dumps(lab.folder / "old_job", 3), write_dumps(lab.folder / "new_job", 40, state="scheduled")
    contents = []
    for job in jobs:
        lab.run(job, "-o", "out", "--overwrite")
        contents.append(content_of(lab.folder / "out"))
    lab.run(jobs[0], "-o", "out", "--overwrite")
    assert content_of(lab.folder / "out") == contents[0], "the same input gives the same report"
    assert contents[0] != contents[1]
    return jobs, contents


def case_killed(lab):
    """SIGKILL at any moment: the whole old report or the whole new one, and the next run cleans up."""
    jobs, contents = two_reports(lab)
    began = time.monotonic()
    lab.run(jobs[1], "-o", "timed")
    took = time.monotonic() - began
    dice = random.Random(21)
    for i in range(lab.kills):
        running = lab.start(jobs[i % 2], "-o", "out", "--overwrite", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(dice.uniform(0.3, 1.05) * took)
        running.send_signal(signal.SIGKILL)
        running.wait()
        assert content_of(lab.folder / "out") in contents, f"kill {i}: neither the old nor the new report"
    lab.run(jobs[0], "-o", "out", "--overwrite")
    assert content_of(lab.folder / "out") == contents[0]
    assert not litter(lab.folder), litter(lab.folder)


def case_interrupted(lab):
    """SIGTERM and SIGINT leave the old report or the new one, and nothing beside it."""
    jobs, contents = two_reports(lab)
    began = time.monotonic()
    lab.run(jobs[1], "-o", "timed")
    took = time.monotonic() - began
    dice = random.Random(22)
    for i in range(lab.kills):
        number = (signal.SIGTERM, signal.SIGINT)[i % 2]
        running = lab.start(jobs[1], "-o", "out", "--overwrite", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(dice.uniform(0.3, 1.0) * took)
        running.send_signal(number)
        running.wait()
        assert running.returncode in (0, -number), running.returncode
        assert content_of(lab.folder / "out") in contents, f"signal {i}: neither the old nor the new report"
        assert not litter(lab.folder), f"signal {i}: {litter(lab.folder)}"


def case_file_too_large(lab):
    """As a full disk: nothing of the new report, nothing beside the old one."""
    jobs, contents = two_reports(lab)

    def limit_file_size():
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
    done = lab.run(jobs[1], "-o", "out", "--overwrite", code=None, preexec_fn=limit_file_size, restore_signals=False)
    assert done.returncode == 1 and done.err.strip(), done.returncode
    assert content_of(lab.folder / "out") == contents[0], "the old report is not whole"
    assert not litter(lab.folder), litter(lab.folder)


def case_full_disk(lab):
    disk = lab.folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", disk], capture_output=True).returncode != 0:
        raise Skip("no small disk can be mounted here")
    try:
        job = write_dumps(lab.folder / "job", 3)
        lab.run(job, "-o", "disk/out", "--no-store")
        before = tree_of(disk / "out")
        (disk / "filler").write_bytes(bytes(200_000))
        lab.run(job, "-o", "disk/out", "--overwrite", code=1)
        assert tree_of(disk / "out") == before, "the old report is not whole"
        assert not litter(disk), litter(disk)
    finally:
        subprocess.run(["umount", disk], check=True)


def case_two_writers(lab):
    jobs, contents = two_reports(lab)
    for _ in range(5):
        running = [lab.start(job, "-o", "out", "--overwrite") for job in jobs]
        for one in running:
            assert one.communicate(timeout=TIMEOUT_S) and one.returncode == 0, one.returncode
        assert content_of(lab.folder / "out") in contents
        assert (lab.folder / "out/run.duckdb").is_file()
    shutil.rmtree(lab.folder / "out")
    running = [lab.start(job, "-o", "out") for job in jobs]
    codes = []
    for one in running:
        one.communicate(timeout=TIMEOUT_S)
        codes.append(one.returncode)
    assert 0 in codes and set(codes) <= {0, 2}, codes
    assert content_of(lab.folder / "out") in contents
    assert not litter(lab.folder), litter(lab.folder)


def case_planted_folder(lab):
    """The name under which a folder is staged cannot be known, so nothing can be put there beforehand."""
    job = write_dumps(lab.folder / "job", 2)
    (lab.folder / "victim").mkdir()
    running = lab.start(job, "-o", "out")
    (lab.folder / f"out.{running.pid}.tmp").symlink_to("victim")
    running.communicate(timeout=TIMEOUT_S)
    assert running.returncode == 0 and not list((lab.folder / "victim").iterdir())


# --- nothing of others is replaced ---

def case_compile_over_its_log(lab):
    log = write_log(lab.folder / "log")
    lab.refused("compile", log, "-o", log, "--overwrite", "--no-browser", sentence="is an input")
    lab.refused("compile", "log", "-o", lab.folder, "--overwrite", "--no-browser", sentence="holds the input")
    lab.refused("compile", "log", "--split-ranks", lab.folder, "--overwrite", sentence="holds the input")
    lab.refused("compile", "log", "--runnable", lab.folder, "--overwrite", sentence="holds the input")


def case_report_over_its_inputs(lab):
    job = write_dumps(lab.folder / "sub/job", 2)
    for target in (job, lab.folder / "sub", "sub/../sub/job", lab.folder, job / "nccl_trace_0"):
        lab.refused(job, "-o", target, "--overwrite", sentence="debrief: ")
    (lab.folder / "link").symlink_to("sub/job")
    lab.refused(job, "-o", "link", "--overwrite", sentence="is an input")
    lab.refused("link", "-o", job, "--overwrite", sentence="is an input")
    lab.run(job, "-o", job / "out")
    lab.run(job, "-o", job / "out", "--overwrite")


def case_folder_of_somebody_else(lab):
    job = write_dumps(lab.folder / "job", 2)
    (lab.folder / "mine/report_data").mkdir(parents=True)
    (lab.folder / "mine/report_data/thesis.txt").write_text("precious")
    for words in ((job,), ("compile", write_log(lab.folder / "log"), "--no-browser")):
        lab.refused(*words, "-o", "mine", "--overwrite", sentence="is no folder that debrief wrote")
    trace = write_trace(lab.folder / "trace.json")
    lab.refused("convert", trace, "--to", "parquet", "-o", "mine", sentence="is no folder that debrief wrote")


def case_notes_in_a_report(lab):
    """What somebody put beside a report stays when it is replaced."""
    job = write_dumps(lab.folder / "job", 2)
    lab.run(job, "-o", "out")
    (lab.folder / "out/notes.txt").write_text("precious")
    (lab.folder / "out/run.duckdb.wal").write_text("of the old store")
    lab.run(job, "-o", "out", "--overwrite")
    assert (lab.folder / "out/notes.txt").read_text() == "precious"
    assert not (lab.folder / "out/run.duckdb.wal").exists(), "DuckDB would replay it into the new store"
    assert not litter(lab.folder), litter(lab.folder)
    log = write_log(lab.folder / "log")
    lab.run("compile", log, "-o", "tree", "--no-browser")
    assert not (lab.folder / "tree" / MARKER).exists(), "a tree has the files of tlparse and no others"
    (lab.folder / "tree/notes.txt").write_text("precious")
    lab.run("compile", log, "-o", "tree", "--overwrite", "--no-browser")
    assert (lab.folder / "tree/notes.txt").read_text() == "precious"


def case_parts_of_two_runs(lab):
    """Who reads a report notices a part of another run."""
    lab.run(write_dumps(lab.folder / "job", 2), "-o", "one")
    lab.run(write_dumps(lab.folder / "job3", 3), "-o", "two")
    done = lab.run("query", "one", "SELECT count(*) FROM input")
    assert "another run" not in done.err, done.err
    lab.run(lab.folder / "job3", "-o", "one", "--overwrite", "--no-store")
    lab.run("query", "one", "SELECT 1", code=1)
    shutil.copy(lab.folder / "two/run.duckdb", lab.folder / "one/run.duckdb")
    done = lab.run("query", "one", "SELECT 1")
    assert "another run" not in done.err, f"equal inputs are the same run: {done.err}"
    lab.run(lab.folder / "job", "-o", "one", "--overwrite", "--no-store")
    shutil.copy(lab.folder / "two/run.duckdb", lab.folder / "one/run.duckdb")
    done = lab.run("query", "one", "SELECT 1")
    assert "run.duckdb is of another run than findings.json" in done.err, done.err
    (lab.folder / "one/findings.json").unlink()
    done = lab.run("query", "one", "SELECT 1")
    assert "run.duckdb is of another run than index.html" in done.err, done.err


def case_names_of_folders(lab):
    """q/../q is q; a link is followed; the working folder and one that is there already are filled."""
    job = write_dumps(lab.folder / "job", 2)
    for _ in range(2):
        lab.run(job, "-o", "q/../q/", "--overwrite")
        assert (lab.folder / "q/index.html").is_file() and not litter(lab.folder)
    (lab.folder / "link").symlink_to("q")
    lab.run(job, "-o", "link", "--overwrite")
    assert (lab.folder / "link").is_symlink() and (lab.folder / "q/index.html").is_file()
    (lab.folder / "empty").mkdir()
    lab.run(job, "-o", "empty")
    here = lab.folder / "here"
    here.mkdir()
    for _ in range(2):
        done = subprocess.run([lab.binary, job, "-o", ".", "--overwrite"], cwd=here, capture_output=True, timeout=TIMEOUT_S)
        assert done.returncode == 0, done.stderr
        assert (here / "index.html").is_file() and not litter(here), litter(here)
    lab.run(job, "-o", "q")  # its own report is replaced without a word
    lab.run("compile", write_log(lab.folder / "log"), "-o", "tree", "--no-browser")
    lab.refused(job, "-o", "tree", sentence="exists and is not empty")


def case_files_over_inputs(lab):
    job = write_dumps(lab.folder / "job", 2)
    dump_file = job / "nccl_trace_0"
    lab.refused("flight", job, "--timeline", dump_file, sentence="belongs to the input")
    shutil.copy(dump_file, job / "x.json")
    lab.refused("flight", job, "-o", job / "x.json", sentence="belongs to the input")
    trace = write_trace(lab.folder / "trace.json")
    (lab.folder / "link.json").symlink_to("trace.json")
    for name in ("trace.json", "./trace.json", "link.json"):
        lab.refused("convert", trace, "--to", "chrome", "-o", name, sentence="input")
        lab.refused("accel", "-i", trace, "-o", name, sentence="input")
    lab.run("convert", trace, "--to", "chrome", "-o", "new.json")
    lab.run("convert", trace, "--to", "chrome", "-o", "new.json")
    lab.run("flight", job, "--timeline", "t.json", "-o", "flat.duckdb")
    assert (lab.folder / "t.json").is_file() and (lab.folder / "flat.duckdb").is_file() and not litter(lab.folder)


def case_side_file_over_input(lab):
    """accel names files after its main output; one of them may be an input."""
    trace = write_trace(lab.folder / "run_summary.csv")
    before = trace.read_bytes()
    lab.run("accel", "-i", trace, "-o", "run.json", code=None)
    assert trace.read_bytes() == before


def case_devices(lab):
    """They are written to, not replaced. Copies of them, since a failure as root would take those of the machine away."""
    trace = write_trace(lab.folder / "trace.json")
    convert = ("convert", trace, "--to", "chrome", "--quiet", "-o")
    done = lab.run(*convert, "/dev/fd/1")
    assert json.loads(done.out)["traceEvents"], done.out[:200]
    with open(lab.folder / "redirected", "w") as redirected:
        redirected.write(" ")
        redirected.flush()
        lab.run(*convert, "/dev/fd/1", stdout=redirected)
    assert json.loads((lab.folder / "redirected").read_text())["traceEvents"]
    if os.geteuid() != 0:
        assert json.loads(lab.run(*convert, "/dev/stdout").out)["traceEvents"]
    os.mkfifo(lab.folder / "fifo")
    reader = subprocess.Popen(["cat", "fifo"], cwd=lab.folder, stdout=subprocess.PIPE)
    lab.run(*convert, "fifo")
    assert json.loads(reader.communicate(timeout=TIMEOUT_S)[0])["traceEvents"]
    try:
        for name, minor in (("null", 3), ("full", 7)):
            os.mknod(lab.folder / name, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
    except PermissionError as error:
        raise Skip("no device can be made here") from error
    lab.run(*convert, "null")
    lab.run(*convert, "full", code=1)
    lab.refused(trace, "-o", "null", "--overwrite", sentence="is not a folder")
    lab.run("accel", "-i", trace, "-o", "null")
    assert all(stat.S_ISCHR(os.lstat(lab.folder / name).st_mode) for name in ("null", "full"))
    assert not list(lab.folder.glob("null?*")), "files are named after a device"


# --- others ---

def case_full_stdout(lab):
    job = write_dumps(lab.folder / "job", 2)
    lab.run(job, "-o", "out")
    for words in (("query", "out", "SELECT * FROM comm_op"), ("explain", "out"), ("flight", job, "--json"),
                  (job, "-o", "again", "--overwrite"), (job, "-o", "again", "--overwrite", "--json"), ("list", "tables")):
        with open("/dev/full", "w") as full:
            done = lab.run(*words, code=1, stdout=full)
        assert "stdout" in done.err, done.err
    done = subprocess.run(f"'{lab.binary}' query out 'SELECT * FROM comm_op' | true", shell=True, cwd=lab.folder, capture_output=True)
    assert b"stdout" not in done.stderr, "a reader that went away is no error"


def case_compat_ends(lab):
    """A region of a group that its own rank is no member of, and groups without members."""
    for ranks in ("[]", "[1, 2]"):
        content = json.loads(dump(0, 1))
        content["pg_config"]["0"]["ranks"] = ranks
        content["entries"] = [entry | {"collective_seq_id": 1, "profiling_name": name} for entry, name in
                              zip(content["entries"], ("nccl:all_reduce", "nccl:all_reduce", "nccl:allreduce_coalesced"))]
        folder = lab.folder / f"job{len(ranks)}"
        folder.mkdir()
        (folder / "nccl_trace_0").write_text(json.dumps(content))
        lab.run("flight", folder, "--compat", "--allow-incomplete-ranks", code=None)


def main():
    parser = in_folders.parser(__doc__)
    parser.add_argument("--kills", default=20, type=int)
    options = parser.parse_args()
    tests = [(name, lambda folder, case=case: case(Lab(options.binary, folder, options.kills)))
             for name, case in in_folders.named("case_", globals())]
    return in_folders.run_all("hostile.outputs", tests, options.patterns)


sys.exit(main())
