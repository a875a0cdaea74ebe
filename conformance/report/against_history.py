"""Compare a report with a stored history: re-evaluated, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from conformance.editions import told_by
from conformance.norm.verdict import Outcome, Verdict, worst
from conformance.report.allowances import allowances_of, common
from conformance.report.build import (
    history_path_of,
    shrunk_row,
    test_row,
)
from conformance.report.coherence import asked_for, left_out_of, row_of
from conformance.report.conformance_report import (
    ClaimReport,
    ClaimTest,
    ConformanceReport,
    Environment,
    ShrunkTest,
)
from conformance.report.run_result import (
    BROKE_OFF,
    GIVEN_UP,
    Implementation,
    RunResult,
    is_telling,
)
from conformance.report.stored_run import Judge, read_run, recorded_run
from conformance.report.struct_diff import Finding, differences
from vocabulary.clock import SECOND
from vocabulary.history import Entry, Header, HistoryError, Mark
from vocabulary.implementations import REFERENCE, by_role, in_one_text, named_roles
from vocabulary.regular_files import path_below

MakerOf: TypeAlias = Callable[[Header, str], Implementation | None]
"""The implementation of a history, by (header, version of the suite that ran); None
if it is unknown here."""

PROFILE_SUFFIXES: Final = (".yaml", ".yml")
"""Of a file that `--implementation` may name; what is in it has a name of its own."""
_SAYS: Final = "its history gives"


class Told(msgspec.Struct, frozen=True):
    """A report's data on one history: a row of a claim, or its shrunk run."""

    claim: ClaimReport
    row: ClaimTest | ShrunkTest


class Terms(msgspec.Struct, frozen=True):
    """The common terms by which every history of a report is evaluated."""

    report: ConformanceReport
    is_same_norm: bool
    """True if the claims of today are word for word those of the report."""
    judge: Judge
    maker_of: MakerOf
    of_its_suites: frozenset[str]
    """The claims of the suites that the report is about; runs may have operators of others."""


class AgainstHistory(msgspec.Struct, frozen=True):
    """One history, judged again."""

    findings: tuple[Finding, ...]
    verdicts: tuple[Verdict, ...] = ()
    """Empty for a history that was not judged, and for one that was shrunk to one claim."""
    is_judged: bool = True
    """False: it cannot be read, or is not the one that the report is about."""


def against_history(folder: Path, name: str, told: Sequence[Told], terms: Terms) -> AgainstHistory:
    """True if what the report of a folder tells of its history `name` is so.

    The report has no row of one that armed no claim; its run broke off.
    """
    try:
        path = path_below(folder, name)
    except OSError as error:
        return _not_judged(name, str(error.strerror))
    try:
        header, entries, whole, digest = read_run(path)
    except HistoryError as error:
        cause = error.__cause__
        if isinstance(cause, OSError):
            return _not_judged(name, f"cannot be read: {cause.strerror}")
        return _not_judged(name, str(error).removeprefix(f"{path}: "))
    if told and all(digest != each.row.history_sha256 for each in told):
        # Row by row, all that follows from this would be a hundred lines long.
        return _not_judged(name, _of_another(digest, entries, told, whole=whole))
    run = msgspec.structs.replace(
        recorded_run(header, entries),
        verdicts=tuple(terms.judge(header, entries)),
        history_sha256=digest,
    )
    findings = [] if whole else [Finding(name, "was cut short: its last line is missing")]
    findings += _other_circumstances(header, terms)
    failed = {verdict.claim for verdict in run.verdicts if verdict.error}
    for each in told:
        if each.claim.id not in failed:
            findings += _wrong_row(each, run)
    if any(isinstance(each.row, ShrunkTest) for each in told):
        # Made smaller for one claim; what else it may violate was not looked for.
        return AgainstHistory(tuple(findings))
    findings += _untold(run, terms)
    findings += _wrong_ending(run, name, told, terms.report)
    return AgainstHistory(tuple(findings), run.verdicts)


def _not_judged(name: str, what: str) -> AgainstHistory:
    return AgainstHistory((Finding(name, what),), is_judged=False)


def _of_another(digest: str, entries: Sequence[Entry], told: Sequence[Told], *, whole: bool) -> str:
    """The finding for a history with a digest that no row of the report has."""
    ends = entries[-1].t / SECOND if entries else 0
    told_ends = (each.row.virtual_seconds for each in told if isinstance(each.row, ClaimTest))
    should_end = next(told_ends, ends)
    what = (
        "is not the history that the report is about: its digest is "
        f"{digest[:12]}…, the report has {told[0].row.history_sha256[:12]}…"
        if whole
        else "is cut off: its last line is missing"
    )
    lengths = f"; it ends after {ends:g} s, and should after {should_end:g} s"
    return f"{what}{lengths if ends != should_end else ''}; it was not judged"


def _wrong_row(told: Told, run: RunResult) -> Iterator[Finding]:
    row = told.row
    where = (
        f"claims[{told.claim.id}].shrunk"
        if isinstance(row, ShrunkTest)
        else row_of(told.claim.id, row)
    )
    verdict = next((each for each in run.verdicts if each.claim == told.claim.id), None)
    if verdict is None:
        yield Finding(where, "no checker of today judges this claim")
    elif isinstance(row, ShrunkTest):
        made = shrunk_row(
            told.claim.id, msgspec.structs.replace(run, shrunk=row.shrunk), row.history
        )
        yield from differences(row, made, where, _SAYS)
        if verdict.outcome is not Outcome.FAILED:
            yield Finding(where, f"is of a violation, {_SAYS} {verdict.outcome}")
    else:
        yield from differences(row, _made_row(row, run, verdict), where, _SAYS)


def _made_row(told: ClaimTest, run: RunResult, verdict: Verdict) -> ClaimTest:
    """The row as this history gives it; data that only the run knew is kept."""
    run = msgspec.structs.replace(run, variant=told.variant)
    made = test_row([(run, verdict)], lambda run: run.history_sha256)
    return msgspec.structs.replace(
        made,
        runs=told.runs,
        # Of a campaign's row this is the worst run of several, which armed the claim as well.
        armed=made.armed if told.runs == 1 else max(told.armed, made.armed),
        wall_seconds=told.wall_seconds,
    )


def _untold(run: RunResult, terms: Terms) -> Iterator[Finding]:
    """Verdicts that the report does not have a row for, or has a better one for."""
    of_claim = {claim.id: claim for claim in terms.report.claims}
    is_whole = terms.is_same_norm and not left_out_of(terms.report)
    for verdict in filter(is_telling, run.verdicts):
        if verdict.error:
            continue  # nothing was judged, so no row can be missed
        rows = of_claim[verdict.claim].tests if verdict.claim in of_claim else ()
        found = [row for row in rows if (row.scenario, row.seed) == (run.scenario, run.seed)] or [
            row for row in rows if row.scenario == run.scenario and _is_of_several(row, verdict)
        ]
        where = f"claims[{verdict.claim}].tests"
        what = f"{run.scenario}, seed {run.seed}, whose history gives {verdict.outcome}"
        # What was not asked for is in a report only where it was violated.
        is_of_all = is_whole and verdict.claim in terms.of_its_suites
        is_asked_for = is_of_all or any(row.outcome is not Outcome.FAILED for row in rows)
        if not found:
            if verdict.outcome is Outcome.FAILED or is_asked_for:
                yield Finding(where, f"lack a row of {what}")
        elif worst((found[0].outcome, verdict.outcome)) is not found[0].outcome:
            yield Finding(where, f"say {found[0].outcome} of {what}")


def _is_of_several(row: ClaimTest, verdict: Verdict) -> bool:
    """True if the row may also be about a run with another seed, which had that verdict."""
    return row.runs > 1 and row.outcome is verdict.outcome is Outcome.PASSED


def _wrong_ending(
    run: RunResult, history: str, told: Sequence[Told], report: ConformanceReport
) -> Iterator[Finding]:
    """A run that broke off and is not listed as such, or is listed and did not."""
    names = {each.row.name for each in told if isinstance(each.row, ClaimTest)}
    if not told:
        names = {e.name for e in report.errors if history_path_of(e.name, e.seed) == history}
    ends = ("step", "not-stable")
    texts = [e.text for e in run.entries if isinstance(e, Mark) and e.mark in ends]
    broken = [text for text in texts if text.startswith((*BROKE_OFF, GIVEN_UP))]
    errors = [e for e in report.errors if e.name in names and e.seed == run.seed]
    for error in errors:
        if not any(text and error.error.startswith(text) for text in texts):
            yield Finding(f"errors[{error.name}]", f"{_SAYS} no such end of the run")
    # A campaign makes allowance for what its faults kept from happening.
    if broken and not errors and any(" [" not in name for name in names):
        yield Finding("errors", f"lack {run.scenario}, whose history says: {broken[0]}")


def _other_circumstances(header: Header, terms: Terms) -> Iterator[Finding]:
    """Where a history was made of something else, or elsewhere, than the report says."""
    report, says = terms.report, "its histories say"
    granted = allowances_of([header])
    told = report.environment.allowances_by_role
    # One history is of some of the operators only.
    is_by_role = bool(told) or (bool(granted) and common(granted) is None)
    made = Environment(
        cluster=header.cluster,
        kubernetes_version=header.kubernetes_version,
        clock=header.clock,
        operator=report.environment.operator,
        allowances=None if is_by_role else common(granted),
        allowances_by_role={**told, **granted} if is_by_role else {},
    )
    yield from differences(report.environment, made, "environment", says)
    told_editions = {name: report.suite.editions.get(name) for name in told_by(header)}
    yield from differences(told_editions, dict(told_by(header)), "suite.editions", says)
    asked = asked_for(report.reproduce.command, "--implementation", REFERENCE)
    maker = terms.maker_of(header, report.suite.version)
    if maker is not None and not named_roles(asked):
        project = report.implementation.project
        if maker.project.endswith(f" {project}"):
            # A report of runs of several operators names no product.
            maker = msgspec.structs.replace(maker, project=project)
        yield from differences(report.implementation, maker, "implementation", says)
    of_run = in_one_text(by_role(asked, header.operators))
    if not asked.endswith(PROFILE_SUFFIXES) and of_run != header.implementation:
        yield Finding("reproduce.command", f"runs {asked}, {says} {header.implementation}")
