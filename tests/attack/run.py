#!/usr/bin/env python3
"""The long attack: worst cases that grow and little memory once, then mutated inputs, hostile readers and broken machines in turn.

usage: run.py [--binary PATH] [--minutes N] [--seed N]      make attack MINUTES=N

It goes on until the time is over. Every round takes other seeds, also from one call to the next. What ran is added to build/attack.jsonl; what failed lies in build/attack-found/.
"""
import argparse
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
ROUND_S = 300


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=ROOT / "build/release/debrief", type=Path)
    parser.add_argument("--minutes", default=10, type=float)
    parser.add_argument("--seed", default=int(time.time()) % 1_000_000 * 1000, type=int)
    options = parser.parse_args()
    (ROOT / "build").mkdir(exist_ok=True)
    end = time.monotonic() + options.minutes * 60
    seed = options.seed
    failed = sum(subprocess.run([sys.executable, str(HERE / script), "--binary", options.binary]).returncode != 0 for script in ("growth.py", "memory.py"))
    while (left := end - time.monotonic()) > 5:
        part = min(ROUND_S, left)
        for script, *words in (["mutate.py", "--seconds", part * 0.6, "--record", ROOT / "build/attack.jsonl"],
                               ["mutate.py", "--seconds", part * 0.2, "--pieces"], ["serve.py", "--seconds", part * 0.1], ["faults.py", "--rounds", 1], ["same_bytes.py", "--runs", 4]):
            more = [] if script == "same_bytes.py" else ["--seed", seed]
            failed += subprocess.run([sys.executable, str(HERE / script), "--binary", options.binary, *map(str, words + more)]).returncode != 0
        seed += 100_000
    print(f"attack: {'FAILED' if failed else 'nothing found'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
