"""A table of a run, or the rows of a statement: as Arrow, for pandas and polars where they are installed, or as plain Python."""
from __future__ import annotations

import functools
import html
import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ._arrow import schema_capsule, stream_capsule
from ._duckdb import Database, Result, Value
from ._errors import Error
from ._values import batches_as_columns

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_SHOWN_ROWS = 20


class Table:
    """Nothing is read before it is asked for; each way to ask reads anew, chunk by chunk."""

    def __init__(self, database: Database, sql: str, values: Sequence[Value] = (), name: str = "") -> None:
        self._database = database
        self._values = tuple(values)
        self.sql = sql
        self.name = name
        self.columns: list[str] = self._column_names()

    def _query(self) -> Result:
        return self._database.query(self.sql, self._values)

    def _column_names(self) -> list[str]:
        result = self._query()
        try:
            return result.names()
        finally:
            result.close()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A capsule `arrow_array_stream`: what pyarrow, polars, pandas and DuckDB take a table from without a copy."""
        return stream_capsule(self._query())

    def __arrow_c_schema__(self) -> object:
        return schema_capsule(self._query())

    def batches(self) -> Iterator[dict[str, list[Any]]]:
        """Columns as lists, a batch of rows (2,048 at most) at a time."""
        result = self._query()
        try:
            for columns in batches_as_columns(result):
                yield dict(zip(self.columns, columns))
        finally:
            result.close()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self.batches():
            for values in zip(*batch.values()):
                yield dict(zip(self.columns, values))

    def rows(self, limit: int | None = None) -> list[dict[str, Any]]:
        """Rows as dictionaries; the first `limit` of them."""
        return list(itertools.islice(self, limit))

    def column(self, name: str) -> list[Any]:
        if name not in self.columns:
            raise Error(f"there is no column {name}. There are: {', '.join(self.columns)}.")
        return [value for batch in self.batches() for value in batch[name]]

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns as lists."""
        whole: dict[str, list[Any]] = {name: [] for name in self.columns}
        for batch in self.batches():
            for name, values in batch.items():
                whole[name] += values
        return whole

    @functools.cached_property
    def _length(self) -> int:
        counted = self._database.query(f"SELECT count(*) FROM ({self.sql.rstrip().rstrip(';')})", self._values)
        try:
            return int(next(batches_as_columns(counted))[0][0])
        finally:
            counted.close()

    def __len__(self) -> int:
        return self._length

    def __bool__(self) -> bool:
        return any(True for _ in self)

    def to_arrow(self) -> pyarrow.Table:
        """Needs pyarrow 14 or newer."""
        import pyarrow
        return pyarrow.table(self)

    def to_polars(self) -> polars.DataFrame:
        """Needs polars 1.3 or newer."""
        import polars
        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Needs pandas, and goes through pyarrow where that is installed: whole columns at once, exact types."""
        try:
            return self.to_arrow().to_pandas()
        except ImportError:
            import pandas
            return pandas.DataFrame(self.to_dict(), columns=self.columns)

    def __repr__(self) -> str:
        return f"<debrief.Table {self.name or self.sql!r}: {len(self.columns)} columns>"

    def _repr_html_(self) -> str:
        rows = self.rows(_SHOWN_ROWS + 1)
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(_cell(value))}</td>" for value in row.values()) + "</tr>"
                       for row in rows[:_SHOWN_ROWS])
        more = f"<p>... {len(self):,} rows in all</p>" if len(rows) > _SHOWN_ROWS else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= 120 else text[:117] + "..."
