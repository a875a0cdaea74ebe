"""The kinds of jobs that wait for quota, one module each.

An `Integration` reads a job of its kind and says how it is stopped and started; the job
controller does the same for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from reference_controller.runtime.controller import Key
from reference_controller.shared.reading import Reading
from vocabulary.kinds import Kind
from vocabulary.objects import Object
from vocabulary.requests import Request


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
    """One kind of jobs."""

    @property
    def framework(self) -> str:
        """Its name in the configuration: `batch/job`."""

    @property
    def kind(self) -> Kind: ...

    @property
    def prefix(self) -> str:
        """The beginning of the names of its Workloads."""

    @property
    def follows_changes(self) -> bool:
        """True if a job that is changed becomes another one, with other pod sets."""

    @property
    def is_joined(self) -> bool:
        """True if objects may join a job later that are parts of it."""

    @property
    def watches(self) -> tuple[Kind, ...]:
        """The kinds of which its jobs are made."""

    def job_of(self, obj: Object) -> Key | None:
        """The job that an object of these kinds belongs to."""

    def find(self, key: Key, workload: Object | None, *, live: bool) -> Reading[Object | None]:
        """The job of that name, which may have a Workload; None if there is none."""

    def head(self, job: Object) -> Object:
        """The metadata of its Workload."""

    def is_active(self, job: Object) -> bool:
        """True while it may have pods, by its own status."""

    def pod_sets(self, job: Object) -> tuple[Object, ...]:
        """As in `spec.podSets` of a Workload; empty while they are not known."""

    def end(self, job: Object) -> End | None: ...

    def are_pods_ready(self, job: Object) -> bool:
        """True if as many pods as it wants are ready or have succeeded."""

    def done(self, job: Object) -> Mapping[str, int]:
        """By pod set: how many of its pods are not needed any more."""

    def may_restart(self, job: Object) -> bool:
        """True if pods of it that are done may be run again."""

    def stop(self, job: Object) -> Sequence[Request]:
        """The writes that suspend it; none if it is."""

    def start(
        self, job: Object, pod_sets: Sequence[Object], infos: Sequence[PodSetInfo]
    ) -> Sequence[Request]:
        """The writes that let it run with these pod sets, each changed as its info says; none if
        it does."""

    def is_placed(self, job: Object) -> bool:
        """True if an admission has changed its pod templates."""

    def restore(self, job: Object, pod_sets: Sequence[Object]) -> Sequence[Request]:
        """The writes that take an admission's changes back; none while that is not possible."""
