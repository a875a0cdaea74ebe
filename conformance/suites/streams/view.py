"""A history as checkers of Jobs see it: submissions, their interruptions, and trees of owners."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from conformance.history import Track
from conformance.norm.view import ObjectRun, ObjectView
from conformance.suites.streams.api import COUNTED, JOB, OF_JOB, TREE
from conformance.suites.streams.kind import JobState
from vocabulary.history import Process, Write
from vocabulary.kinds import POD, Kind
from vocabulary.objects import controller_of, is_terminating, labels_of


class JobRun(ObjectRun):
    """One Job's way through a history. Its successor of the same name is another."""

    @cached_property
    def launched(self) -> Write | None:
        """Its submission began."""
        return self._first(lambda state: state.id is not None)

    @cached_property
    def submitted(self) -> Write | None:
        return self._first(lambda state: state.is_submitted)

    @cached_property
    def deleting(self) -> Write | None:
        """Its deletion began."""
        return self._first(lambda state: state.is_terminating) or self.track.removed

    @cached_property
    def interruption(self) -> Process | None:
        """The end of the process that has begun its submission, before that was over."""
        if self.launched is None:
            return None
        over = self.submitted or self.deleting
        for each in self.operator.processes:
            if each.n < self.launched.n or each.process != self.launched.actor:
                continue
            if over is not None and each.n > over.n:
                return None
            if each.change in ("killed", "stopped", "ended"):
                return each
        return None

    @cached_property
    def users_deletion(self) -> Write | None:
        """A client other than the operator deleted it."""
        found = self.deleting
        return None if found is None or self.operator.is_by(found.actor) else found

    @cached_property
    def tree(self) -> Sequence[Track]:
        """All that it owns, directly or not."""
        return self.history.descendants(self.track.uid)

    @cached_property
    def namesakes(self) -> Sequence[Track]:
        """All objects that bear its name as their Job's, whoever owns them."""
        return [
            track
            for kind in TREE
            for track in self.history.by_kind.get(str(kind), ())
            if track.namespace == self.track.namespace
            and labels_of(track.first).get(OF_JOB) == self.track.name
        ]

    @property
    def successor(self) -> Track | None:
        """The next Job of its name."""
        jobs = self.history.named(self.track.kind, self.track.namespace, self.track.name)
        return next((each for each in jobs if each.created.n > self.track.created.n), None)

    def missing_at(self, n: int) -> Iterator[str]:
        """What its submission has not made, or is gone, at a position: `2 of 5 pods`."""
        state = JobState(self.track.at(n))
        for kind, statistic in COUNTED.items():
            found = len(self._alive(kind, n))
            wanted = state.wanted(statistic)
            if found < wanted:
                yield f"{found} of {wanted} {kind.plural}"
        elements = {(controller_of(pod.first) or {}).get("uid") for pod in self._alive(POD, n)}
        if len(elements) < state.size:
            yield f"pods of {len(elements)} of {state.size} processingelements"

    def _alive(self, kind: Kind, n: int) -> list[Track]:
        return [
            track
            for track in self.tree
            if track.kind == str(kind) and track.exists_at(n) and not is_terminating(track.at(n))
        ]

    def _first(self, holds: Callable[[JobState], bool]) -> Write | None:
        for write in self.track.versions:
            if holds(JobState(write.object or {})):
                return write
        return None


class StreamsHistory(ObjectView[JobRun]):
    """The Jobs of the operator under test."""

    role = "streams"
    kind = JOB

    def run_of(self, track: Track) -> JobRun:
        return JobRun(self, track)
