"""The kinds of jobs that wait for quota, one module each.

An `Integration` reads a job of its kind and says how it is suspended and started; the job
controller does the same for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from vocabulary.kinds import Kind
from vocabulary.objects import Object


class PodSetInfo(NamedTuple):
    """The labels and the node selector that an admitted pod set gets."""

    name: str
    labels: dict[str, str]
    node_selector: dict[str, str]


class End(NamedTuple):
    """How a job has ended."""

    success: bool
    message: str


class Integration(Protocol):
    """One kind of jobs."""

    @property
    def framework(self) -> str:
        """Its name in the configuration: `batch/job`."""

    @property
    def kind(self) -> Kind: ...

    @property
    def prefix(self) -> str:
        """The beginning of the names of its Workloads."""

    def is_suspended(self, job: Object) -> bool: ...

    def is_active(self, job: Object) -> bool:
        """True while it may have pods, by its own status."""

    def pod_sets(self, job: Object) -> tuple[Object, ...]:
        """As in `spec.podSets` of a Workload."""

    def end(self, job: Object) -> End | None: ...

    def are_pods_ready(self, job: Object) -> bool:
        """True if as many pods as it wants are ready or have succeeded."""

    def suspended(self) -> Object:
        """The merge patch that suspends it."""

    def started(
        self, job: Object, pod_sets: Sequence[Object], infos: Sequence[PodSetInfo]
    ) -> Object:
        """The merge patch that lets it run with these pod sets, each changed as its info says."""
