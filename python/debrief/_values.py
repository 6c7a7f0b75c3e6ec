"""Python values of Arrow arrays, for who has no library for Arrow: the types that DuckDB makes arrays of.

    integers, floats, booleans, texts, bytes    as Python has them
    decimals and integers of 128 bits           decimal.Decimal
    dates, times, timestamps                    of the module datetime (microseconds)
    lists, structs, maps                        list, dict, list of pairs
"""
from __future__ import annotations

import ctypes
import datetime
import decimal
from collections.abc import Callable, Iterator
from typing import Any

from ._arrow import ArrowArray, ArrowSchema, Batches
from ._errors import Error

_NUMBERS = {"c": ctypes.c_int8, "C": ctypes.c_uint8, "s": ctypes.c_int16, "S": ctypes.c_uint16, "i": ctypes.c_int32,
            "I": ctypes.c_uint32, "l": ctypes.c_int64, "L": ctypes.c_uint64, "f": ctypes.c_float, "g": ctypes.c_double}
_TICKS = {"s": 1, "m": 10**3, "u": 10**6, "n": 10**9}  # a second
_EPOCH = datetime.datetime(1970, 1, 1)
_WIDE = decimal.Context(prec=60)


def batches_as_columns(batches: Batches) -> Iterator[list[list[Any]]]:
    """The columns of each batch, as lists."""
    schema = ArrowSchema()
    batches.put_schema(ctypes.byref(schema))
    try:
        array = ArrowArray()
        while batches.put_next(ctypes.byref(array)):
            try:
                yield [_values(schema.children[i].contents, array.children[i].contents) for i in range(schema.n_children)]
            finally:
                array.release(ctypes.byref(array))
    finally:
        schema.release(ctypes.byref(schema))


def _values(schema: Any, array: Any) -> list[Any]:
    """All values of an array, None where there is none."""
    end = array.offset + array.length
    kind = schema.format.decode()
    if schema.dictionary:
        words = _values(schema.dictionary.contents, array.dictionary.contents)
        found = [words[i] if 0 <= i < len(words) else None for i in _fixed(array, _NUMBERS[kind], end)]
    else:
        found = _decoder(kind)(schema, array, kind, end)
    if array.null_count != 0 and kind != "n" and array.buffers[0]:
        bits = (ctypes.c_uint8 * ((end + 7) // 8)).from_address(array.buffers[0])
        found = [value if bits[i >> 3] >> (i & 7) & 1 else None for i, value in enumerate(found)]
    return found[array.offset:]


def _decoder(kind: str) -> Callable[[Any, Any, str, int], list[Any]]:
    if kind in _NUMBERS:
        return lambda schema, array, kind, end: _fixed(array, _NUMBERS[kind], end)
    for start, decoder in _DECODERS.items():
        if kind == start or (start.endswith(":") or start in ("+w", "tss", "tsm", "tsu", "tsn")) and kind.startswith(start):
            return decoder
    raise Error(f"a column has Arrow type {kind!r}, which rows() does not know. Cast it in the statement, or read the table as Arrow.")


def _fixed(array: Any, kind: Any, end: int) -> list[Any]:
    return list((kind * end).from_address(array.buffers[1])) if end else []


def _nothing(schema: Any, array: Any, kind: str, end: int) -> list[Any]:
    return [None] * end


def _booleans(schema: Any, array: Any, kind: str, end: int) -> list[Any]:
    bits = _bytes_at(array.buffers[1], (end + 7) // 8)
    return [bool(bits[i >> 3] >> (i & 7) & 1) for i in range(end)]


def _bytes_at(address: int | None, size: int) -> bytes:
    return ctypes.string_at(address, size) if address and size > 0 else b""


def _strings(schema: Any, array: Any, kind: str, end: int) -> list[Any]:
    if not end:
        return []
    offsets = ((ctypes.c_int64 if kind in "UZ" else ctypes.c_int32) * (end + 1)).from_address(array.buffers[1])
    first = offsets[0]
    data = _bytes_at(array.buffers[2] and array.buffers[2] + first, offsets[end] - first)
    pieces = [data[offsets[i] - first:offsets[i + 1] - first] for i in range(end)]
    return [piece.decode(errors="replace") for piece in pieces] if kind in "uU" else pieces


def _fixed_bytes(schema: Any, array: Any, kind: str, end: int) -> list[Any]:
    width = int(kind[2:])
    data = _bytes_at(array.buffers[1], width * end)
    return [data[i * width:(i + 1) * width] for i in range(end)]


def _decimals(schema: Any, array: Any, kind: str, end: int) -> list[Any]:
    parts = kind[2:].split(",")
    scale, width = int(parts[1]), int(parts[2]) // 8 if len(parts) > 2 else 16
    data = _bytes_at(array.buffers[1], width * end)
    whole = [int.from_bytes(data[i * width:(i + 1) * width], "little", signed=True) for i in range(end)]
    return [decimal.Decimal(number).scaleb(-scale, _WIDE) for number in whole]


def _lists(schema: Any, array: Any, kind: str, end: int) -> list[Any]:
    inside = _values(schema.children[0].contents, array.children[0].contents)
    if kind.startswith("+w"):
        width = int(kind[3:])
        return [inside[i * width:(i + 1) * width] for i in range(end)]
    if not end:
        return []
    offsets = ((ctypes.c_int64 if kind == "+L" else ctypes.c_int32) * (end + 1)).from_address(array.buffers[1])
    cut = [inside[offsets[i]:offsets[i + 1]] for i in range(end)]
    return [[tuple(pair.values()) for pair in one] for one in cut] if kind == "+m" else cut


def _structs(schema: Any, array: Any, kind: str, end: int) -> list[Any]:
    names = [schema.children[i].contents.name.decode() for i in range(schema.n_children)]
    columns = [_values(schema.children[i].contents, array.children[i].contents) for i in range(schema.n_children)]
    return [dict(zip(names, values)) for values in zip(*columns)]


def _moment(ticks: int, per_second: int) -> Any:
    try:
        return _EPOCH + datetime.timedelta(microseconds=ticks * 10**6 // per_second)
    except OverflowError:  # before the year 1 or after 9999, infinity
        return None


def _timestamps(schema: Any, array: Any, kind: str, end: int) -> list[Any]:
    per_second, is_utc = _TICKS[kind[2]], bool(kind[4:])
    moments = [_moment(ticks, per_second) for ticks in _fixed(array, ctypes.c_int64, end)]
    return [moment and moment.replace(tzinfo=datetime.timezone.utc) for moment in moments] if is_utc else moments


def _dates(schema: Any, array: Any, kind: str, end: int) -> list[Any]:
    moments = [_moment(days * 86_400, 1) for days in _fixed(array, ctypes.c_int32, end)]
    return [moment and moment.date() for moment in moments]


def _times(schema: Any, array: Any, kind: str, end: int) -> list[Any]:
    width = ctypes.c_int32 if kind[2] in "sm" else ctypes.c_int64
    moments = [_moment(ticks, _TICKS[kind[2]]) for ticks in _fixed(array, width, end)]
    return [moment and moment.time() for moment in moments]


# By Arrow's letters; where the letters have arguments, by those before them.
_DECODERS: dict[str, Callable[[Any, Any, str, int], list[Any]]] = {
    "n": _nothing, "b": _booleans, "u": _strings, "U": _strings, "z": _strings, "Z": _strings, "w:": _fixed_bytes, "d:": _decimals,
    "+l": _lists, "+L": _lists, "+m": _lists, "+w": _lists, "+s": _structs, "tss": _timestamps, "tsm": _timestamps, "tsu": _timestamps,
    "tsn": _timestamps, "tdD": _dates, "tts": _times, "ttm": _times, "ttu": _times, "ttn": _times}
