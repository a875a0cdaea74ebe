"""More than one operator: with a leader, and two that both act."""

from __future__ import annotations

from typing import Final

from chaos.fault import Fault
from chaos.faults import DelayWatch, DoubleOperator, Kill, TakeLease
from conformance.scenario_type import scenario
from conformance.suites.jobset.api import RESTART_JOB_SET
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import job_set, replicated_job, rule
from conformance.world import World
from vocabulary.clock import SECOND

SECOND_OPERATOR: Final = "jobset/1"


def _running(world: World, behaviour: str = "run forever") -> JobSet:
    jobs = [replicated_job("w", 3, behaviour)]
    return JobSet.ready(world, job_set(jobs, [rule(RESTART_JOB_SET)]))


@scenario(
    arms=["JS-090", "JS-091", "JS-092"],
    cases={
        "alike": (),
        "jobsets-seen-late": (
            DelayWatch(SECOND_OPERATOR, kind="jobset.x-k8s.io/v1alpha2/JobSet", by=10 * SECOND),
        ),
    },
)
def two_operators_without_election(world: World, faults: tuple[Fault, ...]) -> None:
    """Two operators that both act count each failure once, and spare the Jobs of the restart."""
    its = _running(world)
    world.inject(DoubleOperator(SECOND_OPERATOR))
    world.wait(5 * SECOND)
    for fault in faults:
        world.inject(fault)
    for restarts in (1, 2):
        its.fail("w-1")
        its.ready_again(restarts)
        world.wait(30 * SECOND)


@scenario(arms=["JS-090", "JS-092"], operators=2)
def leader_is_killed(world: World) -> None:
    """The next leader goes on where a leader that died after a failure has stopped."""
    its = _running(world)
    its.fail_until_restarted("w-1")
    world.inject(Kill(world.leader, restart_after=None))
    world.until(its.is_ready())
    its.fail("w-2")
    its.ready_again(2)


@scenario(arms=["JS-090", "JS-092"], operators=2)
def lease_is_taken_in_a_restart(world: World) -> None:
    """A leader whose Lease is taken while it restarts a JobSet leaves the rest to the next one."""
    its = _running(world, "run forever, stop 2s")
    its.fail_until_restarted("w-1")
    world.inject(TakeLease())
    world.until(its.is_ready())
    its.fail("w-2")
    its.ready_again(2)
