"""Submissions that nothing interrupts, and what others do meanwhile."""

from __future__ import annotations

from typing import Any

from chaos.faults import DelayWatch, DeleteObject, EditObject, SlowApi, TimeOut
from conformance.breaking import during
from conformance.scenario_type import scenario
from conformance.suites.streams.api import CONTENT_ID, HOST_POOL, OF_JOB, OF_PE, PROCESSING_ELEMENT
from conformance.suites.streams.handle import StreamsJob
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.kinds import CONFIG_MAP, POD, SERVICE, Kind
from vocabulary.objects import annotations_of, name_of


@scenario(
    arms=["ST-007", "ST-009"],
    kills="nothing-is-launched",
    nodes=5,
    cases={"five": 5, "nodes": None},
)
def canonical(world: World, size: int | None) -> None:
    """A Job of five ProcessingElements, by its user's wish or for five nodes, is submitted."""
    its = StreamsJob.of(world, fusion=None if size is None else {"manual": size})
    world.until(its.is_submitted() | its.is_gone())
    world.wait(5 * SECOND)  # it is gone in between where its submission is interrupted


@scenario(
    arms=["ST-007", "ST-009", "ST-010", "ST-022", "ST-023", "ST-024", "ST-027"],
    kills="pods-are-left-out",
)
def five_elements(world: World) -> None:
    """A Job is submitted as a whole, and only then says so, though its pods come late."""
    slow = TimeOut(verb=("create",), kind="Pod", skip=2, times=3, after=10 * SECOND)
    with during(world, slow):
        StreamsJob.ready(world)


@scenario(arms=["ST-027"], kills="host-pools-have-no-owner")
def two_jobs_at_once(world: World) -> None:
    """Two Jobs of other shapes are submitted at once, each with parts of its own."""
    one = StreamsJob.of(world, hostPools=None, imports=None, fusion={"manual": 1})
    other = StreamsJob.of(
        world,
        "b",
        fusion={"manual": 3},
        exports=None,
        hostPools=[{"name": "x"}, {"name": "y"}],
        parallelRegions=[{"alias": "r", "width": 2}, {"alias": "s", "width": 1}],
    )
    world.until(one.is_submitted() & other.is_submitted())


@scenario(
    arms=["ST-006", "ST-007", "ST-009"],
    kills="losses-go-unnoticed",
    cases={"service": SERVICE, "host-pool": HOST_POOL, "config-map": CONFIG_MAP},
)
def part_is_lost_during_the_submission(world: World, kind: Kind) -> None:
    """A part that a user deletes before the Job is Submitted is there when it is."""
    slow = TimeOut(verb=("create",), kind="Pod", skip=3, times=1, after=10 * SECOND)
    with during(world, slow):
        its = StreamsJob.of(world)
        world.until(its.has(POD, 3))
        world.inject(DeleteObject(kind.kind, name_of(its.part(kind))))
        world.until(its.is_submitted())


@scenario(arms=["ST-009"], kills="counts-by-name")
def foreign_objects_bear_its_name(world: World) -> None:
    """Objects of other clients that bear the Job's label are not counted."""
    labels = {OF_JOB: "a", OF_PE: "4"}
    head = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "labels": labels}}
    world.create({**head, "spec": {"containers": [{"name": "c", "image": "x"}]}})
    with during(world, TimeOut(verb=("create",), kind="Pod", skip=4, times=1, after=10 * SECOND)):
        StreamsJob.ready(world)


@scenario(arms=["ST-022"], kills="stale-content-is-fine")
def config_map_is_stale(world: World) -> None:
    """A pod waits until its ConfigMap has what it is to run."""
    with during(world, SlowApi(verb=("patch",), kind="ProcessingElement", times=0, by=2 * SECOND)):
        its = StreamsJob.of(world)
        world.until(its.has(PROCESSING_ELEMENT, 5))
        last = its.part(CONFIG_MAP)
        world.inject(EditObject("ConfigMap", name_of(last), _content("stale")))
        world.wait(20 * SECOND)
    world.inject(EditObject("ConfigMap", name_of(last), _content(annotations_of(last)[CONTENT_ID])))
    world.until(its.is_submitted())


@scenario(arms=["ST-023"], kills="pods-need-no-config")
def config_map_is_lost_before_its_pod(world: World) -> None:
    """A pod whose ConfigMap a user has deleted waits for it."""
    slow = SlowApi(verb=("patch",), kind="ProcessingElement", times=0, by=5 * SECOND)
    held = DelayWatch(kind="ProcessingElement", by=5 * SECOND)
    lost = TimeOut(verb=("create",), kind="ConfigMap", skip=6, times=1, after=15 * SECOND)
    with during(world, slow), during(world, held), during(world, lost):
        its = StreamsJob.of(world)
        world.until(its.has(PROCESSING_ELEMENT, 5))
        world.inject(DeleteObject("ConfigMap", name_of(its.part(CONFIG_MAP, 1))))
        world.wait(20 * SECOND)
    world.until(its.is_submitted())


def _content(text: str) -> dict[str, Any]:
    """A patch of what a ConfigMap says that it has."""
    return {"metadata": {"annotations": {CONTENT_ID: text}}}
