"""Counters of the controller; `samples` returns them for any endpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from reference_controller.appwrapper.names import Phase
from reference_controller.appwrapper.steps import Note
from vocabulary.requests import Delete

Labels: TypeAlias = tuple[tuple[str, str], ...]


class Sample(NamedTuple):
    """One counter with its labels and its value."""

    name: str
    labels: dict[str, str]
    value: int


HELP: Final = {
    "appwrapper_phase_total": "Entries into a phase, by namespace and phase.",
    "appwrapper_reset_total": "Resets, by namespace and the reason that made them necessary.",
    "appwrapper_component_created_total": "Components created, by kind.",
    "appwrapper_forceful_deletion_total": "Objects deleted with a grace period of 0, by kind.",
    "appwrapper_event_dropped_total": "Events that the API server did not take, by reason.",
}


class Metrics:
    """Counters of one controller; they begin at 0 with its process."""

    help: Final = HELP

    def __init__(self) -> None:
        self._values: Counter[tuple[str, Labels]] = Counter()

    def count(self, name: str, **labels: str) -> None:
        self._values[name, tuple(sorted(labels.items()))] += 1

    def count_entry(self, namespace: str, before: str, phase: str, note: Note | None) -> None:
        """Count a phase that was entered, and why if it is a reset."""
        if phase in (before, Phase.TERMINATING):
            return
        self.count("appwrapper_phase_total", namespace=namespace, phase=phase)
        if phase == Phase.RESETTING and note is not None:
            reason = note.message.partition(":")[0]
            self.count("appwrapper_reset_total", namespace=namespace, reason=reason)

    def count_delete(self, delete: Delete) -> None:
        """Count a delete that was accepted, if it was a forceful one."""
        if delete.grace_period_seconds == 0:
            self.count("appwrapper_forceful_deletion_total", kind=str(delete.kind))

    def samples(self) -> Iterator[Sample]:
        """All counters, by name and labels."""
        for (name, labels), value in sorted(self._values.items()):
            yield Sample(name, dict(labels), value)
