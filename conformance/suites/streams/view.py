"""A history as checkers of Jobs see it: submissions, their interruptions, and trees of owners."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from conformance.history import Moment, Track, doubled_since
from conformance.history.operator import ENDS
from conformance.norm.claim import Claim
from conformance.norm.obligations import Obligation, undecided
from conformance.norm.view import ObjectRun, ObjectView
from conformance.suites.streams.api import COUNTED, GROUP, JOB, OF_JOB, PROCESSING_ELEMENT, TREE
from conformance.suites.streams.decisions import ONE_AT_A_TIME
from conformance.suites.streams.kind import JobState
from vocabulary.clock import Micros
from vocabulary.history import Process, Write
from vocabulary.kinds import POD, Kind
from vocabulary.objects import controller_of, finalizers_of, is_terminating, labels_of

FORBIDDEN = 403
_OF_COLLECTOR = ("foregroundDeletion", "orphan")


class JobRun(ObjectRun):
    """One Job's way through a history. Its successor of the same name is another."""

    def __init__(self, view: StreamsHistory, track: Track) -> None:
        super().__init__(view, track)
        self._view = view

    # Its life

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
    def users_deletion(self) -> Write | None:
        """A client other than the operator deleted it."""
        found = self.deleting
        return None if found is None or self.operator.is_by(found.actor) else found

    @cached_property
    def forbidden(self) -> Write | None:
        """The first refusal of a part that the API server has refused to the end, for lack of quota
        or rights."""
        stored = {(track.kind, track.name): track.created.n for track in self.tree}
        for write in self.operator.refused_creates:
            if (write.namespace, write.code) != (self.track.namespace, FORBIDDEN):
                continue
            is_its = write.name.startswith(self.track.name)
            if is_its and stored.get((write.kind, write.name), -1) < write.n:
                return write
        return None

    @cached_property
    def held(self) -> Write | None:
        """The last change of a part that a finalizer of others keeps to the end."""
        found = (kept_by_others(track) for track in self.tree)
        return next((each for each in found if each is not None), None)

    @cached_property
    def interruption(self) -> Process | None:
        """The end of the process that has begun its submission, before that was over."""
        if self.launched is None:
            return None
        over = self.submitted or self.deleting
        for each in self.operator.processes:
            if over is not None and each.n > over.n:
                return None
            is_its = each.n > self.launched.n and each.process == self.launched.actor
            if is_its and each.change in ENDS:
                return each
        return None

    @cached_property
    def deletes(self) -> Sequence[Write]:
        """The deletions of it that the operator asked for and got."""
        key = self.track.kind, self.track.namespace, self.track.name
        return [each for each in self.operator.deletes.get(key, ()) if each.uid == self.track.uid]

    @cached_property
    def successor(self) -> JobRun | None:
        """The next Job of its name."""
        later = (
            run for run in self._view.named(self) if run.track.created.n > self.track.created.n
        )
        return next(later, None)

    @cached_property
    def interrupted(self) -> JobRun | None:
        """The Job that the operator has created this one for; None for one of a user's."""
        if not self.operator.is_by(self.track.created.actor):
            return None
        earlier = [
            run for run in self._view.named(self) if run.track.created.n < self.track.created.n
        ]
        return earlier[-1] if earlier else None

    @property
    def others(self) -> Sequence[JobRun]:
        """The Jobs of other names, or in other namespaces."""
        its = self._view.named(self)
        return [run for run in self._view.subjects if run not in its]

    # Its tree

    @cached_property
    def tree(self) -> Sequence[Track]:
        """All that it owns, directly or not."""
        return self.history.descendants(self.track.uid)

    @cached_property
    def namesakes(self) -> Sequence[Track]:
        """The objects that bear its name as their Job's, also those that it does not own."""
        return [
            track
            for kind in TREE
            for track in self.history.by_kind.get(str(kind), ())
            if track.namespace == self.track.namespace
            and labels_of(track.first).get(OF_JOB) == self.track.name
        ]

    @cached_property
    def made(self) -> Sequence[Track]:
        """Those of them that the operator has created."""
        return [track for track in self.namesakes if self.operator.is_by(track.created.actor)]

    def of(self, kind: Kind) -> Sequence[Track]:
        return [track for track in self.tree if track.kind == str(kind)]

    def pods_of(self, element: Track) -> Sequence[Track]:
        return [
            track for track in self.history.owned.get(element.uid, ()) if track.kind == str(POD)
        ]

    def alive(self, kind: Kind, n: int, since_us: Micros = sys.maxsize) -> Sequence[Track]:
        """The objects of its tree that exist at a position and are not being deleted, or have been
        only from a time on."""
        return [
            track
            for track in self.of(kind)
            if track.created.n <= n
            and ((end := ending(track)) is None or end.n > n or end.t > since_us)
        ]

    def missing_at(self, n: int, since_us: Micros = sys.maxsize) -> Iterator[str]:
        """The parts that do not exist at a position, nor until a time: `2 of 5 services`."""
        state = JobState(self.track.at(n))
        for kind, statistic in COUNTED.items():
            found, wanted = len(self.alive(kind, n, since_us)), state.wanted(statistic)
            if found < wanted:
                yield f"{found} of {wanted} {kind.plural}"
        pods = self.alive(POD, n, since_us)
        with_pod = {(controller_of(pod.first) or {}).get("uid") for pod in pods}
        if len(with_pod) < state.size:
            yield f"pods of {len(with_pod)} of {state.size} {PROCESSING_ELEMENT.plural}"

    def counted_us(self, submitted: Write) -> Micros:
        """The earliest time at which the operator may have counted the parts of a Job that it calls
        Submitted: it lists one kind after the other, at the API server."""
        since_us = submitted.t
        for _ in TREE:
            since_us = self.operator.looked_us(submitted.actor, since_us, live=True)
        return since_us

    def left_at(self, n: int) -> Sequence[Track]:
        """The objects of its name that were created before it and exist at a position."""
        before = self.track.created.n
        return [track for track in self.made if track.created.n < before and track.exists_at(n)]

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

    def excused(self, claim: Claim, broken: Obligation) -> Obligation | None:
        since = doubled_since(self.operator.processes)
        if since is None or broken.at.n < since or not claim.cites(ONE_AT_A_TIME.id):
            return None
        because = "two processes of the operator have acted at once"
        return undecided(broken.at, because, decision=ONE_AT_A_TIME.id)

    def named(self, run: JobRun) -> Sequence[JobRun]:
        """The Jobs that had a Job's name, in order of creation."""
        track = run.track
        return [
            each
            for each in self.subjects
            if (each.track.namespace, each.track.name) == (track.namespace, track.name)
        ]


def ending(track: Track) -> Write | None:
    """When an object's deletion began."""
    begun = (each for each in track.versions if is_terminating(each.object or {}))
    return next(begun, None) or track.removed


def kept_by_others(track: Track) -> Write | None:
    """The last change of an object that a finalizer of others keeps to the end."""
    others = [
        each
        for each in finalizers_of(track.last)
        if each not in _OF_COLLECTOR and not each.startswith(f"{GROUP}/")
    ]
    is_kept = track.removed is None and is_terminating(track.last) and others
    return track.versions[-1] if is_kept else None


def first(moments: Sequence[Moment | None]) -> Moment | None:
    """The earliest of those that there are."""
    return min(
        (each for each in moments if each is not None), key=lambda each: each.n, default=None
    )
