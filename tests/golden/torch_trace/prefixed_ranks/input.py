#!/usr/bin/env python3
"""Lines of two ranks by turns behind the marks of a container and of torchrun, one of them lost, with the line ends of Windows."""
import hashlib
import json
from pathlib import Path


def log(rank):
    lines = []
    for number, payload in enumerate(("{\n\"ts\": 1794709992158849.8\n}", "graph\n\nof rank %d" % rank)):
        entry = {"artifact": {"name": f"a{number}", "encoding": "string"}, "rank": rank, "frame_id": 0, "frame_compile_id": number, "attempt": 0,
                 "has_payload": hashlib.md5(payload.encode()).hexdigest()}
        lines.append(f"V1115 02:42:2{number}.605000 {3829 + rank} torch/x.py:7] {json.dumps(entry)}")
        lines += ["\t" + line for line in payload.split("\n")]
    return lines


folder = Path("input")
folder.mkdir(exist_ok=True)
mixed = [f"2026-11-15T02:42:22.605000000Z stderr F [default{rank}]:{line}" for pair in zip(log(0), log(1)) for rank, line in enumerate(pair)]
folder.joinpath("whole.log").write_bytes("\r\n".join(mixed).encode())
folder.joinpath("torn.log").write_bytes("\r\n".join(line for line in mixed if "of rank 1" not in line).encode() + b"\r\n")
