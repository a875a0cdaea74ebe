"""Submissions that nothing interrupts, and what others do meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from chaos.fault import Fault
from chaos.faults import (
    ApiErrors,
    BreakWatch,
    DelayWatch,
    DeleteObject,
    EditObject,
    LoseReply,
    SlowApi,
    TimeOut,
)
from conformance.breaking import during
from conformance.scenario_type import scenario
from conformance.suites.streams.api import CONTENT_ID, HOST_POOL, OF_JOB, OF_PE, PROCESSING_ELEMENT
from conformance.suites.streams.handle import STREAMS_JOB, StreamsJob
from conformance.world import World
from vocabulary.clock import MINUTE, SECOND
from vocabulary.kinds import CONFIG_MAP, NODE, POD, SERVICE, Kind
from vocabulary.objects import Object, annotations_of, name_of


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
    held = TimeOut(verb=("create",), kind="Pod", name="a-4-*", times=1, after=10 * SECOND)
    with during(world, held):
        StreamsJob.ready(world)


@scenario(arms=["ST-022"], kills="stale-content-is-fine")
def config_map_is_stale(world: World) -> None:
    """A pod waits until its ConfigMap has what it is to run."""
    its, last = _with_stale_content(world)
    world.inject(EditObject("ConfigMap", name_of(last), _content(annotations_of(last)[CONTENT_ID])))
    world.until(its.is_submitted())


@scenario(
    arms=["ST-051", "ST-006", "ST-009"],
    kills="taken-names-are-replaced",
    cases={
        "service": (SERVICE, "a-2", {"ports": [{"port": 1}]}),
        "host-pool": (HOST_POOL, "a-0", {}),
        "element": (PROCESSING_ELEMENT, "a-4", {}),
    },
)
def name_is_taken(world: World, taken: tuple[Kind, str, dict[str, Any]]) -> None:
    """A part whose name an object of another client has is created once that has gone."""
    kind, name, spec = taken
    world.create(_of_others(kind, name, spec))
    its = StreamsJob.of(world)
    world.wait(20 * SECOND)
    world.inject(DeleteObject(kind.kind, name))
    world.until(its.is_submitted())


@scenario(arms=["ST-009", "ST-007"], kills="parts-are-left-out")
def part_is_lost_unseen(world: World) -> None:
    """A Job is not Submitted while a part is missing that a broken watch still shows."""
    with during(world, ApiErrors(verb=("create",), kind="Pod", skip=3, times=0)):
        its = StreamsJob.of(world)
        world.wait(3 * SECOND)
        world.inject(BreakWatch(kind="Service", gap=MINUTE))
        world.inject(DeleteObject("Service", "a-2"))
        world.wait(10 * SECOND)
    world.until(its.is_submitted())


@scenario(arms=["ST-044"], kills="ids-follow-the-cache")
def two_begin_at_once(world: World) -> None:
    """Of two Jobs that are submitted while the watch is late each has an id of its own."""
    with during(world, DelayWatch(kind=STREAMS_JOB, by=5 * SECOND)):
        one, two = StreamsJob.of(world), StreamsJob.of(world, "b")
        world.wait(20 * SECOND)
    world.until(one.is_submitted() & two.is_submitted())


_RACE = "its user takes a name in the moment in which that is free"


@scenario(arms=["ST-023", "ST-051"], kills="pods-need-no-config", only_simulated=_RACE)
def config_map_is_lost_before_its_pod(world: World) -> None:
    """A pod waits for its ConfigMap, which is stale before another client takes its name."""
    its, last = _with_stale_content(world)
    _take(world, CONFIG_MAP, name_of(last))
    world.wait(30 * SECOND)
    world.inject(DeleteObject("ConfigMap", name_of(last)))
    world.until(its.is_submitted())


@scenario(arms=["ST-050", "ST-051"], kills="pods-need-no-host-pools", only_simulated=_RACE)
def host_pool_is_lost_before_a_pod(world: World) -> None:
    """A pod waits for a HostPool, whose name another client has taken."""
    its, last = _with_stale_content(world)
    _take(world, HOST_POOL, "a-0")
    world.wait(10 * SECOND)
    world.inject(EditObject("ConfigMap", name_of(last), _content(annotations_of(last)[CONTENT_ID])))
    world.wait(20 * SECOND)
    world.inject(DeleteObject(HOST_POOL.kind, "a-0"))
    world.until(its.is_submitted())


@contextmanager
def _launched_late(world: World) -> Iterator[StreamsJob]:
    """The first launches of a new Job come one after the other, two seconds each."""
    with during(world, SlowApi(verb=("patch",), kind="ProcessingElement", times=0, by=2 * SECOND)):
        its = StreamsJob.of(world)
        world.until(its.has(PROCESSING_ELEMENT, 5))
        yield its


def _with_stale_content(world: World) -> tuple[StreamsJob, Object]:
    """A Job whose last pod waits, since its ConfigMap is not that of its launch."""
    with _launched_late(world) as its:
        last = its.part(CONFIG_MAP)
        world.inject(EditObject("ConfigMap", name_of(last), _content("stale")))
        world.wait(20 * SECOND)
    return its, last


def _take(world: World, kind: Kind, name: str) -> None:
    """Another client takes the name of a part."""
    world.inject(DeleteObject(kind.kind, name))
    world.create(_of_others(kind, name, {}))


@scenario(
    arms=["ST-006", "ST-026"],
    kills="losses-go-unnoticed",
    cases={
        "part": ApiErrors(verb=("create",), kind="Service", skip=2),
        "part-is-there": LoseReply(verb=("create",), kind="Service", skip=2),
        "job": ApiErrors(verb=("update",), kind=STREAMS_JOB, code=409),
        "launch": ApiErrors(verb=("patch",), kind="ProcessingElement", skip=1),
        "launch-is-there": LoseReply(verb=("patch",), kind="ProcessingElement", skip=1),
        "pod": ApiErrors(verb=("create",), kind="Pod", skip=1),
        "pod-is-there": LoseReply(verb=("create",), kind="Pod", skip=1),
        "phase": ApiErrors(verb=("patch",), kind=STREAMS_JOB),
    },
)
def request_fails(world: World, failure: Fault) -> None:
    """A submission goes on after a request that is refused, or carried out without an answer."""
    with during(world, failure):
        StreamsJob.ready(world)


@scenario(arms=["ST-006", "ST-009", "ST-024"], kills="nothing-is-launched")
def job_says_nothing_of_its_elements(world: World) -> None:
    """A Job without settings for its ProcessingElements, pools and regions is submitted."""
    StreamsJob.ready(
        world,
        processingElement=None,
        hostPools=None,
        exports=None,
        imports=None,
        parallelRegions=None,
    )


@scenario(arms=["ST-049"], kills="nothing-is-launched", nodes=1)
def cluster_has_no_nodes(world: World) -> None:
    """A Job that leaves its number of ProcessingElements to a cluster without nodes has one."""
    world.inject(DeleteObject("Node", world.list(NODE)[0]["metadata"]["name"]))
    StreamsJob.ready(world, fusion=None)


def _of_others(kind: Kind, name: str, spec: dict[str, Any]) -> Object:
    head = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}}
    return head if kind == CONFIG_MAP else {**head, "spec": spec}


def _content(text: str) -> dict[str, Any]:
    """A patch of what a ConfigMap says that it has."""
    return {"metadata": {"annotations": {CONTENT_ID: text}}}
