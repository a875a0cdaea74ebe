"""Jobs that are Submitted: restarts of the operator, and what users delete."""

from __future__ import annotations

from contextlib import nullcontext

from chaos.choice import PodChoice
from chaos.fault import Fault
from chaos.faults import (
    ApiErrors,
    BreakWatch,
    DelayWatch,
    DeleteObject,
    DeletePod,
    KillPod,
    Restart,
    TimeOut,
)
from conformance.breaking import during, operator_away
from conformance.scenario_type import scenario
from conformance.suites.streams.api import (
    EXPORT,
    HOST_POOL,
    IMPORT,
    OF_PE,
    PARALLEL_REGION,
    PROCESSING_ELEMENT,
)
from conformance.suites.streams.handle import StreamsJob, interrupted
from conformance.world import World
from vocabulary.clock import MINUTE, SECOND
from vocabulary.kinds import CONFIG_MAP, POD, SERVICE, Kind
from vocabulary.objects import name_of
from vocabulary.requests import PropagationPolicy


@scenario(arms=["ST-011", "ST-044"], kills="submits-again")
def operator_is_restarted(world: World) -> None:
    """A restarted operator leaves Submitted Jobs alone, and gives new ones ids of their own."""
    one, two = StreamsJob.ready(world), StreamsJob.ready(world, "b")
    world.inject(Restart())
    world.wait(10 * SECOND)
    third = StreamsJob.ready(world, "c")
    world.until(one.is_submitted() & two.is_submitted() & third.is_submitted())


@scenario(arms=["ST-042", "ST-005", "ST-011"], kills="interrupts-itself")
def one_of_three_is_interrupted(world: World) -> None:
    """Of a Submitted, an interrupted and a new Job the interrupted one alone is replaced."""
    submitted = StreamsJob.ready(world, "b")
    with interrupted(world, POD, 3) as its:
        new = StreamsJob.of(world, "c")
    world.until(its.is_submitted() & new.is_submitted() & submitted.is_submitted())


@scenario(
    arms=["ST-019", "ST-045", "ST-047"],
    kills="deleted-pods-stay-away",
    cases={"up": False, "down": True},
)
def pod_is_deleted(world: World, is_down: bool) -> None:
    """A pod that its user deletes is restarted at the next launch, also if the operator was
    away."""
    its = StreamsJob.ready(world)
    deleted = DeletePod(PodChoice(labels=f"{OF_PE}=0"))
    with operator_away(world, for_us=3 * SECOND) if is_down else nullcontext():
        world.inject(deleted)
    world.until(its.is_launched("a-0", 2) & its.has_pods(5))


@scenario(
    arms=["ST-048"],
    kills="failed-pods-stay-away",
    cases={"restarted": {}, "not": {"restartFailedPod": False}, "kept": {"deleteFailedPod": False}},
)
def pod_fails(world: World, settings: dict[str, bool]) -> None:
    """A pod that fails is restarted at the next launch, unless its Job has it otherwise."""
    its = StreamsJob.ready(world, processingElement={"restartDeletedPod": True, **settings})
    world.inject(KillPod(PodChoice(labels=f"{OF_PE}=0")))
    if not settings:
        world.until(its.is_launched("a-0", 2))
    world.wait(30 * SECOND)
    world.until(its.has_pods(5))


@scenario(arms=["ST-019"], kills="settings-are-ignored")
def pod_is_not_to_be_restarted(world: World) -> None:
    """A pod that its user deletes stays away where the Job asks for that."""
    its = StreamsJob.ready(world, processingElement={"restartDeletedPod": False})
    world.inject(DeletePod(PodChoice(labels=f"{OF_PE}=0")))
    world.wait(30 * SECOND)
    world.until(its.has_pods(4))


@scenario(
    arms=["ST-045"],
    kills="config-maps-stay-away",
    cases={
        "service": SERVICE,
        "config-map": CONFIG_MAP,
        "element": PROCESSING_ELEMENT,
    },
)
def part_is_deleted(world: World, kind: Kind) -> None:
    """A part of a Submitted Job that its user deletes is created again."""
    its = StreamsJob.ready(world)
    count = len(its.parts(kind))
    world.inject(DeleteObject(kind.kind, name_of(its.part(kind))))
    world.wait(5 * SECOND)
    world.until(its.has(kind, count) & its.has_pods(5))


@scenario(
    arms=["ST-045"],
    kills="services-stay-away",
    cases={
        "service": SERVICE,
        "host-pool": HOST_POOL,
        "export": EXPORT,
        "import": IMPORT,
        "region": PARALLEL_REGION,
    },
)
def part_is_deleted_again(world: World, kind: Kind) -> None:
    """A part of a Submitted Job that its user deletes a second time is created a third time."""
    its = StreamsJob.ready(world)
    count = len(its.parts(kind))
    for _ in range(2):
        world.inject(DeleteObject(kind.kind, name_of(its.part(kind))))
        world.wait(30 * SECOND)
        world.until(its.has(kind, count))


@scenario(arms=["ST-045"], kills="services-stay-away")
def restored_part_goes_unseen(world: World) -> None:
    """A part that is restored, and goes before a broken watch has shown it, is created again."""
    its = StreamsJob.ready(world)
    with during(world, TimeOut(verb=("create",), kind="Service", times=1, after=5 * SECOND)):
        world.inject(DeleteObject("Service", "a-2"))
        world.wait(2 * SECOND)
        world.inject(BreakWatch(kind="Service", gap=30 * SECOND))
        world.until(its.has(SERVICE, 5))
        world.inject(DeleteObject("Service", "a-2"))
    world.wait(MINUTE)
    world.until(its.has(SERVICE, 5))


@scenario(
    arms=["ST-048", "ST-019", "ST-045"],
    kills="services-stay-away",
    cases={
        "deletion": ApiErrors(verb=("delete",), kind="Pod"),
        "launch": ApiErrors(verb=("patch",), kind="ProcessingElement"),
        "pod": ApiErrors(verb=("create",), kind="Pod"),
        "part": ApiErrors(verb=("create",), kind="Service"),
    },
)
def repair_fails(world: World, failure: Fault) -> None:
    """A Submitted Job is restored though a request for that is refused."""
    its = StreamsJob.ready(world)
    with during(world, failure):
        world.inject(KillPod(PodChoice(labels=f"{OF_PE}=0")))
        world.inject(DeleteObject("Service", "a-2"))
        world.wait(MINUTE)
    world.until(its.is_launched("a-0", 2) & its.has_pods(5) & its.has(SERVICE, 5))


@scenario(
    arms=["ST-028", "ST-039", "ST-020", "ST-040"],
    kills="restores-below-the-dying",
    cases={"foreground": "Foreground", "background": "Background"},
)
def job_is_deleted(world: World, policy: PropagationPolicy) -> None:
    """A Job that its user deletes goes with all of its tree, though the operator hears late of
    it."""
    its = StreamsJob.ready(world)
    with during(world, DelayWatch(kind="Job.streams.conformance.dev", by=10 * SECOND)):
        its.delete(policy)
        world.until(its.has_left())
        world.wait(20 * SECOND)
    world.until(its.has_left())
