#!/usr/bin/env python3
"""Follows pages of docs/howto in scratch copies of the repository and checks what comes out.

A page's blocks that stand under "File `path`:" are written to these paths; a sentence "In `path`, `this` becomes `that`." changes a
file. Then the copy's own generators run, what is new or changed is compiled as the release build compiles, and linked in front of that
build's library: a new plug-in touches nothing else, so nothing else needs to be compiled. The result must know what is new, and read
the page's golden.
"""
import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RELEASE = ROOT / "build/release"
EDIT = re.compile(r"^In `([^`]+)`, `([^`]+)` becomes `([^`]+)`\.$", re.MULTILINE)
BLOCK = re.compile(r"^File `([^`]+)`:[^\n]*\n\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def copy_sources(scratch):
    """The files git knows or would add, with their times kept so that a second run builds little."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
                            cwd=ROOT, check=True, capture_output=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        source, target = ROOT / name, scratch / name
        if not source.exists():
            continue
        if not target.exists() or target.stat().st_mtime != source.stat().st_mtime:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    for linked in ("node_modules", "build/deps"):
        target = scratch / linked
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            target.symlink_to(ROOT / linked)


def write_if_new(target, content):
    """A second run compiles nothing that did not change."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists() or target.read_text() != content:
        target.write_text(content)


def follow_page(page, scratch):
    """Writes the page's files; returns their paths and those of the files that it changes."""
    text = (ROOT / "docs/howto" / page).read_text()
    written = []
    for path, content in BLOCK.findall(text):
        assert not (ROOT / path).exists(), f"{path} exists in the repository: a page's files must be new"
        write_if_new(scratch / path, content)
        written.append(path)
    assert written, f"no file found in {page}"
    for path, before, after in EDIT.findall(text):
        content = (ROOT / path).read_text()
        assert content.count(before) == 1, f"{page}: {path} has not once {before}"
        write_if_new(scratch / path, content.replace(before, after))
        written.append(path)
    return written


def new_sources(written, scratch, generated):
    """What a build of the copy has that the release build has not."""
    for path in sorted(generated.rglob("*.cc")):
        known = RELEASE / "generated" / path.relative_to(generated)
        if not known.exists() or known.read_bytes() != path.read_bytes():
            yield path
    yield from (scratch / path for path in written if path.endswith(".cc"))


def compile_like_release(source, scratch, generated):
    """As the build compiles registry/inputs.cc, with the copy's headers."""
    model = str(RELEASE / "generated/registry/inputs.cc")
    commands = json.loads(subprocess.run(["ninja", "-C", RELEASE, "-t", "compdb"], check=True, capture_output=True).stdout)
    command = next(entry["command"] for entry in commands if entry["file"] == model and " -c " in entry["command"])
    words = shlex.split(command)
    words = words[next(i for i, word in enumerate(words) if Path(word).name.startswith(("c++", "g++", "clang++"))):]
    target = generated / f"{source.parent.name}.{source.stem}.o"  # a table may have the name of its analysis
    for flag, value in (("-o", target), ("-c", source), ("-MF", target.with_suffix(".d")), ("-MT", target)):
        words[words.index(flag) + 1] = str(value)
    swap = {f"-I{ROOT}/src": f"-I{scratch}/src", f"-I{RELEASE}/generated": f"-I{generated}"}
    subprocess.run([swap.get(word, word) for word in words], check=True, cwd=RELEASE)
    return target


def build(written, scratch):
    generated = scratch / "build/generated"
    for generator in ("gen_tables.py", "gen_registry.py"):
        subprocess.run([sys.executable, scratch / "tools" / generator, scratch, generated], check=True)
    objects = [compile_like_release(source, scratch, generated) for source in new_sources(written, scratch, generated)]
    commands = subprocess.run(["ninja", "-C", RELEASE, "-t", "commands", "debrief"], check=True, capture_output=True, text=True).stdout
    link = next(line for line in reversed(commands.splitlines()) if " libdebrief_core.a" in line and " -o debrief " in line)
    binary = scratch / "build/debrief"
    # A file that the page changed is in the library, too: the first one wins.
    new = " ".join(["-Wl,--allow-multiple-definition", *(shlex.quote(str(path)) for path in objects)])
    link = link.replace(" -o debrief ", f" -o {shlex.quote(str(binary))} ").replace(" libdebrief_core.a", f" {new} libdebrief_core.a", 1)
    subprocess.run(link, shell=True, check=True, cwd=RELEASE, stdout=subprocess.DEVNULL)
    for library in RELEASE.glob("libduckdb*"):
        beside = binary.with_name(library.name)
        if not beside.exists():
            beside.symlink_to(library.resolve())
    return binary


def run(binary, *arguments, cwd):
    return subprocess.run([binary, *arguments], cwd=cwd, check=True, capture_output=True, text=True).stdout


def report(binary, scratch, golden):
    """What debrief says of the page's golden, and the report that it wrote."""
    shutil.rmtree(scratch / "out", ignore_errors=True)
    return json.loads(run(binary, str(scratch / "tests/golden" / golden / "input"), "-o", "out", "--quiet", "--json", cwd=scratch))


def rows(binary, scratch, sql):
    return json.loads(run(binary, "query", "out", sql, "--json", cwd=scratch))


def check_importer(binary, scratch, written):
    assert {str(Path(path).parent) for path in written if path.startswith("src/")} == {"src/inputs/tally"}, "the importer is not one folder"
    listed = run(binary, "list", "inputs", cwd=scratch)
    assert "tally: names and counts" in listed, listed
    kinds = [(entry["kind"], entry["state"], entry["rows"]) for entry in report(binary, scratch, "tally/good")["inputs"]]
    assert kinds == [("tally", "imported", 2)], kinds
    found = rows(binary, scratch, "SELECT name, count FROM tally ORDER BY name")
    assert found == [{"name": "apples", "count": 3}, {"name": "pears", "count": 12}], found
    page = (scratch / "build/generated/tables.md").read_text()
    assert "### tally" in page, "the page of tables does not know the table"


def check_analysis(binary, scratch, written):
    assert {str(Path(path).parent) for path in written if path.startswith("src/")} == {"src/analyses/text/loss_spread"}
    assert "text_loss_spread" in run(binary, "list", "analyses", cwd=scratch)
    findings = [entry for entry in report(binary, scratch, "loss_spread/one_differs")["findings"] if entry["rule"] == "text_loss_spread.differs"]
    assert [entry["ranks"] for entry in findings] == [[2]], findings
    found = rows(binary, scratch, "SELECT rank, step, ranks, lowest, highest FROM loss_spread")
    assert found == [{"rank": 2, "step": 1, "ranks": 3, "lowest": 2.4, "highest": 3.9}], found


def check_entry_kind(binary, scratch, _):
    payload = "buffer 0: 4096 bytes"
    ids = {"rank": 0, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    head = "V1115 02:42:22.605000 3829 torch/x.py:7] "
    good = {"memory_plan": {"name": "pool_0"}, **ids, "has_payload": hashlib.md5(payload.encode()).hexdigest()}
    bad = {"memory_plan": {"name": 7}, **ids}
    log = scratch / "plan.log"
    log.write_text("".join(f"{head}{json.dumps(entry)}\n" + (f"\t{payload}\n" if "has_payload" in entry else "") for entry in (good, bad)))
    shutil.rmtree(scratch / "tree", ignore_errors=True)
    run(binary, "compile", str(log), "-o", "tree", "--no-browser", "--quiet", cwd=scratch)
    files = [path.name for path in (scratch / "tree").rglob("memory_plan_*")]
    assert files == ["memory_plan_pool_0_0.txt"], files
    shutil.rmtree(scratch / "out", ignore_errors=True)
    run(binary, str(log), "-o", "out", "--quiet", cwd=scratch)
    found = rows(binary, scratch, "SELECT kind, name, state FROM compile_entry ORDER BY line")
    assert [tuple(row.values()) for row in found][0] == ("memory_plan", "pool_0", "read") and found[1]["state"] == "refused", found


PAGES = {"add-an-importer.md": check_importer, "add-an-analysis.md": check_analysis, "add-an-entry-kind.md": check_entry_kind}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scratch", type=Path, default=ROOT / "build/howto")
    options = parser.parse_args()
    os.environ.pop("MAKEFLAGS", None)
    for page, check in PAGES.items():
        scratch = options.scratch / Path(page).stem
        copy_sources(scratch)
        written = follow_page(page, scratch)
        check(build(written, scratch), scratch, written)
    print(f"howto: {len(PAGES)} passed, 0 failed")


if __name__ == "__main__":
    sys.exit(main())
