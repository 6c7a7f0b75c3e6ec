#!/usr/bin/env python3
"""Checks who includes whom: includes point at the model, and plug-ins know nothing of each other.

usage: check_layers.py [--self-test]

MAY below says which layers a layer may include. Inside of inputs/, analyses/, outputs/ and compat/ a file may include

  its own plug-in                    analyses/profile/idle/a.cc -> analyses/profile/idle/b.h
  what its family or station shares  analyses/profile/idle/a.cc -> analyses/profile/idle_gaps.h, analyses/analysis.h

  a room that all plug-ins share     outputs/report/html/a.cc -> outputs/incident/incident.h (SHARED below)

and nothing of another plug-in or family: those share through tables alone. A plug-in is a folder with a Describe().
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODEL = {"base", "torch", "model", "tables"}
# layer: the layers it may include; itself always, unless it is a station (see above)
MAY = {
    "base": set(),
    "torch": {"base"},
    "model": MODEL | {"op_trace"},
    "inputs": MODEL,
    "analyses": MODEL | {"op_trace", "compat"},
    "outputs": MODEL | {"op_trace", "compat"},
    "compat": MODEL | {"outputs"},  # of outputs/ the shared files alone: one of the plug-ins may be an output
    "accel": MODEL | {"compat"},
    "diff": MODEL | {"outputs"},
    "serve": MODEL | {"outputs"},
    "mcp": MODEL,
    "doctor": MODEL,
    "redact": MODEL,
    "recorder": {"debrief"},
    "op_trace": {"recorder", "debrief"},  # the standard library alone, so that programs can link it
}
EXTRA = {  # folders that may include more than their layer
    "inputs/recording/": {"recorder", "op_trace", "debrief"},
    "analyses/ops/": {"debrief"},
    "outputs/terminal/op_answers/": {"debrief"},
    "model/": {"debrief"},
    "compat/acelyzer/": {"accel"},
}
STATIONS = {"inputs", "analyses", "outputs", "compat"}
SHARED = {"outputs/incident/", "inputs/records/"}  # rooms of a station that all of its plug-ins may use
LAYERS = set(MAY) | {"app", "library", "tables", "debrief"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def forbidden(path, include, plugins):
    """Why the file src/`path` may not include `include`; None when it may. `plugins`: folders below src/ with a Describe()."""
    layer, target = path.split("/")[0], include.split("/")
    if target[0] not in LAYERS or ".." in target:
        return f'"{include}": write the path from src/ on'
    if layer in ("app", "library"):  # they offer the whole: a command, and libraries for programs
        return None
    if layer == target[0]:
        return foreign_room(path, include, plugins) if layer in STATIONS else None
    extra = set().union(*(more for folder, more in EXTRA.items() if path.startswith(folder)))
    if target[0] not in MAY[layer] | extra:
        return f"{layer}/ may not include {target[0]}/"
    if layer == "compat" and target[0] == "outputs" and len(target) > 2:
        return "compat/ may include only what all outputs share"
    return None


def foreign_room(path, include, plugins):
    folder, target = path.rpartition("/")[0] + "/", include.rpartition("/")[0] + "/"
    if folder.startswith(target):
        return None  # shared by the family, or by all of the station
    if target in SHARED:
        return None
    if any(folder.startswith(plugin + "/") and target.startswith(plugin + "/") for plugin in plugins):
        return None
    if folder.startswith("compat/") and folder.split("/")[1] == target.split("/")[1]:
        return None
    return f"{include} belongs to another plug-in or family; share a table, or a file of the family"


def plugin_folders(source):
    return {path.parent.relative_to(source).as_posix() for path in source.rglob("*.cc")
            if re.search(r"^const (Importer|Analysis|Output)& Describe\(\)", path.read_text(), re.M)}


def check(source):
    problems, plugins = [], plugin_folders(source)
    for path in sorted(source.rglob("*")):
        if path.suffix not in (".cc", ".h"):
            continue
        name = path.relative_to(source).as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match and (why := forbidden(name, match[1], plugins)):
                problems.append(f"src/{name}:{number}: {why}")
    return problems


def self_test():
    """A planted violation of each rule is found, and what each rule allows is let through."""
    plugins = {"inputs/x", "inputs/y", "inputs/recording", "analyses/f/q", "analyses/f/r", "analyses/g", "outputs/k/o"}
    allowed = [("base/a.cc", "base/text/b.h"), ("torch/a.cc", "base/status.h"), ("torch/fx/a.cc", "torch/b.h"),
               ("model/a.cc", "tables/job.h"), ("model/a.cc", "torch/b.h"), ("inputs/a.cc", "model/model.h"),
               ("inputs/x/a.cc", "inputs/x/b.h"), ("inputs/x/a.cc", "inputs/importer.h"), ("inputs/x/kinds/a.cc", "inputs/x/b.h"),
               ("inputs/x/a.cc", "inputs/x/kinds/b.h"), ("inputs/recording/a.cc", "op_trace/tick_clock.h"),
               ("analyses/f/q/a.cc", "analyses/f/shared.h"), ("analyses/f/q/a.cc", "analyses/analysis.h"),
               ("analyses/f/q/a.cc", "op_trace/sums.h"), ("analyses/f/q/a.cc", "compat/hta/rows.h"),
               ("analyses/g/a.cc", "analyses/g/rules/b.h"), ("outputs/k/o/a.cc", "outputs/k/b.h"),
               ("outputs/k/o/a.cc", "outputs/incident/b.h"), ("outputs/a.cc", "outputs/incident/b.h"),
               ("compat/tool/a.cc", "compat/tool/pages/b.h"), ("compat/tool/pages/a.cc", "outputs/output.h"),
               ("compat/tool/pages/a.cc", "compat/tool/words/b.h"), ("compat/acelyzer/a.cc", "accel/event.h"),
               ("accel/stages/a.cc", "accel/event.h"), ("accel/a.cc", "model/accel/lanes.h"), ("accel/a.cc", "compat/acelyzer/b.h"),
               ("app/main.cc", "outputs/k/o/page.h"), ("library/a.cc", "compat/tool/b.h"), ("recorder/a.cc", "debrief/recorder.h"), ("op_trace/a.cc", "recorder/reader.h"),
               ("serve/a.cc", "outputs/store/database.h"), ("diff/a.cc", "outputs/k/o/b.h")]
    banned = [("base/a.cc", "model/model.h"), ("base/a.cc", "torch/dtype.h"), ("base/a.cc", "tables/job.h"),
              ("torch/a.cc", "model/model.h"), ("model/a.cc", "inputs/importer.h"), ("model/a.cc", "compat/hta/rows.h"),
              ("inputs/x/a.cc", "inputs/y/b.h"), ("inputs/x/a.cc", "outputs/output.h"), ("inputs/a.cc", "inputs/x/b.h"),
              ("inputs/x/a.cc", "inputs/x/../y/b.h"), ("inputs/x/a.cc", "b.h"), ("inputs/x/a.cc", "recorder/reader.h"),
              ("inputs/x/a.cc", "accel/event.h"), ("inputs/x/a.cc", "compat/tool/b.h"),
              ("analyses/f/q/a.cc", "analyses/f/r/b.h"), ("analyses/f/shared.cc", "analyses/f/q/b.h"),
              ("analyses/f/q/a.cc", "analyses/g/b.h"), ("analyses/f/q/a.cc", "app/cli.h"), ("analyses/f/q/a.cc", "recorder/reader.h"),
              ("analyses/f/q/a.cc", "outputs/output.h"), ("outputs/k/o/a.cc", "outputs/j/p/b.h"), ("outputs/k/o/a.cc", "serve/server.h"),
              ("compat/tool/a.cc", "compat/other/b.h"), ("compat/tool/a.cc", "analyses/analysis.h"),
              ("compat/tool/a.cc", "outputs/k/o/b.h"), ("compat/tool/a.cc", "accel/event.h"),
              ("accel/a.cc", "outputs/output.h"), ("recorder/a.cc", "model/model.h"), ("op_trace/a.cc", "base/status.h"),
              ("serve/a.cc", "inputs/importer.h"), ("diff/a.cc", "serve/server.h")]
    refused = [case for case in allowed if forbidden(*case, plugins)]
    assert not refused, f"a good include was refused: {refused}"
    let_through = [case for case in banned if not forbidden(*case, plugins)]
    assert not let_through, f"a bad include was let through: {let_through}"


def main():
    if "--self-test" in sys.argv:
        return self_test()
    problems = check(ROOT / "src")
    print("\n".join(problems) or "layers: every include points the right way")
    sys.exit(1 if problems else 0)


main()
