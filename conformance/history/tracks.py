"""The life of one object: every version of it, from its creation to its end."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from operator import attrgetter
from typing import Protocol

from vocabulary.clock import Micros
from vocabulary.history import Write
from vocabulary.objects import Object


class Moment(Protocol):
    """A place in a history: a position, which orders, and a time, which measures."""

    @property
    def n(self) -> int: ...

    @property
    def t(self) -> Micros: ...


def earliest(*moments: Moment | None) -> Moment | None:
    """The first of several moments, those left out that never came."""
    came = (moment for moment in moments if moment is not None)
    return min(came, key=lambda moment: moment.n, default=None)


class Instant:
    """A moment by itself, for example the beginning of the history."""

    __slots__ = ("n", "t")

    def __init__(self, n: int, t: Micros) -> None:
        self.n = n
        self.t = t


_position = attrgetter("n")


class Track:
    """One object, by uid: a name that is used again begins another track.

    `versions` are the writes that created and changed it, in order; `removed` is the one
    that ended it. A history that begins in the middle has the first state seen as creation.
    """

    __slots__ = ("created", "first", "kind", "name", "namespace", "removed", "uid", "versions")

    def __init__(self, created: Write, uid: str) -> None:
        self.uid = uid
        self.kind = created.kind
        self.namespace = created.namespace
        self.name = created.name
        self.created = created
        self.first: Object = created.object or {}
        """The object as it was created."""
        self.versions = [created]
        self.removed: Write | None = None

    def __str__(self) -> str:
        """`pod/a-0`, as kubectl prints it."""
        return f"{self.kind.partition('.')[0].lower()}/{self.name}"

    @property
    def last(self) -> Object:
        """The object as it was seen last."""
        return self.versions[-1].object or {}

    def exists_at(self, n: int) -> bool:
        """True if the object is stored after the entry at position n; terminating ones are."""
        return self.created.n <= n and (self.removed is None or self.removed.n > n)

    def version_at(self, n: int) -> Write | None:
        """The write that made the state which is stored after position n, if it exists then."""
        if not self.exists_at(n):
            return None
        return self.versions[bisect_right(self.versions, n, key=_position) - 1]

    def at(self, n: int) -> Object:
        """The object as it is stored after position n; empty if it does not exist then."""
        version = self.version_at(n)
        return {} if version is None else version.object or {}

    def changed_between(self, since: int, until: int) -> bool:
        """True if it was created, changed or removed after one position and before another."""
        last = self.versions[bisect_left(self.versions, until, key=_position) - 1].n
        return since < last < until or (self.removed is not None and since < self.removed.n < until)
