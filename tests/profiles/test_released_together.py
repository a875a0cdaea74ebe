"""Several released programs in one run: two operators of different roles, and two replicas of one.

Each is killed, stopped, paused and started again while the others go on; a second run has the same
history.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chaos.faults import Kill, Pause, Start
from conformance.profiles.choosing import simulated
from conformance.profiles.profiled import Profiled
from conformance.profiles.program import ProgramMissingError
from conformance.report.run_result import RunResult
from conformance.running.repeated import difference_between
from conformance.running.runner import run_one
from conformance.scenario_type import Scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.jobset.api import RESTART_JOB_SET
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import job_set, replicated_job, rule
from conformance.suites.kueue.handle import QueuedJob, queue
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.history import Process, Write

pytestmark = pytest.mark.slow

APPWRAPPER = "appwrapper-v1.1.2"
JOB_SET = "jobset-v0.12.0"
KUEUE = "kueue-v0.19.2"
KILLED, STOPPED, PAUSED = ("killed", "started"), ("stopped", "started"), ("paused", "resumed")
AWAY = {
    "killed": lambda actor: Kill(actor, restart_after=None),
    "stopped": lambda actor: Kill(actor, signal="TERM", restart_after=None),
    "paused": Pause,
}


def released(name: str, role: str) -> Profiled:
    try:
        found = simulated(name, role)
    except ProgramMissingError as missing:
        pytest.skip(str(missing))
    assert isinstance(found, Profiled)
    return found


def repeated_run(
    steps: Callable[[World], None], names: dict[str, str], *, operators: int = 1
) -> RunResult:
    """The run, which a second one has repeated byte for byte."""
    under_test = {role: released(name, role) for role, name in names.items()}
    suite = next(iter(names))
    scenario = Scenario(
        id=f"{suite}/together/{steps.__name__.replace('_', '-')}",
        title="Several programs.",
        arms=(),
        steps=steps,
        folder=Path(__file__).parent,
        roles=tuple(names),
        operators=operators,
    )
    first, second = (run_one(scenario, under_test, 1, None) for _ in range(2))
    assert first.error == ""
    assert difference_between(first, second) == ""
    return first


def life_of(run: RunResult, process: str) -> list[str]:
    """The changes of a process; who leads is left out."""
    return [
        each.change
        for each in run.entries
        if isinstance(each, Process)
        and each.process == process
        and each.change not in ("leading", "following")
    ]


def back(world: World, actor: str, how: str) -> None:
    if how == "paused":
        world.revert(Pause(actor))
    else:
        world.inject(Start(actor))


def each_in_turn(world: World) -> None:
    """While the AppWrapper's operator is away, the JobSet that it wraps restarts; while the
    JobSet's is away, nothing answers a failure."""
    its = JobSet(world, "a")
    wrapped = job_set([replicated_job("w", 1)], [rule(RESTART_JOB_SET)], max_restarts=9)
    workload = AppWrapper.submit(
        world,
        {
            "apiVersion": "workload.codeflare.dev/v1beta2",
            "kind": "AppWrapper",
            "metadata": {"name": "w"},
            "spec": {"components": [{"template": wrapped}]},
        },
        failureGracePeriodDuration="1h",
    )
    world.until(workload.is_in("Running"))
    world.until(its.is_ready())
    for number, how in enumerate(AWAY, 1):
        world.inject(AWAY[how]("appwrapper"))
        its.fail("w-0")
        world.until(its.has_restarted(2 * number - 1))
        world.until(its.is_ready())
        back(world, "appwrapper", how)
        world.inject(AWAY[how]("jobset"))
        its.fail("w-0")
        world.wait(40 * SECOND)
        assert its.state.restarts == 2 * number - 1
        back(world, "jobset", how)
        world.until(its.has_restarted(2 * number))
        world.until(its.is_ready())
    assert workload.phase == "Running"


def test_two_operators_of_different_roles() -> None:
    run = repeated_run(each_in_turn, {"appwrapper": APPWRAPPER, "jobset": JOB_SET})
    for role in ("appwrapper", "jobset"):
        # What follows is the end of the run, which undoes starts.
        assert life_of(run, role)[:7] == ["started", *KILLED, *STOPPED, *PAUSED]
    writers = {entry.actor for entry in run.entries if isinstance(entry, Write)}
    assert {"appwrapper", "jobset"} <= writers


def leaders_in_turn(world: World) -> None:
    """Whichever replica leads is taken away, in every way; the other one goes on."""
    its = JobSet.submit(
        world, job_set([replicated_job("w", 1)], [rule(RESTART_JOB_SET)], max_restarts=9)
    )
    world.until(its.is_ready())
    for number, how in enumerate([*AWAY, *AWAY], 1):
        away = world.leader
        world.inject(AWAY[how](away))
        its.fail("w-0")
        world.until(its.has_restarted(number))
        world.until(its.is_ready())
        assert world.leader != away
        back(world, away, how)
        world.wait(20 * SECOND)


def test_two_replicas_of_one_operator() -> None:
    run = repeated_run(leaders_in_turn, {"jobset": JOB_SET}, operators=2)
    lives = [life_of(run, name) for name in ("jobset", "jobset/1")]
    away = [change for life in lives for change in life]
    for change in AWAY:
        # The end of the run undoes the starts by stopping each once more.
        assert away.count(change) == (4 if change == "stopped" else 2)


def queue_goes_on(world: World) -> None:
    """Whichever replica of Kueue leads is taken away; the other one admits what waits."""
    queue(world)
    first = QueuedJob.of(world, "first", "run forever, stop 1s")
    world.until(first.is_ready())
    for how, taken_away in AWAY.items():
        waits = QueuedJob.of(world, how, "run forever, stop 1s")
        world.until(waits.waits())
        away = world.leader
        world.inject(taken_away(away))
        first.delete()
        world.until(waits.is_ready())
        assert world.leader != away
        back(world, away, how)
        world.wait(20 * SECOND)
        first = waits


def test_two_replicas_of_kueue() -> None:
    repeated_run(queue_goes_on, {"kueue": KUEUE}, operators=2)
