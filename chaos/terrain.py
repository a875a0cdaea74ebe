"""Targets of faults in a scenario, as a recorded run of it shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from chaos.choice import named_object
from chaos.subject_kind import subject_kind
from chaos.trigger import WriteVerb
from vocabulary.clock import MINUTE, SECOND, Micros
from vocabulary.history import OPERATOR, Entry, Mark, Write, role_of
from vocabulary.kinds import EVENT, LEASE, POD, kind_of, known_kinds
from vocabulary.objects import Object, get_path, labels_of, owner_references

SPAN_US: Final = (10 * SECOND, 10 * MINUTE)
"""The least and the most of a run within which faults strike."""
_PEOPLE: Final = ("user", "harness", "chaos")
"""Actors of a history that are no processes of the cluster."""
_UNWATCHED: Final = (str(EVENT), str(LEASE))
"""Kinds by which processes speak of themselves."""


class Written(NamedTuple):
    """A sort of write that the operator makes."""

    verb: WriteVerb
    kind: str
    subresource: str
    times: int


@dataclass(frozen=True, slots=True)
class Terrain:
    """Targets of faults in a scenario, and the span within which faults strike."""

    scenario: str
    subject: str
    """The object under test: `JobSet/a`."""
    components: tuple[str, ...] = ()
    """Kinds of the objects that it owns directly."""
    controllers: tuple[str, ...] = ()
    """Processes that can be paused, the operator apart."""
    watched: tuple[str, ...] = ()
    """Kinds of what changes, and of what the operator may therefore be late to hear."""
    phases: tuple[str, ...] = ()
    """Values that the subject's phase takes."""
    conditions: tuple[tuple[str, str], ...] = ()
    """Values that its conditions take: type and status."""
    pod_phases: tuple[str, ...] = ()
    """Values that the phases of its pods take."""
    writes: tuple[Written, ...] = ()
    """Writes of the operators."""
    span_us: Micros = 10 * MINUTE
    """Faults strike within so much of the beginning."""
    operator: str = OPERATOR
    """The operator under test, as plans name it: by its role where there are others."""
    without: frozenset[str] = frozenset()
    """Entries of the menus that are refused where the scenario runs."""


def terrains_of(
    scenario: str, entries: Sequence[Entry], roles: Collection[str]
) -> tuple[Terrain, ...]:
    """For each operator that had work in a recorded run, the terrain that the run shows of it."""
    found: list[Terrain] = []
    for role in roles:
        terrain = terrain_of(scenario, entries, (role,))
        if terrain is not None:
            found.append(terrain if len(roles) == 1 else replace(terrain, operator=role))
    return tuple(found)


def terrain_of(scenario: str, entries: Iterable[Entry], roles: Collection[str]) -> Terrain | None:
    """The terrain that a recorded run of a scenario with operators of these roles shows; None if
    none of them had work in it."""
    writes: list[Write] = []
    span_us = SPAN_US[1]
    for entry in entries:
        if isinstance(entry, Mark) and entry.mark == "faults-stopped":
            span_us = entry.t
        if isinstance(entry, Write):
            writes.append(entry)
    submitted = _submitted(writes, roles)
    if submitted is None:
        return None
    seen = _Seen(submitted, roles)
    for write in writes[writes.index(submitted) :]:
        seen.add(write)
    return Terrain(
        scenario,
        seen.subject,
        components=tuple(seen.components),
        controllers=tuple(seen.controllers),
        watched=tuple(seen.changed),
        phases=tuple(seen.phases),
        conditions=tuple(seen.conditions),
        pod_phases=tuple(seen.pod_phases),
        writes=tuple(Written(*sort, times) for sort, times in seen.writes.items()),
        span_us=min(max(span_us, SPAN_US[0]), SPAN_US[1]),
        without=seen.without(),
    )


def _submitted(writes: list[Write], roles: Collection[str]) -> Write | None:
    """The creation of the object under test: the first by others that the operator changes."""
    worked_on = {
        (write.kind, write.name)
        for write in writes
        if write.event == "MODIFIED" and role_of(write.actor) in roles
    }
    return next(
        (
            write
            for write in writes
            if write.event == "ADDED"
            and role_of(write.actor) not in roles
            and (write.kind, write.name) in worked_on
        ),
        None,
    )


class _Seen:
    """Facts that writes have shown so far; the dicts are sets that keep their order."""

    def __init__(self, submitted: Write, roles: Collection[str]) -> None:
        self.roles = roles
        obj = submitted.object or {}
        kind = _spelled(submitted.kind, str(obj.get("apiVersion", "")))
        self.subject = f"{kind}/{submitted.name}"
        self._submitted = (submitted.kind, submitted.name)
        self._kind = subject_kind(named_object(self.subject)[0])
        self._spelled = {kind.group_kind: _spelled(kind.group_kind, "") for kind in known_kinds()}
        """How plans spell the kinds that were seen, by group kind."""
        self._owned = {self._submitted}
        """Kinds and names of the subject and of all that it owns."""
        self.components: dict[str, None] = {}
        self.controllers: dict[str, None] = {}
        self.changed: dict[str, None] = {}
        self.phases: dict[str, None] = {}
        self.conditions: dict[tuple[str, str], None] = {}
        self.pod_phases: dict[str, None] = {}
        self.writes: Counter[tuple[Any, str, str]] = Counter()

    def add(self, write: Write) -> None:
        obj = write.object or {}
        if obj:
            self._spelled[write.kind] = _spelled(write.kind, str(obj.get("apiVersion", "")))
        # A request that was refused shows no object, and no version of its kind.
        kind = self._spelled.get(write.kind)
        if kind is None:
            return
        if write.actor in self.roles:
            self.writes[write.verb, kind, write.subresource] += 1
        elif write.actor not in _PEOPLE and role_of(write.actor) not in self.roles:
            self.controllers[write.actor] = None
        if not write.event:
            return
        if write.kind not in _UNWATCHED:
            self.changed[kind] = None
        owners = {(kind_of(owner).group_kind, owner.get("name")) for owner in owner_references(obj)}
        if self._submitted in owners and write.event == "ADDED":
            self.components[kind] = None
        if self._owned & owners:
            self._owned.add((write.kind, write.name))
        phase = str(get_path(obj, "status.phase", ""))
        if (write.kind, write.name) == self._submitted:
            self.phases.update({phase: None} if phase else {})
            for entry in get_path(obj, "status.conditions", ()):
                self.conditions[str(entry.get("type")), str(entry.get("status"))] = None
        elif write.kind == str(POD) and (
            (write.kind, write.name) in self._owned or self._is_labelled(obj)
        ):
            self.pod_phases.update({phase: None} if phase else {})

    def without(self) -> frozenset[str]:
        """Entries of the menus that would find nothing to strike."""
        missing = {"suspend": self._kind.suspend, "hold_object": self.components}
        return frozenset(entry for entry, needed in missing.items() if not needed)

    def _is_labelled(self, obj: Object) -> bool:
        label = self._kind.label
        return bool(label) and labels_of(obj).get(label) == self._submitted[1]


def _spelled(group_kind: str, api_version: str) -> str:
    """The kind as plans spell it: in full where it is not one of the known."""
    name = group_kind.partition(".")[0]
    is_known = any(kind.group_kind == group_kind for kind in known_kinds())
    return name if is_known else f"{api_version}/{name}"
