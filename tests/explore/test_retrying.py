"""An operator that retries a refused write forever counts as at rest, and is explored."""

from __future__ import annotations

from conformance.explore.campaign import CREATED, SUITE, Exploration
from conformance.explore.first_look import rest_of
from conformance.norm.verdict import Outcome
from conformance.running.run_options import RunOptions
from conformance.running.suite import run_suite
from conformance.suites.jobset.scenarios.workloads import job_set, replicated_job
from vocabulary.clock import MINUTE
from vocabulary.history import RETRIES, Mark

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
        manifests=(NO_JOBS, job_set([replicated_job("w", 2)])),
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
