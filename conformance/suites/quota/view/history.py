"""The Workloads of a history, each with its pods."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property

from conformance.editions import edition_of, told_by
from conformance.history import History, Moment, Track
from conformance.history.tracks import Instant
from conformance.norm.view import ObjectView
from conformance.suites.kueue.api import FRAMEWORKS, QUEUE_LABEL, WORKLOAD
from conformance.suites.kueue.view import KueueHistory
from conformance.suites.kueue.view.job import is_suspended, starts
from conformance.suites.quota.view.holding import Holding, is_over
from conformance.suites.quota.view.pods import PodSpan, pod_spans
from vocabulary.history import Write
from vocabulary.kinds import JOB
from vocabulary.objects import controller_of, labels_of


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
        """That of the ledger; where it does not judge a run, that of Kueue."""
        told = told_by(self.history.header)
        return told.get("quota") or told.get("kueue") or edition_of("quota", told)

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
    def strays(self) -> tuple[tuple[Track, PodSpan, Moment], ...]:
        """The pods of queued jobs that run though their job has no Workload, and the controller has
        started it, or though others have, who are not stopped; each with its job, and since
        when."""
        return tuple(self._strays())

    def _strays(self) -> Iterator[tuple[Track, PodSpan, Moment]]:
        holdings = {uid: holding for holding in self.subjects for uid in holding.owner_uids}
        kinds = {str(JOB), *(self.history.tracks[uid].kind for uid in holdings)}
        for pod in self.pods:
            jobs = sorted(map(self.history.tracks.__getitem__, pod.roots), key=_created)
            job = next((each for each in jobs if QUEUE_LABEL in labels_of(each.first)), None)
            if job is None or job.kind not in kinds or FRAMEWORKS.get(job.kind, "pod") == "pod":
                continue
            holding = next((holdings[each.uid] for each in jobs if each.uid in holdings), None)
            before = [start for start in starts(job) if start.n < pod.bound.n]
            if not before:
                continue
            if not self.operator.is_by(before[-1].actor):
                since = self._runs_on(job, pod, before[-1], holding)
                if since is not None:
                    yield job, pod, since
            elif holding is None:
                yield job, pod, pod.bound

    def _runs_on(
        self, job: Track, pod: PodSpan, start: Write, holding: Holding | None
    ) -> Moment | None:
        """The moment at which a pod of a job that others have started runs without quota, though
        the controller can have seen that, and suspended the job."""
        timing, entries = self.operator.timing, self.history.entries
        due_us = timing.due_us(start.t, timing.latency_us)
        is_part = controller_of(job.first) is not None
        if is_part and self.kueue.manages_unqueued(job.namespace, job.created.n):
            return None  # it waits with the one that it is a part of
        if due_us is None or entries[-1].t <= due_us:
            return None
        last = entries[bisect_right(entries, due_us, key=lambda entry: entry.t) - 1]
        at: Moment = pod.bound if pod.bound.n > last.n else Instant(last.n, due_us)
        state = job.version_at(at.n)
        if state is None or is_suspended(state.object or {}) or is_over(state):
            return None
        if any(start.n < again.n <= at.n for again in starts(job)):
            return None
        has_quota = holding is not None and bool(holding.reserved_at(at.n))
        return at if pod.uses_at(at.n, terminating=False) and not has_quota else None


def _created(track: Track) -> int:
    return track.created.n
