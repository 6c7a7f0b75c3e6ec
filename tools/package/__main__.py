#!/usr/bin/env python3
"""Packages of a build: a tarball that runs where it is unpacked, a wheel and a .deb.

usage: python3 tools/package --build FOLDER --out FOLDER [--only tarball|wheel|deb]

The build is a portable one (DEBRIEF_PORTABLE, the preset "release") with debrief, the recorder and its Python package in it.
All three hold the same files, as `cmake --install` lays them out, with the licences of what they carry.
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import objects
from deb import make_deb
from licences import ROOT, copy_licences
from wheel import make_wheel

LEVEL = "-12"
KINDS = ("tarball", "wheel", "deb")


def version_of(build):
    return re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)[1]


def install(build, root):
    """What users get, without symbols that only a debugger reads."""
    subprocess.run(["cmake", "--install", str(build), "--prefix", str(root), "--strip"], check=True, stdout=subprocess.DEVNULL)
    copy_licences(root / "share/doc/debrief/LICENSES")
    for name in ("README.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, root / "share/doc/debrief" / name)
    for folder in root.rglob("__pycache__"):
        shutil.rmtree(folder)


def check(root):
    """What would not run elsewhere is not packed."""
    troubles = [f"{path.name} needs {name}, which is not carried" for path, name in objects.missing(root)]
    for path in objects.objects_below(root):
        if (glibc := objects.newest_symbol(path, "GLIBC")) > objects.NEWEST_GLIBC:
            troubles.append(f"{path.name} needs glibc {'.'.join(map(str, glibc))}")
    if troubles:
        sys.exit("package: " + "; ".join(troubles) + ". Was the build configured with DEBRIEF_PORTABLE?")


def make_tarball(root, out):
    path = out / f"{root.name}.tar.zst"
    path.unlink(missing_ok=True)
    subprocess.run(["tar", "--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=2020-01-01 00:00Z",
                    "--use-compress-program", f"zstd -q {LEVEL} -T0", "--file", str(path), "-C", str(root.parent), root.name], check=True)
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", choices=KINDS, action="append")
    options = parser.parse_args()
    kinds, version = options.only or KINDS, version_of(options.build)
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.out) as folder:
        scratch = Path(folder)
        installed = scratch / "root"
        install(options.build, installed)
        check(installed)
        root = installed.rename(scratch / f"debrief-{version}-linux-{objects.machine(installed / 'bin/debrief')[1]}")
        made = {"tarball": lambda: make_tarball(root, options.out), "wheel": lambda: make_wheel(root, ROOT / "python/debrief", version, options.out),
                "deb": lambda: make_deb(root, version, options.out, scratch)}
        for kind in kinds:
            path = made[kind]()
            print(f"package: {path} ({path.stat().st_size / 1e6:.1f} MB)")


main()
