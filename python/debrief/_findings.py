"""Findings, verdict and jobs, as findings.json has them (docs/formats/findings_json.md)."""
from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

_WORST = {"error": 0, "warning": 1, "info": 2}


@dataclasses.dataclass(frozen=True)
class Source:
    """A line of the program, and on which rank."""
    rank: int | None
    file: str
    line: int | None


@dataclasses.dataclass(frozen=True)
class Group:
    """A process group."""
    name: str
    desc: str
    ranks: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Evidence:
    """A sentence, and the rows of a table that it rests on (rowid of stored.<table>)."""
    text: str
    table: str
    rows: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Finding:
    id: str
    rule: str
    severity: str  # error, warning, info
    role: str  # cause, consequence, observation
    headline: str
    job: int | None = None
    attempt: int | None = None
    ranks: tuple[int, ...] = ()  # of a cause: those to blame and no others
    groups: tuple[Group, ...] = ()
    op: str = ""
    seq: int | None = None
    compile_ids: tuple[str, ...] = ()
    source: tuple[Source, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    explains: tuple[str, ...] = ()
    confidence: float | None = None  # 0 to 1
    why: str = ""
    next_step: str = ""

    def __str__(self) -> str:
        return f"{self.severity}: {self.headline}"


@dataclasses.dataclass(frozen=True)
class Job:
    job: int
    name: str
    world_size: int | None = None
    attempts: int = 0
    inputs: int = 0
    ranks: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What is said first: the most important finding, or that there is no problem."""
    finding: Finding | None

    @property
    def is_healthy(self) -> bool:
        """Whether nothing worse than information was found."""
        return self.finding is None or self.finding.severity == "info"

    @property
    def severity(self) -> str:
        return self.finding.severity if self.finding else "info"

    @property
    def headline(self) -> str:
        if self.finding is None or self.is_healthy:
            return "No problem found"
        return self.finding.headline

    @property
    def ranks(self) -> tuple[int, ...]:
        """Those to blame."""
        return () if self.finding is None or self.is_healthy else self.finding.ranks

    @property
    def confidence(self) -> float | None:
        return None if self.finding is None or self.is_healthy else self.finding.confidence

    @property
    def next_step(self) -> str:
        return "" if self.finding is None or self.is_healthy else self.finding.next_step

    def __str__(self) -> str:
        return self.headline if self.is_healthy else f"{self.severity}: {self.headline}"


def verdict_of(findings: Iterable[Finding]) -> Verdict:
    """Findings stand in order of importance; the first of the worst level that stands on its own."""
    listed = list(findings)
    explained = {one for finding in listed for one in finding.explains}
    own = [finding for finding in listed if not (finding.role == "consequence" and finding.id in explained)]
    own.sort(key=lambda finding: _WORST.get(finding.severity, 3))
    return Verdict(own[0] if own else None)


def finding_from_json(record: Mapping[str, Any]) -> Finding:
    """Fields that a newer debrief has are left out, those that an older one lacks have their defaults."""
    known = {field.name for field in dataclasses.fields(Finding)}
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in record.items() if name in known}
    values["op"] = record.get("op") or ""
    values["groups"] = tuple(Group(group["name"], group.get("desc") or "", tuple(group.get("ranks") or ()))
                             for group in record.get("groups") or ())
    values["source"] = tuple(Source(source.get("rank"), source["file"], source.get("line")) for source in record.get("source") or ())
    values["evidence"] = tuple(Evidence(piece["text"], piece.get("table") or "", tuple(piece.get("rows") or ()))
                               for piece in record.get("evidence") or ())
    return Finding(**values)


def job_from_json(record: Mapping[str, Any]) -> Job:
    return Job(record["job"], record["name"], record.get("world_size"), record.get("attempts") or 0, record.get("inputs") or 0,
               tuple(record.get("ranks") or ()))


def findings_from_rows(rows: Iterable[Mapping[str, Any]]) -> list[Finding]:
    """Of table `finding`, where there is no findings.json: without evidence, groups and sources."""
    listed = list(rows)
    explains: dict[str, list[str]] = {}
    for row in listed:
        if row["explained_by"]:
            explains.setdefault(row["explained_by"], []).append(row["finding"])
    return [Finding(id=row["finding"], rule=row["rule"], severity=row["severity"], role=row["role"], headline=row["headline"],
                    job=row["job"], attempt=row["attempt"], ranks=tuple(row["ranks"] or ()), op=row["op"] or "", seq=row["seq"],
                    explains=tuple(explains.get(row["finding"], ())), confidence=row["confidence"], why=row["why"] or "",
                    next_step=row["next_step"] or "") for row in listed]
