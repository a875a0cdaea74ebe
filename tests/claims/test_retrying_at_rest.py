"""An operator that retries endlessly is judged by what it leaves, unless others keep it from it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.implementations.ours import implementation
from conformance.norm.verdict import Outcome
from conformance.running.runner import RunResult
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import job_set, replicated_job
from conformance.world import World
from tests.claims.jobset_runs import outcome_of, run_of
from vocabulary.clock import SECOND
from vocabulary.history import RETRIES, Mark
from vocabulary.kinds import JOB

NO_JOBS = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "no-jobs"},
    "spec": {"hard": {"count/jobs.batch": "0"}},
}


def _submitted(world: World) -> None:
    JobSet.submit(world, job_set([replicated_job("w", 2)]))
    world.wait(SECOND)


def _refused_by_a_quota(world: World) -> None:
    world.create(NO_JOBS)
    _submitted(world)


def _disowned(world: World) -> None:
    _submitted(world)
    world.patch(JOB, "a-w-1", {"metadata": {"ownerReferences": None}})


def _invalid(world: World) -> None:
    JobSet.submit(world, job_set([replicated_job("w", 2, backoffLimit=-1)]))
    world.wait(SECOND)


def _rests(run: RunResult) -> list[str]:
    return [each.text for each in run.entries if isinstance(each, Mark) and each.mark == "stable"]


@pytest.mark.parametrize("wrong", ["owns-and-does-not-control", "makes-invalid-jobs"])
def test_what_it_is_refused_by_its_own_doing_is_no_excuse(wrong: str) -> None:
    run = run_of(_submitted, implementation(f"mutant:{wrong}", "jobset"))
    assert _rests(run) == [RETRIES]
    assert outcome_of(run, "JS-091") is Outcome.FAILED


@pytest.mark.parametrize("steps", [_refused_by_a_quota, _disowned, _invalid])
def test_what_others_have_refused_is_an_excuse(steps: Callable[[World], None]) -> None:
    run = run_of(steps)
    assert _rests(run) == [RETRIES]
    assert outcome_of(run, "JS-091") is not Outcome.FAILED
