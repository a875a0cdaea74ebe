"""Counters of the controller."""

from __future__ import annotations

from typing import Final

from reference_controller.jobset.job_set import counted_restarts_of, restarts_of, status_of
from reference_controller.shared.counters import LabelledCounters
from vocabulary.objects import Object
from vocabulary.requests import Create, Delete, Patch

HELP: Final = {
    "jobset_restart_total": "Restarts of whole JobSets, by namespace and if they count.",
    "jobset_terminal_total": "JobSets that ended, by namespace and state.",
    "jobset_job_created_total": "Jobs created, by namespace.",
    "jobset_job_deleted_total": "Jobs deleted, by namespace.",
    "jobset_event_dropped_total": "Events that the API server did not take, by reason.",
}


class Metrics(LabelledCounters):
    """Counters of one controller."""

    help = HELP

    def count_request(self, request: Create | Patch | Delete) -> None:
        """Count a Job that was created or deleted."""
        if isinstance(request, Create):
            self.count("jobset_job_created_total", namespace=request.namespace)
        elif isinstance(request, Delete):
            self.count("jobset_job_deleted_total", namespace=request.namespace)

    def count_verdict(self, namespace: str, before: Object, after: Object) -> None:
        """Count a restart or an end that was written."""
        if restarts_of(after) > restarts_of(before):
            counts = counted_restarts_of(after) > counted_restarts_of(before)
            self.count("jobset_restart_total", namespace=namespace, counted=str(counts).lower())
        state = status_of(after).get("terminalState")
        if state and not status_of(before).get("terminalState"):
            self.count("jobset_terminal_total", namespace=namespace, state=state)
