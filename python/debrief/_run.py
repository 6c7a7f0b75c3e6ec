"""A run: the verdict, the findings and the tables of a job, wherever they lie."""
from __future__ import annotations

import difflib
import functools
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ._duckdb import Database, Value
from ._errors import Error
from ._findings import Finding, Job, Verdict, finding_from_json, findings_from_rows, job_from_json, verdict_of
from ._html import card
from ._table import Table

_SCHEMA = 1
_STORE = "run.duckdb"
_META = "debrief_meta"  # says of which run and version tables are


class Run:
    """Made by debrief.load(). It is a context manager: close() frees the store and a temporary report."""

    def __init__(self, folder: Path, parquet: bool = False, temporary: tempfile.TemporaryDirectory[str] | None = None) -> None:
        self.path = folder
        self._is_parquet = parquet
        self._temporary = temporary

    # -- what was found

    @functools.cached_property
    def report(self) -> dict[str, Any]:
        """findings.json as it is; empty where there is none (Parquet tables alone)."""
        path = self.path / "findings.json"
        if not path.exists():
            return {}
        try:
            read = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise Error(f"cannot read {path}: {error}.") from error
        if not isinstance(read, dict) or read.get("schema") != _SCHEMA:
            raise Error(f"{path} is of another version of debrief. Run debrief on the job again.")
        return read

    @functools.cached_property
    def findings(self) -> list[Finding]:
        """The most important first."""
        if self.report:
            return [finding_from_json(record) for record in self.report["findings"]]
        return findings_from_rows(self.table("finding")) if "finding" in self.tables else []

    @functools.cached_property
    def verdict(self) -> Verdict:
        return verdict_of(self.findings)

    @functools.cached_property
    def jobs(self) -> list[Job]:
        return [job_from_json(record) for record in self.report.get("jobs", [])]

    def finding(self, id: str) -> Finding:
        for finding in self.findings:
            if finding.id == id:
                return finding
        raise Error(f"there is no finding {id}. There are {len(self.findings)}, from f1.")

    def evidence(self, finding: Finding | str) -> list[Table]:
        """The rows that a finding rests on, a table for each piece of evidence that has some."""
        found = self.finding(finding) if isinstance(finding, str) else finding
        if self._is_parquet or self._parquet_store():
            raise Error("rows of evidence are found in run.duckdb, not in Parquet tables.")
        return [Table(self._database, f"FROM stored.{_quoted(piece.table)} WHERE rowid IN ({', '.join(map(str, map(int, piece.rows)))})",
                      name=piece.table) for piece in found.evidence if piece.table and piece.rows]

    # -- tables

    @functools.cached_property
    def _database(self) -> Database:
        if self._is_parquet:
            return _parquet_database(self.path)
        if tables := self._parquet_store():
            return _parquet_database(tables)
        store = self.path / _STORE
        if not store.exists():
            raise Error(f"there is no {store}: the report was written with --no-store. Run debrief on the job again without it.")
        return Database(os.fspath(store))

    def _parquet_store(self) -> Path | None:
        """The tables of a report that was written with --store parquet."""
        tables = self.path / "parquet"
        return tables if not (self.path / _STORE).exists() and (tables / f"{_META}.parquet").exists() else None

    @functools.cached_property
    def tables(self) -> list[str]:
        """Names of all tables; docs/tables.md says what they hold."""
        if self._is_parquet:
            return sorted(parquet_files(self.path))
        return Table(self._database, "SELECT view_name AS name FROM duckdb_views() WHERE NOT internal AND schema_name = 'main' "
                                     "ORDER BY view_name").column("name")

    def table(self, name: str) -> Table:
        if name not in self.tables:
            raise Error(f"there is no table {name}.{_nearest(name, self.tables)} run.tables has their names.")
        return Table(self._database, f"FROM {_quoted(name)}", name=name)

    def sql(self, statement: str, *values: Value) -> Table:
        """The rows of a statement; `?` stand for `values`. Tables have the names of run.tables."""
        return Table(self._database, statement, values)

    # -- show

    def picture(self, job: int | None = None) -> str | None:
        """The incident as SVG: what each rank was doing when the job went wrong. None where nothing could be drawn."""
        finding = self.verdict.finding
        number = job if job is not None else (finding.job if finding and finding.job is not None else 0)
        path = self.path / "report_data" / f"incident_{number}.svg"
        return path.read_text(encoding="utf-8") if path.exists() else None

    def _repr_html_(self) -> str:
        return card(self)

    def __repr__(self) -> str:
        return f"<debrief.Run {str(self.path)!r}: {self.verdict}>"

    def close(self) -> None:
        if "_database" in self.__dict__:
            self._database.closer()
        if self._temporary is not None:
            self._temporary.cleanup()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _parquet_database(folder: Path) -> Database:
    """A view of each name; files of one name, such as those of several shards, are one table."""
    database = Database(None, os.fspath(folder))
    for name, paths in parquet_files(folder).items():
        files = ", ".join("'" + os.fspath(path).replace("'", "''") + "'" for path in paths)
        database.execute(f"CREATE VIEW {_quoted(name)} AS FROM read_parquet([{files}], union_by_name = true)")
    return database


def parquet_files(folder: Path) -> dict[str, list[Path]]:
    """The Parquet files below a folder, by the name of their table."""
    tables: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*.parquet")):
        if path.stem != _META:
            tables.setdefault(path.stem, []).append(path.resolve())
    return tables


def _nearest(name: str, names: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, names, 1)
    return f" Did you mean {close[0]}?" if close else ""
