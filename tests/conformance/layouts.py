"""One job of train/, laid out as other launchers and people would have left it.

A job is a list of Files; a layout gives each of them a path. What a file tells must not depend on the path.
"""
import io
import re
import shutil
import tarfile
from pathlib import Path
from typing import NamedTuple, Optional

ODD = "amber birch cedar delta ember fjord grove heath inlet jetty knoll larch marsh north ocean plain quartz ridge slope trail " \
      "umber vale wharf yarrow zephyr aspen basil clove daisy elder ferry glade hazel ivory jolly koala lemon maple nutmeg " \
      "olive pearl quill raven sable tulip ultra viola willow xenon yucca zebra acorn brook coral dune eagle flint gorge".split()


class File(NamedTuple):
    kind: str               # dump, text, launcher, stacks, faulthandler, ras
    path: Path
    rank: Optional[int] = None
    attempt: Optional[int] = None
    stream: str = ""        # stdout or stderr


def files_of(job):
    """The files of a job as torchrun left it."""
    found = [File("dump", path, int(path.name.rsplit("_", 1)[1])) for path in sorted(job.glob("fr/*"))]
    for path in sorted(job.glob("logs/*/attempt_*/*/*.log")):
        attempt, rank = path.parts[-3:-1]
        found.append(File("text", path, int(rank), int(attempt.split("_")[1]), path.stem))
    found += [File("launcher", path) for path in job.glob("torchrun.txt")]
    found += [File("stacks", path) for path in sorted(job.glob("debug/*"))]
    found += [File("faulthandler", path, int(re.findall(r"\d+", path.name)[0])) for path in sorted(job.glob("faulthandler*"))]
    return found + [File("ras", path) for path in job.glob("ncclras.txt")]


def restarted(file, form):
    """What a name says of the attempt; nothing of the first, as usual."""
    return form.format(file.attempt) if file.attempt else ""


def torchrun(file, number):
    return {"dump": f"fr/nccl_trace_rank_{file.rank}", "launcher": "torchrun.txt", "stacks": f"debug/{file.path.name}",
            "faulthandler": file.path.name, "ras": "ncclras.txt",
            "text": f"logs/none_a1b2c3d4/attempt_{file.attempt}/{file.rank}/{file.stream}.log"}[file.kind]


def flat(file, number):
    if file.kind == "text":
        return f"rank{file.rank}{restarted(file, '_attempt{}')}_{file.stream}.log"
    return Path(torchrun(file, number)).name


def by_kind(file, number):
    if file.kind == "text":
        return f"output/rank_{file.rank}{restarted(file, '.attempt{}')}.{file.stream}"
    return {"dump": "flight/", "launcher": "launch/", "stacks": "python/", "faulthandler": "python/", "ras": "net/"}[file.kind] + \
        file.path.name


def hosts(file, number):
    """Two hosts of four ranks, each with its own run of torchrun."""
    if file.rank is None:
        return f"gpu-host-a/{file.path.name}"
    host = f"gpu-host-{'ab'[file.rank // 4]}"
    if file.kind == "text":
        return f"{host}/logs/llm_{'xyzw'[file.rank // 4] * 8}/attempt_{file.attempt}/{file.rank % 4}/{file.stream}.log"
    return f"{host}/{file.path.name}"


def slurm(file, number):
    if file.kind == "text":
        node = f"node{file.rank // 4 + 1:02}"
        return f"llm_4711_{node}{restarted(file, '_restart{}')}_{file.rank}.{'out' if file.stream == 'stdout' else 'err'}"
    return {"launcher": "slurm-4711.out"}.get(file.kind, f"debug_info/{file.path.name}")


def mpirun(file, number):
    if file.kind == "text":
        return f"{restarted(file, 'restart{}/') or 'out/'}1/rank.{file.rank:02}/{file.stream}"
    return file.path.name


def pods(file, number):
    if file.kind == "text":
        pod = "llm-master-0" if file.rank == 0 else f"llm-worker-{file.rank - 1}"
        return f"pods/{pod}{restarted(file, '-restart{}')}.{file.stream}.log"
    return f"volume/{file.path.name}"


def deepspeed(file, number):
    if file.kind == "text":
        return f"logs/20261115232209_rank{file.rank}{restarted(file, '_attempt{}')}.{file.stream}.log"
    return f"logs/{file.path.name}"


def nemo(file, number):
    if file.kind == "text":
        return f"run/{restarted(file, 'restart{}/')}nemo_log_globalrank-{file.rank}_localrank-{file.rank % 4}.{file.stream}.txt"
    return f"run/{file.path.name}"


def nested(file, number):
    return f"backup/2026/november/{torchrun(file, number)}"


def odd(file, number):
    """Names that tell nothing, but for dumps, which do not know their rank."""
    return f"stuff/{file.path.name}" if file.kind == "dump" else f"things/{ODD[number % len(ODD)]}{'x' * (number // len(ODD))}.txt"


LAYOUTS = {layout.__name__: layout for layout in
           (torchrun, flat, by_kind, hosts, slurm, mpirun, pods, deepspeed, nemo, nested, odd)}


def lay_out(files, layout, folder):
    """Copies the files into the folder; returns {path below it: file}."""
    placed = {}
    for number, file in enumerate(files):
        path = layout(file, number)
        assert path not in placed, f"{layout.__name__} puts two files at {path}"
        placed[path] = file
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file.path, folder / path)
    return placed


def pack(files, layout, archive):
    """The same in a .tar.gz."""
    placed = {layout(file, number): file for number, file in enumerate(files)}
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        for path, file in placed.items():
            info = tarfile.TarInfo(f"job/{path}")
            data = file.path.read_bytes()
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return placed
