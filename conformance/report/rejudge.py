"""Re-evaluate a stored report by today's claims.

For a checker that was fixed after a long run: the histories are kept, the verdicts are replaced.
The place, time and Assay version of the run, its coverage and aborted runs stay as reported;
verdicts, totals and reasons are recomputed, and the report names the version that evaluated it.

The histories of a campaign's uneventful runs are not kept, so a campaign cannot be re-evaluated.
Of other suites on real clusters one may be missing: a scenario that was repeated with longer
durations, where every claim was evaluated by the other run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from chaos.plan import Plan, load_plan
from conformance.norm.claim import CLAIMS, Claim
from conformance.norm.verdict import Outcome
from conformance.report.build import build_report
from conformance.report.conformance_report import (
    ClaimReport,
    ClaimTest,
    ConformanceReport,
    JudgedAgain,
    ReportError,
)
from conformance.report.counted import counted
from conformance.report.failures import shrunk_plan
from conformance.report.folder import RUNS_NAME
from conformance.report.run_result import RunResult, SuiteResult, is_telling
from conformance.report.stored_run import Judge, intact_run
from conformance.report.verify import require_suites
from conformance.report.yaml_text import read_report_at, report_path


class Rejudged(NamedTuple):
    """A report judged again, with the one that it was made of."""

    before: ConformanceReport
    report: ConformanceReport
    suite: SuiteResult
    notes: tuple[str, ...]
    """Gaps of the re-evaluation, as sentences."""


def rejudged(
    report_at: Path,
    claims_of: Callable[[Iterable[RunResult]], Mapping[str, Claim]],
    judge: Judge,
    by: JudgedAgain,
) -> Rejudged:
    """The report of a folder (or that file itself), judged again by today's claims, of which
    `claims_of` returns those that its runs are judged by.

    ReportError for a report of a campaign, or of a suite that is not installed; HistoryError for a
    history that is missing, cut short or another one than the report is about.
    """
    before = read_report_at(report_at)
    require_suites(report_at, before, CLAIMS)
    folder = report_path(report_at).parent
    _require_all_histories(before, report_at)
    runs = tuple(_runs(before, folder, judge))
    shrunk, notes = _shrunk(before, folder, judge)
    missing = before.coverage.plans - len(runs)
    if missing > 0:
        notes.append(
            f"{counted(missing, 'run')} of {before.coverage.plans:,} without a stored history; "
            "what the others show decides"
        )
    suite = _suite(before, runs, shrunk)
    made = build_report(
        suite,
        claims_of(runs),
        version=before.suite.version,
        git_commit=before.suite.git_commit,
        date=before.date,
    )
    report = msgspec.structs.replace(
        made,
        suite=msgspec.structs.replace(made.suite, judged_again=by),
        coverage=before.coverage,
        errors=before.errors,
        interrupted=before.interrupted,
        claims=_as_timed(made, before),
    )
    return Rejudged(before, report, suite, tuple(notes))


def _require_all_histories(report: ConformanceReport, report_at: Path) -> None:
    stored = {test.history for claim in report.claims for test in claim.tests}
    is_campaign = (
        report.coverage.crash_points != "0/0"
        or report.coverage.random_plans
        or (
            len(stored) < report.coverage.plans
            and (report_path(report_at).parent / RUNS_NAME).exists()
        )
    )
    if is_campaign or any(not test.history for claim in report.claims for test in claim.tests):
        raise ReportError(
            f"{report_at}: is of a campaign, whose uneventful runs leave no history that could be "
            f"judged again; run it again: {report.reproduce.command}"
        )


def _runs(report: ConformanceReport, folder: Path, judge: Judge) -> Iterator[RunResult]:
    """One run for each history that the report's rows name, in order of their names."""
    rows: dict[str, list[ClaimTest]] = {}
    for claim in report.claims:
        for test in claim.tests:
            rows.setdefault(test.history, []).append(test)
    errors = {(error.name, error.seed): error.error for error in report.errors}
    for name, tests in sorted(rows.items()):
        test = tests[0]
        run = intact_run(folder, name, test.history_sha256, judge)
        yield msgspec.structs.replace(
            run,
            plan=Plan(run.scenario, seed=run.seed).to_data(),
            variant=test.variant,
            virtual_seconds=test.virtual_seconds,
            error=errors.get((test.name, test.seed), ""),
        )


def _as_timed(made: ConformanceReport, before: ConformanceReport) -> tuple[ClaimReport, ...]:
    """The recomputed claims, with each row's original wall time: histories lack it."""
    of_row: dict[tuple[str, str, int], float] = {}
    of_scenario: dict[tuple[str, int], float] = {}
    for claim in before.claims:
        for test in claim.tests:
            of_row[claim.id, test.scenario, test.seed] = test.wall_seconds
            of_scenario[test.scenario, test.seed] = test.wall_seconds

    def timed(claim: str, test: ClaimTest) -> ClaimTest:
        row = (claim, test.scenario, test.seed)
        told = of_row[row] if row in of_row else of_scenario[test.scenario, test.seed]
        return msgspec.structs.replace(test, wall_seconds=told)

    return tuple(
        msgspec.structs.replace(claim, tests=tuple(timed(claim.id, test) for test in claim.tests))
        for claim in made.claims
    )


def _shrunk(
    report: ConformanceReport, folder: Path, judge: Judge
) -> tuple[dict[str, RunResult], list[str]]:
    """By claim, the smallest run, if it is still a violation; and why others are left out."""
    found: dict[str, RunResult] = {}
    runs: dict[str, RunResult] = {}
    notes = []
    for claim in report.claims:
        small = claim.shrunk
        if small is None:
            continue
        plan = shrunk_plan(folder, small)
        if not plan.is_file():
            notes.append(f"the shrunk run of {claim.id} is left out: there is no {plan}")
            continue
        if small.history not in runs:
            run = intact_run(folder, small.history, small.history_sha256, judge)
            runs[small.history] = msgspec.structs.replace(
                run, plan=load_plan(plan).to_data(), shrunk=small.shrunk
            )
        run = runs[small.history]
        if any(v.claim == claim.id and v.outcome is Outcome.FAILED for v in run.verdicts):
            found[claim.id] = run
    return found, notes


def _suite(
    report: ConformanceReport, runs: tuple[RunResult, ...], shrunk: dict[str, RunResult]
) -> SuiteResult:
    features = next((p.extended for p in report.profiles if p.extended is not None), None)
    telling = {v.claim for run in runs for v in run.verdicts if is_telling(v)}
    return SuiteResult(
        runs=runs,
        implementation=report.implementation,
        cluster=report.environment.cluster,
        kubernetes_version=report.environment.kubernetes_version,
        clock=report.environment.clock,
        operator=report.environment.operator,
        seed=report.reproduce.seed,
        command=report.reproduce.command,
        wall_seconds=report.wall_seconds,
        claims=_asked_for(report),
        shrunk=shrunk,
        rerun=report.determinism.rerun,
        mismatches=report.determinism.mismatches,
        # Why nothing armed a claim is a matter of where it ran, which is as it was.
        out_of_reach={
            claim.id: claim.reason
            for claim in report.claims
            if not claim.tests and claim.id not in telling
        },
        supported_features=() if features is None else features.supported_features,
        unsupported_features=() if features is None else features.unsupported_features,
        skipped_features=() if features is None else features.skipped_features,
    )


def _asked_for(report: ConformanceReport) -> tuple[str, ...]:
    """The claims that the run was of; none for one of all, which lists none without a verdict."""
    judged = {claim.id for claim in report.claims}
    listed = {
        id_ for profile in report.profiles for tier in profile.tiers for id_ in tier.skipped_tests
    }
    return tuple(sorted(judged)) if listed - judged else ()
