#!/usr/bin/env python3
"""What libdebrief_recorder.so shows and needs: the symbols of exported.txt and no other, and libc alone.

usage: abi.py --library FILE --static FILE

A symbol may be added: then exported.txt gets it. One that is gone or renamed breaks programs that are already linked. The
static library may not need the C++ library either: programs in C link it.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

LISTED = Path(__file__).with_name("exported.txt")
# pthreads are part of libc since glibc 2.34, a library of their own before.
SYSTEM_LIBRARIES = re.compile(r"(libc|libpthread|ld-linux[\w-]*)\.so\.\d+")


def output_of(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def exported(library):
    lines = output_of("nm", "-D", "--defined-only", library).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def needed(library):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", library))


def declared():
    """Functions and variables of the header."""
    header = (LISTED.parents[2] / "include/debrief/recorder.h").read_text()
    text = re.sub(r"/\*.*?\*/|^#.*?$", "", header, flags=re.S | re.M)
    return set(re.findall(r"DBR_API[^;]*?\b(dbr_\w+)(?:\(|;)", text))


def cpp_symbols(archive):
    """What a program in C could not link: operator new, the unwinder's and guards of local statics, anything of std."""
    undefined = set(re.findall(r"^\s+U (\w+)", output_of("nm", "-u", archive), re.M))
    defined = set(re.findall(r"^\w+ \w (\w+)", output_of("nm", "--defined-only", archive), re.M))
    wanted = re.compile(r"_Z|__cxa_(?!finalize)|__gxx_|_Unwind_")
    return sorted(name for name in undefined - defined if wanted.match(name))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--static", required=True)
    options = parser.parse_args()
    listed, shown, problems = set(LISTED.read_text().split()), exported(options.library), []
    problems += [f"{name} is exported and not in {LISTED.name}" for name in sorted(shown - listed)]
    problems += [f"{name} is in {LISTED.name} and not exported" for name in sorted(listed - shown)]
    problems += [f"{name} is declared in recorder.h and not exported" for name in sorted(declared() - shown)]
    problems += [f"needs {name}; libc and pthreads are all it may need" for name in needed(options.library)
                 if not SYSTEM_LIBRARIES.fullmatch(name)]
    problems += [f"the static library needs {name} of the C++ library" for name in cpp_symbols(options.static)]
    print("\n".join(problems) or f"abi: {len(shown)} symbols, needs {', '.join(needed(options.library))}")
    sys.exit(1 if problems else 0)


main()
