"""Run results → conformance report. Pure: no files, no clock; equal runs give equal reports."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Final

import msgspec

from conformance.claim import Claim
from conformance.report.allowances import allowances_of
from conformance.report.conformance_report import (
    API_VERSION,
    CORE_LEVELS,
    KIND,
    ClaimReport,
    ClaimSource,
    ClaimTest,
    ConformanceReport,
    Coverage,
    Determinism,
    Environment,
    ExtendedTier,
    FirstViolation,
    NotCovered,
    Profile,
    Reproduce,
    Result,
    RunError,
    ShrunkTest,
    Statistics,
    Suite,
    Tier,
)
from conformance.report.counted import counted
from conformance.report.run_result import RunResult, SuiteResult
from conformance.verdict import Outcome, Verdict, merge
from vocabulary.canonical import digest
from vocabulary.history import Fault, Write, history_digest

_BADNESS: Final = {outcome: rank for rank, outcome in enumerate(Outcome)}
_NOT_A_SLUG: Final = re.compile(r"[^a-z0-9]+")
_MAX_SLUG: Final = 80

Judged = tuple[RunResult, Verdict]


def build_report(
    suite: SuiteResult, claims: Mapping[str, Claim], *, version: str, git_commit: str, date: str
) -> ConformanceReport:
    """The report of a suite, judged by `claims`; `date` is RFC 3339 and goes in as it is."""
    judged: dict[str, list[Judged]] = defaultdict(list)
    for run in suite.runs:
        for verdict in run.verdicts:
            if _is_asked_for(verdict, suite):
                judged[verdict.claim].append((run, verdict))
    digests = _Digests()
    asked = {id_: c for id_, c in claims.items() if not suite.claims or id_ in suite.claims}
    reports = tuple(
        _claim_report(claims[id_], judged[id_], digests, suite)
        for id_ in sorted(judged.keys() & claims)
    )
    return ConformanceReport(
        api_version=API_VERSION,
        kind=KIND,
        implementation=suite.implementation,
        date=date,
        suite=Suite(version=version, git_commit=git_commit, claims_digest=claims_digest(claims)),
        environment=Environment(
            cluster=suite.cluster,
            kubernetes_version=suite.kubernetes_version,
            clock=suite.clock,
            # Those of one suite are the same in all of its runs, or `assay verify` tells.
            allowances=allowances_of(suite.runs[0].header) if suite.runs else None,
            operator=suite.operator,
        ),
        reproduce=Reproduce(command=suite.command, seed=suite.seed),
        profiles=_profiles(reports, suite, claims),
        claims=reports,
        coverage=_coverage(suite),
        determinism=Determinism(rerun=suite.rerun, mismatches=suite.mismatches),
        errors=tuple(
            RunError(name=test_name(run), seed=run.seed, error=run.error)
            for run in sorted(suite.runs, key=lambda run: (test_name(run), run.seed))
            if run.error
        ),
        not_covered=tuple(_not_covered(reports, asked)),
        wall_seconds=suite.wall_seconds,
    )


def claims_digest(claims: Mapping[str, Claim]) -> str:
    """One digest for the norm: who has the same one was judged by the same sentences."""
    return digest(
        [
            (c.id, c.name, c.level, c.profile, c.text, asdict(c.source))
            for _, c in sorted(claims.items())
        ]
    )


def test_name(run: RunResult) -> str:
    """The scenario's id, and the variant in brackets where the run is one of a campaign."""
    return f"{run.scenario} [{run.variant}]" if run.variant else run.scenario


def history_path(run: RunResult) -> str:
    """Where the run's history is stored, relative to the report; empty if it was not kept."""
    return f"histories/{slug(test_name(run))}-{run.seed}.jsonl.gz" if run.entries else ""


def shrunk_history_path(claim: str) -> str:
    """Where the history of the smallest run that violates a claim is stored."""
    return f"histories/{slug(claim)}-shrunk.jsonl.gz"


def slug(text: str) -> str:
    """The text as a file name: lower case, digits, hyphens; long ones end in a digest."""
    plain = _NOT_A_SLUG.sub("-", text.lower()).strip("-")
    if len(plain) <= _MAX_SLUG:
        return plain
    return f"{plain[: _MAX_SLUG - 13]}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def worst_of(judged: Iterable[Judged]) -> Judged:
    """The run with the worst outcome; among equals the one without a variant, then by name."""
    return min(judged, key=lambda pair: (-_BADNESS[pair[1].outcome], test_name(pair[0])))


def is_telling(verdict: Verdict) -> bool:
    """Whether the verdict says anything: a claim that was never armed there says nothing."""
    return bool(verdict.armed) or verdict.outcome is not Outcome.INCONCLUSIVE


def _is_asked_for(verdict: Verdict, suite: SuiteResult) -> bool:
    """Whether a verdict belongs in the report; a violation always does, asked for or not."""
    is_asked = not suite.claims or verdict.claim in suite.claims
    return is_asked or verdict.outcome is Outcome.FAILED


class _Digests:
    """History digests, computed once per run."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], str] = {}

    def of(self, run: RunResult) -> str:
        if run.history_sha256 or not run.entries:
            return run.history_sha256
        key = (test_name(run), run.seed)
        if key not in self._known:
            self._known[key] = history_digest(run.header, run.entries)
        return self._known[key]


def _claim_report(
    claim: Claim, judged: list[Judged], digests: _Digests, suite: SuiteResult
) -> ClaimReport:
    out_of_reach = suite.out_of_reach.get(claim.id, "")
    rows: dict[tuple[str, int], list[Judged]] = defaultdict(list)
    for run, verdict in judged:
        if is_telling(verdict):
            rows[run.scenario, run.seed].append((run, verdict))
    merged = merge(claim.id, (verdict for _, verdict in judged))
    reason = merged.because
    if merged.outcome is Outcome.INCONCLUSIVE and not rows:
        reason = out_of_reach or reason or "Its precondition never occurred in this run."
    return ClaimReport(
        id=claim.id,
        name=claim.name,
        level=str(claim.level),
        profile=claim.profile,
        text=claim.text,
        source=ClaimSource(
            document=claim.source.document,
            section=claim.source.section,
            sentence=claim.source.sentence,
        ),
        outcome=merged.outcome,
        reason=reason.strip(),
        armed=merged.armed,
        tests=tuple(_test(rows[key], digests) for key in sorted(rows)),
        shrunk=_shrunk(claim.id, suite.shrunk[claim.id]) if claim.id in suite.shrunk else None,
    )


def _test(judged: list[Judged], digests: _Digests) -> ClaimTest:
    run, verdict = worst_of(judged)
    return ClaimTest(
        name=test_name(run),
        seed=run.seed,
        outcome=verdict.outcome,
        armed=sum(other.armed for _, other in judged),
        because="" if verdict.outcome is Outcome.PASSED else verdict.because,
        faults=fault_texts(run),
        runs=len(judged),
        virtual_seconds=round(run.virtual_seconds, 6),
        wall_seconds=round(sum(other.wall_seconds for other, _ in judged), 6),
        history_sha256=digests.of(run),
        history=history_path(run),
        first_violation=first_violation(run, verdict),
    )


def _shrunk(claim: str, run: RunResult) -> ShrunkTest:
    return ShrunkTest(
        scenario=run.scenario,
        seed=run.seed,
        shrunk=run.shrunk,
        faults=fault_texts(run),
        history_sha256=history_digest(run.header, run.entries),
        history=shrunk_history_path(claim),
        first_violation=first_violation(run, verdict_on(claim, run)),
    )


def verdict_on(claim: str, run: RunResult) -> Verdict:
    """What was said of one claim; it must have been judged."""
    return next(verdict for verdict in run.verdicts if verdict.claim == claim)


def fault_texts(run: RunResult) -> tuple[str, ...]:
    """What went wrong in the run, in order, in English."""
    return tuple(
        entry.text
        for entry in run.entries
        if isinstance(entry, Fault) and entry.action == "injected"
    )


def first_violation(run: RunResult, verdict: Verdict) -> FirstViolation | None:
    """The earliest contradiction of a verdict; None if there is none."""
    if not verdict.violations:
        return None
    violation = min(verdict.violations, key=lambda violation: violation.at)
    entry = run.entries[violation.at] if violation.at < len(run.entries) else None
    return FirstViolation(
        position=violation.at,
        seconds=0.0 if entry is None else entry.t / 1_000_000,
        resource_version=entry.rv if isinstance(entry, Write) else 0,
        because=violation.because,
    )


def _profiles(
    reports: tuple[ClaimReport, ...], suite: SuiteResult, claims: Mapping[str, Claim]
) -> tuple[Profile, ...]:
    """The profiles of which anything was judged.

    Their claims that were not asked for are listed as skipped: the report of a selection is
    partial, and never reads like one of the whole.
    """
    profiles = []
    judged = {report.id for report in reports}
    for name in sorted({report.profile for report in reports}):
        mine = [report for report in reports if report.profile == name]
        left_out = [
            claim
            for id_, claim in claims.items()
            if suite.claims and claim.profile == name and id_ not in judged
        ]
        core = _tier(
            [report for report in mine if report.level in CORE_LEVELS],
            [claim.id for claim in left_out if claim.level in CORE_LEVELS],
        )
        extended = _extended(
            [report for report in mine if report.level not in CORE_LEVELS],
            [claim.id for claim in left_out if claim.level not in CORE_LEVELS],
            suite,
        )
        summary = summary_of(core, extended)
        profiles.append(Profile(name=name, summary=summary, core=core, extended=extended))
    return tuple(profiles)


def _extended(
    reports: list[ClaimReport], left_out: list[str], suite: SuiteResult
) -> ExtendedTier | None:
    """None without a claim: nothing was tested, which is no success."""
    if not reports and not left_out:
        return None
    return ExtendedTier(
        **msgspec.structs.asdict(_tier(reports, left_out)),
        supported_features=tuple(sorted(suite.supported_features)),
        unsupported_features=tuple(sorted(suite.unsupported_features)),
        skipped_features=tuple(sorted(suite.skipped_features)),
    )


def _tier(reports: list[ClaimReport], left_out: list[str]) -> Tier:
    by_outcome: dict[Outcome, list[str]] = defaultdict(list)
    for report in reports:
        by_outcome[report.outcome].append(report.id)
    skipped = sorted([*by_outcome[Outcome.SKIPPED], *by_outcome[Outcome.UNSUPPORTED], *left_out])
    failed, inconclusive = by_outcome[Outcome.FAILED], by_outcome[Outcome.INCONCLUSIVE]
    statistics = Statistics(
        passed=len(by_outcome[Outcome.PASSED]),
        skipped=len(skipped),
        failed=len(failed),
        inconclusive=len(inconclusive),
    )
    return Tier(
        result=result_of(statistics),
        statistics=statistics,
        skipped_tests=tuple(skipped),
        failed_tests=tuple(failed),
        inconclusive_tests=tuple(inconclusive),
    )


def result_of(counted: Statistics) -> Result:
    """The result of a tier with so many claims of each outcome."""
    if counted.failed:
        return "failure"
    return "partial" if counted.skipped or counted.inconclusive else "success"


def summary_of(core: Tier, extended: Tier | None) -> str:
    """A sentence for each tier of a profile."""
    sentences = [_sentence("Core", core)]
    if extended is not None:
        sentences.append(_sentence("Extended", extended))
    return " ".join(sentences)


def _sentence(name: str, tier: Tier) -> str:
    """One sentence per tier, worded as Gateway's; partial never reads like success."""
    numbers = tier.statistics
    if tier.result == "failure":
        return f"{name} tests failed with {counted(numbers.failed, 'test failure')}."
    if tier.result == "partial":
        parts = [
            f"{count} {word}"
            for count, word in (
                (numbers.inconclusive, "inconclusive"),
                (numbers.skipped, "skipped"),
            )
            if count
        ]
        noun = "test" if (numbers.skipped or numbers.inconclusive) == 1 else "tests"
        return f"{name} tests are incomplete with {' and '.join(parts)} {noun}."
    return f"{name} tests succeeded." if numbers.passed else f"{name} tests: there are none."


def _coverage(suite: SuiteResult) -> Coverage:
    seen = {
        key
        for run in suite.runs
        for entry in run.entries
        if isinstance(entry, Fault) and entry.action == "injected"
        for key in entry.fault
        if key != "when"
    }
    # Campaigns do not keep the histories of uneventful runs, but what struck in them.
    seen.update(key for run in suite.runs for step in run.struck for key in step if key != "when")
    known = seen.union(suite.fault_classes)
    tried, existing = suite.crash_points
    return Coverage(
        fault_classes=f"{len(seen)}/{len(known)}",
        crash_points=f"{tried}/{existing}",
        plans=suite.plans or len(suite.runs),
        random_plans=suite.random_plans,
    )


def _not_covered(
    reports: tuple[ClaimReport, ...], claims: Mapping[str, Claim]
) -> Iterable[NotCovered]:
    by_id = {report.id: report for report in reports}
    for id_, claim in sorted(claims.items()):
        report = by_id.get(id_)
        if claim.not_judged:
            yield NotCovered(claim=id_, because=claim.not_judged)
        elif report is None:
            yield NotCovered(claim=id_, because="No checker judged it in this run.")
        elif report.outcome is Outcome.INCONCLUSIVE:
            yield NotCovered(claim=id_, because=report.reason or "It could not be judged.")
