#!/usr/bin/env python3
"""Flight Recorder dumps of very many ranks: right answer, CPU seconds, memory, size of the report. One thread.

usage: flight_scale_bench.py MODE DEBRIEF FOLDER

  512x2000           the report, and `debrief flight` alone (flight_s, flight_mb)
  4096x200           the cost of an entry against 512 ranks x 2,000 entries
  8192_in_one_group  everybody waits in one group for one rank
  16384x60           dumps that are mostly lists of members
  16384x200          with a planted fault; also the size of the report
  16384_healthy      nothing is wrong
  16384_shards       four maps and a reduce
Dumps are made in FOLDER once and always the same. CPU seconds are the least of RUNS runs: others use the machine, too.
"""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

RUNS = 3
GENERATOR = Path(__file__).resolve().parent.parent / "tools/make_flight_job.py"
JOBS = {
    "512x2000": ["--ranks", 512, "--entries", 2000, "--fault", "stuck", "--fault-rank", 301],
    "4096x200": ["--ranks", 4096, "--entries", 200, "--fault", "stuck", "--fault-rank", 2301],
    "8192_in_one_group": ["--ranks", 8192, "--entries", 90, "--tp", 1, "--pp", 1, "--fault", "stuck", "--fault-rank", 77],
    "16384x60": ["--ranks", 16384, "--entries", 60, "--fault", "stuck", "--fault-rank", 9301],
    "16384x200": ["--ranks", 16384, "--entries", 200, "--fault", "stuck", "--fault-rank", 9301],
    "16384_healthy": ["--ranks", 16384, "--entries", 60, "--fault", "none"],
}


class Bench:
    def __init__(self, debrief, folder):
        self.debrief, self.folder = debrief, folder
        self.out = folder / "out"
        folder.mkdir(parents=True, exist_ok=True)

    def dumps(self, job):
        place = self.folder / job
        if not place.exists():
            partial = self.folder / f"{job}.partial"
            shutil.rmtree(partial, ignore_errors=True)
            subprocess.run([sys.executable, GENERATOR, partial, *map(str, JOBS[job])], check=True, capture_output=True)
            partial.rename(place)
        return place

    def run(self, *words):
        """(stdout, CPU seconds, peak megabytes) of one process."""
        process = subprocess.Popen([self.debrief, *map(str, words), "--jobs", "1", "--quiet"], stdout=subprocess.PIPE, text=True)
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        if os.waitstatus_to_exitcode(status) != 0:
            sys.exit(f"{words} failed")
        return output, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6

    def best(self, *words):
        """As run: the least CPU seconds of some runs, and their largest peak."""
        runs = [self.run(*words) for _ in range(RUNS)]
        return runs[-1][0], min(cpu for _, cpu, _ in runs), max(peak for *_, peak in runs)

    def answer(self, *words):
        return self.best(*words, "--json", "--no-store", "-o", self.out, "--overwrite")

    def check(self, job, output):
        """The findings blame the planted rank alone, or nobody."""
        causes = [one for one in json.loads(output)["findings"] if one["severity"] == "error" and one["role"] == "cause"]
        wanted = [] if "none" in JOBS[job] else [[JOBS[job][JOBS[job].index("--fault-rank") + 1]]]
        if [one["ranks"] for one in causes] != wanted:
            sys.exit(f"{job}: blamed {[one['ranks'][:5] for one in causes]}, planted {wanted}")
        return json.loads(output)

    def measure(self, job):
        output, cpu_s, peak_mb = self.answer(self.dumps(job))
        run = self.check(job, output)
        rows = sum(one["rows"] or 0 for one in run["inputs"])
        return {"cpu_s": cpu_s, "peak_mb": peak_mb, "rows": rows}

    def flight(self, job):
        output, cpu_s, peak_mb = self.best("flight", self.dumps(job), "--json")
        self.check(job, output)
        return {"flight_s": cpu_s, "flight_mb": peak_mb}

    def shards(self):
        job, shards = self.dumps("16384x200"), self.folder / "shards"
        shutil.rmtree(shards, ignore_errors=True)
        maps = [self.run("map", job, "--shard", f"{number}/4", "-o", f"{shards}/") for number in range(1, 5)]
        output, reduce_s, reduce_mb = self.answer("reduce", shards)
        self.check("16384x200", output)
        return {"map_s": sum(cpu for _, cpu, _ in maps), "map_mb": max(peak for *_, peak in maps), "reduce_s": reduce_s,
                "reduce_mb": reduce_mb, "shards_mb": sum(file.stat().st_size for file in shards.iterdir()) / 1e6,
                "cpu_s": sum(cpu for _, cpu, _ in maps) + reduce_s, "peak_mb": reduce_mb}


def main():
    mode, debrief, folder = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3])
    bench = Bench(debrief, folder)
    if mode == "16384_shards":
        values = bench.shards()
    else:
        values = bench.measure(mode)
    if mode == "512x2000":
        values |= bench.flight(mode)
    if mode == "4096x200":
        other = bench.measure("512x2000")
        values["ratio"] = values["cpu_s"] / values["rows"] / (other["cpu_s"] / other["rows"])
    if mode == "16384x200":
        values["page_mb"] = (bench.out / "index.html").stat().st_size / 1e6
        values["data_mb"] = sum(file.stat().st_size for file in (bench.out / "report_data").rglob("*") if file.is_file()) / 1e6
    print(f"flight_{mode}", *(f"{name}={value:.3f}" for name, value in values.items()))


if __name__ == "__main__":
    main()
