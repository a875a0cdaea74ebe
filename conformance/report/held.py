"""Unselected claims that held: a report does not show this, its histories do.

A selection's report has the selected claims, and any other violation. A claim that is not
in it may have held; or it could not be judged, nothing armed it, its scenario did not run, or what
it needs is lacking. Only a stored history tells the first from the others.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from conformance.norm.verdict import Outcome
from conformance.report.conformance_report import ConformanceReport
from conformance.report.stored_run import Judge, intact_run


def held_unasked(
    baseline: ConformanceReport, current: ConformanceReport, folder: Path, judge: Judge
) -> frozenset[str]:
    """The claims that failed in the baseline, are not in the current report, and passed in all
    scenarios in which they failed, by that report's histories, which are in `folder`.

    Of a campaign's scenario only the worst run is stored, which shows nothing of the others.
    ReportError or HistoryError for a history that is not as the report says; one that is not
    there shows nothing.
    """
    stored = {
        (test.scenario, test.seed): test
        for claim in current.claims
        for test in claim.tests
        if test.runs == 1 and (folder / test.history).is_file()
    }
    broken_off = {(error.name, error.seed) for error in current.errors}

    @cache
    def passed(scenario: str, seed: int) -> frozenset[str]:
        test = stored.get((scenario, seed))
        if test is None or (test.name, seed) in broken_off:
            return frozenset()
        run = intact_run(folder, test.history, test.history_sha256, judge)
        return frozenset(each.claim for each in run.verdicts if each.outcome is Outcome.PASSED)

    there = {claim.id for claim in current.claims}
    return frozenset(
        claim.id
        for claim in baseline.claims
        if claim.outcome is Outcome.FAILED
        and claim.id not in there
        and all(
            test.runs == 1 and claim.id in passed(test.scenario, test.seed)
            for test in claim.tests
            if test.outcome is Outcome.FAILED
        )
    )
