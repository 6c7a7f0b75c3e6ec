#!/usr/bin/env python3
"""Checks that the documents name things that exist, and that no file names a machine of ours.

usage: check_docs.py [--self-test]

In README, ARCHITECTURE, CONTRIBUTING, docs/ and the README.md of folders of src/: paths of the repository, `make` targets, and C++ names
written as `Name()` or `Space::Name`. In all text files: no absolute paths of a development machine and no
hosts of package registries, which would tie a build to one place.

A line of a document that names what the reader is to create ends in <!-- example -->.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATH = re.compile(r"(?:src|docs|tools|tests|web|examples|bench|cmake|include|python)/[\w./*<>-]*")
SYMBOL = re.compile(r"(?:\w+::)*(\w+)\(\)|(?:\w+::)+(\w+)")
# Joined from halves, so that this file does not find itself.
PRIVATE = re.compile("|".join([r"(?<![\w.-])/wo" r"rk/", r"(?<![\w.-])/tmp/" r"wt\b", r"(?<![\w.-])/ro" r"ot/",
                               r"registry\.npm" r"js\.org", r"registry\.yarn" r"pkg\.com", r"deb\.deb" r"ian\.org",
                               r"pypi\.py" r"thon\.org", r"snapshot\.deb" r"ian\.org"]))


def documents():
    names = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]
    return [ROOT / name for name in names if (ROOT / name).exists()] + sorted((ROOT / "docs").rglob("*.md")) + sorted((ROOT / "src").rglob("README.md"))


def mentions(text):
    """(line number, mention) for what stands in backticks or is the target of a link."""
    for number, line in enumerate(text.splitlines(), 1):
        if "<!-- example -->" in line:
            continue
        for match in re.finditer(r"`([^`]+)`|\]\(([^)#\s]+)[^)]*\)", line):
            yield number, match[1] or match[2]


class Names:
    """What exists."""

    def __init__(self):
        makefile = (ROOT / "Makefile").read_text()
        self.targets = set(word for line in re.findall(r"^([\w -]+):", makefile, re.M) for word in line.split())
        sources = [path for folder in ("src", "include", "tests", "bench", "python", "cmake") for path in (ROOT / folder).rglob("*")
                   if path.suffix in (".h", ".cc", ".hpp", ".def", ".cmake")]
        self.words = set(re.findall(r"\w+", "\n".join(path.read_text(errors="replace") for path in sources)))

    def path_exists(self, name, beside):
        name = re.sub(r"<[^>]*>|\bNAME\b", "*", name.rstrip("/.")).replace("**", "*")
        return any(True for base in (ROOT, beside) for _ in base.glob(name)) if name else True


def wrong_mention(mention, names, beside):
    """What is wrong with a mention; None when it is right or not of a kind that we check."""
    for word in mention.split():
        if PATH.fullmatch(word) and not names.path_exists(word, beside):
            return f"{word} does not exist"
    if (match := re.match(r"make ([a-z][\w-]*)\b", mention)) and match[1] not in names.targets:
        return f"the Makefile has no target {match[1]}"
    match = SYMBOL.fullmatch(mention)
    word = match and (match[1] or match[2])
    if word and not mention.startswith("std::") and word not in names.words:
        return f"{mention} is named nowhere in the sources"
    return None


def check_documents():
    names = Names()
    for path in documents():
        for number, mention in mentions(path.read_text()):
            if why := wrong_mention(mention, names, path.parent):
                yield f"{path.relative_to(ROOT)}:{number}: {why}"


def tracked_files():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name] if listed.returncode == 0 else []


def check_private():
    for path in tracked_files():
        if not path.is_file() or b"\0" in (content := path.read_bytes())[:4096]:
            continue
        if is_recorded_input(path):
            continue
        for number, line in enumerate(content.decode(errors="replace").splitlines(), 1):
            if match := PRIVATE.search(line):
                yield f"{path.relative_to(ROOT)}:{number}: {match[0]} must not be in the repository"


def is_recorded_input(path):
    """Files that jobs left: they name the paths of the machine they ran on."""
    parts = path.relative_to(ROOT).parts
    return parts[0] == "examples" or parts[:2] == ("tests", "golden")


def self_test():
    names = Names()
    right = ["src/base/status.h", "src/base/", "make test", "MakeMemorySource()", "debrief::Status", "src/<station>/",
             "x = 1", "std::nowhere()", "tools/*.py"]
    wrong = ["src/base/nothing.h", "make nothing", "NoSuchFunction()", "debrief::NoSuchType", "docs/none.md",
             "debrief examples/none -o out"]
    assert not [mention for mention in right if wrong_mention(mention, names, ROOT)], "a right mention was refused"
    assert not [mention for mention in wrong if not wrong_mention(mention, names, ROOT)], "a wrong one was let through"
    assert list(mentions("a `b` [c](docs/d.md#e)")) == [(1, "b"), (1, "docs/d.md")]
    assert PRIVATE.search("see /wo" "rk/x") and not PRIVATE.search("a/wo" "rk/x")


def main():
    if "--self-test" in sys.argv:
        return self_test()
    problems = [*check_documents(), *check_private()]
    print("\n".join(problems) or "docs: everything they name exists")
    sys.exit(1 if problems else 0)


main()
