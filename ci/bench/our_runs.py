"""The runs of a report of `assay run`: how long each took, its faults, and the claims judged."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from conformance import claims
from conformance.history import History
from conformance.norm.verdict import Outcome, Verdict
from conformance.report.conformance_report import ClaimTest
from conformance.report.stored_run import stored_run
from conformance.report.yaml_text import read_report
from vocabulary.history import Entry, Header

_JUDGED = (Outcome.PASSED, Outcome.FAILED)


class Run(NamedTuple):
    scenario: str
    seconds: float
    faults: int
    judged: int
    """Claims that passed or failed on its history."""
    violated: tuple[str, ...]
    has_ended: bool


def runs_of(folder: Path) -> list[Run]:
    """The runs of the report in a directory that armed a claim, by scenario.

    A report of selected scenarios has rows of the claims that these arm alone, so the histories
    are judged by all claims.
    """
    report = read_report(folder / "report.yaml")
    rows = {test.name: test for claim in report.claims for test in claim.tests}
    broken_off = {error.name for error in report.errors}
    return [_run(folder, rows[name], name not in broken_off) for name in sorted(rows)]


def _run(folder: Path, row: ClaimTest, has_ended: bool) -> Run:
    verdicts = stored_run(folder, row.history, _judge).verdicts
    return Run(
        scenario=row.scenario,
        seconds=row.wall_seconds,
        faults=len(row.faults),
        judged=sum(verdict.outcome in _JUDGED for verdict in verdicts),
        violated=tuple(v.claim for v in verdicts if v.outcome is Outcome.FAILED),
        has_ended=has_ended,
    )


def _judge(header: Header, entries: tuple[Entry, ...]) -> list[Verdict]:
    return claims.judge(History(header, entries))
