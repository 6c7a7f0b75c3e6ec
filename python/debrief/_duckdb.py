"""The DuckDB library through its C API: a database that is read, and results of which every chunk becomes an Arrow array.

A result has a connection of its own, so several can be read beside each other and from several threads. Its chunks are made
when they are asked for: a table of any size needs the memory of one chunk.
"""
from __future__ import annotations

import ctypes
import functools
import threading
import weakref
from collections.abc import Sequence
from typing import Any, Union

from ._arrow import ArrowArray, ArrowSchema
from ._errors import Error
from ._program import library

Value = Union[str, int, float, bool, None]

_handle, _text, _index = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64


class _Result(ctypes.Structure):
    """duckdb_result: passed by value, its content is DuckDB's own."""
    _fields_ = [("columns", _index), ("rows", _index), ("changed", _index), ("column_data", _handle), ("error", _handle),
                ("internal", _handle)]


_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "create_config": (ctypes.c_int, [ctypes.POINTER(_handle)]),
    "set_config": (ctypes.c_int, [_handle, _text, _text]),
    "destroy_config": (None, [ctypes.POINTER(_handle)]),
    "open_ext": (ctypes.c_int, [_text, ctypes.POINTER(_handle), _handle, ctypes.POINTER(_handle)]),
    "close": (None, [ctypes.POINTER(_handle)]),
    "connect": (ctypes.c_int, [_handle, ctypes.POINTER(_handle)]),
    "disconnect": (None, [ctypes.POINTER(_handle)]),
    "free": (None, [_handle]),
    "prepare": (ctypes.c_int, [_handle, _text, ctypes.POINTER(_handle)]),
    "prepare_error": (_text, [_handle]),
    "destroy_prepare": (None, [ctypes.POINTER(_handle)]),
    "nparams": (_index, [_handle]),
    "prepared_statement_column_count": (_index, [_handle]),
    "prepared_statement_column_name": (_handle, [_handle, _index]),
    "bind_null": (ctypes.c_int, [_handle, _index]),
    "bind_boolean": (ctypes.c_int, [_handle, _index, ctypes.c_bool]),
    "bind_int64": (ctypes.c_int, [_handle, _index, ctypes.c_int64]),
    "bind_double": (ctypes.c_int, [_handle, _index, ctypes.c_double]),
    "bind_varchar_length": (ctypes.c_int, [_handle, _index, _text, _index]),
    "execute_prepared_streaming": (ctypes.c_int, [_handle, ctypes.POINTER(_Result)]),
    "result_error": (_text, [ctypes.POINTER(_Result)]),
    "destroy_result": (None, [ctypes.POINTER(_Result)]),
    "column_count": (_index, [ctypes.POINTER(_Result)]),
    "column_name": (_text, [ctypes.POINTER(_Result), _index]),
    "column_logical_type": (_handle, [ctypes.POINTER(_Result), _index]),
    "destroy_logical_type": (None, [ctypes.POINTER(_handle)]),
    "fetch_chunk": (_handle, [_Result]),
    "destroy_data_chunk": (None, [ctypes.POINTER(_handle)]),
    "result_get_arrow_options": (_handle, [ctypes.POINTER(_Result)]),
    "destroy_arrow_options": (None, [ctypes.POINTER(_handle)]),
    "to_arrow_schema": (_handle, [_handle, ctypes.POINTER(_handle), ctypes.POINTER(_text), _index, ctypes.POINTER(ArrowSchema)]),
    "data_chunk_to_arrow": (_handle, [_handle, _handle, ctypes.POINTER(ArrowArray)]),
    "error_data_has_error": (ctypes.c_bool, [_handle]),
    "error_data_message": (_text, [_handle]),
    "destroy_error_data": (None, [ctypes.POINTER(_handle)]),
}


class _Api:
    """The functions of the library, without `duckdb_` in front of their names."""

    def __init__(self, path: str) -> None:
        try:
            loaded = ctypes.CDLL(path)
        except OSError as error:
            raise Error(f"cannot load the DuckDB library: {error}. Install debrief again.") from error
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(loaded, "duckdb_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:  # all names are set above; this is for who checks types
        raise AttributeError(name)


@functools.cache
def _api() -> _Api:
    return _Api(str(library()))


def _words(message: bytes | None) -> str:
    """DuckDB's message as a sentence of ours: without the kind of error in front."""
    text = (message or b"DuckDB gives no reason").decode(errors="replace").strip()
    kind, colon, rest = text.partition(" Error: ")
    return rest if colon and "\n" not in kind and len(kind) < 40 else text


class Database:
    """A store that is read, or, without a file, an empty database for views over the Parquet files below `folder`."""

    def __init__(self, path: str | None, folder: str | None = None) -> None:
        api = _api()
        self._handle = _open(path, folder)
        self.closer = weakref.finalize(self, api.close, ctypes.byref(self._handle))
        if folder:
            quoted = "'" + folder.replace("'", "''") + "'"
            for sql in (f"SET GLOBAL allowed_directories = [{quoted}]", "SET GLOBAL enable_external_access = false"):
                self.execute(sql)

    def connect(self) -> ctypes.c_void_p:
        connection = _handle()
        if not self.closer.alive or _api().connect(self._handle, ctypes.byref(connection)) != 0:
            raise Error("the run is closed." if not self.closer.alive else "DuckDB cannot be connected to.")
        return connection

    def execute(self, sql: str) -> None:
        self.query(sql).run().close()

    def query(self, sql: str, values: Sequence[Value] = ()) -> Result:
        return Result(self, sql, values)


def _settings(path: str | None, folder: str | None) -> list[tuple[str, str]]:
    """No extension is fetched, and no statement reaches files but those of the run."""
    settings = [(name, "false") for name in ("autoinstall_known_extensions", "autoload_known_extensions", "allow_community_extensions")]
    if path is not None:
        settings.append(("access_mode", "READ_ONLY"))
    return settings if folder else [*settings, ("enable_external_access", "false")]


def _open(path: str | None, folder: str | None) -> ctypes.c_void_p:
    api, config, database, message = _api(), _handle(), _handle(), _handle()
    api.create_config(ctypes.byref(config))
    try:
        for name, value in _settings(path, folder):
            if api.set_config(config, name.encode(), value.encode()) != 0:
                raise Error(f"this DuckDB library does not know the setting {name}.")
        state = api.open_ext(None if path is None else path.encode(), ctypes.byref(database), config, ctypes.byref(message))
    finally:
        api.destroy_config(ctypes.byref(config))
    if state == 0:
        return database
    words = _words(ctypes.string_at(message.value) if message.value else None)
    api.free(message)
    raise Error(f"cannot open {path or 'a database'}: {words}")


class Result:
    """The rows of one statement, chunk by chunk (Batches of _arrow.py). It runs when rows or their types are asked for."""

    def __init__(self, database: Database, sql: str, values: Sequence[Value] = ()) -> None:
        self._database = database  # it must not be closed before its connection
        self._lock = threading.Lock()
        self._connection = database.connect()
        self._prepared = _handle()
        self._result = _Result()
        self._options = _handle()
        try:
            self._prepare(sql, values)
        except BaseException:
            self.close()
            raise

    def _prepare(self, sql: str, values: Sequence[Value]) -> None:
        api = _api()
        if api.prepare(self._connection, sql.encode(), ctypes.byref(self._prepared)) != 0:
            raise Error(_words(api.prepare_error(self._prepared)))
        if (wanted := api.nparams(self._prepared)) != len(values):
            raise Error(f"the statement has {wanted} placeholders, and {len(values)} values were given.")
        for number, value in enumerate(values, 1):
            self._bind(number, value)

    def run(self) -> Result:
        """Itself; runs the statement, once."""
        api = _api()
        with self._lock:
            if not self._connection:
                raise Error("the result is closed.")
            if not self._options:
                self._execute(api)
        return self

    def _execute(self, api: _Api) -> None:
        if api.execute_prepared_streaming(self._prepared, ctypes.byref(self._result)) != 0:
            raise Error(_words(api.result_error(ctypes.byref(self._result))))
        self._options = _handle(api.result_get_arrow_options(ctypes.byref(self._result)))

    def _bind(self, number: int, value: Value) -> None:
        api, prepared = _api(), self._prepared
        if value is None:
            api.bind_null(prepared, number)
        elif isinstance(value, bool):
            api.bind_boolean(prepared, number, value)
        elif isinstance(value, int):
            if not -2**63 <= value < 2**63:
                raise Error(f"the value {value} does not fit into 64 bits.")
            api.bind_int64(prepared, number, value)
        elif isinstance(value, float):
            api.bind_double(prepared, number, value)
        elif isinstance(value, str):
            text = value.encode()
            api.bind_varchar_length(prepared, number, text, len(text))
        else:
            raise Error(f"a value of type {type(value).__name__} cannot be given to a statement.")

    def names(self) -> list[str]:
        """Of the columns; before the statement runs, unless it has placeholders, whose types decide about columns."""
        api = _api()
        if api.nparams(self._prepared):
            return self.run()._result_names()
        count = api.prepared_statement_column_count(self._prepared)
        return [_taken(api.prepared_statement_column_name(self._prepared, i)) for i in range(count)]

    def _result_names(self) -> list[str]:
        api, result = _api(), ctypes.byref(self._result)
        return [api.column_name(result, i).decode() for i in range(api.column_count(result))]

    def put_schema(self, out: Any) -> None:
        self.run()
        api, names = _api(), [name.encode() for name in self._result_names()]
        types = (_handle * len(names))(*[api.column_logical_type(ctypes.byref(self._result), i) for i in range(len(names))])
        try:
            _check(api.to_arrow_schema(self._options, types, (_text * len(names))(*names), len(names), out))
        finally:
            for i in range(len(names)):
                one = _handle(types[i])
                api.destroy_logical_type(ctypes.byref(one))

    def put_next(self, out: Any) -> bool:
        self.run()
        api = _api()
        with self._lock:
            chunk = _handle(api.fetch_chunk(self._result))
            if not chunk:
                if message := api.result_error(ctypes.byref(self._result)):
                    raise Error(_words(message))
                return False
            try:
                _check(api.data_chunk_to_arrow(self._options, chunk, out))
            finally:
                api.destroy_data_chunk(ctypes.byref(chunk))
        return True

    def close(self) -> None:
        api = _api()
        with self._lock:
            if not self._connection:
                return
            if self._options:
                api.destroy_arrow_options(ctypes.byref(self._options))
            api.destroy_result(ctypes.byref(self._result))
            api.destroy_prepare(ctypes.byref(self._prepared))
            api.disconnect(ctypes.byref(self._connection))
            self._connection = _handle()


def _taken(text: int) -> str:
    """A text that DuckDB gives away."""
    words = ctypes.string_at(text).decode()
    _api().free(text)
    return words


def _check(error: int | None) -> None:
    """An error of DuckDB's newer functions, which is an object of its own."""
    if error is None:
        return
    api, held = _api(), _handle(error)
    words = _words(api.error_data_message(held)) if api.error_data_has_error(held) else None
    api.destroy_error_data(ctypes.byref(held))
    if words is not None:
        raise Error(words)
