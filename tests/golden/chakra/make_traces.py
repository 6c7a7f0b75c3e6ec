#!/usr/bin/env python3
"""Writes the Chakra traces of these cases: messages of et_def.proto (mlcommons/chakra), each behind its length.

usage: make_traces.py            (in this folder; the files are kept in git)
"""
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMPUTE, COLLECTIVE = 4, 7


def varint(number):
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def framed(message):
    return varint(len(message)) + message


def attribute(name, value):
    return field(10, field(1, name) + (field(29, value) if isinstance(value, str) else field(9, value)))


def node(number, name, kind, data=(), control=(), us=0, *attributes):
    packed = b"".join(map(varint, data))
    return framed((field(1, number) if number else b"") + field(2, name) + field(3, kind) + b"".join(field(4, each) for each in control)
                  + (field(5, packed) if data else b"") + field(7, us)
                  + field(8, field(2, "[[4,8]]") + field(3, '["Tensor(float)"]')) + b"".join(attributes))


def trace():
    """A diamond: 0 feeds 1 and 2, both feed the all_reduce 3, which feeds 4."""
    return (framed(field(1, "0.0.4") + field(2, field(1, "schema") + field(29, "symbolic_tensor_network")))
            + node(0, "embed", COMPUTE, (), (), 10) + node(1, "attention", COMPUTE, (0,), (), 400) + node(2, "mlp", COMPUTE, (0,), (), 100)
            + node(3, "grads", COLLECTIVE, (1, 2), (), 50, attribute("comm_type", 0), attribute("comm_size", 4096), attribute("pg_name", "0"))
            + node(4, "optimizer", COMPUTE, (3,), (2,), 30))


def write(case, name, data):
    (HERE / case / "input" / name).write_bytes(data)


if __name__ == "__main__":
    whole = trace()
    for rank in range(2):
        write("good", f"step.{rank}.et", whole)
    write("truncated", "step.0.et", whole[:-20])
    circle = node(5, "a", COMPUTE, (6,), (), 1) + node(6, "b", COMPUTE, (5, 99, 6), (), 2**62)
    broken = framed(b"\x0a\xff\xff\xff\xff\x0f") + framed(field(1, 7)) + framed(b"\x08" + b"\xff" * 10)
    huge = node(8, "size", COLLECTIVE, (), (), 1, attribute("comm_type", 77), attribute("comm_size", 2**63 - 1)) * 3
    write("hostile", "step.3.et", whole + circle + broken + huge + varint(2**34))
