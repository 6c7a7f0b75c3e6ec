"""The Debian package: the installed tree below /usr, for Debian 12 and later and for what has the same libraries."""
import hashlib
import shutil
import subprocess

import objects

CONTROL = """\
Package: debrief
Version: {version}
Section: devel
Priority: optional
Architecture: {architecture}
Maintainer: debrief <debrief@localhost>
Installed-Size: {kilobytes}
Depends: {depends}
Suggests: python3
Description: says what happened in a PyTorch job, from the files it left
 Reads the output of ranks, Flight Recorder dumps, compile logs, profiles and memory snapshots of a
 training or inference job that hung, crashed or was slow, and says what happened and which rank is to blame.
 With the library that programs record themselves with, and the Python packages debrief and debrief_recorder.
"""
# The releases of GCC that brought versions of the C++ library's symbols.
GCC_OF_GLIBCXX = {(3, 4, 21): "5", (3, 4, 22): "6", (3, 4, 23): "7", (3, 4, 24): "7.3", (3, 4, 25): "8", (3, 4, 26): "9", (3, 4, 28): "9.3",
                  (3, 4, 29): "11", (3, 4, 30): "12"}


def depends_of(root):
    """By what the objects ask for."""
    found = objects.objects_below(root)
    glibc = ".".join(map(str, max(objects.newest_symbol(path, "GLIBC") for path in found)))
    cxx = max(objects.newest_symbol(path, "GLIBCXX") for path in found)
    gcc = next((release for symbols, release in sorted(GCC_OF_GLIBCXX.items()) if symbols >= cxx), "12")
    wanted = [f"libc6 (>= {glibc})"]
    names = {name for path in found for name in objects.needed(path)}
    if "libgcc_s.so.1" in names:
        wanted.append("libgcc-s1 (>= 3.0)")
    if "libstdc++.so.6" in names:
        wanted.append(f"libstdc++6 (>= {gcc})")
    return ", ".join(wanted)


def lay_out(root, tree):
    """As Debian wants it: below /usr, Python packages in dist-packages, the licence where policy says."""
    shutil.copytree(root, tree / "usr", symlinks=True)
    for folder in list((tree / "usr/lib").glob("python3.*/site-packages")):
        shutil.move(folder, tree / "usr/lib/python3/dist-packages")
        folder.parent.rmdir()
    (tree / "usr/share/doc/debrief/copyright").write_bytes((root / "share/doc/debrief/LICENSES/LICENSE").read_bytes())


def make_deb(root, version, out, scratch):
    tree = scratch / "deb"
    lay_out(root, tree)
    control = tree / "DEBIAN"
    control.mkdir()
    files = sorted(path for path in (tree / "usr").rglob("*") if path.is_file() and not path.is_symlink())
    architecture = objects.machine(root / "bin/debrief")[0]
    kilobytes = sum((path.stat().st_size + 1023) // 1024 for path in files)
    (control / "control").write_text(CONTROL.format(version=version, architecture=architecture, kilobytes=kilobytes, depends=depends_of(root)))
    (control / "md5sums").write_text("".join(f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(tree)}\n" for path in files))
    (control / "triggers").write_text("activate-noawait ldconfig\n")
    path = out / f"debrief_{version}_{architecture}.deb"
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", "-Zzstd", "-z10", str(tree), str(path)], check=True, stdout=subprocess.DEVNULL)
    return path
