"""Counters of the controller."""

from __future__ import annotations

from typing import Final

from reference_controller.appwrapper.names import Phase
from reference_controller.appwrapper.steps import Note
from reference_controller.shared.counters import LabelledCounters
from vocabulary.requests import Delete

HELP: Final = {
    "appwrapper_phase_total": "Entries into a phase, by namespace and phase.",
    "appwrapper_reset_total": "Resets, by namespace and the reason that made them necessary.",
    "appwrapper_component_created_total": "Components created, by kind.",
    "appwrapper_forceful_deletion_total": "Objects deleted with a grace period of 0, by kind.",
    "appwrapper_event_dropped_total": "Events that the API server did not take, by reason.",
}


class Metrics(LabelledCounters):
    """Counters of one controller."""

    help = HELP

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
