"""The program and the DuckDB library: where they lie, and how the program is run.

    DEBRIEF_BINARY                       where it is set
    <package>/_native/bin/debrief        in the wheel
    <prefix>/bin/debrief                 where package and program were installed below one prefix
    debrief on PATH                      else
"""
from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from ._errors import Error

_PACKAGE = Path(__file__).resolve().parent
_LIBRARY = "libduckdb.so"


def _candidates() -> Iterator[Path]:
    yield _PACKAGE / "_native" / "bin" / "debrief"
    # <prefix>/lib/python3.11/site-packages/debrief
    for parent in list(_PACKAGE.parents)[2:4]:
        yield parent / "bin" / "debrief"
    if found := shutil.which("debrief"):
        yield Path(found)


def binary() -> Path:
    """The program; the first of the places above that has one."""
    if named := os.environ.get("DEBRIEF_BINARY"):
        if os.access(named, os.X_OK):
            return Path(named).resolve()
        raise Error(f"DEBRIEF_BINARY names {named}, which is no program.")
    for path in _candidates():
        # A script of the same name (what pip makes of a wheel) would start this package again.
        if os.access(path, os.X_OK) and path.is_file() and _is_native(path):
            return path.resolve()
    raise Error("the program debrief was not found. Install the wheel, put debrief on PATH, or set DEBRIEF_BINARY.")


def _is_native(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def library() -> Path:
    """The DuckDB library beside the program."""
    folder = binary().parent
    candidates = [folder / _LIBRARY, folder.parent / "lib" / "debrief" / _LIBRARY]
    for path in candidates:
        if path.exists():
            return path
    raise Error(f"the DuckDB library is missing: looked for {candidates[0]} and {candidates[1]}. Install debrief again.")


def run(*words: str) -> str:
    """The program's standard output. What it says on stderr when it fails becomes an Error."""
    try:
        done = subprocess.run([str(binary()), *words], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
                              check=False)
    except OSError as error:
        raise Error(f"cannot start {binary()}: {error.strerror}.") from error
    if done.returncode == 0:
        return done.stdout
    raise Error(_sentence(done.stderr, done.returncode), done.returncode)


def _sentence(stderr: str, code: int) -> str:
    """What the program says went wrong, without its name in front."""
    lines = [line.removeprefix("debrief: ") for line in stderr.strip().splitlines()]
    if lines:
        return "\n".join(lines)
    return f"debrief was ended by signal {-code}." if code < 0 else f"debrief ended with exit code {code}."
