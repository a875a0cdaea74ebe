"""A Job as scenarios handle it."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from conformance.handle import Condition, Handle
from conformance.pod_templates import BEHAVIOUR
from conformance.suites.streams.api import JOB
from conformance.suites.streams.kind import JobState
from conformance.world import World
from vocabulary.kinds import Kind
from vocabulary.objects import Object


class StreamsJob(Handle):
    """One Job of a scenario: its state now, and what a user can do to it."""

    kind: ClassVar[Kind] = JOB

    @classmethod
    def of(cls, world: World, name: str = "a", **spec: Any) -> Self:
        """Submit the canonical Job: five ProcessingElements, and one of each other part."""
        return cls.submit(world, job(name, **spec))

    @property
    def state(self) -> JobState:
        """Its fields as they are stored now."""
        return JobState(self.now)

    def is_submitted(self) -> Condition:
        return Condition(f"{self} is submitted", lambda: self.state.is_submitted)


def job(name: str, **spec: Any) -> Object:
    """A Job of five ProcessingElements, whose submission takes 32 writes; None takes a field out."""
    wanted = {
        "bundle": {"name": "words"},
        "fusion": {"manual": 5},
        "hostPools": [{"name": "pool"}],
        "exports": [{"peId": 4, "portId": 0, "name": "counts"}],
        "imports": [{"peId": 0, "portId": 0, "name": "lines"}],
        "parallelRegions": [{"alias": "count", "width": 3}],
        "processingElement": {"restartDeletedPod": True},
        "podTemplate": {"metadata": {"annotations": {BEHAVIOUR: "run 1h"}}},
        **spec,
    }
    return {
        "apiVersion": JOB.api_version,
        "kind": JOB.kind,
        "metadata": {"name": name},
        "spec": {key: wanted[key] for key in wanted if wanted[key] is not None},
    }
