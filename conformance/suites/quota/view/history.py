"""The Workloads of a history, each with its pods."""

from __future__ import annotations

from functools import cached_property

from conformance.editions import edition_of, told_by
from conformance.history import History, Track
from conformance.norm.view import ObjectView
from conformance.suites.kueue.api import QUEUE_LABEL, WORKLOAD
from conformance.suites.kueue.view import KueueHistory
from conformance.suites.quota.view.holding import Holding
from conformance.suites.quota.view.pods import PodSpan, pod_spans
from vocabulary.objects import get_path, labels_of


class QuotaHistory(ObjectView[Holding]):
    """The ledger of a history."""

    role = "kueue"
    kind = WORKLOAD

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self.kueue = history.seen_by(KueueHistory)
        self._workloads = {run.track: run for run in self.kueue.subjects}

    @cached_property
    def edition(self) -> str:
        return edition_of("quota", told_by(self.history.header))

    def run_of(self, track: Track) -> Holding:
        return Holding(self, self._workloads[track])

    def of_owner(self, uid: str) -> tuple[Track, ...]:
        """The Workloads that have stood for a job, one after the other."""
        owned = self.history.owned.get(uid, ())
        return tuple(track for track in owned if track.kind == str(WORKLOAD))

    @cached_property
    def pods(self) -> tuple[PodSpan, ...]:
        return tuple(pod_spans(self.history))

    @cached_property
    def strays(self) -> tuple[tuple[Track, PodSpan], ...]:
        """The pods of queued jobs without a Workload that the controller itself has started, each
        with its job."""
        known = {holding.owner_uid for holding in self.subjects}
        found = []
        for pod in self.pods:
            jobs = [self.history.tracks[uid] for uid in pod.roots]
            queued = [job for job in jobs if QUEUE_LABEL in labels_of(job.first)]
            if queued and known.isdisjoint(pod.roots) and self._was_started(queued[0], pod):
                found.append((queued[0], pod))
        return tuple(found)

    def _was_started(self, job: Track, pod: PodSpan) -> bool:
        """True if the last write before the pod's binding that set a job running is the
        controller's."""
        starts = [
            after
            for before, after in zip(job.versions, job.versions[1:], strict=False)
            if get_path(before.object, "spec.suspend")
            and not get_path(after.object, "spec.suspend")
            if after.n < pod.bound.n
        ]
        return bool(starts) and self.operator.is_by(starts[-1].actor)
