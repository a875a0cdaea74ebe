"""The Workloads of a history, each with its pods."""

from __future__ import annotations

from functools import cached_property

from conformance.editions import edition_of, told_by
from conformance.history import History, Track
from conformance.norm.view import ObjectView
from conformance.suites.kueue.api import WORKLOAD
from conformance.suites.kueue.view import KueueHistory
from conformance.suites.quota.view.holding import Holding
from conformance.suites.quota.view.pods import PodSpan, pod_spans


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
