"""What ELF objects ask of the system they run on, as readelf reads it (of any architecture)."""
import re
import subprocess
from pathlib import Path

# What a system that runs programs at all has, and what packages ask for by name; all else must be carried.
FROM_THE_SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2",
                   "ld-linux-aarch64.so.1"}
# The oldest C library that packages may ask for: that of Debian 12.
NEWEST_GLIBC = (2, 36)


def is_object(path):
    if not path.is_file() or path.is_symlink():
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def objects_below(folder):
    """Programs and shared libraries; objects inside of archives are linked elsewhere, by others."""
    return sorted(path for path in Path(folder).rglob("*") if is_object(path))


def _readelf(option, path):
    return subprocess.run(["readelf", "--wide", option, str(path)], capture_output=True, text=True, check=True).stdout


def newest_symbol(path, family):
    """The highest version of `family` (GLIBC, GLIBCXX) that an object needs, as numbers; () where it needs none."""
    needs = _readelf("--version-info", path).partition("Version needs section")[2]
    found = re.findall(rf"Name: {family}_([0-9.]+)", needs)
    return max((tuple(map(int, version.split("."))) for version in found), default=())


def needed(path):
    """Names of the libraries that an object is linked with."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", _readelf("--dynamic", path))


def search_path(path):
    found = re.search(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", _readelf("--dynamic", path))
    return found[1] if found else ""


def machine(path):
    """As Debian and wheels name it: (amd64, x86_64) or (arm64, aarch64)."""
    text = _readelf("--file-header", path)
    return ("arm64", "aarch64") if "AArch64" in text else ("amd64", "x86_64")


def oldest_glibc(folder):
    """The C library that all objects below a folder run with."""
    return max((newest_symbol(path, "GLIBC") for path in objects_below(folder)), default=())


def missing(folder):
    """(object, library) for what is neither carried nor of the system."""
    objects = objects_below(folder)
    carried = {path.name for path in objects} | {path.name for path in Path(folder).rglob("*.so*")}
    return [(path, name) for path in objects for name in needed(path) if name not in FROM_THE_SYSTEM | carried]
