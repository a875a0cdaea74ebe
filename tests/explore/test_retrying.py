"""An operator that retries a refused write without end counts as at rest, and is explored."""

from __future__ import annotations

import pytest

from chaos.plan import Plan
from conformance.explore.campaign import CREATED, SUITE, Exploration
from conformance.explore.first_look import rest_of
from conformance.norm.verdict import Outcome
from conformance.profiles.choosing import all_simulated
from conformance.running.run_options import RunOptions
from conformance.running.runner import run_one
from conformance.running.suite import run_suite
from conformance.scenarios import ALL_SCENARIOS
from conformance.suites.jobset.scenarios.workloads import job_set, replicated_job
from conformance.worlds.simulated.world import SimulatedWorld
from vocabulary.clock import HOUR, MINUTE
from vocabulary.history import RETRIES, Mark

WORKLOAD = job_set([replicated_job("w", 2)])
NO_JOBS = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "no-jobs"},
    "spec": {"hard": {"count/jobs.batch": "0"}},
}


def test_it_comes_to_rest_within_minutes_and_its_ends_are_compared() -> None:
    said: list[str] = []
    options = RunOptions(
        implementation=f"{SUITE}=jobset",
        jobs=1,
        shrink=False,
        manifests=(NO_JOBS, WORKLOAD),
        further=(Exploration(said.append, sample=4, only=("kills",)),),
    )
    suite = run_suite((SUITE,), options, lambda _progress: None)
    (undisturbed,) = (run for run in suite.runs if run.scenario == CREATED and not run.variant)
    rested_us = rest_of(undisturbed)
    assert rested_us is not None
    assert rested_us < 5 * MINUTE
    assert RETRIES in [each.text for each in undisturbed.entries if isinstance(each, Mark)]
    assert any(line.startswith("  again and again: create Job.batch a-w-0 (403)") for line in said)
    killed = [each for run in suite.runs for each in run.verdicts if each.claim == "OP-003"]
    assert Outcome.PASSED in {each.outcome for each in killed}
    assert not [run.error for run in suite.runs if run.error]


def test_a_run_that_has_waited_in_vain_for_a_rest_waits_less_for_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SimulatedWorld, "is_stable", lambda _: False)
    plan = Plan(CREATED, manifests=(WORKLOAD,))
    run = run_one(ALL_SCENARIOS[CREATED], all_simulated("operator=jobset", ("operator",)), 1, plan)
    times = {each.mark: each.t for each in run.entries if isinstance(each, Mark)}
    assert 3 * HOUR < times["faults-stopped"] < 3 * HOUR + MINUTE
    assert times["not-stable"] - times["faults-stopped"] == HOUR
