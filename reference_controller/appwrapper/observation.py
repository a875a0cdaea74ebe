"""The input of a decision: one immutable picture of an AppWrapper and its objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from reference_controller.appwrapper.parameters import Parameters
from vocabulary.clock import Micros
from vocabulary.kinds import Kind
from vocabulary.objects import Object


class Component(msgspec.Struct, frozen=True):
    """One component: its record in status, and what stands under its name."""

    index: int
    kind: Kind
    record: Object
    """Its entry of `status.componentStatus`."""
    found: Object | None
    """The object of that kind and name, of any owner; None if there is none."""
    is_watched: bool = True
    """True if we are surely notified of its changes; otherwise we have to poll."""


class Observation(msgspec.Struct, frozen=True):
    """Everything that was read, and when."""

    aw: Object
    looked_us: Micros
    """Not later than the first read that went into this picture. What has to be so when some time
    is over is so only if this is beyond it: a process may be stopped between a read and the
    next, for long."""
    now_us: Micros
    """Not earlier than the last read that went into this picture: what is written is stamped so."""
    parameters: Parameters
    components: tuple[Component, ...] = ()
    pods: Sequence[Object] = ()
    """The pods that belong to this AppWrapper, of any attempt."""
    bad_nodes: Mapping[str, frozenset[str]] | None = None
    """Per node the resources that Autopilot wants evacuated (NoExecute); sound nodes are left
    out."""
    is_live: bool = False
    """True if components and pods were read from the API server itself, not from a cache."""
    replica_sets: Sequence[Object] = ()
    """The ReplicaSets of its Deployments. One that outlives its Deployment still creates pods."""


class PodCounts(msgspec.Struct, frozen=True):
    """The pods of one component in the current attempt, by what they count as."""

    expected: int
    pending: int = 0
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    leaving: int = 0
    """Pods that are being deleted, and have not ended."""

    @property
    def at_least_pending(self) -> int:
        return self.pending + self.running + self.succeeded + self.failed

    @property
    def at_least_running(self) -> int:
        return self.running + self.succeeded
