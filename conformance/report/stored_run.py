"""A run as far as its history tells it: what is judged again is known by nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from conformance import suite
from conformance.editions import told_by
from conformance.norm.verdict import Verdict
from conformance.report.conformance_report import ReportError
from conformance.report.run_result import RunResult
from conformance.scenarios import ALL_SCENARIOS
from vocabulary.clock import SECOND
from vocabulary.history import Entry, Header, HistoryError, StoredHistory, read_history
from vocabulary.regular_files import path_below

Judge: TypeAlias = Callable[[Header, Sequence[Entry]], Sequence[Verdict]]


def recorded_run(header: Header, entries: Sequence[Entry]) -> RunResult:
    """The run of a history, without verdicts; what a history does not keep of one is empty."""
    known = ALL_SCENARIOS.get(header.scenario)
    return RunResult(
        scenario=header.scenario,
        title=header.scenario if known is None else known.title,
        seed=header.seed,
        plan={},
        header=header,
        entries=tuple(entries),
        verdicts=(),
        wall_seconds=0,
        virtual_seconds=entries[-1].t / SECOND if entries else 0,
    )


def read_run(path: Path) -> StoredHistory:
    """Read a history whose operators all have an installed suite; HistoryError for another one.

    An operator without a suite would be judged by no claim, and the history could still pass.
    """
    found = read_history(path)
    suites = suite.load()
    for role, operator in found.header.operators.items():
        if missing := sorted({role, operator.suite}.difference(suites)):
            raise HistoryError(
                f"{path}: line 1: operators.{role}: no suite {missing[0]!r} is installed; install "
                f"its distribution beside {', '.join(suites)}, or name its directory: "
                "assay --suite-path DIRECTORY …"
            )
    for name, edition in told_by(found.header).items():
        if name in suites and edition not in suites[name].editions:
            raise HistoryError(
                f"{path}: line 1: editions.{name}: the suite has no edition {edition!r}; there "
                f"are {', '.join(suites[name].editions) or 'none'}: check it with the version of "
                "Assay that wrote it"
            )
    return found


def stored_run(folder: Path, name: str, judge: Judge) -> RunResult:
    """The run of a history that a report in `folder` names, judged again.

    ReportError if it lies outside of that folder; HistoryError if it cannot be read.
    """
    return _judged(_below(folder, name), judge)[0]


def intact_run(folder: Path, name: str, digest: str, judge: Judge) -> RunResult:
    """The same of a history that must be the one whose digest a report has; else HistoryError."""
    run, found = _judged(_below(folder, name), judge)
    if found != digest:
        raise HistoryError(
            f"{folder / name}: is not the history that the report is about (its digest differs); "
            f"assay verify {folder} names all that does not fit"
        )
    return msgspec.structs.replace(run, history_sha256=digest)


def _below(folder: Path, name: str) -> Path:
    try:
        return path_below(folder, name)
    except OSError as error:
        raise ReportError(f"{folder / name}: {error.strerror}") from error


def _judged(path: Path, judge: Judge) -> tuple[RunResult, str]:
    """The run of a history file with its verdicts, and the digest of the file."""
    header, entries, _, digest = read_run(path)
    run = recorded_run(header, entries)
    verdicts = tuple(judge(header, entries))
    return msgspec.structs.replace(run, verdicts=verdicts, stored=str(path)), digest
