#!/usr/bin/env python3
"""Packs folders of recorded jobs into one archive whose bytes depend on their content alone.

    python3 tests/campaign/pack.py tests/campaign/jobs.tar.xz FOLDER...

A job of a later folder takes the place of one with the same name. Empty files of dumps and folders without a truth beside them are left out.
"""
import lzma
import pathlib
import sys
import tarfile


def members(folders):
    """{name in the archive: path}, files only."""
    found = {}
    for folder in folders:
        for truth in sorted(folder.glob("*.json")):
            for name in [name for name in found if name == truth.name or name.startswith(truth.stem + "/")]:
                del found[name]
            found[truth.name] = truth
            for path in sorted((folder / truth.stem).rglob("*")):
                if path.is_file() and (path.parent.name != "fr" or path.stat().st_size):
                    found[str(path.relative_to(folder))] = path
    return found


def plain(info):
    info.mtime, info.uid, info.gid, info.uname, info.gname = 1794787200, 0, 0, "", ""
    info.mode = 0o644
    return info


def main(target, *folders):
    with lzma.open(target, "wb", preset=9 | lzma.PRESET_EXTREME) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for name, path in sorted(members([pathlib.Path(folder) for folder in folders]).items()):
            archive.add(path, arcname=name, filter=plain)
    print(f"{target}: {pathlib.Path(target).stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
