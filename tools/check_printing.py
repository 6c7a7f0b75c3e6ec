#!/usr/bin/env python3
"""Checks that nothing below app/ prints, ends the process, or reads the environment or the clock, and that app/ prints in one place.

usage: check_printing.py [--self-test]

Only src/base/check.cc may print and abort: a bug of ours has no caller to tell. src/serve/sql_process.cc ends the processes
that it made. In app/ everything is printed by terminal.cc, whose filter lets no control character of an input through; main.cc
speaks before that works.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BELOW_APP = ["base", "model", "inputs", "analyses", "outputs", "serve", "mcp", "doctor", "accel", "redact"]
EXCEPTED = {"src/base/check.cc", "src/serve/sql_process.cc"}
PRINTERS = {"src/app/terminal.cc", "src/app/main.cc"}
# A call is the name and a parenthesis, not after a letter, "." or "->" (a member of the same name is fine).
BANNED = [
    ("prints", re.compile(r"\bstd::(cout|cerr|clog)\b|(?<![\w.>])(v?f?printf|f?puts|putchar|perror)\s*\(|\bfmt::print\b")),
    ("ends the process", re.compile(r"(?<![\w.>])(_?exit|quick_exit|abort|terminate)\s*\(")),
    ("reads the environment", re.compile(r"(?<![\w.>])(secure_)?getenv\s*\(|\benviron\b")),
    ("reads the clock", re.compile(r"\b(system|steady|high_resolution)_clock\b|(?<![\w.>])(time|gettimeofday|clock_gettime)\s*\(")),
]
DOORS = re.compile(BANNED[0][1].pattern + r"|(?<![\w.>])(fwrite|fputc)\s*\(")


def without_comments_and_strings(text):
    """The text with comments, strings and characters blanked, its lines kept."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((?:.*?)\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.S)
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def problems_in(name, text):
    for number, line in enumerate(without_comments_and_strings(text).splitlines(), 1):
        for what, pattern in BANNED:
            if match := pattern.search(line):
                yield f"{name}:{number}: {match[0].strip('( ')} {what}; only app/ may"


def ways_out(name, text):
    """What prints past the filter of app/terminal.cc."""
    for number, line in enumerate(without_comments_and_strings(text).splitlines(), 1):
        if match := DOORS.search(line):
            yield f"{name}:{number}: {match[0].strip('( ')} prints; only app/terminal.cc may"


def check():
    problems = []
    for path in sorted((ROOT / "src/app").rglob("*")):
        name = path.relative_to(ROOT).as_posix()
        if path.suffix in (".cc", ".h") and name not in PRINTERS:
            problems += ways_out(name, path.read_text())
    for folder in BELOW_APP:
        for path in sorted((ROOT / "src" / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in (".cc", ".h") and name not in EXCEPTED:
                problems += problems_in(name, path.read_text())
    return problems


def self_test():
    banned = ['std::cout << 1;', 'printf("x");', 'std::fprintf(stderr, "x");', 'fmt::print("x");', 'exit(1);',
              'std::abort();', '::_exit(1);', 'getenv("X")', 'std::chrono::steady_clock::now()', 'time(nullptr)',
              'puts("x");']
    allowed = ['// printf("x")', 'Add("std::cout");', 'snprintf(b, 9, "x");', 'source.time(3);', 'run->exit(1)',
               'int64_t start_time(int);', '/* exit(1) \n */ int a;', "char c = '\"'; int exited(0);",
               'R"(printf(1))"', 'int big = 1\'000\'000;  // time(']
    for line in banned:
        assert list(problems_in("x.cc", line)), f"let through: {line}"
    for line in ['std::fwrite(a, 1, 2, stdout);', 'fmt::print(stderr, "x");', 'std::cerr << x;']:
        assert list(ways_out("x.cc", line)), f"let through: {line}"
    assert not list(ways_out("x.cc", 'StdoutSink().Write("printf(");')), "refused: a sink"
    for line in allowed:
        assert not list(problems_in("x.cc", line)), f"refused: {line}"


def main():
    if "--self-test" in sys.argv:
        return self_test()
    problems = check()
    print("\n".join(problems) or "printing: nothing below app/ prints, exits or looks at clock and environment; app/ prints in one place")
    sys.exit(1 if problems else 0)


main()
