#!/usr/bin/env python3
"""What a scope costs when it is compiled out, and when it is off: the instructions, with -O2, of g++ and of clang where it is.

usage: disassembly.py

Compiled out: the same bytes as without the macro. Off: what runs when dbr_on is 0 is followed from the entry of each function
of disassembly.cc and compared with the same function without a scope. Both compilers keep to what EXTRA says; a function
whose values need not outlive a call gets exactly load, test and branch.
"""
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, namedtuple
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE, INCLUDE = HERE / "disassembly.cc", HERE.parents[1] / "include"
CLANG = shutil.which("clang++-19") or shutil.which("clang++")
COMPILERS = ["g++"] + ([CLANG] if CLANG else [])
VARIANTS = [[], ["-fno-exceptions"]]
SCOPES = ["LeafOfDoubles", "LeafOfInts", "Counts", "Sum", "Calls"]
# More than without a scope, at most. The second test is that of the end, where the compiler cannot tell what the first one
# found; a push saves a register that only the path with recording on uses.
EXTRA = {"load": 1, "test": 2, "branch": 2, "push": 3, "call": 0, "store": 0}
THREE_INSTRUCTIONS = {"load": 1, "test": 1, "branch": 1, "push": 0}
EXACT = {"LeafOfDoubles": THREE_INSTRUCTIONS, "Counts": THREE_INSTRUCTIONS}

Instruction = namedtuple("Instruction", "mnemonic operands reloc next")


def compiled(compiler, *flags):
    with tempfile.TemporaryDirectory() as folder:
        target = f"{folder}/code.o"
        subprocess.run([compiler, "-std=c++20", "-O2", "-c", SOURCE, "-o", target, f"-I{INCLUDE}", *flags], check=True)
        return subprocess.run(["objdump", "-dr", "--no-show-raw-insn", target], check=True, capture_output=True, text=True).stdout


def functions(listing):
    """{name: {address: Instruction}} of section .text."""
    text = listing.split("Disassembly of section .text:")[1].split("Disassembly of section")[0]
    found = {}
    for name, body in re.findall(r"^\w+ <(\w+)>:\n((?:.+\n)*)", text, re.M):
        lines = re.findall(r"^ +(\w+):\t(\w+)(.*)\n(?:\t\t\t\w+: \w+\t(\S+)\n)?", body, re.M)
        addresses = [int(line[0], 16) for line in lines] + [None]
        found[name] = {address: Instruction(line[1], line[2].split("#")[0].strip(), line[3], after)
                       for address, after, line in zip(addresses, addresses[1:], lines)}
    return found


def target(instruction):
    """Where a jump goes; None when that is another section, to which cold code is moved."""
    return None if instruction.reloc else int(instruction.operands.split()[0], 16)


def records_soon(code, address):
    """Whether a block calls the recorder before it branches."""
    while address in code:
        instruction = code[address]
        if instruction.mnemonic in ("call", "jmp") and "dbr_" in instruction.reloc:
            return True
        if instruction.mnemonic.startswith("j") or instruction.mnemonic == "ret":
            return False
        address = instruction.next
    return True  # another section


def run_when_off(code):
    """The instructions that can run when nothing is recorded."""
    waiting, seen = [min(code)], set()
    while waiting:
        address = waiting.pop()
        if address in seen or address not in code:
            continue
        seen.add(address)
        instruction = code[address]
        if instruction.mnemonic.startswith("j") and not records_soon(code, target(instruction)):
            waiting.append(target(instruction))
        if instruction.mnemonic not in ("jmp", "ret"):
            waiting.append(instruction.next)
    return [code[address] for address in sorted(seen)]


def kinds(instructions):
    counts = Counter()
    for instruction in instructions:
        mnemonic, operands = instruction.mnemonic, instruction.operands
        counts["load"] += "dbr_on" in instruction.reloc
        counts["test"] += mnemonic in ("test", "cmp", "cmpl", "cmpq", "testl")
        counts["branch"] += mnemonic.startswith("j") and mnemonic != "jmp"
        counts["push"] += mnemonic == "push"
        counts["call"] += mnemonic == "call"
        counts["store"] += mnemonic.startswith("mov") and operands.endswith("(%rsp)")
        counts["recorder"] += mnemonic in ("call", "jmp") and "dbr_" in instruction.reloc
    return counts


def code_of(listing):
    """All but the name of the file."""
    return listing.split("Disassembly", 1)[1]


def check(compiler, flags):
    problems = []
    plain, out = compiled(compiler, "-DWITHOUT", *flags), compiled(compiler, "-DDEBRIEF_RECORDER_DISABLED", *flags)
    if code_of(plain) != code_of(out):
        problems.append("a scope that is compiled out leaves instructions behind")
    before, after = functions(plain), functions(compiled(compiler, *flags))
    pushes = []
    for name in SCOPES + ["Described"]:
        off = kinds(run_when_off(after[name]))
        extra = {kind: off[kind] - kinds(before[name].values())[kind] for kind in EXTRA}
        if off["recorder"] or extra["load"] != 1:
            problems.append(f"{name}: off, it loads dbr_on {extra['load']} times and calls the recorder {off['recorder']} times")
        if name not in SCOPES:
            continue
        problems += [f"{name}: off, {extra[kind]} more of {kind}; {limit} at most" for kind, limit in EXTRA.items() if extra[kind] > limit]
        problems += [f"{name}: off, {extra[kind]} more of {kind}; must be {count}" for kind, count in EXACT.get(name, {}).items()
                     if extra[kind] != count]
        pushes.append(extra["push"])
    print(f"disassembly {Path(compiler).name} {' '.join(flags)}: registers saved for {', '.join(SCOPES)}: {pushes}")
    return [f"{compiler} {' '.join(flags)}: {problem}" for problem in problems]


def main():
    if platform.machine() != "x86_64":
        print("disassembly: the rules are written for x86-64")
        sys.exit(77)
    problems = [problem for compiler in COMPILERS for flags in VARIANTS for problem in check(compiler, flags)]
    print("\n".join(problems) or "disassembly: compiled out is nothing; off is one load, tests and branches that are not taken")
    sys.exit(1 if problems else 0)


main()
