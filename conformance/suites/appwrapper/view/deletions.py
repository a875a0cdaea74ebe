"""Deletion episodes: each time that the controller set out to remove what it had created."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

from conformance.history.tracks import Moment, Track
from vocabulary.clock import Micros
from vocabulary.history import Write
from vocabulary.objects import finalizers_of, is_terminating

DEFAULT_POD_GRACE_SECONDS: Final = 30
"""How long a pod that asks for nothing else has to stop."""
ORPHAN: Final = "Orphan"
ORPHAN_FINALIZER: Final = "orphan"
UNFINISHED: Final = ("Pending", "Running", "Unknown")


class Cause(StrEnum):
    RESET = "reset"
    SUSPENSION = "suspension"
    FAILURE = "failure"
    SUCCESS = "success TTL"
    DELETION = "deletion of the AppWrapper"


class DeleteRequest:
    """A deletion that the controller asked for, and what it hit."""

    __slots__ = ("n", "t", "track", "write")

    def __init__(self, write: Write, track: Track) -> None:
        self.n = write.n
        self.t: Micros = write.t
        self.write = write
        self.track = track

    @property
    def grace_seconds(self) -> int | None:
        value = self.write.options.get("gracePeriodSeconds")
        return None if value is None else int(value)

    @property
    def is_forced(self) -> bool:
        """Grace 0 on something that has not ended: an ended pod's last delete forces nothing."""
        if self.grace_seconds != 0:
            return False
        return self.track.kind != "Pod" or self._is_unfinished_pod

    @property
    def cuts_short(self) -> bool:
        """True if a pod that has not ended gets less time to stop than it had before."""
        if self.grace_seconds is None or self.track.kind != "Pod" or not self._is_unfinished_pod:
            return False
        before = self.track.at(self.n - 1)
        own = (before.get("spec") or {}).get("terminationGracePeriodSeconds")
        granted = (before.get("metadata") or {}).get("deletionGracePeriodSeconds", own)
        return self.grace_seconds < (DEFAULT_POD_GRACE_SECONDS if granted is None else granted)

    @property
    def orphans(self) -> bool:
        """True if it asks to keep what the object owns: as an option, or by the kind's default."""
        if self.write.options.get("propagationPolicy") == ORPHAN:
            return True
        return ORPHAN_FINALIZER in finalizers_of(
            self.track.at(self.n)
        ) and ORPHAN_FINALIZER not in finalizers_of(self.track.at(self.n - 1))

    @property
    def _is_unfinished_pod(self) -> bool:
        status = self.track.at(self.n - 1).get("status") or {}
        return self.track.kind == "Pod" and status.get("phase", "Pending") in UNFINISHED


class Deletion:
    """One episode: from the phase that calls for it to the next one.

    `begin` is the version of the AppWrapper that calls for it, `end` the one that ends it
    (None: the history or the AppWrapper ends first). `requests` are the controller's own that
    were accepted, `refused` those that were not.
    `hit` is everything that was there to be removed, `deletable` the components among it that
    were not terminating already. `gone` is the moment at which nothing was left; None if that
    was not seen.
    """

    __slots__ = (
        "_end_n",
        "begin",
        "cause",
        "deletable",
        "end",
        "gone",
        "hit",
        "previous",
        "refused",
        "requests",
    )

    def __init__(
        self,
        *,
        cause: Cause,
        begin: Moment,
        end: Moment | None,
        end_n: int,
        belongings: Iterable[Track],
        components: Sequence[Track],
        requests: Sequence[DeleteRequest],
        refused: Sequence[DeleteRequest],
        previous: Deletion | None,
        with_late_ones: bool,
    ) -> None:
        self.cause = cause
        self.begin = begin
        self.end = end
        self.requests = [request for request in requests if begin.n <= request.n < end_n]
        self.refused = [request for request in refused if begin.n <= request.n < end_n]
        self.hit = [
            track
            for track in belongings
            if track.exists_at(begin.n) or (with_late_ones and begin.n < track.created.n < end_n)
        ]
        self.deletable = [
            track
            for track in components
            if track.exists_at(begin.n) and not is_terminating(track.at(begin.n))
        ]
        self._end_n = end_n
        self.gone = self.gone_of(self.hit)
        self.previous = (
            previous
            if previous is not None
            and previous.gone is None
            and previous.end is not None
            and previous.end.n == begin.n
            else None
        )

    def gone_of(self, tracks: Iterable[Track]) -> Moment | None:
        """The moment in the episode at which none of these was left; None if that was not seen."""
        gone: Moment = self.begin
        for track in tracks:
            removed = track.removed
            if removed is None or removed.n >= self._end_n:
                return None
            if removed.n > gone.n:
                gone = removed
        return gone

    @property
    def first_request(self) -> DeleteRequest | None:
        return self.requests[0] if self.requests else None

    def attempts_at(self, track: Track) -> list[DeleteRequest]:
        """The requests for one object in order, those that were refused among them."""
        found = [each for each in (*self.requests, *self.refused) if each.track is track]
        return sorted(found, key=lambda request: request.n)

    @property
    def chain(self) -> list[Deletion]:
        """This episode and those before it that it went on with, earliest first."""
        episodes = [self]
        while episodes[0].previous is not None:
            episodes.insert(0, episodes[0].previous)
        return episodes

    def deletable_before(self, moment: Moment) -> list[Track]:
        """The components among `deletable` that were not being deleted right before a moment.

        A user may have deleted them meanwhile: while the deletion was delayed, or the controller
        down.
        """
        n = moment.n - 1
        return [
            track
            for track in self.deletable
            if track.exists_at(n) and not is_terminating(track.at(n))
        ]

    def left_at(self, n: int) -> list[Track]:
        """The objects still stored after position n."""
        return [track for track in self.hit if track.exists_at(n)]
