"""Editions of JobSet's claims: a controller that evaluates rules as released ones do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from conformance.implementation import implementation
from conformance.norm.verdict import Outcome
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import Rules

FIRST_RULE_IS_OF_THE_LATER = "jobset/two-failures/seen-at-once/default-then-fail"


class RuleMajor(Rules):
    """The failed Job that an earlier rule matches goes first: in that scenario, that of `v`."""

    def in_order_of_failure(self, failed: Sequence[Job]) -> list[Job]:
        return sorted(failed, key=lambda job: job.child.replicated_job)


@pytest.mark.parametrize(
    ("edition", "outcome"), [("kep", Outcome.FAILED), ("released", Outcome.PASSED)]
)
def test_the_first_rule_that_matches_any_failure_decides_in_the_edition_released(
    edition: str, outcome: Outcome
) -> None:
    wrong = replace(implementation("reference", "jobset"), rules=RuleMajor)
    run = run_one(SCENARIOS[FIRST_RULE_IS_OF_THE_LATER], wrong, 1729, edition=edition)
    assert {v.claim: v.outcome for v in run.verdicts}["JS-002"] is outcome
    failed = {v.claim for v in run.verdicts if v.outcome is Outcome.FAILED}
    assert bool(failed) is (edition == "kep")


def test_failures_that_are_apart_are_answered_alike_in_both_editions() -> None:
    scenario = SCENARIOS["jobset/two-failures/seen-in-turn/default-then-fail"]
    run = run_one(scenario, implementation("reference", "jobset"), 1729, edition="released")
    assert not [v for v in run.verdicts if v.outcome is Outcome.FAILED]
    judged = {v.claim for v in run.verdicts}
    assert judged.isdisjoint({"JS-006", "JS-009", "JS-024", "JS-025", "JS-045", "JS-071"})
