"""A stored report against its own histories: digests computed again, verdicts judged again.

That is what makes a report worth handing in: whoever receives the folder can see, without a
cluster, that the histories are those which were judged, and that the checkers of today still
say what the report says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from conformance.claim import Claim
from conformance.report.allowances import allowances_of
from conformance.report.build import claims_digest, result_of, summary_of
from conformance.report.conformance_report import CORE_LEVELS, ConformanceReport, Statistics
from conformance.report.folder import HISTORIES_NAME
from conformance.report.stored_run import Judge
from conformance.report.yaml_text import read_report_at, report_path
from conformance.verdict import Outcome
from vocabulary.history import Header, HistoryError, history_digest, read_history

SHRUNK: Final = "shrunk"
"""In the place of a test's name: what was made of a claim's simplest failure."""


class Finding(msgspec.Struct, frozen=True):
    """Something in which the report and its histories, or the checkers of today, differ."""

    where: str
    what: str


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """What was checked, and what did not fit."""

    report: ConformanceReport
    histories: int
    verdicts: int
    without_history: int
    """Rows whose history was not stored; their digests cannot be checked."""
    same_norm: bool
    """Whether the claims of today are word for word those of the report."""
    findings: tuple[Finding, ...]


def verify_report(folder: Path, claims: Mapping[str, Claim], judge: Judge) -> Verification:
    """Check the report in a folder (or that file itself); YamlError if it cannot be read."""
    report = read_report_at(folder)
    path = report_path(folder)
    rows: dict[str, list[_Told]] = {}
    without = 0
    for claim in report.claims:
        for test in claim.tests:
            if test.history:
                told = _Told(claim.id, test.name, test.history_sha256, test.outcome)
                rows.setdefault(test.history, []).append(told)
            else:
                without += 1
        if claim.shrunk is not None:
            told = _Told(claim.id, SHRUNK, claim.shrunk.history_sha256, Outcome.FAILED)
            rows.setdefault(claim.shrunk.history, []).append(told)
    findings = [*_inconsistencies(report), *_wrong_sums(report), *_unnamed(path.parent, rows)]
    for name, tests in sorted(rows.items()):
        findings += _check_history(path.parent, name, tests, judge, report)
    return Verification(
        report=report,
        histories=len(rows),
        verdicts=sum(len(tests) for tests in rows.values()),
        without_history=without,
        same_norm=report.suite.claims_digest == claims_digest(claims),
        findings=tuple(findings),
    )


class _Told(NamedTuple):
    """What a report says of one claim in one stored history."""

    claim: str
    test: str
    digest: str
    outcome: Outcome


def _inconsistencies(report: ConformanceReport) -> Iterator[Finding]:
    """What the report says of itself that cannot be: a failure below, and a success above."""
    by_id = {claim.id: claim for claim in report.claims}
    for profile in report.profiles:
        for tier in profile.tiers:
            for id_ in tier.failed_tests:
                if id_ not in by_id or by_id[id_].outcome is not Outcome.FAILED:
                    yield Finding(profile.name, f"lists {id_} as failed, its claim does not")
    listed = {
        id_ for profile in report.profiles for tier in profile.tiers for id_ in tier.failed_tests
    }
    for claim in report.claims:
        if claim.outcome is Outcome.FAILED and claim.id not in listed:
            yield Finding(claim.id, "is failed, but its profile does not list it")
        elif claim.outcome is not Outcome.FAILED and any(
            test.outcome is Outcome.FAILED for test in claim.tests
        ):
            yield Finding(claim.id, f"is {claim.outcome}, but one of its tests is failed")


def _wrong_sums(report: ConformanceReport) -> Iterator[Finding]:
    """Statistics, results and summaries that do not follow from the claims."""
    tested = {claim.id for claim in report.claims}
    for profile in report.profiles:
        for name, tier in (("core", profile.core), ("extended", profile.extended)):
            where = f"{profile.name} {name}"
            is_core = name == "core"
            outcomes = Counter(
                claim.outcome
                for claim in report.claims
                if claim.profile == profile.name and (claim.level in CORE_LEVELS) is is_core
            )
            if tier is None:
                if outcomes:
                    yield Finding(where, "is missing, although there are claims of it")
                continue
            skipped = outcomes[Outcome.SKIPPED] + outcomes[Outcome.UNSUPPORTED]
            skipped += sum(id_ not in tested for id_ in tier.skipped_tests)
            counted = Statistics(
                passed=outcomes[Outcome.PASSED],
                skipped=skipped,
                failed=outcomes[Outcome.FAILED],
                inconclusive=outcomes[Outcome.INCONCLUSIVE],
            )
            if counted != tier.statistics:
                yield Finding(where, "has other statistics than its claims")
            if tier.result != result_of(counted):
                yield Finding(where, f"has result {tier.result}, its claims {result_of(counted)}")
        if profile.summary != summary_of(profile.core, profile.extended):
            yield Finding(profile.name, "has a summary that its tiers do not have")


def _unnamed(folder: Path, rows: Iterable[str]) -> Iterator[Finding]:
    """Histories that were stored, and of which the report says nothing."""
    stored = {
        path.relative_to(folder).as_posix() for path in (folder / HISTORIES_NAME).glob("*.jsonl.gz")
    }
    for name in sorted(stored - set(rows)):
        yield Finding(name, "is stored, but no row of the report refers to it")


def _check_history(
    folder: Path, name: str, rows: list[_Told], judge: Judge, report: ConformanceReport
) -> Iterator[Finding]:
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        yield Finding(name, "lies outside of the report's folder; it was not opened")
        return
    try:
        header, entries, whole = read_history(path)
    except HistoryError as error:
        yield Finding(name, str(error).removeprefix(f"{path}: "))
        return
    if not whole:
        yield Finding(name, "was cut short: its last line is missing")
    yield from _other_circumstances(name, header, report)
    digest = history_digest(header, entries)
    verdicts = {verdict.claim: verdict for verdict in judge(header, entries)}
    for told in rows:
        where = f"{told.claim} [{told.test}]"
        if told.digest != digest:
            yield Finding(
                where, f"history {name} has digest {digest[:12]}…, not {told.digest[:12]}…"
            )
        verdict = verdicts.get(told.claim)
        if verdict is None:
            yield Finding(where, "no checker of today judges this claim")
        elif verdict.outcome is not told.outcome:
            yield Finding(where, f"is {verdict.outcome} now, the report says {told.outcome}")
    if any(told.test == SHRUNK for told in rows):
        return  # made smaller for one claim; what else it may violate was not looked for
    failed = {claim.id for claim in report.claims if claim.outcome is Outcome.FAILED}
    for claim, verdict in verdicts.items():
        if verdict.outcome is Outcome.FAILED and claim not in failed:
            yield Finding(claim, f"is violated in {name}, the report does not say so")


def _other_circumstances(name: str, header: Header, report: ConformanceReport) -> Iterator[Finding]:
    """Where a history says that it was made elsewhere than the report does."""
    told = report.environment
    for what, of_history, of_report in (
        ("cluster", header.cluster, told.cluster),
        ("clock", header.clock, told.clock),
        ("Kubernetes version", header.kubernetes_version, told.kubernetes_version),
    ):
        if of_history != of_report:
            yield Finding(name, f"was recorded with {what} {of_history}, not {of_report}")
    if told.allowances is None:
        return
    allowed = allowances_of(header)
    for field in told.allowances.__struct_fields__:
        of_history, of_report = getattr(allowed, field, ""), getattr(told.allowances, field)
        if of_history != of_report:
            what = field.replace("_", " ")
            yield Finding(
                name, f"was judged with {what} {of_history or 'none'}, not {of_report or 'none'}"
            )
