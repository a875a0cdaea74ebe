"""The work of a restart: each part of it is bounded, but for what the controller cannot help."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import pytest
from msgspec import structs

from chaos.faults import EditObject
from conformance import claims
from conformance.history import History
from conformance.implementations.ours import implementation
from conformance.norm.verdict import Outcome, Verdict
from conformance.running.runner import RunResult
from conformance.suites.jobset.api import RESTART_JOB_SET
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import job_set, replicated_job, rule
from conformance.world import World
from tests.claims.jobset_runs import outcome_of, run_of, run_scenario, violated
from vocabulary.clock import HOUR, SECOND
from vocabulary.history import Entry, Write
from vocabulary.kinds import JOB

SCENARIO: Final = "restarts/one-job-is-slow-after-a-restart"
JOBS: Final = 6
ALLOWED: Final = 8 + 2 * JOBS
"""Refused requests of a restart of so many Jobs: those that it replaces, and their successors."""
PARTS: Final = {
    "creates-what-stands": "requests that could only be refused",
    "completed-run-again": "creations of Jobs",
    "resumes-in-each-pass": "changes of Jobs",
    "status-in-each-pass": "writes of the status that change nothing",
}
ELSEWHERE: Final = {"status-in-each-pass": "outside/job-is-replaced-unseen/counted"}
"""By mutant, the scenario in which passes are repeated, where it is another one."""


@cache
def _sound() -> RunResult:
    return run_scenario(SCENARIO)


def test_a_restart_that_asks_for_each_change_once_is_bounded() -> None:
    assert outcome_of(_sound(), "JS-047") is Outcome.PASSED


@pytest.mark.parametrize(("mutant", "part"), PARTS.items())
def test_each_part_of_the_work_is_bounded(mutant: str, part: str) -> None:
    scenario = ELSEWHERE.get(mutant, SCENARIO)
    run = run_scenario(scenario, implementation(f"mutant:{mutant}", "jobset"))
    assert violated(run.verdicts).keys() == {"JS-047"}
    assert f" {part}; " in violated(run.verdicts)["JS-047"]


def _told_with(refused: Write, times: int) -> Verdict:
    """The verdict on the run with a request that is refused so often, 30 s after the restart."""
    run = _sound()
    since = next(
        entry.t
        for entry in run.entries
        if isinstance(entry, Write) and (entry.object or {}).get("status", {}).get("restarts") == 1
    )

    def told() -> Iterator[Entry]:
        left, position = times, 0
        for entry in run.entries:
            while left and entry.t > since + 30 * SECOND:
                yield structs.replace(refused, n=position, t=since + 30 * SECOND)
                left, position = left - 1, position + 1
            yield structs.replace(entry, n=position)
            position += 1

    verdicts = claims.judge(History(run.header, list(told())))
    return next(each for each in verdicts if each.claim == "JS-047")


def _refused(**of: Any) -> Write:
    """A refused request of the controller about its Job that starts slowly."""
    team = next(
        entry.namespace
        for entry in _sound().entries
        if isinstance(entry, Write) and entry.kind == str(JOB)
    )
    own = {"actor": "jobset", "kind": str(JOB), "namespace": team, "name": "a-slow-0"}
    return Write(**{"n": 0, "t": 0, **own, **of})


@pytest.mark.parametrize(
    "refused",
    [
        {"verb": "create", "code": 409, "reason": "AlreadyExists"},
        {"verb": "delete", "code": 409, "reason": "Conflict"},
        {"verb": "patch", "code": 409, "reason": "Conflict"},
    ],
    ids=lambda refused: refused["verb"],
)
def test_requests_that_could_only_be_refused_are_bounded(refused: dict[str, Any]) -> None:
    assert _told_with(_refused(**refused), ALLOWED).outcome is Outcome.PASSED
    beyond = _told_with(_refused(**refused), ALLOWED + 1)
    assert beyond.outcome is Outcome.FAILED
    assert f"{ALLOWED + 1} requests that could only be refused" in beyond.because


@pytest.mark.parametrize(
    "refused",
    [
        {"verb": "create", "code": 500, "reason": "InternalError"},
        {"verb": "create", "code": 403, "reason": "Forbidden"},
        {"verb": "create", "code": 409, "reason": "AlreadyExists", "name": "b-slow-0"},
        {"verb": "create", "code": 409, "reason": "AlreadyExists", "namespace": "elsewhere"},
        {"verb": "create", "code": 409, "reason": "AlreadyExists", "actor": "somebody"},
    ],
    ids=["server", "quota", "another-jobset", "another-namespace", "another-client"],
)
def test_requests_that_others_have_refused_are_not_counted(refused: dict[str, Any]) -> None:
    assert _told_with(_refused(**refused), 10 * ALLOWED).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    "scenario",
    [
        "interruptions/jobs-are-seen-late",
        "interruptions/counter-is-written-with-difficulty/conflicts",
        "interruptions/counter-is-written-and-not-seen",
        "outside/quota-refuses-the-restart/jobs",
    ],
)
def test_conflicts_and_retries_that_faults_lead_to_are_allowed(scenario: str) -> None:
    assert outcome_of(run_scenario(scenario), "JS-047") is Outcome.PASSED


def test_the_name_of_a_job_that_others_took_away_is_asked_for_again_and_again() -> None:
    def steps(world: World) -> None:
        its = JobSet.submit(world, job_set([replicated_job("w", 2)], [rule(RESTART_JOB_SET)]))
        world.until(its.is_ready())
        world.inject(EditObject("Job", its.job("w-1"), {"metadata": {"ownerReferences": None}}))
        its.fail("w-0")
        world.until(its.has_restarted(1))
        world.wait(2 * HOUR)

    run = run_of(steps)
    refused = [each for each in run.entries if isinstance(each, Write) and each.code == 409]
    assert len(refused) > 10 * ALLOWED
    assert outcome_of(run, "JS-047") is Outcome.PASSED
