"""Checks streams of Arrow's C data interface against its specification, with ctypes alone and with layouts of its own.

What is checked: a released structure is never handed out; formats are known, and have the children, dictionaries and number
of buffers that the specification says; lengths, offsets and null counts agree with the bytes of the buffers; texts are UTF-8;
the end of a stream is a released array, again and again.
"""
import ctypes
import re

POINTER = ctypes.c_void_p
NO_BUFFERS = {"n": 0, "+s": 1, "+l": 2, "+L": 2, "+m": 2, "u": 3, "U": 3, "z": 3, "Z": 3}
WIDTHS = {"c": 1, "C": 1, "s": 2, "S": 2, "i": 4, "I": 4, "l": 8, "L": 8, "f": 4, "g": 8, "b": 0, "tdD": 4, "ttu": 8, "ttn": 8, "tss": 8,
          "tsm": 8, "tsu": 8, "tsn": 8, "tin": 16}


class Schema(ctypes.Structure):
    _fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", POINTER), ("flags", ctypes.c_int64),
                ("n_children", ctypes.c_int64), ("children", POINTER), ("dictionary", POINTER), ("release", POINTER), ("private_data", POINTER)]


class Array(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")] + [
        (name, POINTER) for name in ("buffers", "children", "dictionary", "release", "private_data")]


class Stream(ctypes.Structure):
    _fields_ = [(name, POINTER) for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")]


FILL = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, POINTER)
RELEASE = ctypes.CFUNCTYPE(None, POINTER)
LAST_ERROR = ctypes.CFUNCTYPE(ctypes.c_char_p, POINTER)


def pointers(address, count):
    return list((POINTER * count).from_address(address)) if count else []


def numbers(kind, address, count):
    return list((kind * count).from_address(address))


def format_of(schema):
    text = schema.format.decode()
    return text[:3] if text.startswith(("tss", "tsm", "tsu", "tsn")) else text


def children(holder, kind):
    return [kind.from_address(address) for address in pointers(holder.children, holder.n_children)]


def check_schema(schema):
    assert schema.release, "a schema was handed out that is released"
    kind, inside = format_of(schema), children(schema, Schema)
    assert schema.flags & ~7 == 0, f"flags {schema.flags}"
    if kind in ("+l", "+L", "+m") or kind.startswith("+w:"):
        assert len(inside) == 1, f"{kind} has {len(inside)} children"
    elif kind != "+s":
        assert not inside, f"{kind} has children"
        assert kind in WIDTHS or kind in NO_BUFFERS or re.fullmatch(r"d:\d+,\d+(,\d+)?|w:\d+", kind), f"unknown format {kind}"
    if kind == "+m":
        entry = children(inside[0], Schema)
        assert format_of(inside[0]) == "+s" and len(entry) == 2, "a map's entries are not structs of two"
    for child in inside:
        assert child.name is not None
        check_schema(child)
    if schema.dictionary:
        assert kind in "cCsSiIlL", f"a dictionary with indices {kind}"
        check_schema(Schema.from_address(schema.dictionary))


def check_validity(array, buffers):
    """The bits of the first buffer say what null_count says."""
    if array.null_count == -1:
        return
    if not buffers[0]:
        assert array.null_count == 0, f"null_count {array.null_count} without a bitmap"
        return
    end = array.offset + array.length
    bits = numbers(ctypes.c_uint8, buffers[0], (end + 7) // 8)
    nulls = sum(not bits[i >> 3] >> (i & 7) & 1 for i in range(array.offset, end))
    assert nulls == array.null_count, f"null_count {array.null_count}, and {nulls} bits say so"


def check_offsets(array, buffers, kind):
    """What the last offset is; 0 where there is nothing."""
    end = array.offset + array.length
    if end == 0:
        return 0
    offsets = numbers(ctypes.c_int64 if kind in ("U", "Z", "+L") else ctypes.c_int32, buffers[1], end + 1)
    assert offsets[0] >= 0 and offsets == sorted(offsets), "offsets go backwards"
    if kind in ("u", "U") and offsets[-1]:
        ctypes.string_at(buffers[2], offsets[-1]).decode("utf-8")
    return offsets[-1]


def check_array(schema, array):
    kind = format_of(schema)
    assert array.release and array.length >= 0 and array.offset >= 0 and -1 <= array.null_count <= array.length
    wanted = 1 if kind.startswith("+w:") else NO_BUFFERS.get(kind, 2)
    assert array.n_buffers == wanted, f"{kind} has {array.n_buffers} buffers, not {wanted}"
    assert array.n_children == schema.n_children, f"{array.n_children} children, the schema has {schema.n_children}"
    buffers = pointers(array.buffers, array.n_buffers)
    if buffers:
        check_validity(array, buffers)
    last = check_offsets(array, buffers, kind) if kind in ("u", "U", "z", "Z", "+l", "+L", "+m") else array.offset + array.length
    for child_schema, child in zip(children(schema, Schema), children(array, Array)):
        times = int(kind[3:]) if kind.startswith("+w:") else 1
        assert child.length >= last * times, f"a child of {kind} has {child.length} rows, {last * times} are needed"
        check_array(child_schema, child)
    assert bool(schema.dictionary) == bool(array.dictionary), "a dictionary is missing"
    if schema.dictionary:
        check_array(Schema.from_address(schema.dictionary), Array.from_address(array.dictionary))


def release(structure):
    RELEASE(structure.release)(ctypes.addressof(structure))
    assert not structure.release, "a released structure does not say so"


def check_stream(address):
    """(names of columns, rows) of the stream at `address`, which is checked, read to its end and released."""
    stream, schema, rows = Stream.from_address(address), Schema(), 0
    fill_schema, fill_array = FILL(stream.get_schema), FILL(stream.get_next)
    assert fill_schema(address, ctypes.addressof(schema)) == 0, LAST_ERROR(stream.get_last_error)(address)
    check_schema(schema)
    assert format_of(schema) == "+s", "rows are not structs"
    names = [child.name.decode() for child in children(schema, Schema)]
    for _ in range(2):
        while True:
            array = Array()
            assert fill_array(address, ctypes.addressof(array)) == 0, LAST_ERROR(stream.get_last_error)(address)
            if not array.release:
                break
            check_array(schema, array)
            assert array.null_count in (0, -1)
            rows += array.length
            release(array)
    release(schema)
    release(stream)
    return names, rows
