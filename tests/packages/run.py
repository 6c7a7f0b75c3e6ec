#!/usr/bin/env python3
"""Packages: what they hold, what they ask of a system, and that they run on a bare one.

usage: run.py --build FOLDER
       run.py --packages FOLDER [--chroot FOLDER]

Without --packages the short form, for every test run: the build is installed below a folder, its objects are checked, and a wheel of
it is made, read by its RECORD, unpacked and used. With it, the tarball, wheel and .deb of that folder (make package) are
checked, then each is installed in a bare Debian 12 (debootstrap; --chroot keeps it) and looks into examples/hung-job. Packages of
another architecture run under qemu-user instead, with the libraries of Debian's cross compiler.
"""
import argparse
import base64
import csv
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/package"), str(Path(__file__).parent)]

import bare  # noqa: E402
import objects  # noqa: E402
import wheel  # noqa: E402

LARGEST_TARBALL, SLOWEST_START_MS = 60e6, 20
SLOWEST_DEMO_S = 300  # emulated
DEMO = "examples/hung-job"
ANSWER = "Rank 5 skipped"
USE = f"""
import debrief
run = debrief.load("JOB")
assert run.verdict.ranks == (5,) and "{ANSWER}" in run.verdict.headline, str(run.verdict)
assert len(run.table("comm_op")) == len(run.table("comm_op").rows()) > 100
print(debrief.__version__)
"""

RECORD = """
import debrief_recorder as recorder
with recorder.open("a.dbr"):
    with recorder.scope("step"):
        pass
"""


def say(text):
    print(f"packages: {text}", flush=True)


def check_objects(root):
    """Every object runs with the C library of Debian 12 at most, and has all it needs in the package or in any system."""
    for path in objects.objects_below(root):
        glibc = objects.newest_symbol(path, "GLIBC")
        assert glibc <= objects.NEWEST_GLIBC, f"{path} needs glibc {glibc}"
    assert not objects.missing(root), f"not carried: {objects.missing(root)}"
    program = next(path for path in objects.objects_below(root) if path.name == "debrief")
    assert objects.search_path(program) == "$ORIGIN/../lib/debrief", objects.search_path(program)
    # Exceptions of DuckDB end in the program: both must have the same unwinder.
    assert "libgcc_s.so.1" in objects.needed(program), "the program has an unwinder of its own"


def check_record(path):
    """RECORD names every file with its sum, and no other."""
    with zipfile.ZipFile(path) as file:
        names = file.namelist()
        record = next(name for name in names if name.endswith(".dist-info/RECORD"))
        listed = {row[0]: row[1:] for row in csv.reader(file.read(record).decode().splitlines())}
        assert set(listed) == set(names) and len(names) == len(set(names)), set(listed) ^ set(names)
        for name, (digest, size) in listed.items():
            if name == record:
                assert (digest, size) == ("", "")
                continue
            data = file.read(name)
            wanted = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert (digest, int(size)) == (wanted, len(data)), name
        return {name: file.getinfo(name).external_attr >> 16 for name in names}


def check_wheel(path, scratch):
    """Layout, tag and sums; then it is used as pip would have unpacked it."""
    modes = check_record(path)
    program = "debrief/_native/bin/debrief"
    assert modes[program] & 0o111 and not modes["debrief/__init__.py"] & 0o111
    for name in ("debrief/py.typed", "debrief/_native/lib/debrief/libduckdb.so", "debrief/_native/lib/debrief/libsimdjson.so.14"):
        assert name in modes, f"{name} is missing"
    folder = scratch / "unpacked"
    with zipfile.ZipFile(path) as file:
        file.extractall(folder)
    os.chmod(folder / program, 0o755)
    check_objects(folder)
    glibc = "_".join(map(str, objects.oldest_glibc(folder)))
    assert f"-py3-none-manylinux_{glibc}_" in path.name, f"{path.name}: its objects need glibc {glibc}"
    info = next(folder.glob("*.dist-info"))
    assert f"Tag: py3-none-manylinux_{glibc}_" in (info / "WHEEL").read_text()
    assert (info / "licenses/LICENSE").exists() and (info / "licenses/libsimdjson-dev").exists()
    if is_foreign(folder / program):
        return glibc.replace("_", ".")
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder), "HOME": str(scratch)}
    used = subprocess.run([sys.executable, "-c", USE.replace("JOB", str(ROOT / DEMO))], capture_output=True, text=True, env=environment,
                          cwd=scratch)
    assert used.returncode == 0, used.stderr
    version = path.name.split("-")[1]
    assert used.stdout.strip() == version, used.stdout
    command = subprocess.run([sys.executable, "-m", "debrief", "--version"], capture_output=True, text=True, env=environment, cwd=scratch)
    assert command.stdout == f"debrief {version}\n", command.stdout + command.stderr
    return glibc.replace("_", ".")


def is_portable(build):
    return "DEBRIEF_PORTABLE:BOOL=ON" in (build / "CMakeCache.txt").read_text()


def short(build):
    if not is_portable(build):
        say("the build is not portable (preset release); skipped")
        return 77
    # What is run from the build must not look for libraries in the current folder.
    assert objects.search_path(build / "debrief") == "$ORIGIN/../lib/debrief", objects.search_path(build / "debrief")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        root = scratch / "root"
        subprocess.run(["cmake", "--install", str(build), "--prefix", str(root)], check=True, stdout=subprocess.DEVNULL)
        (root / "share/doc/debrief/LICENSES").mkdir(parents=True)
        for name in ("LICENSE", "libsimdjson-dev"):  # the short form needs no node_modules
            shutil.copy(ROOT / "LICENSE", root / "share/doc/debrief/LICENSES" / name)
        check_objects(root)
        version = subprocess.run([root / "bin/debrief", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
        made = wheel.make_wheel(root, ROOT / "python/debrief", version, scratch, zipfile.ZIP_STORED)
        glibc = check_wheel(made, scratch)
    say(f"the wheel is whole and runs; oldest glibc {glibc}")
    return 0


def one(packages, pattern):
    found = sorted(packages.glob(pattern))
    assert len(found) == 1, f"{len(found)} packages {pattern} in {packages}"
    return found[0]


def start_ms(program):
    """How long `debrief --version` takes; the best of many, since others use the machine too."""
    times = []
    for _ in range(15):
        begin = time.perf_counter()
        subprocess.run([str(program), "--version"], check=True, stdout=subprocess.DEVNULL)
        times.append((time.perf_counter() - begin) * 1e3)
    return min(times)


def check_tarball(path, scratch):
    size = path.stat().st_size
    assert size < LARGEST_TARBALL, f"{path.name} has {size / 1e6:.1f} MB"
    subprocess.run(["tar", "--zstd", "-xf", str(path), "-C", str(scratch)], check=True)
    root = scratch / path.name.removesuffix(".tar.zst")
    check_objects(root)
    for name in ("bin/debrief", "lib/debrief/libduckdb.so", "lib/libdebrief_recorder.so.1", "lib/libdebrief_recorder.a", "include/debrief/recorder.h",
                 "share/doc/debrief/LICENSES/README"):
        assert (root / name).exists(), f"{name} is missing"
    for name in ("debrief/__init__.py", "debrief/py.typed"):
        assert list(root.glob(f"lib/python3*/site-packages/{name}")), f"{name} is missing"
    if is_foreign(root / "bin/debrief"):
        return check_foreign(path, root)
    assert list(root.glob("lib/python3*/site-packages/debrief_recorder/__init__.py")), "debrief_recorder is missing"
    taken = start_ms(root / "bin/debrief")
    assert taken < SLOWEST_START_MS, f"debrief --version takes {taken:.1f} ms"
    say(f"{path.name}: {size / 1e6:.1f} MB, debrief --version {taken:.1f} ms, glibc {'.'.join(map(str, objects.oldest_glibc(root)))}")


def is_foreign(program):
    return objects.machine(program)[1] != platform.machine()


def check_foreign(path, root):
    """The demo, emulated. The store is written by DuckDB of the same architecture."""
    emulator, libraries = shutil.which("qemu-aarch64-static"), Path("/usr/aarch64-linux-gnu")
    if not emulator or not libraries.exists():
        return say(f"{path.name} was not run: qemu-user-static or the libraries of the cross compiler are missing")
    words = [emulator, "-L", str(libraries), str(root / "bin/debrief")]
    out = root / "out"
    told = subprocess.run([*words, str(ROOT / DEMO), "-o", str(out), "--quiet"], capture_output=True, text=True, timeout=SLOWEST_DEMO_S)
    assert told.returncode == 0 and ANSWER in told.stdout and (out / "run.duckdb").exists(), told.stdout + told.stderr
    asked = subprocess.run([*words, "query", str(out), "SELECT count(*) AS n FROM comm_op", "--csv"], capture_output=True, text=True)
    assert asked.stdout.split() == ["n", "372"], asked.stdout + asked.stderr
    say(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, runs under qemu, glibc {'.'.join(map(str, objects.oldest_glibc(root)))}")


def demo_in(chroot, program):
    answer = bare.run(chroot, f"cd /demo && rm -rf out && {program} job -o out --quiet && {program} query out 'SELECT count(*) AS n FROM comm_op' --csv")
    assert ANSWER in answer and answer.rstrip().endswith("372"), answer


def use_in(chroot, python):
    used = bare.run(chroot, f"cd /demo && {python} use.py")
    assert used.strip(), used


def check_in_chroot(packages, chroot):
    shutil.rmtree(chroot / "demo", ignore_errors=True)
    shutil.copytree(ROOT / DEMO, chroot / "demo/job")
    (chroot / "demo/use.py").write_text(USE.replace("JOB", "job"))
    (chroot / "demo/record.py").write_text(RECORD)
    tarball, made, deb = one(packages, "*.tar.zst"), one(packages, "*.whl"), one(packages, "*.deb")

    # zstd is not part of a bare system: unpacked from outside, into a folder of its own.
    subprocess.run(["tar", "--zstd", "-xf", str(tarball), "-C", str(chroot / "demo")], check=True)
    folder = f"/demo/{tarball.name.removesuffix('.tar.zst')}"
    demo_in(chroot, f"{folder}/bin/debrief")
    site = bare.run(chroot, f"echo {folder}/lib/python3*/site-packages").strip()
    use_in(chroot, f"PYTHONPATH={site} python3")
    recorded = bare.run(chroot, f"cd /demo && PYTHONPATH={site} python3 record.py && {folder}/bin/debrief a.dbr -o recorded --quiet --no-store")
    assert "step takes 100 %" in recorded, recorded
    say("the tarball runs in a bare Debian 12")

    shutil.copy(made, chroot / "demo")
    bare.run(chroot, f"cd /demo && rm -rf venv && python3 -m venv venv && venv/bin/pip install --quiet --no-index ./{made.name}")
    demo_in(chroot, "venv/bin/debrief")
    use_in(chroot, "venv/bin/python")
    say("the wheel installs with pip and runs in a bare Debian 12")

    shutil.copy(deb, chroot / "demo")
    bare.run(chroot, f"dpkg --install /demo/{deb.name}")
    demo_in(chroot, "debrief")
    use_in(chroot, "python3")
    bare.run(chroot, "dpkg --verify debrief && dpkg --purge debrief && ! command -v debrief")
    say("the .deb installs, runs and goes away in a bare Debian 12")


def full(packages, chroot):
    with tempfile.TemporaryDirectory() as folder:
        check_tarball(one(packages, "*.tar.zst"), Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        glibc = check_wheel(one(packages, "*.whl"), Path(folder))
        say(f"{one(packages, '*.whl').name}: every object runs with glibc {glibc}")
    if "aarch64" in one(packages, "*.tar.zst").name and platform.machine() != "aarch64":
        return 0
    if why := bare.trouble():
        say(f"no bare system here ({why}); what was packed was not installed in one")
        return 77
    if chroot:
        bare.make(chroot)
        check_in_chroot(packages, chroot)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        bare.make(Path(folder, "bare"))
        check_in_chroot(packages, Path(folder, "bare"))
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path)
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--chroot", type=Path)
    options = parser.parse_args()
    if options.packages:
        return full(options.packages, options.chroot and options.chroot.resolve())
    return short(options.build)


sys.exit(main())
