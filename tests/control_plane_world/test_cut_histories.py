"""A truncated history is not violated by its missing end."""

from __future__ import annotations

import random

import pytest

from conformance import claims
from conformance.history import History
from conformance.implementations.ours import implementations
from conformance.norm.verdict import Outcome
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from tests.sampled import SUBJECTS, of_subject

CUTS = 3


def failed(history: History) -> set[str]:
    verdicts = claims.judge(history)
    assert not [each.because for each in verdicts if "checker failed" in each.because]
    return {verdict.claim for verdict in verdicts if verdict.outcome is Outcome.FAILED}


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_history_that_is_cut_anywhere_violates_nothing_that_it_did_not(subject: str) -> None:
    rng = random.Random(subject)
    for scenario in of_subject(subject):
        references = implementations("reference", scenario.roles)
        run = run_one(scenario, references, 1, is_judged=False)
        for _ in range(CUTS):
            entries = run.entries[: rng.randrange(1, len(run.entries))]
            assert failed(History(run.header, entries)) == set(), (scenario.id, len(entries))


def test_a_violation_is_still_seen_where_the_history_ends_with_it() -> None:
    scenario = SCENARIOS["appwrapper/retry/one-failure-is-retried"]
    run = run_one(
        scenario, implementations("mutant:deployed-cleared-on-resetting", scenario.roles), 1
    )
    (verdict,) = (each for each in run.verdicts if each.claim == "AW-013")
    first = min(violation.at for violation in verdict.violations)
    assert first + 1 < len(run.entries)
    assert "AW-013" in failed(History(run.header, run.entries[: first + 1]))
