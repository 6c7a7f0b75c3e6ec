#!/usr/bin/env python3
"""Checks sizes: a function over 120 lines, a file over 700 or a folder with more than 30 files of its own fails; a function
over 80 is warned about. A header that a single file uses, with its .cc under 60 lines, belongs into that file; one that a test
includes may stay.

usage: check_sizes.py [--self-test]

A line `// lint: long - reason` above a function (or at the top of a file) excuses it; files of tests may be long.

Functions of C++ and TypeScript are found by indentation, not by parsing: formatted code (make lint sees
to that) closes a block with a } that stands where the statement began. Python has a parser of its own.
"""
import ast
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ["src", "include", "web", "tests", "tools", "bench", "examples", "python"]
BRACES, PYTHON = {".cc", ".h", ".ts", ".tsx", ".mjs"}, {".py"}
WARN, FUNCTION_LIMIT, FILE_LIMIT, FOLDER_LIMIT, LEAST_PAIR = 80, 120, 700, 30, 60
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
EXCUSE = re.compile(r"^\s*(//|#) lint: long - \S")
BLANKED = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((?:.*?)\)\1"|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`', re.S)
NO_FUNCTION = re.compile(r"(namespace|class|struct|union|enum|extern|interface|type|export (class|interface|type)|if|for|while|"
                         r"switch|do|else|try|catch|return|case|default)\b")


def blank(text):
    """Comments and strings without their content, but with their lines."""
    return BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]) + (";" if match[0][0] != "/" else ""), text)


def brace_functions(text):
    """(first line, last line) of every function, 1-based."""
    lines, started, found = blank(text).splitlines(), {}, []
    for number, line in enumerate(lines):
        body = line.strip()
        if not body or body[0] == "#":
            continue
        indent = len(line) - len(line.lstrip())
        if body[0] != "}":
            started[indent] = number
        elif indent in started and is_function(lines, started[indent], number):
            found.append((started[indent] + 1, number + 1))
    return found


def is_function(lines, first, last):
    """Whether the statement that begins at `first` and closes at `last` has a head with parameters."""
    head = ""
    for line in lines[first:last]:
        head += " " + line.strip()
        if line.rstrip().endswith("{"):
            return "(" in head and not NO_FUNCTION.match(head.strip())
    return False


def python_functions(text):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [(node.lineno, node.end_lineno) for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]


def check_text(name, text):
    """(problems, warnings) of one file."""
    lines, problems, warnings = text.splitlines(), [], []
    if len(lines) > FILE_LIMIT and not name.startswith("tests/") and not any(map(EXCUSE.match, lines[:3])):
        problems.append(f"{name}:1: {len(lines)} lines; a file may have {FILE_LIMIT}")
    functions = python_functions(text) if Path(name).suffix in PYTHON else brace_functions(text)
    for first, last in functions:
        length = last - first + 1
        if length <= WARN or (first > 1 and EXCUSE.match(lines[first - 2])):
            continue
        message = f"{name}:{first}: a function of {length} lines"
        (problems if length > FUNCTION_LIMIT else warnings).append(message)
    return problems, warnings


def check_folders(names):
    """Folders with too many files of their own; `names` are paths of files."""
    counts = Counter(name.rpartition("/")[0] for name in names)
    return [f"{folder}: {count} files; a folder may have {FOLDER_LIMIT}"
            for folder, count in sorted(counts.items()) if count > FOLDER_LIMIT]


def check_headers(texts):
    """Small headers of src/ with one user; `texts` are files by path."""
    users = {}
    for name, text in texts.items():
        for header in INCLUDE.findall(text):
            users.setdefault(f"src/{header}", set()).add(name)
    for header in [name for name in texts if name.startswith("src/") and name.endswith(".h")]:
        source = header[:-2] + ".cc"
        size = len(texts[header].splitlines()) + len(texts.get(source, "").splitlines())
        found = users.get(header, set()) - {source}
        if size < LEAST_PAIR and len(found) == 1 and min(found).startswith("src/"):
            yield f"{header}: {size} lines with its .cc, for {min(found)} alone: they belong there"


def check():
    problems, warnings, texts = [], [], {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in BRACES | PYTHON and "/input/" not in name and path.is_file():
                texts[name] = path.read_text()
                found = check_text(name, texts[name])
                problems += found[0]
                warnings += found[1]
    return problems + check_folders(texts) + list(check_headers(texts)), warnings


def self_test():
    body = "  a();\n" * 130
    over = {"function.cc": f"void F(int a,\n       int b) {{\n{body}}}\n",
            "constructor.cc": f"F::F(int a)\n    : a_{{a}}, b_(2) {{\n{body}}}\n",
            "method.h": f"class A {{\n public:\n  int F() const {{\n{body.replace('  a', '    a')}  }}\n}};\n",
            "raw.cc": 'void F() {\n  auto s = R"(\n}\n)";\n' + body + "}\n",
            "branches.cc": f"void F() {{\n  if (a) {{\n{'    a();' * 2}\n  }} else {{\n{body}  }}\n}}\n",
            "arrow.ts": f"export const f = (a: number): void => {{\n{body}}};\n",
            "template.ts": "function f() {\n  const s = `\n}`;\n" + body + "}\n",
            "function.py": "def f():\n" + body.replace("  a();", "    a()")}
    fine = {"two.cc": f"void F() {{\n{body[:600]}}}\n\nvoid G() {{\n{body[:600]}}}\n",
            "table.cc": f"const int kTable[] = {{\n{body}}};\n",
            "class.h": "class A : public B<void()> {\n" + "  int a;\n" * 200 + "};\n",
            "namespace.cc": "namespace {\n" + "int a;\n" * 200 + "}  // namespace\n",
            "excused.cc": f"// lint: long - a table of cases\nvoid F() {{\n{body}}}\n"}
    for name, text in over.items():
        assert len(check_text(name, text)[0]) == 1, f"{name}: {check_text(name, text)}"
    for name, text in fine.items():
        assert check_text(name, text) == ([], []), f"{name}: {check_text(name, text)}"
    assert check_text("x.cc", "int a;\n" * 701)[0] and not check_text("x.cc", "int a;\n" * 700)[0]
    assert check_folders([f"src/a/{n}.cc" for n in range(31)]) == ["src/a: 31 files; a folder may have 30"]
    assert not check_folders([f"src/{room}/{n}.cc" for n in range(30) for room in ("a", "a/b")])
    assert check_text("x.cc", f"void F() {{\n{body[:7 * 90]}}}\n")[1], "90 lines give a warning"
    pair = {"src/a/b.h": "int b;\n" * 20, "src/a/b.cc": '#include "a/b.h"\n' * 30, "src/a/c.cc": '#include "a/b.h"\n'}
    assert [*check_headers(pair)] == ["src/a/b.h: 50 lines with its .cc, for src/a/c.cc alone: they belong there"]
    assert not [*check_headers({**pair, "src/a/d.cc": '#include "a/b.h"\n'})], "two users"
    assert not [*check_headers({**pair, "tests/unit/b_test.cc": '#include "a/b.h"\n'})], "a test"
    assert not [*check_headers({**pair, "src/a/b.h": "int b;\n" * 30})], "not small"


def main():
    if "--self-test" in sys.argv:
        return self_test()
    problems, warnings = check()
    for warning in warnings:
        print(f"{warning} (warning; {FUNCTION_LIMIT} is the limit)")
    print("\n".join(problems) or "sizes: no function, file or folder is too large")
    sys.exit(1 if problems else 0)


main()
