"""Verify a stored report against its own histories: digests recomputed, verdicts re-evaluated.

This makes a report worth submitting: recipients of the directory can see, without a cluster, that
the histories are those that were evaluated, that today's checkers confirm the report's verdicts,
and that everything else in the report follows from that.

- `coherence`: the report against itself, and against the claims.
- `against_history`: its rows against one history.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from conformance import suite
from conformance.editions import holds
from conformance.norm.claim import Claim
from conformance.report.against_history import MakerOf, Terms, Told, against_history
from conformance.report.build import NEVER_ARMED, history_path_of
from conformance.report.coherence import incoherences, is_same_norm, of_suites_in, row_of
from conformance.report.conformance_report import ConformanceReport, ReportError, ShrunkTest
from conformance.report.folder import HISTORIES_NAME, RUNS_NAME, runs_line
from conformance.report.recorded import SIMULATED
from conformance.report.stored_run import Judge
from conformance.report.struct_diff import Finding
from conformance.report.yaml_text import read_report_at, report_path
from conformance.scenarios import ALL_SCENARIOS
from conformance.suite import judged_on
from vocabulary.history import MAX_HISTORY_BYTES
from vocabulary.regular_files import path_below
from vocabulary.unpacking import Lines, UnpackError


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """The checks, and the mismatches."""

    report: ConformanceReport
    histories: int
    verdicts: int
    """Rows that rest on a stored history."""
    histories_judged: int
    """Fewer than `histories` where one cannot be read, or is not the one that was judged."""
    verdicts_judged: int
    without_history: int
    """Rows whose history was not stored; their digests cannot be checked."""
    same_norm: bool
    """True if the claims of today are word for word those of the report."""
    findings: tuple[Finding, ...]


def verify_report(
    folder: Path,
    claims: Mapping[str, Claim],
    judge: Judge,
    maker_of: MakerOf = lambda _header, _version: None,
) -> Verification:
    """Check the report in a folder (or that file itself); YamlError if it cannot be read,
    ReportError if a suite is missing that it is about."""
    report = read_report_at(folder)
    require_suites(folder, report, claims)
    return verified(report, report_path(folder).parent, claims, judge, maker_of)


def require_suites(folder: Path, report: ConformanceReport, claims: Collection[str]) -> None:
    """Raise ReportError if a suite is not installed whose claims are in a report: none of these
    `claims` is one of them."""
    unknown = {claim.profile for claim in report.claims if claim.id not in claims}
    if missing := sorted(unknown.difference(suite.names())):
        raise ReportError(
            f"{folder}: is about {', '.join(missing)}, of which no suite is installed; install its "
            f"distribution beside {', '.join(suite.names())}, or name its directory: "
            "assay --suite-path DIRECTORY …"
        )


def _of_its_suites(report: ConformanceReport, claims: Mapping[str, Claim]) -> dict[str, Claim]:
    """The claims of the suites that a report is about, in the editions of that."""
    suites = {profile.name for profile in report.profiles}
    suites |= {claim.profile for claim in report.claims}
    # The digest of a selection is of the claims that were not asked for, too.
    ran = {test.scenario for claim in report.claims for test in claim.tests}
    for scenario in ran:
        roles = ALL_SCENARIOS[scenario].roles if scenario in ALL_SCENARIOS else ()
        suites |= {each.name for each in judged_on(scenario, roles)}
    return {
        id_: claim
        for id_, claim in claims.items()
        if claim.suite in suites and holds(claim, report.suite.editions)
    }


def verified(
    report: ConformanceReport,
    folder: Path,
    claims: Mapping[str, Claim],
    judge: Judge,
    maker_of: MakerOf,
) -> Verification:
    """Check a report whose histories are in a folder."""
    rows = _rows(report, folder)
    claims = _of_its_suites(report, claims)
    of_its_suites = of_suites_in(report, claims)
    terms = Terms(report, is_same_norm(report, claims), judge, maker_of, of_its_suites)
    findings = [*incoherences(report, claims), *_unnamed(folder, rows), *_unlisted(report, folder)]
    reasons: dict[str, set[tuple[str, str]]] = defaultdict(set)
    not_judged: list[str] = []
    failed: set[str] = set()
    for name, told in sorted(rows.items()):
        found = against_history(folder, name, told, terms)
        findings += found.findings
        if not found.is_judged:
            not_judged.append(name)
        for verdict in found.verdicts:
            reasons[verdict.claim].add((verdict.outcome, verdict.because.strip()))
            if verdict.error:
                failed.add(verdict.claim)
    runs = {name for name, told in rows.items() if not any(_is_shrunk(each) for each in told)}
    is_whole = len(runs) >= report.coverage.plans
    findings += _unfounded(report, reasons, frozenset(not_judged), failed, is_whole=is_whole)
    verdicts = sum(map(len, rows.values()))
    return Verification(
        report=report,
        histories=len(rows),
        verdicts=verdicts,
        histories_judged=len(rows) - len(not_judged),
        verdicts_judged=verdicts - sum(len(rows[name]) for name in not_judged),
        without_history=sum(not test.history for c in report.claims for test in c.tests),
        same_norm=terms.is_same_norm,
        findings=tuple(dict.fromkeys(findings)),
    )


def _is_shrunk(told: Told) -> bool:
    return isinstance(told.row, ShrunkTest)


def _rows(report: ConformanceReport, folder: Path) -> dict[str, list[Told]]:
    """By the name of the history, all that the report tells of it: of a run that broke off
    and armed no claim, nothing."""
    rows: dict[str, list[Told]] = defaultdict(list)
    for claim in report.claims:
        shrunk = () if claim.shrunk is None else (claim.shrunk,)
        for row in (*claim.tests, *shrunk):
            if row.history:
                rows[row.history].append(Told(claim, row))
    for error in report.errors:
        name = history_path_of(error.name, error.seed)
        if (folder / name).is_file():
            rows[name] += ()
    return rows


def _unnamed(folder: Path, rows: Iterable[str]) -> Iterator[Finding]:
    """Histories that were stored, and of which the report says nothing."""
    stored = {
        path.relative_to(folder).as_posix() for path in (folder / HISTORIES_NAME).glob("*.jsonl.gz")
    }
    for name in sorted(stored - set(rows)):
        yield Finding(name, "is stored, but no row of the report refers to it")


def _unlisted(report: ConformanceReport, folder: Path) -> Iterator[Finding]:
    """Where the list of a campaign's runs contradicts the report."""
    if not (folder / RUNS_NAME).exists():
        return
    missing: dict[bytes, list[str]] = defaultdict(list)
    for claim in report.claims:
        for test in claim.tests:
            line = runs_line(test.name, test.seed, test.history_sha256)
            missing[line].append(row_of(claim.id, test))
    count = 0
    try:
        lines = Lines(
            path_below(folder, RUNS_NAME), max_bytes=MAX_HISTORY_BYTES, max_line_bytes=4096
        )
        for line in lines:
            count += 1
            missing.pop(line, None)
    except (OSError, UnpackError) as error:
        yield Finding(RUNS_NAME, f"cannot be read: {error}")
        return
    if count != report.coverage.plans:
        yield Finding(RUNS_NAME, f"lists {count} runs; coverage.plans is {report.coverage.plans}")
    for rows in missing.values():
        for row in rows:
            yield Finding(row, f"{RUNS_NAME} lists no such run and digest")


def _unfounded(
    report: ConformanceReport,
    reasons: Mapping[str, set[tuple[str, str]]],
    not_judged: frozenset[str],
    failed: Collection[str],
    *,
    is_whole: bool,
) -> Iterator[Finding]:
    """Claims whose reason is that of no verdict on a history, unless their checker failed.

    `is_whole` is True if each run has left a history.
    """
    is_simulated = report.environment.cluster == SIMULATED
    for claim in report.claims:
        if claim.id in failed:
            continue
        given = {because for outcome, because in reasons[claim.id] if outcome == claim.outcome}
        if claim.tests:
            # Of a campaign, a run whose history was not kept may have given it.
            is_known = all(test.history and test.runs == 1 for test in claim.tests) and (
                not_judged.isdisjoint(test.history for test in claim.tests)
            )
        else:
            # Why nothing can arm it on a real cluster is no matter of histories.
            is_known = is_simulated and is_whole and not not_judged
            given.add(NEVER_ARMED)
        if is_known and claim.reason not in given:
            yield Finding(f"claims[{claim.id}].reason", f"is that of no history: {claim.reason}")
