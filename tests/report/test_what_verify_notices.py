"""Every field of a report is changed, one at a time: `assay verify` notices, or the page on reports
says that it cannot, and why."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import pytest

from conformance.cli.judging import all_claims, claims_of, judge, maker_of
from conformance.norm.verdict import Outcome, Verdict
from conformance.report.build import build_report
from conformance.report.conformance_report import (
    Allowances,
    CheckerError,
    ConformanceReport,
    JudgedAgain,
    RunError,
)
from conformance.report.folder import write_folder
from conformance.report.run_result import Implementation, RunResult, SuiteResult
from conformance.report.verify import verified
from conformance.running.run_options import RunOptions
from conformance.running.suite import run_suite
from tests.headers import of_implementation
from vocabulary.history import Entry, Header, history_digest

PAGE = Path(__file__).parents[2] / "docs" / "report.md"
SCENARIO: Final = "appwrapper/deletion/slow-pods-hold-their-quota"
MUTANT: Final = "mutant:quota-released-on-failed"
WHEN: Final = ("any run", "a campaign", "a third-party operator on a real cluster")
"""The page's cases. Its rows on any run apply to the others too."""


class Kept(NamedTuple):
    """A report whose histories are stored."""

    report: ConformanceReport
    folder: Path
    maker_known: bool


class Change(NamedTuple):
    """A report with one field changed."""

    field: str
    """`claims[].tests[].armed`."""
    was: Any
    now: Any
    report: ConformanceReport


def suite(**options: Any) -> SuiteResult:
    asked = RunOptions(implementation=MUTANT, jobs=1, **options)
    return run_suite([SCENARIO], asked, lambda _progress: None)


def of_somebody_else(suite: SuiteResult) -> SuiteResult:
    """The same as if it had been recorded of an operator that Assay does not know."""

    def recorded(run: RunResult) -> RunResult:
        header = of_implementation(run.header, "acme", cluster="control-plane", clock="wall")
        return msgspec.structs.replace(
            run, header=header, verdicts=tuple(judge(header, run.entries)), history_sha256=""
        )

    return msgspec.structs.replace(
        suite,
        runs=tuple(map(recorded, suite.runs)),
        shrunk={},
        cluster="control-plane",
        clock="wall",
        operator="process",
        implementation=Implementation(
            organization="Acme", project="appwrapper", url="https://acme.example", version="1"
        ),
        command="assay run --cluster control-plane --implementation acme.yaml --seed 1729",
    )


@pytest.fixture(scope="module")
def all_kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Kept]:
    """A report of each kind, by the words that the page has for it."""
    command = f"assay run {SCENARIO} --implementation {MUTANT} --seed 1729"
    ran = (
        suite(rerun=True, command=f"{command} --rerun"),
        suite(crash_points=True, command=f"{command} --crash-points"),
        of_somebody_else(suite(shrink=False)),
    )
    return {
        when: stored(each, tmp_path_factory.mktemp("kept"))
        for when, each in zip(WHEN, ran, strict=True)
    }


def stored(ran: SuiteResult, folder: Path) -> Kept:
    is_ours = ran.cluster == "simulated"
    version = ran.implementation.version if is_ours else "0.1.0"
    report = build_report(
        ran, claims_of(ran.runs), version=version, git_commit="c0ffee", date="2026"
    )
    again = JudgedAgain(version="1", git_commit="f00d", date="2026-01-02")
    report = msgspec.structs.replace(
        report,
        suite=msgspec.structs.replace(report.suite, judged_again=again),
        errors=(RunError(name="appwrapper/success/ttl", seed=1729, error="not reached: Running"),),
        checker_errors=(
            CheckerError(claim="AW-015", name=SCENARIO, seed=1729, error="KeyError: 'spec'"),
        ),
        interrupted="interrupted after 5 of 9 runs",
    )
    write_folder(folder, ran, report, claims_of(ran.runs))
    return Kept(report, folder, is_ours)


@pytest.fixture(params=WHEN)
def when(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def kept(all_kept: dict[str, Kept], when: str) -> Kept:
    return all_kept[when]


def complaints(report: ConformanceReport, kept: Kept) -> Sequence[object]:
    """The problems reported for a report in the directory of that one."""
    try:
        msgspec.convert(msgspec.to_builtins(report), ConformanceReport)
    except msgspec.ValidationError as error:
        return [error]
    maker = maker_of if kept.maker_known else lambda _header, _version: None
    return verified(report, kept.folder, all_claims(), judged, maker).findings


_JUDGED: dict[str, Sequence[Verdict]] = {}


def judged(header: Header, entries: Sequence[Entry]) -> Sequence[Verdict]:
    """Cached by history: the same few are evaluated hundreds of times here."""
    key = history_digest(header, entries)
    if key not in _JUDGED:
        _JUDGED[key] = judge(header, entries)
    return _JUDGED[key]


def changes(value: Any, field: str = "") -> Iterator[tuple[str, Any, Any, Any]]:
    """Each (field, value there, value there instead, `value` with that); of equal items one."""
    if isinstance(value, msgspec.Struct):
        for each in msgspec.structs.fields(value):
            inner = f"{field}.{each.encode_name}".removeprefix(".")
            for name, was, now, changed in changes(getattr(value, each.name), inner):
                yield name, was, now, msgspec.structs.replace(value, **{each.name: changed})
        if field.endswith((".extended", ".judgedAgain", ".allowances", ".shrunk")):
            yield field, value, None, None
        return
    for now in others(field, value):
        yield field, value, now, now
    if isinstance(value, tuple):
        for index, item in different(value):
            for name, was, now, changed in changes(item, f"{field}[]"):
                yield name, was, now, (*value[:index], changed, *value[index + 1 :])


def different(items: tuple[Any, ...]) -> list[tuple[int, Any]]:
    """One item of each kind: by what it has, and how it ended."""
    kinds: dict[object, tuple[int, Any]] = {}
    for index, item in enumerate(items):
        if isinstance(item, msgspec.Struct):
            has = tuple(bool(getattr(item, name)) for name in item.__struct_fields__)
            kinds.setdefault((has, getattr(item, "outcome", "")), (index, item))
    return list(kinds.values())


def others(field: str, value: Any) -> Iterator[Any]:
    """Values that the field might have instead."""
    if field == "errors":
        yield (*value, RunError(name="appwrapper/another", seed=1729, error="not reached: x"))
    elif field == "checkerErrors":
        yield ()
    elif isinstance(value, Outcome):
        yield from (outcome for outcome in Outcome if outcome is not value)
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield value + 1
        if value >= 1:
            yield value - 1
    elif isinstance(value, str):
        yield f"{value}x"
        yield re.sub(r"\d+$", lambda found: str(int(found[0]) + 1), value) or "1"
        yield from OTHERS.get(field, ())
    elif isinstance(value, dict):
        yield {**value, "toy": Allowances(latency="900h")}
    elif isinstance(value, tuple):
        if value:
            yield value[:-1]
            yield (*value, value[-1])
        if not value or isinstance(value[0], str):
            yield (*value, "AW-000")


OTHERS: Final[dict[str, tuple[str, ...]]] = {
    "profiles[].core.result": ("success", "partial", "failure"),
    "profiles[].extended.result": ("success", "partial", "failure"),
    "environment.operator": ("simulated", "process", "deployed", "installed"),
    "environment.clock": ("virtual", "wall"),
    "reproduce.command": (
        f"assay run appwrapper/success --implementation {MUTANT} --rerun --crash-points "
        "--seed 1729",
        "assay run --cluster control-plane --implementation other.yaml --seed 1729",
    ),
}


def all_changes(report: ConformanceReport) -> list[Change]:
    return [
        Change(field, was, now, changed)
        for field, was, now, changed in changes(report)
        if was != now
    ]


def listed_for(when: str) -> set[str]:
    """The fields that the page lists for such a report."""
    _, _, section = PAGE.read_text("utf-8").partition("## What `verify` cannot notice")
    rows = re.findall(r"^\| (`.+?) \| (.+?) \|", section.partition("\n## ")[0], re.MULTILINE)
    assert {row_when for _, row_when in rows} == set(WHEN)
    return {
        field
        for fields, row_when in rows
        if row_when == when
        for field in re.findall(r"`([^`]+)`", fields)
    }


def is_listed(field: str, listed: set[str]) -> bool:
    """True if the page names the field, or a field that contains it."""
    return any(field == name or re.match(rf"{re.escape(name)}(\[\])?\.", field) for name in listed)


def fields_of(type_: msgspec.inspect.Type, field: str = "") -> Iterator[str]:
    """Every field that the schema has, as `Change.field` spells it."""
    if isinstance(type_, msgspec.inspect.StructType):
        for each in type_.fields:
            yield from fields_of(each.type, f"{field}.{each.encode_name}".removeprefix("."))
    elif isinstance(type_, msgspec.inspect.UnionType):
        for each_type in type_.types:
            if not isinstance(each_type, msgspec.inspect.NoneType):
                yield from fields_of(each_type, field)
    elif isinstance(type_, msgspec.inspect.VarTupleType):
        yield field
        if isinstance(type_.item_type, msgspec.inspect.StructType):
            yield from fields_of(type_.item_type, f"{field}[]")
    else:
        yield field


def test_the_report_as_it_was_written_holds(kept: Kept) -> None:
    assert complaints(kept.report, kept) == ()


@pytest.mark.slow
def test_every_change_is_noticed_but_those_that_the_page_names(kept: Kept, when: str) -> None:
    unnoticed = {
        change.field: (change.was, change.now)
        for change in all_changes(kept.report)
        if not complaints(change.report, kept)
    }
    listed = listed_for(WHEN[0]) | listed_for(when)
    found = {field: what for field, what in unnoticed.items() if not is_listed(field, listed)}
    assert found == {}
    names = listed_for(when)
    noticed = {name for name in names if not any(is_listed(f, {name}) for f in unnoticed)}
    assert noticed == set(), "the page says that these cannot be noticed"


def test_every_field_that_a_report_may_have_is_changed(all_kept: dict[str, Kept]) -> None:
    changed = {change.field for kept in all_kept.values() for change in all_changes(kept.report)}
    assert set(fields_of(msgspec.inspect.type_info(ConformanceReport))) - changed == set()
