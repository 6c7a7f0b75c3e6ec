"""Arrow's C data interface in ctypes, and capsules that hand it to others.

https://arrow.apache.org/docs/format/CDataInterface.html, CStreamInterface.html and PyCapsuleInterface.html. Arrays are made
by DuckDB; their buffers go to the consumer as they are, nothing here copies them.
"""
from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from typing import Any, Protocol

from ._errors import Error

EINVAL, EIO = 22, 5


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


class ArrowArrayStream(ctypes.Structure):
    pass


ReleaseSchema = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowSchema))
ReleaseArray = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArray))
GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowArrayStream), ctypes.POINTER(ArrowSchema))
GetNext = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowArrayStream), ctypes.POINTER(ArrowArray))
GetLastError = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(ArrowArrayStream))
ReleaseStream = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArrayStream))

ArrowSchema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))),
    ("dictionary", ctypes.POINTER(ArrowSchema)), ("release", ReleaseSchema), ("private_data", ctypes.c_void_p)]
ArrowArray._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))), ("dictionary", ctypes.POINTER(ArrowArray)), ("release", ReleaseArray),
    ("private_data", ctypes.c_void_p)]
ArrowArrayStream._fields_ = [
    ("get_schema", GetSchema), ("get_next", GetNext), ("get_last_error", GetLastError), ("release", ReleaseStream),
    ("private_data", ctypes.c_void_p)]


class Batches(Protocol):
    """Where the batches of a stream come from: a result of DuckDB."""

    def put_schema(self, out: Any) -> None: ...

    def put_next(self, out: Any) -> bool:
        """False at the end."""

    def close(self) -> None: ...


class _Exported:
    """One stream that was handed out; it lives until its consumer releases it."""

    def __init__(self, batches: Batches) -> None:
        self.batches = batches
        self.error = ctypes.create_string_buffer(b"")

    def call(self, work: Callable[[], None]) -> int:
        try:
            work()
            return 0
        except Error as error:
            self.error = ctypes.create_string_buffer(str(error).encode())
            return EINVAL
        except Exception as error:  # an exception cannot travel through C
            self.error = ctypes.create_string_buffer(f"{type(error).__name__}: {error}".encode())
            return EIO


# Streams that are in the hands of consumers, by the number that their private_data holds.
_exported: dict[int, _Exported] = {}
_numbers = itertools.count(1)


@GetSchema
def _get_schema(stream: Any, out: Any) -> int:
    exported = _exported[stream.contents.private_data]
    return exported.call(lambda: exported.batches.put_schema(out))


@GetNext
def _get_next(stream: Any, out: Any) -> int:
    exported = _exported[stream.contents.private_data]

    def work() -> None:
        if not exported.batches.put_next(out):
            ctypes.memset(out, 0, ctypes.sizeof(ArrowArray))  # the end: an array that is released

    return exported.call(work)


@GetLastError
def _get_last_error(stream: Any) -> int | None:
    error = _exported[stream.contents.private_data].error
    return ctypes.addressof(error) if error.value else None


@ReleaseStream
def _release_stream(stream: Any) -> None:
    exported = _exported.pop(stream.contents.private_data, None)
    stream.contents.release = ReleaseStream()
    if exported is not None:
        exported.batches.close()


def export_stream(batches: Batches, out: ArrowArrayStream) -> None:
    """Makes `out` a stream of `batches`, which its release closes."""
    number = next(_numbers)
    _exported[number] = _Exported(batches)
    out.get_schema, out.get_next, out.get_last_error = _get_schema, _get_next, _get_last_error
    out.release, out.private_data = _release_stream, number


# Structures that capsules point to, by address. A consumer that moved one has set its release to null.
_in_capsules: dict[int, ArrowArrayStream | ArrowSchema] = {}
_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _Destructor)(("PyCapsule_New", ctypes.pythonapi))
# With the address and not the object: the capsule is being destroyed and must not be referenced again.
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_STREAM, _SCHEMA = b"arrow_array_stream", b"arrow_schema"


def _destructor(name: bytes) -> Any:
    @_Destructor
    def destroy(capsule: int) -> None:
        held = _in_capsules.pop(_pointer_of(capsule, name))
        if held.release:
            held.release(ctypes.byref(held))

    return destroy


_destroy_stream, _destroy_schema = _destructor(_STREAM), _destructor(_SCHEMA)


def _capsule(held: ArrowArrayStream | ArrowSchema, name: bytes, destroy: Any) -> object:
    address = ctypes.addressof(held)
    _in_capsules[address] = held
    return _new_capsule(address, name, destroy)


def stream_capsule(batches: Batches) -> object:
    stream = ArrowArrayStream()
    export_stream(batches, stream)
    return _capsule(stream, _STREAM, _destroy_stream)


def schema_capsule(batches: Batches) -> object:
    schema = ArrowSchema()
    batches.put_schema(ctypes.byref(schema))
    batches.close()
    return _capsule(schema, _SCHEMA, _destroy_schema)
