"""A report as its file has it: runs in a table, and rows of claims that passed refer to it.

A claim passes in hundreds of scenarios, and a hundred claims pass in the same run. Written out, a
row for each of them has the name, the digest and the faults of that run: 20,000 rows of 540 bytes.
So the file has each such run once, and 50 bytes for each row. What did not pass stays written out,
for people to read. Reports of older versions have all of their rows in `tests`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from conformance.norm.verdict import Outcome
from conformance.report.conformance_report import (
    ClaimReport,
    ClaimTest,
    ConformanceReport,
    Count,
    Part,
    RelativePath,
    Seconds,
    Sha256,
)
from vocabulary.typed_yaml import field_error

_OF_RUN: Final = ("name", "seed", "faults", "virtualSeconds", "historySha256", "history")
"""The fields of a row that are those of its run."""
_OF_ROW: Final = ("armed", "runs", "wallSeconds")
_SAME_IN_ALL: Final = {"outcome": str(Outcome.PASSED), "because": "", "firstViolation": None}
"""The other fields of a row that refers to its run."""


class ReportedRun(Part, frozen=True, kw_only=True):
    """A run in which claims passed; see the fields of `ClaimTest`."""

    name: str
    seed: int
    faults: tuple[str, ...]
    virtual_seconds: Seconds
    history_sha256: Sha256
    history: RelativePath


class PassedRow(Part, frozen=True, kw_only=True):
    """A row of a claim that passed, as a reference to its run; see the fields of `ClaimTest`."""

    run: Count
    """The position of the run in the report's `runs`, from 0."""
    armed: Count
    runs: Count
    wall_seconds: Seconds


class StoredClaim(ClaimReport, frozen=True, kw_only=True, omit_defaults=True):
    """One claim over all histories; `tests` has the rows in which it did not pass."""

    passed: tuple[PassedRow, ...] = ()


class StoredReport(ConformanceReport, frozen=True, kw_only=True, omit_defaults=True):
    """The whole report."""

    claims: tuple[StoredClaim, ...]
    runs: tuple[ReportedRun, ...] = ()
    """Those that rows of passed claims refer to, by name and seed."""


class Flow(dict[str, Any]):
    """A map that is written in one line."""


_Data: TypeAlias = dict[str, Any]


def to_stored(report: ConformanceReport) -> _Data:
    """The report as plain data, as its file has it."""
    data: _Data = msgspec.to_builtins(report, str_keys=True)
    passed = [[row for row in claim["tests"] if _is_plain_pass(row)] for claim in data["claims"]]
    runs = {_key(row): row for rows in passed for row in rows}
    number = {key: n for n, key in enumerate(sorted(runs))}
    claims = [
        _claim(claim, rows, number) for claim, rows in zip(data["claims"], passed, strict=True)
    ]
    table = [{field: runs[key][field] for field in _OF_RUN} for key in number]
    stored: _Data = {}
    for name, value in data.items():
        if name == "claims":
            stored |= {"runs": table} if table else {}
            stored["claims"] = claims
        else:
            stored[name] = value
    return stored


def _is_plain_pass(row: _Data) -> bool:
    return all(row[field] == value for field, value in _SAME_IN_ALL.items())


def _key(row: _Data) -> tuple[Any, ...]:
    return tuple(row[field] for field in _OF_RUN)


def _claim(claim: _Data, passed: Iterable[_Data], number: dict[tuple[Any, ...], int]) -> _Data:
    found: _Data = {}
    for name, value in claim.items():
        if name == "tests":
            found["tests"] = [row for row in value if not _is_plain_pass(row)]
            found["passed"] = [
                Flow({"run": number[_key(row)], **{field: row[field] for field in _OF_ROW}})
                for row in passed
            ]
        else:
            found[name] = value
    if not found["passed"]:
        del found["passed"]
    return found


def from_stored(stored: StoredReport, path: Path) -> ConformanceReport:
    """The report of a file with all of its rows; YamlError for a row or a run that is not one."""
    used = {row.run for claim in stored.claims for row in claim.passed}
    for n, claim in enumerate(stored.claims):
        for k, row in enumerate(claim.passed):
            if row.run >= len(stored.runs):
                raise field_error(
                    path,
                    f"claims[{n}].passed[{k}].run",
                    f"is {row.run}, and there are {len(stored.runs)} runs",
                )
    for n in range(len(stored.runs)):
        if n not in used:
            raise field_error(path, f"runs[{n}]", "no row of a claim refers to it")
    values = {field: getattr(stored, field) for field in ConformanceReport.__struct_fields__}
    values["claims"] = tuple(_with_all_rows(claim, stored.runs) for claim in stored.claims)
    return ConformanceReport(**values)


def _with_all_rows(claim: StoredClaim, runs: tuple[ReportedRun, ...]) -> ClaimReport:
    values = {field: getattr(claim, field) for field in ClaimReport.__struct_fields__}
    rows = [*claim.tests, *(_row(row, runs[row.run]) for row in claim.passed)]
    values["tests"] = tuple(sorted(rows, key=place_of)) if claim.passed else claim.tests
    return ClaimReport(**values)


def _row(row: PassedRow, run: ReportedRun) -> ClaimTest:
    return ClaimTest(
        name=run.name,
        seed=run.seed,
        outcome=Outcome.PASSED,
        armed=row.armed,
        because="",
        faults=run.faults,
        runs=row.runs,
        virtual_seconds=run.virtual_seconds,
        wall_seconds=row.wall_seconds,
        history_sha256=run.history_sha256,
        history=run.history,
        first_violation=None,
    )


def place_of(row: ClaimTest) -> tuple[str, int, str]:
    """The order of a claim's rows."""
    return row.scenario, row.seed, row.name
