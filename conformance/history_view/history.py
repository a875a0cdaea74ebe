"""A history, indexed once, so that a hundred checkers can ask it cheaply."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

from conformance.history_view.appwrapper import AppWrapperRun
from conformance.history_view.autopilot import Autopilot
from conformance.history_view.operator import OperatorView
from conformance.history_view.parameters import OperatorParameters
from conformance.history_view.profile import Profile, profile_of
from conformance.history_view.rivals import doubled_since, overtaken
from conformance.history_view.tracks import Instant, Moment, Track
from vocabulary.history import Entry, Fault, Header, Mark, Process, Write, role_of
from vocabulary.kinds import kind_of
from vocabulary.objects import controller_of, labels_of, meta, uid_of

ROLE: Final = "appwrapper"
MAX_CHAIN: Final = 8
"""More controllers one above the other than any chain has that is not a circle."""


class History:
    """One recorded run. Immutable: checkers only read it, and may run in any order."""

    def __init__(
        self, header: Header, entries: Sequence[Entry], profile: Profile | None = None
    ) -> None:
        self.header = header
        self.entries = entries
        self.profile = profile or profile_of(header)
        self.tracks: dict[str, Track] = {}
        self.by_kind: dict[str, list[Track]] = {}
        self._by_name: dict[tuple[str, str, str], list[Track]] = {}
        self.owned: dict[str, list[Track]] = {}
        """Tracks by the uid of each owner that their first version names."""
        self.labelled_pods: dict[tuple[str, str], list[Track]] = {}
        """Pods by namespace and the AppWrapper's name on their label."""
        self.operators = {role: OperatorView(self, role) for role in header.operators}
        """The operators under test by their roles."""
        self.operator = self.operators.get(ROLE) or OperatorView(self, ROLE)
        self.refused_as_invalid: list[Write] = []
        """Requests of anybody whose object was not fit to be stored."""
        self.refused_submissions: list[Write] = []
        """What users and chaos asked to be stored of AppWrappers, and was not."""
        self.processes: list[Process] = []
        self.faults: list[Fault] = []
        self.marks: list[Mark] = []
        self._index(entries)

    def close(self) -> None:
        """Break the cycles: reference counts free the history then, with all derived from it."""
        for aw in self.appwrappers:
            aw.answers.clear()
        vars(self).clear()

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
                    self._file_refused(entry)
                operator = operators.get(role_of(entry.actor))
                if operator is not None:
                    operator.writes.append(entry)
            elif isinstance(entry, Fault):
                self.faults.append(entry)
            elif isinstance(entry, Process):
                self.processes.append(entry)
            else:
                self.marks.append(entry)

    def _file(self, track: Track) -> None:
        obj = track.first
        self.by_kind.setdefault(track.kind, []).append(track)
        self._by_name.setdefault((track.kind, track.namespace, track.name), []).append(track)
        for owner in meta(obj).get("ownerReferences") or ():
            self.owned.setdefault(str(owner.get("uid", "")), []).append(track)
        if track.kind == "Pod":
            name = labels_of(obj).get(self.profile.label)
            if name is not None:
                self.labelled_pods.setdefault((track.namespace, name), []).append(track)

    def _file_refused(self, entry: Write) -> None:
        if entry.kind == self.profile.kind:
            self.refused_submissions.append(entry)

    @cached_property
    def shows(self) -> frozenset[str]:
        """The names of those capabilities that the history has."""
        capabilities = self.header.capabilities
        names = ("writers", "options", "every_version")
        return frozenset(name for name in names if getattr(capabilities, name))

    @cached_property
    def shows_requests(self) -> bool:
        """Whether every request is there with who made it, and every version of an object.

        A history of watch events alone lacks requests that failed, and may have two versions
        that followed one another at once as one. One whose watches broke has the requests, and
        of some not what they made.
        """
        return self.header.capabilities.writers and self.shows_every_version

    @cached_property
    def shows_every_version(self) -> bool:
        """Whether nothing can have happened between two versions of an object, or before its first.

        Where not, only what is in a version counts, and what is known to be there beside it.
        """
        return self.header.capabilities.every_version

    @property
    def end(self) -> Moment:
        """The last moment that the history shows."""
        return self.entries[-1] if self.entries else Instant(0, 0)

    @cached_property
    def is_whole(self) -> bool:
        """Whether the run came to its end; if not, what is still open stays undecided."""
        return any(mark.mark == "end" for mark in self.marks)

    @cached_property
    def is_stable(self) -> bool:
        """Whether the run came to rest: nothing was going on, and no timer was set."""
        return any(mark.mark == "stable" for mark in self.marks)

    @cached_property
    def others_were_down(self) -> bool:
        """True if a process that is no operator under test was down or paused."""
        return any(
            entry.change in ("killed", "stopped", "paused")
            and role_of(entry.process) not in self.operators
            for entry in self.processes
        )

    @cached_property
    def overtaken(self) -> Mapping[int, Track]:
        """What one of two operators that acted at once created when the other had just ended the
        attempt, by the positions of all that became of it, and of what was made for it."""
        since = doubled_since(self.operator.processes)
        if since is None:
            return {}
        return {
            version.n: track
            for aw in self.appwrappers
            for track in overtaken(aw, since)
            for made in aw.with_made([track])
            for version in (*made.versions, made.removed)
            if version is not None
        }

    @cached_property
    def operator_parameters(self) -> OperatorParameters:
        """The configuration that the operator began with."""
        return OperatorParameters(self.operator.under_test.parameters)

    @cached_property
    def configurations(self) -> tuple[tuple[int, OperatorParameters], ...]:
        """The operator's configurations, each with the position from which it was in force."""
        return tuple(
            (since, OperatorParameters(parameters))
            for since, parameters in self.operator.configurations
        )

    @cached_property
    def autopilot(self) -> Autopilot:
        return Autopilot(self.operator.under_test.parameters, self.by_kind.get("Node", ()))

    @cached_property
    def appwrappers(self) -> tuple[AppWrapperRun, ...]:
        """Every AppWrapper that the history shows, by order of creation."""
        return tuple(
            AppWrapperRun(self, track) for track in self.by_kind.get(self.profile.kind, ())
        )

    def root_of(self, track: Track) -> Track | None:
        """What stands at the top of an object's chain of controllers, the object if it has none.

        None if that is an AppWrapper, or is not known.
        """
        for _ in range(MAX_CHAIN):
            if track.kind == self.profile.kind:
                return None
            owner = controller_of(track.first) or controller_of(track.last)
            if owner is None:
                return track
            found = self.tracks.get(str(owner.get("uid", "")))
            if found is None:
                return None
            track = found
        return None

    def workload_uid_of(self, track: Track) -> str:
        """The uid of the AppWrapper at the top of an object's chain of controllers, which may have
        been gone when the history began; empty if there is none, or the chain is not known."""
        for _ in range(MAX_CHAIN):
            owner = controller_of(track.first) or controller_of(track.last)
            if owner is None:
                return ""
            uid = str(owner.get("uid", ""))
            if kind_of(owner).group_kind == self.profile.kind:
                return uid
            found = self.tracks.get(uid)
            if found is None:
                return ""
            track = found
        return ""

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
