"""What there is to be broken in a scenario, as a recorded run of it shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from chaos.choice import APPWRAPPER_LABEL
from chaos.ground import OPERATOR
from vocabulary.clock import MINUTE, SECOND, Micros
from vocabulary.history import Entry, Mark, Write
from vocabulary.kinds import APPWRAPPER, EVENT, KNOWN_KINDS, LEASE, POD
from vocabulary.objects import get_path, labels_of

SPAN_US: Final = (10 * SECOND, 10 * MINUTE)
"""The least and the most of a run within which faults strike."""
_PEOPLE: Final = ("user", "harness", "chaos")
"""Actors of a history that are no processes of the cluster."""
_UNWATCHED: Final = (str(EVENT), str(LEASE))
"""Kinds by which processes speak of themselves."""
_SHORT: Final = {str(kind): kind.kind for kind in KNOWN_KINDS}


class Written(NamedTuple):
    """A sort of write that the operator makes."""

    verb: str
    kind: str
    subresource: str
    times: int


@dataclass(frozen=True, slots=True)
class Terrain:
    """What there is to be broken in a scenario, and for how long it runs."""

    scenario: str
    appwrapper: str
    components: tuple[str, ...] = ("Job",)
    """Kinds of the AppWrapper's components."""
    controllers: tuple[str, ...] = ("job-controller", "garbage-collector", "scheduler")
    """Processes that can be paused, the operator apart."""
    watched: tuple[str, ...] = ("AppWrapper", "Pod", "Job")
    """Kinds of what changes, and of what the operator may therefore be late to hear."""
    phases: tuple[str, ...] = ("Resuming", "Running", "Resetting", "Suspending", "Failed")
    """What the AppWrapper's phase becomes."""
    conditions: tuple[tuple[str, str], ...] = ()
    """What its conditions become: type and status."""
    pod_phases: tuple[str, ...] = ()
    """What the phases of its pods become."""
    writes: tuple[Written, ...] = (Written("patch", "AppWrapper", "status", 30),)
    """What the operator writes."""
    span_us: Micros = 10 * MINUTE
    """Faults strike within so much of the beginning."""
    without: frozenset[str] = frozenset()
    """Entries of the menus that are refused where the scenario runs."""


def terrain_of(scenario: str, entries: Iterable[Entry]) -> Terrain | None:
    """What a recorded run of a scenario shows; None if no AppWrapper was created in it."""
    seen = _Seen()
    span_us = SPAN_US[1]
    for entry in entries:
        if isinstance(entry, Mark) and entry.mark == "faults-stopped":
            span_us = entry.t
        if isinstance(entry, Write):
            seen.add(entry)
    if not seen.appwrapper or not seen.components:
        return None
    return Terrain(
        scenario,
        seen.appwrapper,
        components=tuple(seen.components),
        controllers=tuple(seen.controllers),
        watched=tuple(seen.changed),
        phases=tuple(seen.phases),
        conditions=tuple(seen.conditions),
        pod_phases=tuple(seen.pod_phases),
        writes=tuple(Written(*sort, times) for sort, times in seen.writes.items()),
        span_us=min(max(span_us, SPAN_US[0]), SPAN_US[1]),
    )


class _Seen:
    """What writes have shown so far; the dicts are sets that keep their order."""

    def __init__(self) -> None:
        self.appwrapper = ""
        self.components: dict[str, None] = {}
        self.controllers: dict[str, None] = {}
        self.changed: dict[str, None] = {}
        self.phases: dict[str, None] = {}
        self.conditions: dict[tuple[str, str], None] = {}
        self.pod_phases: dict[str, None] = {}
        self.writes: Counter[tuple[str, str, str]] = Counter()

    def add(self, write: Write) -> None:
        obj = write.object or {}
        is_appwrapper = write.kind == str(APPWRAPPER)
        if is_appwrapper and write.event == "ADDED" and not self.appwrapper:
            self.appwrapper = write.name
            for component in get_path(obj, "spec.components", ()):
                template = component.get("template") or {}
                api_version, kind = template.get("apiVersion", ""), template.get("kind", "")
                self.components[_spelled(_group_kind(api_version, kind), api_version)] = None
        if not self.appwrapper:
            return  # what a cluster begins with
        kind = _spelled(write.kind, str(obj.get("apiVersion", "")))
        if write.actor == OPERATOR:
            self.writes[write.verb, kind, write.subresource] += 1
        elif write.actor not in _PEOPLE and not write.actor.startswith(f"{OPERATOR}/"):
            self.controllers[write.actor] = None
        if not write.event:
            return
        if write.kind not in _UNWATCHED:
            self.changed[kind] = None
        phase = str(get_path(obj, "status.phase", ""))
        if is_appwrapper and write.name == self.appwrapper:
            self.phases.update({phase: None} if phase else {})
            for entry in get_path(obj, "status.conditions", ()):
                self.conditions[str(entry.get("type")), str(entry.get("status"))] = None
        elif write.kind == str(POD) and labels_of(obj).get(APPWRAPPER_LABEL) == self.appwrapper:
            self.pod_phases.update({phase: None} if phase else {})


def _group_kind(api_version: str, kind: str) -> str:
    group = api_version.rpartition("/")[0]
    return f"{kind}.{group}" if group else kind


def _spelled(group_kind: str, api_version: str) -> str:
    """The kind as plans spell it: in full where it is not one of the known."""
    short = _SHORT.get(group_kind)
    return short or f"{api_version}/{group_kind.partition('.')[0]}"
