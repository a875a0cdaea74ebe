"""The pods of a history: how long each uses resources, and for which job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from conformance.history import History, Moment, Track
from conformance.suites.kueue.view.amounts import Usage, of_pod
from vocabulary.clock import SECOND, Micros
from vocabulary.history import Write
from vocabulary.objects import Object, controller_of, finalizers_of, get_path, is_terminating

_TERMINAL = ("Succeeded", "Failed")


@dataclass(frozen=True, eq=False)
class PodSpan:
    """A pod from its binding to a node until it is terminal or gone."""

    track: Track
    bound: Write
    ended: Write | None
    """The write by which it became terminal, was removed, or lost its owner; None: none did."""
    deleted: Write | None
    """The write from which on it, or one of its owners, was terminating or gone; None: none was."""
    roots: frozenset[str]
    """The uids of its owners, of their owners, and so on."""

    def __str__(self) -> str:
        return str(self.track)

    @cached_property
    def usage(self) -> Usage:
        return of_pod(self.track.first["spec"])

    @property
    def grace_us(self) -> Micros:
        """The grace period that it asks for."""
        return int(get_path(self.track.first, "spec.terminationGracePeriodSeconds", 30)) * SECOND

    def outlives_grace(self, latency_us: Micros) -> bool:
        """True if it is terminating, and not gone within its grace period and a while."""
        removed = self.track.removed
        if self.deleted is None:
            return False
        return removed is None or removed.t > self.deleted.t + self.grace_us + latency_us

    @property
    def stopping_us(self) -> Micros | None:
        """How long it was terminating itself before it ended; None if it was not, or still is."""
        going = _going(self.track)
        if going is None or self.ended is None or self.ended.n < going.n:
            return None
        return self.ended.t - going.t

    def uses_at(self, n: int, *, terminating: bool) -> bool:
        """True if it uses resources after position n; with `terminating` False, one that is
        terminating does not count."""
        if self.bound.n > n or (self.ended is not None and self.ended.n <= n):
            return False
        return terminating or self.deleted is None or self.deleted.n > n

    def ends_after(self, moment: Moment, latency_us: Micros) -> bool:
        """True if it uses resources at a moment, or its controller, which cannot have seen that
        moment yet, creates it within its latency."""
        if self.bound.n <= moment.n:
            return self.uses_at(moment.n, terminating=True)
        return self.track.created.t <= moment.t + latency_us


def pod_spans(history: History) -> Iterator[PodSpan]:
    """The pods that were bound to a node."""
    for track in history.by_kind.get("Pod", ()):
        bound = next(
            (each for each in track.versions if get_path(each.object, "spec.nodeName")), None
        )
        if bound is None:
            continue
        ends = [_terminal(track), track.removed, _orphaned(history, track)]
        ended = _first(ends)
        owners = list(_owners(history, track))
        deleted = _first([_going(history.tracks[uid]) for uid in owners])
        yield PodSpan(track, bound, ended, deleted, frozenset(owners))


def _first(writes: Iterable[Write | None]) -> Write | None:
    return min((each for each in writes if each), key=lambda each: each.n, default=None)


def _going(track: Track) -> Write | None:
    going = (each for each in track.versions if is_terminating(each.object or {}))
    return next(going, track.removed)


def _terminal(track: Track) -> Write | None:
    phases = ((each, get_path(each.object, "status.phase")) for each in track.versions)
    return next((each for each, phase in phases if phase in _TERMINAL), None)


def _owners(history: History, track: Track) -> Iterator[str]:
    """Itself, and its controllers up to the root, as they were at its creation."""
    at: Track | None = track
    while at is not None:
        yield at.uid
        owner = controller_of(at.first)
        at = None if owner is None else history.tracks.get(str(owner["uid"]))


def _orphaned(history: History, track: Track) -> Write | None:
    """The write by which it, or one of its owners, lost the controller that it had, or by which
    that began to be deleted and leaves what it owns."""
    found: list[Write] = []
    for uid in _owners(history, track):
        at = history.tracks[uid]
        if at is not track:
            leaving = (each for each in at.versions if leaves_others(each.object or {}))
            found += list(leaving)[:1]
        if controller_of(at.first) is not None:
            lost = (each for each in at.versions if controller_of(each.object or {}) is None)
            found += list(lost)[:1]
    return _first(found)


def leaves_others(obj: Object) -> bool:
    """True if it is deleted, and what it owns is not."""
    return is_terminating(obj) and "orphan" in finalizers_of(obj)
