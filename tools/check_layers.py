#!/usr/bin/env python3
"""Checks who includes whom: includes point at the model, and plug-ins know nothing of each other.

usage: check_layers.py [--self-test]

  base      base
  model     base, model, generated tables/
  inputs    base, model, tables/, files directly in src/inputs, the plug-in's own folder
  analyses, outputs    likewise
  recorder  base, include/debrief
  diff      base, model, tables/, outputs/
  serve     base, model, tables/, outputs/
  accel     base, model, tables/
  app       everything
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STATIONS = {"inputs", "analyses", "outputs"}
FOLDERS = STATIONS | {"base", "model", "recorder", "diff", "serve", "accel", "app", "tables", "debrief"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def forbidden(path, include):
    """Why the file src/`path` may not include `include`; None when it may."""
    layer, target = path.split("/")[0], include.split("/")
    if target[0] not in FOLDERS:
        return f'"{include}": write the path from src/ on' if layer in FOLDERS else None
    if ".." in target:
        return f'"{include}": write the path from src/ on'
    if target[0] == "base" or layer == "app":
        return None
    if target[0] in ("model", "tables") and layer in STATIONS | {"model"}:
        return None
    if layer in ("diff", "serve") and target[0] in (layer, "outputs", "model", "tables"):
        return None
    if layer == "accel" and target[0] in ("accel", "model", "tables"):
        return None
    if layer == "recorder" and target[0] in ("recorder", "debrief"):
        return None
    if layer in STATIONS and target[0] == layer:
        return foreign_plugin(path.split("/"), target)
    return f"{layer}/ may not include {target[0]}/"


def foreign_plugin(path, target):
    if len(target) == 2 or (len(path) > 2 and path[1] == target[1]):
        return None
    return f"only the plug-in {target[0]}/{target[1]} may include its own files"


def check(source):
    problems = []
    for path in sorted(source.rglob("*")):
        if path.suffix not in (".cc", ".h"):
            continue
        name = path.relative_to(source).as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match and (why := forbidden(name, match[1])):
                problems.append(f"src/{name}:{number}: {why}")
    return problems


def self_test():
    allowed = [("base/a.cc", "base/b.h"), ("model/a.cc", "tables/job.h"), ("inputs/a.cc", "model/model.h"),
               ("inputs/x/a.cc", "inputs/x/b.h"), ("inputs/x/a.cc", "inputs/importer.h"),
               ("app/main.cc", "outputs/html/page.h"), ("recorder/a.cc", "debrief/recorder.h"),
               ("serve/a.cc", "outputs/store/database.h"), ("diff/a.cc", "outputs/profile_diff/profile_diff.h"),
               ("accel/passes/a.cc", "accel/pass.h"), ("accel/a.cc", "model/accel/lanes.h")]
    banned = [("base/a.cc", "model/model.h"), ("model/a.cc", "inputs/importer.h"),
              ("inputs/x/a.cc", "inputs/y/b.h"), ("inputs/x/a.cc", "outputs/output.h"),
              ("inputs/a.cc", "inputs/x/b.h"), ("analyses/x/a.cc", "app/cli.h"),
              ("recorder/a.cc", "model/model.h"), ("inputs/x/a.cc", "b.h"), ("base/a.cc", "tables/job.h"),
              ("inputs/x/a.cc", "inputs/x/../y/b.h"), ("serve/a.cc", "inputs/importer.h"), ("diff/a.cc", "serve/server.h"),
              ("outputs/x/a.cc", "serve/server.h"), ("accel/a.cc", "outputs/output.h"), ("inputs/x/a.cc", "accel/event.h")]
    assert not [case for case in allowed if forbidden(*case)], "a good include was refused"
    assert not [case for case in banned if not forbidden(*case)], "a bad include was let through"


def main():
    if "--self-test" in sys.argv:
        return self_test()
    problems = check(ROOT / "src")
    print("\n".join(problems) or "layers: every include points the right way")
    sys.exit(1 if problems else 0)


main()
