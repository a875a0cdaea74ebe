"""Counters of the controller; `samples` returns them for any endpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from reference_controller.jobset.job_set import counted_restarts_of, restarts_of, status_of
from vocabulary.objects import Object

Labels: TypeAlias = tuple[tuple[str, str], ...]


class Sample(NamedTuple):
    """One counter with its labels and its value."""

    name: str
    labels: dict[str, str]
    value: int


HELP: Final = {
    "jobset_restart_total": "Restarts of whole JobSets, by namespace and if they count.",
    "jobset_terminal_total": "JobSets that ended, by namespace and state.",
    "jobset_job_created_total": "Jobs created, by namespace.",
    "jobset_job_deleted_total": "Jobs deleted, by namespace.",
    "jobset_event_dropped_total": "Events that the API server did not take, by reason.",
}


class Metrics:
    """Counters of one controller; they begin at 0 with its process."""

    help: Final = HELP

    def __init__(self) -> None:
        self._values: Counter[tuple[str, Labels]] = Counter()

    def count(self, name: str, **labels: str) -> None:
        self._values[name, tuple(sorted(labels.items()))] += 1

    def count_verdict(self, namespace: str, before: Object, after: Object) -> None:
        """Count a restart or an end that was written."""
        if restarts_of(after) > restarts_of(before):
            counts = counted_restarts_of(after) > counted_restarts_of(before)
            self.count("jobset_restart_total", namespace=namespace, counted=str(counts).lower())
        state = status_of(after).get("terminalState")
        if state and not status_of(before).get("terminalState"):
            self.count("jobset_terminal_total", namespace=namespace, state=state)

    def samples(self) -> Iterator[Sample]:
        """All counters, by name and labels."""
        for (name, labels), value in sorted(self._values.items()):
            yield Sample(name, dict(labels), value)
