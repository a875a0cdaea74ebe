"""A Job as scenarios handle it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, ClassVar, Final, Self

from chaos.faults import Kill, Start, TimeOut
from conformance.breaking import during
from conformance.handle import Handle
from conformance.manifests.pod_templates import BEHAVIOUR
from conformance.suites.streams.api import JOB, OF_JOB, PROCESSING_ELEMENT, TREE
from conformance.suites.streams.kind import ElementState, JobState
from conformance.world import Condition, NotReachedError, World
from vocabulary.clock import MINUTE, SECOND
from vocabulary.kinds import POD, Kind
from vocabulary.objects import Object, is_terminating, labels_of, name_of, uid_of

DOWN_US: Final = 5 * SECOND
STREAMS_JOB: Final = f"{JOB.kind}.{JOB.group}"


class StreamsJob(Handle):
    """One Job of a scenario: its state now, and what a user can do to it."""

    kind: ClassVar[Kind] = JOB

    @classmethod
    def of(cls, world: World, name: str = "a", **spec: Any) -> Self:
        """Submit the canonical Job: five ProcessingElements, and one of each other part."""
        return cls.submit(world, job(name, **spec))

    @classmethod
    def ready(cls, world: World, name: str = "a", **spec: Any) -> Self:
        """Submit it, and wait until it is Submitted."""
        its = cls.of(world, name, **spec)
        world.until(its.is_submitted())
        return its

    @property
    def state(self) -> JobState:
        """Its fields as they are stored now."""
        return JobState(self.now)

    def parts(self, kind: Kind) -> list[Object]:
        """The objects of a kind that bear its name, in order of names."""
        listed = self.world.list(kind, namespace=self.namespace)
        return sorted((o for o in listed if labels_of(o).get(OF_JOB) == self.name), key=name_of)

    def part(self, kind: Kind, index: int = -1) -> Object:
        """One of its parts, once there are any."""
        some = Condition(f"{self} has {kind.plural}", lambda: bool(self.parts(kind)))
        self.world.until(some)
        found = self.parts(kind)
        return found[min(index, len(found) - 1)]

    def is_submitted(self) -> Condition:
        return Condition(f"{self} is submitted", lambda: self.state.is_submitted)

    def has(self, kind: Kind, count: int) -> Condition:
        """There are so many objects of a kind that bear its name."""
        return Condition(
            f"{self} has {count} {kind.plural}", lambda: len(self.parts(kind)) == count
        )

    def is_launched(self, element: str, count: int) -> Condition:
        """A ProcessingElement is at its count-th launch, or a later one."""

        def holds() -> bool:
            found = self.world.get(PROCESSING_ELEMENT, element, namespace=self.namespace)
            return ElementState(found or {}).launches >= count

        return Condition(f"{element} is launched {count} times", holds)

    def has_pods(self, count: int) -> Condition:
        """There are so many pods of it, none of them on its way out."""

        def holds() -> bool:
            pods = self.parts(POD)
            return len(pods) == count and not any(map(is_terminating, pods))

        return Condition(f"{self} has {count} pods", holds)

    def is_replaced(self) -> Condition:
        """Its name has another Job than now."""
        before = ("", uid_of(self.now))
        return Condition(f"{self} is replaced", lambda: uid_of(self.now) not in before)

    def has_left(self) -> Condition:
        """Nothing is left of it."""
        return Condition(
            f"{self} has left", lambda: not self.now and not any(map(self.parts, TREE))
        )


@contextmanager
def interrupted(world: World, kind: Kind, after: int, **spec: Any) -> Iterator[StreamsJob]:
    """The operator ends once so many objects of a kind are created for a new Job; it is away
    during the steps, and for a while after them."""
    held = TimeOut(verb=("create",), kind=kind.kind, skip=after, times=0, after=MINUTE)
    with during(world, held):
        its = StreamsJob.of(world, **spec)
        world.wait(5 * SECOND)
        # A slow machine takes longer; an operator that ends earlier by itself does not get there.
        with suppress(NotReachedError):
            world.until(its.has(kind, after), MINUTE)
        world.inject(Kill(restart_after=None))
    world.wait(SECOND)
    yield its
    world.wait(DOWN_US)
    world.inject(Start())


def job(name: str, **spec: Any) -> Object:
    """A Job of five ProcessingElements, submitted by 32 writes; None takes a field out."""
    wanted = {
        "bundle": {"name": "words"},
        "fusion": {"manual": 5},
        "hostPools": [{"name": "pool"}],
        "exports": [{"peId": 4, "portId": 0, "name": "counts"}],
        "imports": [{"peId": 0, "portId": 0, "name": "lines"}],
        "parallelRegions": [{"alias": "count", "width": 3}],
        "processingElement": {"restartDeletedPod": True},
        "podTemplate": {
            "metadata": {"annotations": {BEHAVIOUR: "run forever"}},
            "spec": {"enableServiceLinks": False},
        },
        **spec,
    }
    return {
        "apiVersion": JOB.api_version,
        "kind": JOB.kind,
        "metadata": {
            "name": name,
            "labels": {"example.com/team": "words"},
            "annotations": {"example.com/ticket": "7"},
        },
        "spec": {key: wanted[key] for key in wanted if wanted[key] is not None},
    }
