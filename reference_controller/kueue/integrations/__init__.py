"""The kinds of jobs that wait for quota, one module each.

An `Integration` reads a job of its kind and says how it is suspended and started; the job
controller does the same for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from vocabulary.kinds import Kind
from vocabulary.objects import Object


class PodSetInfo(NamedTuple):
    """The additions to the pod template of an admitted pod set."""

    labels: Mapping[str, str]
    node_selector: Mapping[str, str]
    tolerations: Sequence[Object] = ()


class End(NamedTuple):
    """How a job has ended."""

    success: bool
    message: str


class Integration(Protocol):
    """One kind of jobs. Patches are merge patches."""

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
        """As in `spec.podSets` of a Workload; empty while they are not known."""

    def end(self, job: Object) -> End | None: ...

    def are_pods_ready(self, job: Object) -> bool:
        """True if as many pods as it wants are ready or have succeeded."""

    def done(self, job: Object) -> Mapping[str, int]:
        """By pod set: how many of its pods are not needed any more."""

    def suspended(self) -> Object:
        """The patch that suspends it."""

    def started(
        self, job: Object, pod_sets: Sequence[Object], infos: Sequence[PodSetInfo]
    ) -> Object:
        """The patch that lets it run with these pod sets, each changed as its info says."""

    def is_placed(self, job: Object) -> bool:
        """True if an admission has changed its pod templates."""

    def restored(self, job: Object, pod_sets: Sequence[Object]) -> Object | None:
        """The patch that takes an admission's changes back; None while that is not possible."""
