"""Wrong controllers of JobSets that only the past shows, or a budget that one failure spends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.norm.verdict import Outcome
from conformance.suites.jobset.api import RESTART_JOB_SET
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.outside import fail_and_delete_unseen
from conformance.suites.jobset.scenarios.workloads import job_set, replicated_job, rule
from conformance.world import World
from reference_controller.jobset.job_set import restarts_of
from reference_controller.jobset.mutants import MUTANTS
from reference_controller.jobset.observation import Observation
from reference_controller.jobset.rules import Rules
from reference_controller.jobset.verdict import Verdict, judge
from tests.claims.jobset_runs import RIGHT, outcome_of, run_of, run_scenario, violated
from vocabulary.clock import SECOND
from vocabulary.objects import annotations_of

FAILED = {"type": "Failed", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}


def test_a_failure_that_was_counted_fails_no_jobset_besides() -> None:
    wrong = replace(RIGHT, rules=MUTANTS["failed-job-counts-until-gone"].rules)
    run = run_scenario("restarts/one-failure-spends-the-last-restart", wrong)
    assert outcome_of(run, "JS-090") is Outcome.FAILED


def _restarts_when_told(seen: Observation, rules: Rules) -> Verdict:
    """The verdict on the first Job as if it had failed, once an annotation asks for that."""
    if "now" in annotations_of(seen.job_set) and not restarts_of(seen.job_set):
        first, *others = seen.current
        failed = {**first.object, "status": {"conditions": [FAILED]}}
        seen = replace(seen, current=(replace(first, object=failed), *others))
    return judge(seen, rules)


def test_a_failed_job_that_a_user_deleted_excuses_no_later_restart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("reference_controller.jobset.reconcile.judge", _restarts_when_told)

    def steps(world: World) -> None:
        its = JobSet.submit(world, job_set([replicated_job("w", 2)], [rule(RESTART_JOB_SET)]))
        fail_and_delete_unseen(world, its, "w-0")
        world.wait(30 * SECOND)
        its.patch({"metadata": {"annotations": {"now": "true"}}})
        world.until(its.has_restarted(1))
        world.until(its.is_ready())

    assert "JS-090" in violated(run_of(steps).verdicts)
