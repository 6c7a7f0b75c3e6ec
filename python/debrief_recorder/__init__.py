"""Records what a Python program does, into a file that survives its death; `debrief FILE` reads it.

    import debrief_recorder as recorder

    recorder.open("run.dbr")
    with recorder.scope("load batch"):
        ...
    with recorder.op("aten::mm", inputs=[(64, 128), (128, 10)], dtype="float32") as op:
        ...
        op.describe(output=(64, 10))

    @recorder.recorded
    def train_step(batch): ...

One recording at a time per process, from any thread. Without an open recording everything here does nothing. A forked
child records to a file of its own, PATH.PID. A `scope` is written when it ends; an `op`, and what `begin` begins, is in
the file at once, so the file of a killed process shows what it died in.
"""
import atexit
import functools
import inspect
import os
from typing import Any, Callable, NamedTuple, Optional, TypeVar, Union, overload

from . import _recorder
from ._recorder import (FLOW_END, FLOW_START, FLOW_STEP, Recorded, Scope, alloc, begin, close, counter, enable, enabled, end,
                        flow, free, instant, meta, name, note, now, op, scope, set_device, set_step, snapshot, span,
                        thread_name)

__all__ = ["FLOW_END", "FLOW_START", "FLOW_STEP", "Losses", "Recorded", "Recording", "Scope", "alloc", "begin", "close",
           "counter", "enable", "enabled", "end", "flow", "free", "instant", "losses", "meta", "name", "note", "now", "op",
           "open", "record_function", "recorded", "scope", "set_device", "set_step", "snapshot", "span", "thread_name"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Losses(NamedTuple):
    """What is not in the file."""
    overwritten: int  # records that the ring took back
    dropped: int      # records that found no room
    names: int        # names that found no room
    stopped: int      # errno that ended growth of the file, 0 when none did


class Recording:
    """The open recording: `with open(path): ...` closes it."""

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *error: object) -> None:
        close()


def open(path: Union[str, "os.PathLike[str]"], *, rank: Optional[int] = None, world_size: Optional[int] = None,
         process_name: Optional[str] = None, max_bytes: int = 64 << 20, policy: str = "ring",
         sync_seconds: int = 0) -> Recording:
    """Opens the recording of this process. rank and world_size are those of torchrun's environment when they are not
    given. policy: "ring" keeps the newest records within max_bytes, "stop" the oldest. sync_seconds: how
    often the file is written to the disk itself, for the day the machine dies; 0 leaves that to the kernel. Raises OSError
    when the file cannot be made, RuntimeError when a recording is open already."""
    _recorder.open(path, rank=_from_environment("RANK") if rank is None else rank,
                   world_size=_from_environment("WORLD_SIZE") if world_size is None else world_size,
                   process_name=process_name, max_bytes=max_bytes, policy=policy, sync_seconds=sync_seconds)
    atexit.unregister(close)
    atexit.register(close)
    return Recording()


def _from_environment(variable: str) -> int:
    value = os.environ.get(variable, "")
    return int(value) if value.isdecimal() else -1


def losses() -> Losses:
    """What the open recording lost so far."""
    return Losses(*_recorder.losses())


class record_function(Scope):
    """In place of torch.profiler.record_function, as a context manager or a decorator. `args` is taken and not recorded."""
    __slots__ = ()

    def __new__(cls, name: str, args: Optional[str] = None) -> "record_function":
        return super().__new__(cls, name)

    def __call__(self, function: _Function) -> _Function:
        return recorded(self.name)(function)


@overload
def recorded(what: str, /) -> Callable[[_Function], _Function]: ...
@overload
def recorded(what: _Function, /) -> _Function: ...
def recorded(what: Any, /) -> Any:
    """A decorator, `@recorded` or `@recorded("name")`: a span around every call.

    Of a generator or a coroutine each piece that runs is a span, and the waiting between is not: spans of a thread nest,
    which the life of a coroutine does not. Async generators are refused."""
    if isinstance(what, str):
        return lambda function: _recorded(function, what)
    return _recorded(what, getattr(what, "__qualname__", type(what).__qualname__))


def _recorded(function: Any, name: str) -> Any:
    if isinstance(function, (staticmethod, classmethod, type)) or not callable(function):
        raise TypeError(f"recorded: {function!r} is not a function; of other decorators, put it closest to the function")
    if inspect.isasyncgenfunction(function):
        raise TypeError(f"recorded: {name} is an async generator; use a scope inside it, between two yields")
    if inspect.iscoroutinefunction(function):
        return _recorded_coroutine(function, scope(name))
    if inspect.isgeneratorfunction(function):
        return _recorded_generator(function, scope(name))
    return functools.update_wrapper(_recorder.wrap(function, name), function)


class _Pieces:
    """Drives a generator or a coroutine, with a span each time that it runs."""
    __slots__ = ("_inner", "_scope")

    def __init__(self, inner: Any, around: Scope) -> None:
        self._inner, self._scope = inner, around

    def __iter__(self) -> "_Pieces":
        return self

    __await__ = __iter__

    def __next__(self) -> Any:
        return self.send(None)

    def send(self, value: Any) -> Any:
        with self._scope:
            return self._inner.send(value)

    def throw(self, *error: Any) -> Any:
        with self._scope:
            return self._inner.throw(*error)

    def close(self) -> None:
        with self._scope:
            self._inner.close()


def _recorded_coroutine(function: Any, around: Scope) -> Any:
    @functools.wraps(function)
    async def run(*args: Any, **keywords: Any) -> Any:
        return await _Pieces(function(*args, **keywords), around)
    return run


def _recorded_generator(function: Any, around: Scope) -> Any:
    @functools.wraps(function)
    def run(*args: Any, **keywords: Any) -> Any:
        return (yield from _Pieces(function(*args, **keywords), around))
    return run
