"""Recoveries that are interrupted, held up, or not wanted any more."""

from __future__ import annotations

from chaos.fault import Fault
from chaos.faults import (
    ApiErrors,
    HoldObject,
    Kill,
    LoseReply,
    Pause,
    ReleaseObject,
    SlowApi,
    Start,
    TimeOut,
)
from chaos.faults.api_error import Verb
from conformance.breaking import during
from conformance.scenario_type import scenario
from conformance.suites.streams.handle import STREAMS_JOB, StreamsJob, interrupted, job
from conformance.world import World
from vocabulary.clock import MILLISECOND, MINUTE, SECOND, Micros
from vocabulary.kinds import CONFIG_MAP, POD
from vocabulary.objects import name_of, owner_references
from vocabulary.requests import PropagationPolicy


@scenario(arms=["ST-038", "ST-001"], kills="keeps-no-record")
def operator_is_down_as_the_old_one_goes(world: World) -> None:
    """A Job whose deletion ends while the operator is down comes back."""
    with interrupted(world, POD, 3) as its:
        world.inject(HoldObject("Import", "a-0-0"))
    world.wait(10 * SECOND)
    world.inject(Kill(restart_after=None))
    world.inject(ReleaseObject("Import", "a-0-0"))
    world.until(its.is_gone())
    world.wait(5 * SECOND)
    world.inject(Start())
    world.until(its.is_submitted())


@scenario(
    arms=["ST-038"],
    kills="keeps-no-record",
    cases={
        "before-the-record": ("create", "JobRecovery"),
        "before-the-deletion": ("delete", STREAMS_JOB),
        "before-the-creation": ("create", STREAMS_JOB),
        "before-the-end-of-the-record": ("delete", "JobRecovery"),
    },
)
def recovery_is_interrupted(world: World, step: tuple[Verb, str]) -> None:
    """An operator that ends before a step of a recovery goes on from there."""
    verb, kind = step
    held = TimeOut(verb=(verb,), kind=kind, times=0, after=MINUTE)
    with interrupted(world, POD, 3) as its:
        world.inject(held)
    world.wait(20 * SECOND)
    world.inject(Kill(restart_after=None))
    world.revert(held)
    world.wait(5 * SECOND)
    world.inject(Start())
    world.until(its.is_submitted())


@scenario(
    arms=["ST-039", "ST-028"],
    kills="brings-back-the-deleted",
    cases={"foreground": "Foreground", "background": "Background"},
)
def user_deletes_it_while_it_is_submitted(world: World, policy: PropagationPolicy) -> None:
    """A Job that its user deletes during its submission stays away, with all of its tree."""
    held = TimeOut(verb=("create",), kind="Pod", skip=3, times=0, after=20 * SECOND)
    with during(world, held):
        its = StreamsJob.of(world)
        world.wait(5 * SECOND)
        world.inject(HoldObject("Import", "a-0-0"))
        its.delete(policy)
        world.wait(10 * SECOND)
        world.inject(ReleaseObject("Import", "a-0-0"))
    world.until(its.has_left())
    world.wait(20 * SECOND)


@scenario(arms=["ST-039"], kills="never-cancels")
def user_deletes_it_before_the_operator_does(world: World) -> None:
    """A Job that its user deletes once its recovery is recorded stays away."""
    slow = SlowApi(verb=("create",), kind="JobRecovery", times=1, by=10 * SECOND)
    with interrupted(world, POD, 3) as its:
        world.inject(slow)
    world.wait(3 * SECOND)
    its.delete("Background")
    world.wait(40 * SECOND)
    world.until(its.has_left())


@scenario(arms=["ST-039"], kills="never-cancels")
def user_deletes_it_as_the_operator_does(world: World) -> None:
    """A Job that its user deletes after the operator has looked at it, and before its own request
    to delete it, stays away."""
    slow = SlowApi(verb=("get",), kind=STREAMS_JOB, times=1, by=10 * SECOND)
    with interrupted(world, POD, 3) as its:
        world.inject(slow)
    world.wait(3 * SECOND)
    world.inject(HoldObject("Import", "a-0-0"))
    its.delete("Background")
    world.wait(20 * SECOND)
    world.inject(ReleaseObject("Import", "a-0-0"))
    world.until(its.has_left())
    world.wait(20 * SECOND)


@scenario(arms=["ST-046"], kills="any-job-of-the-name")
def user_creates_another_meanwhile(world: World) -> None:
    """A Job that its user creates under the name of an interrupted one is not deleted."""
    slow = SlowApi(verb=("get",), kind=STREAMS_JOB, times=1, by=10 * SECOND)
    with interrupted(world, POD, 3) as its:
        world.inject(slow)
    world.wait(3 * SECOND)
    its.delete("Background")
    world.until(its.has_left())
    StreamsJob.of(world)
    world.wait(30 * SECOND)
    world.until(its.is_submitted())


@scenario(
    arms=["ST-038", "ST-029"],
    kills="forgets-the-labels",
    cases={
        "record": ApiErrors(verb=("create",), kind="JobRecovery"),
        "record-is-there": LoseReply(verb=("create",), kind="JobRecovery"),
        "intent": ApiErrors(verb=("patch",), kind="JobRecovery"),
        "deletion": ApiErrors(verb=("delete",), kind=STREAMS_JOB),
        "deletion-has-begun": LoseReply(verb=("delete",), kind=STREAMS_JOB),
        "creation": ApiErrors(verb=("create",), kind=STREAMS_JOB),
        "job-is-there": LoseReply(verb=("create",), kind=STREAMS_JOB),
        "end-of-the-record": ApiErrors(verb=("delete",), kind="JobRecovery"),
        "record-is-gone": LoseReply(verb=("delete",), kind="JobRecovery"),
    },
)
def step_fails(world: World, failure: Fault) -> None:
    """A recovery goes on after a step that is refused, or carried out without an answer."""
    with interrupted(world, POD, 3) as its:
        world.inject(failure)
    world.until(its.is_submitted())
    world.wait(20 * SECOND)


@scenario(
    arms=["ST-039", "ST-028", "ST-036"],
    kills="carries-the-id",
    cases={
        "before-the-record-goes": ("delete", "JobRecovery"),
        "before-its-launch": ("update", STREAMS_JOB),
    },
)
def user_deletes_the_new_one(world: World, step: tuple[Verb, str]) -> None:
    """A Job that its user deletes as soon as it has come back stays away."""
    verb, kind = step
    held = TimeOut(verb=(verb,), kind=kind, times=0, after=20 * SECOND)
    with interrupted(world, POD, 3) as its:
        is_replaced = its.is_replaced()
        world.inject(held)
    world.until(is_replaced)
    its.delete("Background")
    world.wait(10 * SECOND)
    world.revert(held)
    world.until(its.has_left())
    world.wait(20 * SECOND)


@scenario(arms=["ST-042", "ST-029"], kills="carries-the-id", namespaces=("other",))
def two_namespaces(world: World) -> None:
    """The recovery of a Job leaves one of its name in another namespace alone."""
    other = {**job("a"), "metadata": {**job("a")["metadata"], "namespace": "other"}}
    its_namesake = StreamsJob.submit(world, other)
    world.until(its_namesake.is_submitted())
    with interrupted(world, POD, 3) as its:
        pass
    world.until(its.is_submitted() & its_namesake.is_submitted())


@scenario(arms=["ST-034", "ST-035", "ST-030"], kills="trusts-the-deletion")
def part_outlives_the_deletion(world: World) -> None:
    """The operator waits for a part that outlives the deletion of the interrupted Job."""
    with interrupted(world, POD, 3) as its:
        part = its.part(CONFIG_MAP)
        (owner,) = owner_references(part)
        loose = {
            "ownerReferences": [{**owner, "blockOwnerDeletion": False}],
            "finalizers": ["example.com/late"],
        }
        world.patch(CONFIG_MAP, name_of(part), {"metadata": loose})
    world.until(its.has(CONFIG_MAP, 1))
    world.wait(10 * SECOND)
    world.patch(CONFIG_MAP, name_of(part), {"metadata": {"finalizers": None}})
    world.until(its.is_submitted())


@scenario(arms=["ST-006", "ST-029"], kills="interrupts-itself", operators=2)
def leader_changes(world: World) -> None:
    """The replica that takes over starts over with a Job that the other one has begun."""
    held = TimeOut(verb=("create",), kind="Pod", skip=3, times=0, after=MINUTE, actor="streams*")
    with during(world, held):
        its = StreamsJob.of(world)
        world.until(its.has(POD, 3))
        world.inject(Kill(actor=world.leader, restart_after=None))
    world.until(its.is_submitted())


@scenario(
    arms=["ST-030", "ST-034", "ST-035"],
    kills="background-and-adopt",
    alone=True,
    cases={
        "held": (MINUTE, None),
        "lagging": (6 * SECOND, SlowApi(verb=("create",), times=0, by=500 * MILLISECOND)),
        "racing": (0, None),
        "ahead": (0, SlowApi(verb=("delete",), kind=STREAMS_JOB, times=1, by=15 * SECOND)),
    },
)
def garbage_collector_has_its_own_pace(world: World, pace: tuple[Micros, SlowApi | None]) -> None:
    """The new Job is created once the old one is gone, whether the garbage collector is held, lags
    behind the operator, races with it, or is done before it."""
    held_us, slow = pace
    collector = Pause("garbage-collector")
    with interrupted(world, POD, 3) as its:
        if slow is not None:
            world.inject(slow)
        if held_us:
            world.inject(collector)
    world.wait(held_us)
    if held_us:
        world.revert(collector)
    world.wait(MINUTE)
    world.until(its.is_submitted())
