"""What a notebook shows of a run: a card with the verdict and the picture of the incident.

Texts come from inputs and are escaped. The picture is an image of its own (a data address), not part of the page: nothing
in it can run.
"""
from __future__ import annotations

import base64
import html
from typing import TYPE_CHECKING

from ._findings import Finding

if TYPE_CHECKING:
    from ._run import Run

_COLOURS = {"error": "#c62828", "warning": "#b26a00", "info": "#2e7d32"}
_MOST = 5


def card(run: Run) -> str:
    verdict = run.verdict
    colour = _COLOURS.get("info" if verdict.is_healthy else verdict.severity, "#555")
    parts = [f'<div style="font-size:1.15em;font-weight:600">{html.escape(str(verdict))}</div>']
    if verdict.finding and not verdict.is_healthy:
        parts += _facts(verdict.finding)
        parts += _picture(run)
    parts += _others(run)
    return f'<div class="debrief-verdict" style="border-left:4px solid {colour};padding:0.4em 0 0.4em 1em">{"".join(parts)}</div>'


def _facts(finding: Finding) -> list[str]:
    facts = []
    if finding.ranks:
        facts.append(f"<b>Blamed:</b> {_ranks(finding.ranks)}")
    if finding.confidence is not None:
        facts.append(f"<b>Confidence:</b> {finding.confidence:.0%}{': ' + html.escape(finding.why) if finding.why else ''}")
    if finding.next_step:
        facts.append(f"<b>Next step:</b> {html.escape(finding.next_step)}")
    evidence = "".join(f"<li>{html.escape(piece.text)}</li>" for piece in finding.evidence[:_MOST])
    lines = [f"<div>{fact}</div>" for fact in facts]
    return lines + ([f"<details><summary>Evidence</summary><ul>{evidence}</ul></details>"] if evidence else [])


def _ranks(ranks: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, ranks[:16])) + (f" and {len(ranks) - 16} more" if len(ranks) > 16 else "")
    return f"rank{'s' if len(ranks) > 1 else ''} {shown}"


def _picture(run: Run) -> list[str]:
    picture = run.picture()
    if picture is None:
        return []
    data = base64.b64encode(picture.encode()).decode()
    return [f'<img alt="What each rank was doing" style="max-width:100%" src="data:image/svg+xml;base64,{data}">']


def _others(run: Run) -> list[str]:
    first = run.verdict.finding
    others = [finding for finding in run.findings if finding is not first]
    if not others:
        return []
    items = "".join(f"<li>{html.escape(finding.id)} {html.escape(str(finding))}</li>" for finding in others[:_MOST * 4])
    more = f"<li>... and {len(others) - _MOST * 4} more</li>" if len(others) > _MOST * 4 else ""
    word = "finding" if len(others) == 1 else "findings"
    return [f"<details><summary>{len(others)} more {word}</summary><ul>{items}{more}</ul></details>"]
