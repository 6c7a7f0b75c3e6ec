#!/usr/bin/env python3
"""Tests of `debrief watch` against jobs that are written step by step, killed, rotated and truncated here.

usage: test_watch.py [--binary PATH] [--only WORD]

Nothing sleeps for a fixed time: a test waits for a line of the watcher, or for a metric, with a deadline.
"""
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import in_folders  # noqa: E402

BINARY = None  # set by in_folders
DEADLINE_S = 60  # of a busy machine; what must be quick is measured
WATCHDOG = ("[rank{0}]:[E1115 02:42:35.285812108 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught collective operation timeout: "
            "WorkNCCL(SeqNum=10, OpType=ALLREDUCE, NumelIn=512, NumelOut=512, Timeout(ms)=10000) ran for 10013 milliseconds before timing out.\n")


class Watcher:
    """A running `debrief watch`, with its lines as they come."""

    def __init__(self, folder, *words, job="job"):
        self.folder, self.lines, self.seen = folder, queue.Queue(), []
        self.started = time.monotonic()
        self.process = subprocess.Popen([str(word) for word in (BINARY, "watch", job, "-o", "out", "--prometheus", "metrics.prom", *words)],
                                        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1,
                                        env={**os.environ, "TMPDIR": str(folder)})
        for stream in (self.process.stdout, self.process.stderr):
            threading.Thread(target=self.collect, args=(stream,), daemon=True).start()

    def collect(self, stream):
        for line in stream:
            self.lines.put((time.monotonic(), line))

    def wait_for(self, pattern):
        """The first line that matches and was not waited for yet; seconds since the call."""
        begun = time.monotonic()
        while time.monotonic() - begun < DEADLINE_S:
            try:
                when, line = self.lines.get(timeout=0.05)
            except queue.Empty:
                continue
            self.seen.append(line)
            if re.search(pattern, line):
                return line, when - begun
        raise AssertionError(f"no line {pattern!r}; there were: {''.join(self.seen)[-3000:]}")

    def metric(self, name):
        try:
            text = (self.folder / "metrics.prom").read_text()
        except FileNotFoundError:
            return None
        found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.M)
        return float(found[1]) if found else None

    def wait_for_metric(self, name, wanted):
        begun = time.monotonic()
        while time.monotonic() - begun < DEADLINE_S:
            if self.metric(name) == wanted:
                return
            time.sleep(0.02)
        raise AssertionError(f"{name} is {self.metric(name)} and not {wanted}")

    def end(self):
        """Exit code, and all lines."""
        code = self.process.wait(DEADLINE_S)
        time.sleep(0.05)
        while not self.lines.empty():
            self.seen.append(self.lines.get()[1])
        return code, "".join(self.seen)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def append(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a") as file:
        file.write(text)


def step(folder, ranks, number):
    for rank in ranks:
        append(folder / f"job/rank{rank}.log", f"step {number} loss 2.{number}\n")


def test_healthy_job(folder):
    step(folder, range(4), 0)
    with Watcher(folder, "--until-idle", 2, "--interval", 0.1, "--fail-on", "warning") as watcher:
        for number in range(1, 6):
            step(folder, range(4), number)
            watcher.wait_for_metric('debrief_rank_step{rank="3"}', number)
        code, text = watcher.end()
        assert code == 0 and "error" not in text and "warning" not in text, (code, text)
        assert "end      nothing was written for" in text
        assert watcher.metric("debrief_job_running") == 0 and watcher.metric("debrief_job_errors") == 0


def is_busy():
    """A machine with more to do than processors keeps no deadline."""
    return os.getloadavg()[0] > os.cpu_count()


def test_hang_is_told_within_five_seconds(folder):
    """The files of a recorded hang come as they came then: output first, dumps last."""
    source = ROOT / "examples/hung-job"
    step(folder, range(8), 1)
    with Watcher(folder, "--interval", 0.2, "--fail-on", "error", "--on-finding", "cat > got.json; echo {headline} > headline.txt") as watcher:
        watcher.wait_for_metric("debrief_job_last_step", 1)
        for rank in range(8):
            append(folder / f"job/stdout_rank{rank}.txt", (source / f"stdout_rank{rank}.txt").read_text())
        _, seconds = watcher.wait_for("NCCL watchdog timeout")
        assert seconds < 5 or is_busy(), seconds
        for dump in sorted(source.glob("nccl_trace_rank_*")):
            (folder / "job" / dump.name).write_bytes(dump.read_bytes())
        line, seconds = watcher.wait_for(r"^error .*[Rr]ank 5")
        assert seconds < 5 or is_busy(), seconds
        append(folder / "job/launcher.txt", "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \nRoot Cause (first observed failure):\n")
        code, text = watcher.end()
        assert code == 3, (code, text)
    assert json.loads((folder / "got.json").read_text())["findings"]
    assert (folder / "headline.txt").read_text().strip() and (folder / "out/index.html").exists()


def test_rotation_and_truncation(folder):
    log = folder / "job/rank0.log"
    step(folder, [0], 1)
    with Watcher(folder, "--interval", 0.1) as watcher:
        watcher.wait_for_metric('debrief_rank_step{rank="0"}', 1)
        log.rename(log.with_suffix(".log.1"))
        append(log.with_suffix(".log.1"), "step 2 loss 2\n")  # who has it open goes on writing
        watcher.wait_for_metric('debrief_rank_step{rank="0"}', 2)
        step(folder, [0], 3)
        watcher.wait_for_metric('debrief_rank_step{rank="0"}', 3)
        os.truncate(log, 0)
        append(log, "step 4\n")
        watcher.wait_for("was truncated")
        watcher.wait_for_metric('debrief_rank_step{rank="0"}', 4)
        append(folder / "job/new/deep/rank7.log", "step 9 loss 1\n")
        watcher.wait_for_metric('debrief_rank_step{rank="7"}', 9)
        append(folder / "job/rank0.log", "step 1")  # half a line is not read
        append(folder / "job/rank0.log", "0 loss 1\n")
        watcher.wait_for_metric('debrief_rank_step{rank="0"}', 10)
        watcher.process.send_signal(signal.SIGTERM)
        code, text = watcher.end()
        assert code == 0, (code, text)


def test_restart_and_exits(folder):
    for rank in range(2):
        append(folder / f"job/attempt_0/{rank}/stdout.log", "step 5 loss 1\n")
    with Watcher(folder, "--interval", 0.1) as watcher:
        watcher.wait_for_metric('debrief_rank_step{rank="1"}', 5)
        append(folder / "job/attempt_1/1/stdout.log", "step 1 loss 1\n")
        watcher.wait_for("restart .*attempt 1 began")
        watcher.wait_for_metric('debrief_rank_step{rank="1"}', 1)
        watcher.process.send_signal(signal.SIGINT)
        assert watcher.end()[0] == 0


def test_ends_with_the_process(folder):
    job = subprocess.Popen(["sleep", "600"])
    step(folder, range(2), 1)
    with Watcher(folder, "--pid", job.pid, "--interval", 0.1) as watcher:
        watcher.wait_for_metric("debrief_job_last_step", 1)
        job.kill()
        job.wait()
        code, text = watcher.end()
        assert code == 0 and f"process {job.pid} has ended" in text, (code, text)


def test_stragglers_silence_and_recompiles(folder):
    step(folder, range(4), 1)
    recompile = "[rank1]:V1115 02:33:30.010000 425 torch/_dynamo/guards.py:1379] [5/1] [__recompiles] Recompiling function f in train.py:3\n"
    with Watcher(folder, "--interval", 0.1, "--silence", 1) as watcher:
        watcher.wait_for_metric('debrief_rank_step{rank="3"}', 1)
        append(folder / "job/rank1.log", recompile)
        watcher.wait_for_metric("debrief_job_recompiles_total", 1)
        number = 2
        while not any("rank 2: printed nothing" in line for line in watcher.seen):
            assert number < 600, watcher.seen
            step(folder, [0, 1, 3], number)
            number += 1
            try:
                watcher.seen.append(watcher.lines.get(timeout=0.1)[1])
            except queue.Empty:
                pass
        watcher.wait_for_metric("debrief_job_stragglers", 1)
        watcher.wait_for("silence .*no output for")
        watcher.process.terminate()
        watcher.end()


def test_links_that_lead_out(folder):
    step(folder, [0], 1)
    append(folder / "secret/rank9.log", "step 77 loss 1\nTraceback (most recent call last):\n  File \"x.py\", line 1, in <module>\nValueError: outside\n")
    (folder / "job/rank9.log").symlink_to("../secret/rank9.log")
    (folder / "job/more").symlink_to("../secret")
    (folder / "job/inside.log").symlink_to("rank0.log")
    os.mkfifo(folder / "job/pipe.log")
    with Watcher(folder, "--until-idle", 0.5, "--interval", 0.1, "--fail-on", "error") as watcher:
        code, text = watcher.end()
        assert code == 0 and "links lead out" in text and "ValueError" not in text, (code, text)
        assert watcher.metric('debrief_rank_step{rank="9"}') is None
        assert watcher.metric("debrief_job_last_step") == 1


def test_much_text_in_little_memory(folder):
    """200 MB of output, with a limit on memory that would not hold a quarter of it."""
    (folder / "job").mkdir()
    words = "some text of a trainer that goes on for a while " * 200
    block = "".join(f"[rank{i % 8}]:step {i} loss 2.5 tokens/s 1234.5\n[rank{i % 8}]:{words}\n" for i in range(100))
    with open(folder / "job/all.log", "w") as log:
        for _ in range(200 * (1 << 20) // len(block) + 1):
            log.write(block)
    with Watcher(folder, "--interval", 0.1) as watcher:
        watcher.wait_for_metric("debrief_watch_read_bytes_total", float(f"{(folder / 'job/all.log').stat().st_size:.10g}"))
        status = Path(f"/proc/{watcher.process.pid}/status").read_text()
        peak_kb = int(re.search(r"VmHWM:\s+(\d+)", status)[1])
        watcher.process.terminate()
        watcher.end()
    assert peak_kb < 64 << 10, f"{peak_kb >> 10} MB"


def test_hostile_output_and_a_reader_that_left(folder):
    """Bytes of no text, a line of 100 MB, and nobody who reads what is printed."""
    step(folder, [0], 1)
    (folder / "job/noise.log").write_bytes(b"[rank1]:Watchdog caught " + os.urandom(1 << 20))
    with open(folder / "job/long.log", "wb") as log:
        for _ in range(100):
            log.write(b"step 5 " * (1 << 17))
    line = f"{BINARY} watch job -o out --until-idle 1 --quiet | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], cwd=folder, timeout=DEADLINE_S, env={**os.environ, "TMPDIR": str(folder)})
    assert done.returncode == 0 and (folder / "out/findings.json").exists(), done


def test_own_files_are_not_read(folder):
    """Its output and its metrics may lie in the folder of the job."""
    append(folder / "job/rank0.log", "step 1 loss 1\n" + WATCHDOG.format(0))
    with open(folder / "job/watch.log", "w") as log:
        done = subprocess.run([BINARY, "watch", ".", "-o", "../out", "--until-idle", "1", "--interval", "0.1", "--prometheus", "m.prom"],
                              cwd=folder / "job", stdout=log, stderr=log, timeout=DEADLINE_S)
    metrics = (folder / "job/m.prom").read_text()
    assert done.returncode == 0 and "debrief_job_trouble_lines_total 1\n" in metrics, (done, metrics)


def test_wrong_usage(folder):
    (folder / "file").write_text("x")
    for words in (["nowhere"], ["file"], [".", "--on-finding", "echo '{headline}'"], [".", "--interval", "0"]):
        done = subprocess.run([BINARY, "watch", *words], cwd=folder, capture_output=True, text=True, timeout=DEADLINE_S)
        assert done.returncode == 2 and done.stderr.startswith("debrief: "), (words, done)


if __name__ == "__main__":
    sys.exit(in_folders.run("watch", globals()))
