"""debrief.load(): finds out what a path is, and runs debrief where there is no report yet."""
from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Union

from ._errors import Error
from ._program import run as run_program
from ._run import Run, parquet_files

PathLike = Union[str, "os.PathLike[str]"]

_SHARD = b"debrief shard "


def load(*paths: PathLike, output: PathLike | None = None) -> Run:
    """The run of a job or of a report.

    A report (the folder that debrief wrote, or its run.duckdb) and Parquet tables are opened as they are. Anything else is read
    by the program: files, folders and archives of a job, or shards of `debrief map`. Its report goes to `output`; without one to
    a temporary folder, which goes away with the Run.
    """
    if not paths:
        raise Error("load() needs a path: of a job, of a report or of Parquet tables.")
    found = [Path(path) for path in paths]
    for path in found:
        if not path.exists():
            raise Error(f"no such file or folder: {path}.")
    if len(found) == 1 and output is None:
        if opened := _open(found[0]):
            return opened
    return _run(found, output)


def _open(path: Path) -> Run | None:
    """What needs no program; None where the path is of a job."""
    if path.name == "run.duckdb":
        return Run(path.parent.resolve())
    if path.suffix == ".parquet":
        raise Error(f"{path} is one table. Give the folder that has all of them.")
    if not path.is_dir():
        return None
    if (path / "findings.json").exists() or (path / "run.duckdb").exists():
        return Run(path.resolve())
    if next(path.glob("*.parquet"), None) or _has_nothing_but_parquet(path):
        return Run(path.resolve(), parquet=True)
    return None


def _has_nothing_but_parquet(folder: Path) -> bool:
    """Tables of several shards or runs, a folder each."""
    return bool(parquet_files(folder)) and all(path.suffix == ".parquet" for path in folder.rglob("*") if path.is_file())


def _is_shard(path: Path) -> bool:
    try:
        if path.is_dir():
            return any(_is_shard(inside) for inside in path.glob("shard-*") if inside.is_file())
        with open(path, "rb") as file:
            return file.read(len(_SHARD)) == _SHARD
    except OSError:
        return False


def _run(paths: list[Path], output: PathLike | None) -> Run:
    temporary = tempfile.TemporaryDirectory(prefix="debrief-") if output is None else None
    folder = Path(temporary.name, "report") if temporary else Path(os.fspath(output or ""))
    words = ["reduce"] if any(map(_is_shard, paths)) else []
    try:
        # The verdict on its stdout is not read: findings.json has it. A program that srun or mpirun started may be the only one
        # that asks: nobody shares the work.
        run_program(*(words or ["--alone"]), *(_as_word(path) for path in paths), "-o", str(folder), "--quiet")
    except BaseException:
        if temporary:
            temporary.cleanup()
        raise
    return Run(folder.resolve(), temporary=temporary)


def _as_word(path: Path) -> str:
    """Never an option, never standard input, never the name of a command."""
    return str(path) if path.is_absolute() else os.path.join(".", path)
