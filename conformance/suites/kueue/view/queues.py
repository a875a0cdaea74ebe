"""The queues of a history: who waits in them, what they have, and what is reserved of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from conformance.history import History, Moment, Track
from conformance.history.tracks import Instant
from conformance.suites.kueue.api import CLUSTER_QUEUE, LOCAL_QUEUE, RESOURCE_FLAVOR
from conformance.suites.kueue.view.amounts import Usage
from vocabulary.objects import get_path, is_terminating
from vocabulary.quantities import parse_quantity

if TYPE_CHECKING:
    from conformance.suites.kueue.view.workload import Snapshot, WorkloadRun


_FLAVOR = str(RESOURCE_FLAVOR)


class Queues:
    """All queues, with the Workloads that wait in them or hold quota of them."""

    def __init__(self, history: History, workloads: Sequence[WorkloadRun]) -> None:
        self._history = history
        self._workloads = workloads

    def first_from(self, run: WorkloadRun, since: Moment) -> Moment | None:
        """The first moment from one on at which it waits, fits into the nominal quota of its
        queue, and no other one of the cohort waits; None if there is none."""
        return next((at for at in self._moments(since) if self._is_first(run, at)), None)

    def closed(self, run: WorkloadRun, since: Moment) -> Moment | None:
        """The first moment after another at which the queues of a Workload do not admit."""
        queue = self.queue_of(run, since.n)
        local = self._local.get((run.track.namespace, self._name_of_local(run, since.n)))
        tracks = [local, self._cluster.get(queue), *self._history.by_kind.get(_FLAVOR, ())]
        changes: list[Moment] = []
        for track in tracks:
            if track is not None:
                changes += [*track.versions, *([track.removed] if track.removed else [])]
        later = sorted((each for each in changes if each.n > since.n), key=lambda each: each.n)
        return next((each for each in later if not self._admits(run, queue, each.n)), None)

    def _name_of_local(self, run: WorkloadRun, n: int) -> str:
        state = run.at(n)
        return "" if state is None else str(state.queue)

    def others(self, run: WorkloadRun) -> Iterator[WorkloadRun]:
        """The other Workloads of its cohort."""
        n = run.track.created.n
        cohort = self._cohort(self.queue_of(run, n), n)
        for other in self._workloads:
            if other is not run and self.queue_of(other, other.track.created.n) in cohort:
                yield other

    def taken(self, run: WorkloadRun, since: Moment) -> Moment | None:
        """The next reservation of another Workload in the cohort of its queue."""
        cohort = self._cohort(self.queue_of(run, since.n), since.n)
        found = (
            state
            for other in self._workloads
            if other is not run
            for state in other.admissions
            if state.n > since.n and state.cluster_queue in cohort
        )
        return min(found, key=lambda state: state.n, default=None)

    def freed_at(self, run: WorkloadRun, at: Moment) -> Snapshot | None:
        """The last release of quota of the cohort before a moment, by another Workload."""
        cohort = self._cohort(self.queue_of(run, at.n), at.n)
        found = (
            after
            for other in self._workloads
            if other is not run
            for before, after in other.changes
            if before.has_quota and not after.has_quota and before.cluster_queue in cohort
            if run.track.created.n < after.n <= at.n
        )
        return max(found, key=lambda state: state.n, default=None)

    def queue_of(self, run: WorkloadRun, n: int) -> str:
        """The ClusterQueue that a Workload waits in after position n; empty if there is none."""
        local = self._local.get((run.track.namespace, self._name_of_local(run, n)))
        return "" if local is None else str(get_path(local.at(n), "spec.clusterQueue", ""))

    def _moments(self, since: Moment) -> Iterator[Moment]:
        """The moment itself, and all later ones at which a Workload changed."""
        yield since
        later = [state for run in self._workloads for state in run.snapshots if state.t >= since.t]
        for state in sorted(later, key=lambda state: state.n):
            if state.n > since.n:
                yield Instant(state.n, state.t)

    def _is_first(self, run: WorkloadRun, at: Moment) -> bool:
        queue = self.queue_of(run, at.n)
        state = run.at(at.n)
        if not queue or state is None or not self._is_candidate(state, at):
            return False
        if not self._admits(run, queue, at.n):
            return False
        cohort = self._cohort(queue, at.n)
        for other in self._workloads:
            theirs = other.at(at.n)
            if other is run or theirs is None or self.queue_of(other, at.n) not in cohort:
                continue
            if self._is_candidate(theirs, at):
                return False
        return self._fits(run.usage, queue, cohort, at.n)

    def _is_candidate(self, state: Snapshot, at: Moment) -> bool:
        """True if it waits, and is not in its back-off."""
        waits = state.is_active and not (state.has_reservation or state.is_finished)
        if not waits or state.is_terminating:
            return False
        requeue_at_us = state.requeue_at_us
        return requeue_at_us is None or requeue_at_us - self._history.header.began_us <= at.t

    def _admits(self, run: WorkloadRun, queue: str, n: int) -> bool:
        """True if both queues of a Workload and all flavors are there, and none is deleted."""
        local = self._local.get((run.track.namespace, self._name_of_local(run, n)))
        tracks = [local, self._cluster.get(queue), *self._history.by_kind.get(_FLAVOR, ())]
        objects = [{} if track is None else track.at(n) for track in tracks]
        if not all(objects) or any(map(is_terminating, objects)):
            return False
        policies = (get_path(obj, "spec.stopPolicy", "None") for obj in objects[:2])
        return all(policy == "None" for policy in policies)

    def _fits(self, asked: Usage, queue: str, cohort: Collection[str], n: int) -> bool:
        """True if it fits into what is left of the nominal quota of its queue, all of which is
        there since no other queue of the cohort borrows."""
        for name, value in asked.items():
            if self._held(queue, name, n) + value > self._nominal(queue, name, n):
                return False
            for each in cohort:
                if each != queue and self._held(each, name, n) > self._nominal(each, name, n):
                    return False
        return True

    def _nominal(self, queue: str, resource: str, n: int) -> Fraction:
        """The nominal quota of a resource, where one flavor has it; none where several do, since it
        depends on the flavor then what fits."""
        track = self._cluster.get(queue)
        found = [
            parse_quantity(each["nominalQuota"])
            for group in get_path({} if track is None else track.at(n), "spec.resourceGroups") or ()
            for flavor in group["flavors"]
            for each in flavor["resources"]
            if each["name"] == resource
        ]
        return found[0] if len(found) == 1 else Fraction(0)

    def _held(self, queue: str, resource: str, n: int) -> Fraction:
        """How much of a resource is reserved in a ClusterQueue after position n."""
        total = Fraction(0)
        for run in self._workloads:
            state = run.at(n)
            if state is not None and state.has_quota and state.cluster_queue == queue:
                for each in state.assignments:
                    total += parse_quantity((each.get("resourceUsage") or {}).get(resource, 0))
        return total

    def _cohort(self, queue: str, n: int) -> frozenset[str]:
        """The ClusterQueues that share quota with one, itself included."""
        name = self._cohort_of(queue, n)
        if not name:
            return frozenset((queue,))
        return frozenset(each for each in self._cluster if self._cohort_of(each, n) == name)

    def _cohort_of(self, queue: str, n: int) -> str:
        track = self._cluster.get(queue)
        return "" if track is None else str(get_path(track.at(n), "spec.cohort") or "")

    @cached_property
    def _cluster(self) -> dict[str, Track]:
        tracks = self._history.by_kind.get(str(CLUSTER_QUEUE), ())
        return {track.name: track for track in tracks}

    @cached_property
    def _local(self) -> dict[tuple[str, str], Track]:
        tracks = self._history.by_kind.get(str(LOCAL_QUEUE), ())
        return {(track.namespace, track.name): track for track in tracks}
