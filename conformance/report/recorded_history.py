"""The recorded history of a plan, from the report that the plan is beside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conformance.report.conformance_report import ClaimTest, ConformanceReport, ShrunkTest
from conformance.report.failures import FURTHER_NAME
from conformance.report.first_difference import first_difference
from conformance.report.run_result import RunResult
from conformance.report.yaml_text import REPORT_NAME, read_report
from vocabulary.history import HistoryError, StoredHistory, read_history
from vocabulary.regular_files import path_below
from vocabulary.safe_yaml import YamlError


def difference_from_recorded(plan: Path, digest: str, run: RunResult) -> str:
    """One line: the first entry in which the run's history differs from the recorded one."""
    told = _recorded_history(plan, digest)
    if told is None:
        return (
            "the first difference is not known, since the recorded history is not in a report "
            f"beside {plan}"
        )
    recorded = (told.header, told.entries)
    return f"recorded and replayed: {first_difference(recorded, (run.header, run.entries))}"


def _recorded_history(plan: Path, digest: str) -> StoredHistory | None:
    parent = plan.absolute().parent
    folder = parent.parent if parent.name == FURTHER_NAME else parent
    if not (folder / REPORT_NAME).is_file():
        return None
    try:
        report = read_report(folder / REPORT_NAME)
        path = next((row.history for row in _rows(report) if row.history_sha256 == digest), "")
        found = read_history(path_below(folder, path)) if path else None
    except (YamlError, HistoryError, OSError):
        return None
    return found if found is not None and found.digest == digest else None


def _rows(report: ConformanceReport) -> Iterator[ClaimTest | ShrunkTest]:
    for claim in report.claims:
        yield from claim.tests
        if claim.shrunk is not None:
            yield claim.shrunk
