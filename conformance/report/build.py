"""Run results → conformance report. Pure: no files, no clock; equal runs give equal reports."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from conformance import suite as suites
from conformance.editions import told_by
from conformance.norm.claim import Claim
from conformance.norm.verdict import Outcome, Verdict, merge
from conformance.report.allowances import allowances_of, common
from conformance.report.conformance_report import (
    API_VERSION,
    KIND,
    CheckerError,
    ClaimReport,
    ClaimSource,
    ClaimTest,
    ConformanceReport,
    Coverage,
    Determinism,
    Environment,
    FirstViolation,
    NotCovered,
    Reproduce,
    RunError,
    ShrunkTest,
    Suite,
)
from conformance.report.run_result import RunResult, SuiteResult, is_telling, test_name
from conformance.report.stored_report import place_of
from conformance.report.tiers import Features, profiles_of
from vocabulary.canonical import digest
from vocabulary.history import Fault, Write, history_digest

NEVER_ARMED: Final = "Its precondition never occurred in this run."
"""The reason of a claim of which no checker said more."""
_BADNESS: Final = {outcome: rank for rank, outcome in enumerate(Outcome)}
_NOT_A_SLUG: Final = re.compile(r"[^a-z0-9]+")
_MAX_SLUG: Final = 80

Judged = tuple[RunResult, Verdict]


def build_report(
    suite: SuiteResult, claims: Mapping[str, Claim], *, version: str, git_commit: str, date: str
) -> ConformanceReport:
    """The report of a suite, judged by `claims`; `date` is RFC 3339 and goes in as it is."""
    judged: dict[str, list[Judged]] = defaultdict(list)
    for run, verdict in _all_judged(suite):
        claim = claims.get(verdict.claim)
        if _is_asked_for(verdict, suite) and not _lacks_operators(run, claim, verdict):
            judged[verdict.claim].append((run, verdict))
    digests = _Digests()
    reports = tuple(
        _claim_report(claims[id_], judged[id_], digests, suite)
        for id_ in sorted(judged.keys() & claims)
    )
    left_out = [c for id_, c in claims.items() if suite.claims and id_ not in judged]
    granted = allowances_of(run.header for run in suite.standing)
    return ConformanceReport(
        api_version=API_VERSION,
        kind=KIND,
        implementation=suite.implementation,
        date=date,
        suite=Suite(
            version=version,
            git_commit=git_commit,
            claims_digest=claims_digest(claims.values()),
            editions=editions_of(suite.standing),
        ),
        environment=Environment(
            cluster=suite.cluster,
            kubernetes_version=suite.kubernetes_version,
            clock=suite.clock,
            # Those of one suite are the same in all of its runs, or `assay verify` tells.
            allowances=common(granted),
            allowances_by_role={} if common(granted) else granted,
            operator=suite.operator,
        ),
        reproduce=Reproduce(command=suite.command, seed=suite.seed),
        profiles=profiles_of(
            reports,
            left_out,
            Features(
                tuple(sorted(suite.supported_features)),
                tuple(sorted(suite.unsupported_features)),
                tuple(sorted(suite.skipped_features)),
            ),
        ),
        claims=reports,
        coverage=_coverage(suite),
        determinism=Determinism(rerun=suite.rerun, mismatches=suite.mismatches),
        errors=tuple(
            RunError(name=test_name(run), seed=run.seed, error=run.error)
            for run in sorted(suite.runs, key=lambda run: (test_name(run), run.seed))
            if run.error
        ),
        not_covered=not_covered(reports, _asked_for(suite, claims, left_out)),
        wall_seconds=suite.wall_seconds,
        checker_errors=tuple(_checker_errors(judged)),
        interrupted=suite.interrupted,
    )


def _all_judged(suite: SuiteResult) -> Iterator[Judged]:
    """Each run with each of its verdicts; of uneventful ones one run stands for many."""
    for run in suite.runs:
        for verdict in run.verdicts:
            yield run, verdict
    if suite.uneventful is not None:
        yield from suite.uneventful.judged()


def _asked_for(
    suite: SuiteResult, claims: Mapping[str, Claim], left_out: Iterable[Claim]
) -> dict[str, Claim]:
    """Those that no run can judge are asked for with all the others of their suite."""
    partly = {claim.suite for claim in left_out if not claim.not_judged}
    return {
        id_: claim
        for id_, claim in claims.items()
        if not suite.claims
        or id_ in suite.claims
        or (claim.not_judged and claim.suite not in partly)
    }


def editions_of(runs: Iterable[RunResult]) -> dict[str, str]:
    """By suite, the edition that the runs were judged by: it is the same in all of one command."""
    found: dict[str, str] = {}
    for run in runs:
        found |= told_by(run.header)
    return dict(sorted(found.items()))


def _checker_errors(judged: Mapping[str, list[Judged]]) -> Iterator[CheckerError]:
    """The first run, by name and seed, that each checker failed on."""
    for claim, pairs in sorted(judged.items()):
        failed = [(test_name(run), run.seed, verdict.error) for run, verdict in pairs]
        for name, seed, error in sorted(row for row in failed if row[2])[:1]:
            yield CheckerError(claim=claim, name=name, seed=seed, error=error)


def _suite_of(claim: Claim | ClaimReport) -> str:
    return claim.suite if isinstance(claim, Claim) else claim.profile


def claims_digest(claims: Iterable[Claim | ClaimReport]) -> str:
    """One digest for the norm: who has the same one was judged by the same sentences."""
    return digest(
        [
            (c.id, c.name, c.level, _suite_of(c), c.text, c.source)
            for c in sorted(claims, key=lambda c: c.id)
        ]
    )


def history_path(run: RunResult) -> str:
    """Where the run's history is stored, relative to the report; empty if it was not kept."""
    return history_path_of(test_name(run), run.seed) if run.entries else ""


def history_path_of(name: str, seed: int) -> str:
    """Where the history of the run with that name is stored, relative to the report."""
    return f"histories/{slug(name)}-{seed}.jsonl.gz"


def shrunk_history_path(claim: str, shrunk: Mapping[str, RunResult]) -> str:
    """Where the history of the smallest run that violates a claim is stored.

    A run that was shrunk for several claims has the name of the first of them.
    """
    first = min(other for other, run in shrunk.items() if run is shrunk[claim])
    return f"histories/{slug(first)}-shrunk.jsonl.gz"


def slug(text: str) -> str:
    """The text as a file name: lower case, digits, hyphens; long ones end in a digest."""
    plain = _NOT_A_SLUG.sub("-", text.lower()).strip("-")
    if len(plain) <= _MAX_SLUG:
        return plain
    return f"{plain[: _MAX_SLUG - 13]}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def worst_of(judged: Iterable[Judged]) -> Judged:
    """The run with the worst outcome; among equals the one without a variant, then by name."""
    return min(judged, key=lambda pair: (-_BADNESS[pair[1].outcome], test_name(pair[0])))


def _is_asked_for(verdict: Verdict, suite: SuiteResult) -> bool:
    """True if a verdict belongs in the report; a violation always does, asked for or not."""
    is_asked = not suite.claims or verdict.claim in suite.claims
    return is_asked or verdict.outcome is Outcome.FAILED


def _lacks_operators(run: RunResult, claim: Claim | None, verdict: Verdict) -> bool:
    """True if a run says nothing of a claim that needs operators which are not in it."""
    of = suites.load().get(claim.suite) if claim else None
    return bool(of and set(of.roles) - run.header.operators.keys()) and not is_telling(verdict)


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
    rows = _rows(judged, suite.seed)
    merged = merge(claim.id, (verdict for _, verdict in judged))
    reason = merged.because
    if merged.outcome is Outcome.INCONCLUSIVE and not rows:
        reason = out_of_reach or reason or NEVER_ARMED
    return ClaimReport(
        id=claim.id,
        name=claim.name,
        level=str(claim.level),
        profile=claim.suite,
        text=claim.text,
        source=source_of(claim),
        outcome=merged.outcome,
        reason=reason.strip(),
        armed=merged.armed,
        tests=tuple(sorted((test_row(row, digests.of) for row in rows.values()), key=place_of)),
        shrunk=shrunk_row(
            claim.id, suite.shrunk[claim.id], shrunk_history_path(claim.id, suite.shrunk)
        )
        if claim.id in suite.shrunk
        else None,
    )


def _rows(judged: Iterable[Judged], seed: int) -> dict[tuple[str, int], list[Judged]]:
    """By scenario and seed, what a row of the report is about. All runs of a scenario in which the
    claim held are in one row, whatever their seeds: that of the suite if it is one of them."""
    by_seed: dict[tuple[str, int], list[Judged]] = defaultdict(list)
    for run, verdict in judged:
        if is_telling(verdict):
            by_seed[run.scenario, run.seed].append((run, verdict))
    passed: dict[str, list[int]] = defaultdict(list)
    for (scenario, of), pairs in by_seed.items():
        if all(verdict.outcome is Outcome.PASSED for _, verdict in pairs):
            passed[scenario].append(of)
    for scenario, seeds in passed.items():
        first, *others = sorted(seeds, key=lambda of: (of != seed, of))
        for of in others:
            by_seed[scenario, first] += by_seed.pop((scenario, of))
    return by_seed


def source_of(claim: Claim) -> ClaimSource:
    """Where its sentence stands, as a report says it."""
    return ClaimSource(
        document=claim.source.document,
        section=claim.source.section,
        sentence=claim.source.sentence,
    )


def test_row(judged: Sequence[Judged], digest_of: Callable[[RunResult], str]) -> ClaimTest:
    """The report's row on one claim in one scenario with one seed, of all its runs."""
    run, verdict = worst_of(judged)
    return ClaimTest(
        name=test_name(run),
        seed=run.seed,
        outcome=verdict.outcome,
        armed=sum(other.armed for _, other in judged),
        because="" if verdict.outcome is Outcome.PASSED else verdict.because,
        faults=fault_texts(run),
        runs=sum(other.counted for other, _ in judged),
        virtual_seconds=round(run.virtual_seconds, 6),
        wall_seconds=round(sum(other.wall_seconds for other, _ in judged), 6),
        history_sha256=digest_of(run),
        history=history_path(run),
        first_violation=first_violation(run, verdict),
    )


def shrunk_row(claim: str, run: RunResult, history: str) -> ShrunkTest:
    """The report's data on the smallest run that violates a claim."""
    return ShrunkTest(
        scenario=run.scenario,
        seed=run.seed,
        shrunk=run.shrunk,
        faults=fault_texts(run),
        history_sha256=history_digest(run.header, run.entries),
        history=history,
        first_violation=first_violation(run, verdict_on(claim, run)),
    )


def verdict_on(claim: str, run: RunResult) -> Verdict:
    """The verdict on one claim, which must have been evaluated."""
    return next(verdict for verdict in run.verdicts if verdict.claim == claim)


def fault_texts(run: RunResult) -> tuple[str, ...]:
    """The faults of the run, in order, in English."""
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
    seen |= suite.uneventful.fault_classes if suite.uneventful else set()
    known = seen.union(suite.fault_classes)
    tried, existing = suite.crash_points
    return Coverage(
        fault_classes=f"{len(seen)}/{len(known)}",
        crash_points=f"{tried}/{existing}",
        plans=suite.plans or suite.count,
        random_plans=suite.random_plans,
    )


def not_covered(
    reports: Iterable[ClaimReport], claims: Mapping[str, Claim]
) -> tuple[NotCovered, ...]:
    """Of the claims that were asked for, those without a verdict, each with the reason."""
    by_id = {report.id: report for report in reports}
    gaps = []
    for id_, claim in sorted(claims.items()):
        report = by_id.get(id_)
        if claim.not_judged:
            gaps.append(NotCovered(claim=id_, because=claim.not_judged))
        elif report is None:
            gaps.append(NotCovered(claim=id_, because="No checker judged it in this run."))
        elif report.outcome is Outcome.INCONCLUSIVE:
            gaps.append(NotCovered(claim=id_, because=report.reason or "It could not be judged."))
    return tuple(gaps)
