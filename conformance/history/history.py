"""A history, indexed once, so that a hundred checkers can ask it cheaply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, TypeVar

from conformance.history.operator import OperatorView
from conformance.history.tracks import Instant, Moment, Track
from vocabulary.history import RETRIES, Entry, Fault, Header, Mark, Process, Write, role_of
from vocabulary.objects import meta, uid_of

V = TypeVar("V")


class History:
    """One recorded run. Immutable: checkers only read it, and may run in any order."""

    def __init__(self, header: Header, entries: Sequence[Entry]) -> None:
        self.header = header
        self.entries = entries
        self.tracks: dict[str, Track] = {}
        self.by_kind: dict[str, list[Track]] = {}
        self._by_name: dict[tuple[str, str, str], list[Track]] = {}
        self.owned: dict[str, list[Track]] = {}
        """Tracks by the uid of each owner that their first version names."""
        self.operators = {role: OperatorView(self, role) for role in header.operators}
        """The operators under test by their roles."""
        self.refused_as_invalid: list[Write] = []
        """Requests of any client whose object was invalid."""
        self.refused_submissions: list[Write] = []
        """Requests of users and chaos whose objects were not stored."""
        self._views: dict[Callable[[History], Any], Any] = {}
        self.processes: list[Process] = []
        self.faults: list[Fault] = []
        self.marks: list[Mark] = []
        self._index(entries)

    def close(self) -> None:
        """Break the cycles: reference counts free the history then, with all derived from it."""
        for view in self._views.values():
            view.close()
        vars(self).clear()

    def seen_by(self, view: Callable[[History], V]) -> V:
        """The history as a suite sees it, made once."""
        if view not in self._views:
            self._views[view] = view(self)
        found: V = self._views[view]
        return found

    def _index(self, entries: Iterable[Entry]) -> None:
        tracks, operators = self.tracks, self.operators
        for entry in entries:
            if isinstance(entry, Write):
                if entry.event and entry.object is not None:
                    uid = entry.uid or uid_of(entry.object)
                    track = tracks.get(uid)
                    if track is None:
                        tracks[uid] = track = Track(entry, uid)
                        self._file(track)
                        if entry.event == "DELETED":
                            track.removed = entry
                    elif entry.event == "DELETED":
                        track.removed = entry
                    else:
                        track.versions.append(entry)
                if entry.reason == "Invalid":
                    self.refused_as_invalid.append(entry)
                if entry.submitted is not None and entry.code >= 400:
                    self.refused_submissions.append(entry)
                operator = operators.get(role_of(entry.actor))
                if operator is not None:
                    operator.writes.append(entry)
            elif isinstance(entry, Fault):
                self.faults.append(entry)
            elif isinstance(entry, Process):
                self.processes.append(entry)
            elif isinstance(entry, Mark):
                self.marks.append(entry)

    def _file(self, track: Track) -> None:
        obj = track.first
        self.by_kind.setdefault(track.kind, []).append(track)
        self._by_name.setdefault((track.kind, track.namespace, track.name), []).append(track)
        for owner in meta(obj).get("ownerReferences") or ():
            self.owned.setdefault(str(owner.get("uid", "")), []).append(track)

    @cached_property
    def shows(self) -> frozenset[str]:
        """The names of those capabilities that the history has."""
        capabilities = self.header.capabilities
        names = ("writers", "options", "every_version")
        return frozenset(name for name in names if getattr(capabilities, name))

    @cached_property
    def shows_requests(self) -> bool:
        """True if every request is there with who made it, and every version of an object.

        A history of watch events alone lacks requests that failed, and may have two versions
        that followed one another at once as one. One whose watches broke has the requests, and
        of some not what they made.
        """
        return self.header.capabilities.writers and self.shows_every_version

    @cached_property
    def shows_every_version(self) -> bool:
        """True if nothing can have happened between two versions of an object, or before its first.

        Where not, only what is in a version counts, and what is known to be there beside it.
        """
        return self.header.capabilities.every_version

    @property
    def end(self) -> Moment:
        """The last moment that the history shows."""
        return self.entries[-1] if self.entries else Instant(0, 0)

    @cached_property
    def is_whole(self) -> bool:
        """True if the run came to its end; if not, what is still open stays undecided."""
        return any(mark.mark == "end" for mark in self.marks)

    @cached_property
    def is_stable(self) -> bool:
        """True if the run came to rest: nothing was going on, and no timer was set but to ask
        again for what is refused."""
        return any(mark.mark == "stable" for mark in self.marks)

    @cached_property
    def retries_at_rest(self) -> bool:
        """True if the run came to rest, and an operator asked on for what it was refused."""
        return any(mark.mark == "stable" and mark.text == RETRIES for mark in self.marks)

    @cached_property
    def others_were_down(self) -> bool:
        """True if a process that is no operator under test was down or paused."""
        return any(
            entry.change in ("killed", "stopped", "paused")
            and role_of(entry.process) not in self.operators
            for entry in self.processes
        )

    def descendants(self, uid: str) -> list[Track]:
        """Everything that the object owns, directly or through others, each once."""
        found: dict[str, Track] = {}
        frontier = [uid]
        while frontier:
            owned = [track for owner in frontier for track in self.owned.get(owner, ())]
            fresh = [track for track in owned if track.uid not in found]
            found.update((track.uid, track) for track in fresh)
            frontier = [track.uid for track in fresh]
        return list(found.values())

    def find(self, kind: str, namespace: str, name: str, n: int) -> Track | None:
        """The object of that name which is stored after position n."""
        for track in self.named(kind, namespace, name):
            if track.exists_at(n):
                return track
        return None

    def named(self, kind: str, namespace: str, name: str) -> Sequence[Track]:
        """The objects that had this name, one after the other, in order of creation."""
        return self._by_name.get((kind, namespace, name), ())
