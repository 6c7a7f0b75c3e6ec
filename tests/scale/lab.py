"""What the tests of map, reduce and tasks share: how debrief is run, and how reports are compared."""
import base64
import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
GENERATOR = ROOT / "tools/make_flight_job.py"
PACKED = re.compile(rb'"(H4sI[A-Za-z0-9+/]+=*)"')
CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("SLURM", "OMPI_", "PMI", "JOB_COMPLETION", "DEBRIEF_"))}


class Debrief:
    def __init__(self, binary, scratch):
        self.binary, self.scratch = binary, scratch

    def start(self, *words, cwd=None, env=None, **more):
        return subprocess.Popen([self.binary, *map(str, words)], cwd=cwd or self.scratch, env={**CLEAN, **(env or {})}, text=True,
                                **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more})

    def end(self, started, ok=(0,)):
        """Output and messages of a process, once it has ended as it should."""
        started.out, started.err = started.communicate(timeout=300)
        assert started.returncode in ok, f"{started.args[1:]}: exit code {started.returncode}\n{started.err[-2000:]}"
        return started

    def run(self, *words, cwd=None, env=None, ok=(0,), **more):
        return self.end(self.start(*words, cwd=cwd, env=env, **more), ok)

    def report(self, folder, *words):
        """Everything under folder/out, by name, and what was printed."""
        folder.mkdir(parents=True, exist_ok=True)
        printed = self.run(*words, "-o", "out", "--quiet", cwd=folder).out
        return report_in(folder, printed)

    def map_all(self, paths, folder, count, cwd=None):
        for number in range(1, count + 1):
            self.run("map", *paths, "--shard", f"{number}/{count}", "-o", f"{folder}/", "--quiet", cwd=cwd)
        return sorted(folder.iterdir())


def unpacked(text):
    """What a page holds packed, as it was: under load the packer (ISA-L) once in some hundred reports finds another code of the same length."""
    return PACKED.sub(lambda found: gzip.decompress(base64.b64decode(found[1])), text)


def report_in(folder, printed):
    files = {path.relative_to(folder).as_posix(): unpacked(path.read_bytes()) for path in sorted((folder / "out").rglob("*")) if path.is_file()}
    return {**files, "(stdout)": printed}


def differences(single, joined):
    return [name for name in single.keys() | joined.keys() if single.get(name) != joined.get(name)]


def generate(folder, *words):
    subprocess.run([sys.executable, GENERATOR, folder, *map(str, words)], check=True, capture_output=True)
    return folder
