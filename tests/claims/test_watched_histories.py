"""Incomplete histories: no claim may be reported as violated that was kept.

Every scenario's run of the reference, which keeps all claims, is reduced to the view of a client
that only watched. Conversely, violations by mutants must still be found in such histories if they
show in them, or the checkers would just have been silenced.
"""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from conformance import claims
from conformance.history import History
from conformance.implementations.ours import implementations
from conformance.norm.verdict import Outcome
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from tests.claims.watched import Recording, from_the_middle, interrupted, thinned, watched
from tests.sampled import SAMPLED

SHARES = (0.2, 0.5, 0.8)
SEEDS = range(2)


@cache
def recorded(scenario: str, controller: str = "reference") -> Recording:
    found = SCENARIOS[scenario]
    under_test = implementations(controller, found.roles)
    run = run_one(found, under_test, DEFAULT_SEED, is_judged=False)
    return run.header, run.entries


def alarms(recording: Recording) -> list[str]:
    """Violations reported by the checkers, and their exceptions."""
    return [
        f"{verdict.claim}: {verdict.because}"
        for verdict in claims.judge(History(*recording))
        if verdict.outcome is Outcome.FAILED or verdict.because.startswith("The checker failed")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SAMPLED)
def test_a_kept_claim_is_never_called_violated_whatever_was_not_recorded(scenario: str) -> None:
    whole = recorded(scenario)
    assert alarms(watched(whole, complete=True)) == []
    assert alarms(watched(whole, complete=False)) == []
    for seed in SEEDS:
        rng = Random(f"{scenario} {seed}")
        for share in SHARES:
            assert alarms(thinned(whole, share, rng)) == [], f"seed {seed}, {share} of it lost"
        assert alarms(interrupted(whole, rng)) == [], f"seed {seed}, watches cut"
        assert alarms(from_the_middle(whole, rng)) == [], f"seed {seed}, begun in the middle"


VISIBLE = {
    "AW-015": ("quota-released-on-failed", "appwrapper/deletion/slow-pods-hold-their-quota"),
    "AW-013": ("deployed-cleared-on-suspending", "appwrapper/suspension/while-running"),
    "AW-087": ("no-anti-affinity", "appwrapper/autopilot/tagged-node-is-avoided/err"),
    "AW-050": ("quota-released-during-pause", "appwrapper/retry/one-failure-is-retried"),
    "MLB-042": ("failed-can-be-suspended", "appwrapper/failed/failed-is-final"),
    "MLB-050": ("runs-without-quota", "appwrapper/retry/one-failure-is-retried"),
}
"""Claims that single versions contradict, with a mutant and the scenario that shows it."""


@pytest.mark.parametrize("claim", VISIBLE)
@pytest.mark.parametrize("share", SHARES[:2])
def test_what_single_versions_contradict_is_still_found_where_others_are_lost(
    claim: str, share: float
) -> None:
    mutant, scenario = VISIBLE[claim]
    whole = recorded(scenario, f"appwrapper=mutant:{mutant}")
    found = [
        seed
        for seed in range(20)
        if any(alarm.startswith(claim) for alarm in alarms(thinned(whole, share, Random(seed))))
    ]
    assert found, f"in none of 20 histories with {share} of the versions lost"


def test_a_complete_watch_is_judged_by_the_claims_that_need_every_version() -> None:
    whole = recorded("appwrapper/detection/failed-pod")
    passed = {
        complete: {
            verdict.claim
            for verdict in claims.judge(History(*watched(whole, complete=complete)))
            if verdict.outcome is Outcome.PASSED
        }
        for complete in (True, False)
    }
    assert {"AW-004", "AW-030", "AW-040", "AW-052"} <= passed[True] - passed[False]
    assert {"AW-013", "AW-020", "INV-6"} <= passed[False]


def test_a_claim_that_needs_every_version_says_that_some_may_be_missing() -> None:
    whole = recorded("appwrapper/detection/failed-pod")
    verdicts = claims.judge(History(*watched(whole, complete=False)))
    by_claim = {verdict.claim: verdict for verdict in verdicts}
    assert by_claim["AW-004"].outcome is Outcome.INCONCLUSIVE
    assert by_claim["AW-004"].because == (
        "Cannot be judged: the history may lack versions of its objects."
    )
    assert "in the versions that were recorded" in by_claim["AW-020"].because
