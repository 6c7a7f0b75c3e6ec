"""The wheel: `import debrief` with the program inside, for every Python 3 of one architecture. Made without pip or build.

    debrief/...                      the package
    debrief/_native/bin/debrief      the program, as relocatable as in the tarball
    debrief/_native/lib/debrief/     the libraries beside it
    debrief-VERSION.dist-info/       METADATA, WHEEL, entry_points.txt (the command), licences, RECORD
"""
import base64
import hashlib
import stat
import zipfile
from pathlib import Path

import objects

# Files of a wheel have one time, so that the same build gives the same bytes.
WHEN = (2020, 1, 1, 0, 0, 0)

METADATA = """\
Metadata-Version: 2.1
Name: debrief
Version: {version}
Summary: What happened in a PyTorch job, from the logs, dumps and profiles it left: the program, and its tables as Arrow
License: Apache-2.0
Requires-Python: >=3.9
Classifier: Operating System :: POSIX :: Linux
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

{readme}"""
WHEEL = """\
Wheel-Version: 1.0
Generator: debrief
Root-Is-Purelib: false
Tag: {tag}
"""
ENTRY_POINTS = """\
[console_scripts]
debrief = debrief.__main__:main
"""


def native_files(root):
    """(path below _native, file) of what the program needs: itself and the libraries beside it."""
    yield "bin/debrief", root / "bin/debrief"
    for path in sorted((root / "lib/debrief").iterdir()):
        yield f"lib/debrief/{path.name}", path


def tag_of(root):
    """As old a C library as what is carried allows."""
    major, minor = max(objects.newest_symbol(path, "GLIBC") for _, path in native_files(root))[:2]
    return f"py3-none-manylinux_{major}_{minor}_{objects.machine(root / 'bin/debrief')[1]}"


class Writer:
    """A zip file whose last member lists all others with their sums."""

    def __init__(self, path, info, compression):
        self.file = zipfile.ZipFile(path, "w", compression, compresslevel=9)
        self.info = info
        self.compression = compression
        self.record = []

    def add(self, name, data, executable=False):
        member = zipfile.ZipInfo(name, WHEN)
        member.compress_type = self.compression
        member.external_attr = (stat.S_IFREG | (0o755 if executable else 0o644)) << 16
        self.file.writestr(member, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def close(self):
        name = f"{self.info}/RECORD"
        self.add(name, ("\n".join([*self.record, f"{name},,"]) + "\n").encode())
        self.file.close()


def make_wheel(root, package, version, out, compression=zipfile.ZIP_DEFLATED):
    """`root`: an installed tree; `package`: the folder python/debrief. The wheel's path."""
    tag, info = tag_of(root), f"debrief-{version}.dist-info"
    path = out / f"debrief-{version}-{tag}.whl"
    writer = Writer(path, info, compression)
    for source in sorted(package.iterdir()):
        if source.suffix in (".py", ".pyi") or source.name == "py.typed":
            writer.add(f"debrief/{source.name}", source.read_bytes())
    for name, source in native_files(root):
        writer.add(f"debrief/_native/{name}", source.read_bytes(), executable=name.startswith("bin/"))
    readme = Path(package.parents[1], "docs/python.md").read_text()
    writer.add(f"{info}/METADATA", METADATA.format(version=version, readme=readme).encode())
    writer.add(f"{info}/WHEEL", WHEEL.format(tag=tag).encode())
    writer.add(f"{info}/entry_points.txt", ENTRY_POINTS.encode())
    for source in sorted((root / "share/doc/debrief/LICENSES").iterdir()):
        writer.add(f"{info}/licenses/{source.name}", source.read_bytes())
    writer.close()
    return path
