"""The writes of one operator in a row, without progress: too many of them are a livelock."""

from __future__ import annotations

from collections import Counter
from typing import Final, TypeAlias

from conformance.suite import KindUse
from vocabulary.clock import MINUTE, Micros
from vocabulary.history import Write
from vocabulary.kinds import EVENT
from vocabulary.objects import get_path

Id: TypeAlias = tuple[str, str, str]
"""Kind, namespace and name."""
Request: TypeAlias = tuple[Id, str, str, str, int, str]
"""The subject of a write, its verb, kind and name (empty for an Event, which has a new one each
time), the code and the reason of its refusal."""

_EVENT: Final = str(EVENT)


class Stretch:
    """A time without writes from outside of the cluster, with the writes of one operator in it,
    and the repetitions among them since it last did something new."""

    def __init__(self) -> None:
        self.occasions = 0
        """New writes of other operators since then: each may be the reason of one repetition, such
        as a number that is brought up to date."""
        self._in_a_row: Counter[Request] = Counter()
        """The writes since the last progress."""
        self._since_us: Micros = 0
        """The time of the first of them."""
        self._known: set[Request] = set()
        """The operator's different writes."""
        self._progress: dict[str, list[object]] = {}
        """How far each object under test has come so far, by uid."""
        self._made: set[Id] = set()
        self._made_again: set[Id] = set()
        """The names under which the operator has created something more than once."""

    def wrote(self, write: Write, use: KindUse | None) -> bool:
        """The operator wrote; True if it made progress, or wrote something new."""
        which = _subject(write)
        name = "" if write.kind == _EVENT else write.name
        what = (
            which,
            write.verb,
            write.kind,
            name,
            write.code if write.reason else 0,
            write.reason,
        )
        if self._in_a_row and write.t - self._since_us > MINUTE:
            self._forget()
        is_new = what not in self._known
        self._known.add(what)
        if write.event == "ADDED":
            (self._made_again if which in self._made else self._made).add(which)
        if use is not None and write.object is not None:
            been, now = self._progress.setdefault(write.uid, []), use.progress(write.object)
            if now not in been:
                been.append(now)
                is_new = is_new or write.event == "MODIFIED"
        if is_new:
            self._begin()
        if not self._in_a_row:
            self._since_us = write.t
        self._in_a_row[what] += 1
        return is_new

    def reported(self, write: Write) -> None:
        """A process of the cluster wrote: the operator may have new work, unless that was about an
        object that it keeps making anew."""
        if (write.kind, write.namespace, write.name) not in self._made_again:
            self._begin()

    def repeated(self) -> int:
        """How often the most frequent write was repeated since the last progress, beyond the
        occasions for it."""
        return max(self._in_a_row.values(), default=0) - self.occasions

    def in_words(self) -> tuple[int, int, str]:
        """The number of writes since the last progress, that of the most frequent one, and it."""
        ((_, verb, kind, name, code, reason), times), *_ = self._in_a_row.most_common(1)
        refused = f" ({code} {reason})" if reason else ""
        what = " ".join(filter(None, (verb, kind, name)))
        return self._in_a_row.total(), times, what + refused

    def _begin(self) -> None:
        self._in_a_row.clear()
        self.occasions = 0

    def _forget(self) -> None:
        self._begin()
        self._progress.clear()
        for each in (self._known, self._made, self._made_again):
            each.clear()


def _subject(write: Write) -> Id:
    """The object that a write is about; for an Event, whose name tells nothing, what it regards."""
    if write.kind != _EVENT:
        return write.kind, write.namespace, write.name
    regarded = get_path(write.object or {}, "involvedObject") or {}
    return str(regarded.get("kind")), write.namespace, str(regarded.get("name"))
