"""Deriving the next `status` from the one that stands."""

from __future__ import annotations

from typing import Any

from reference_controller.jobset.job_set import (
    partial_restarts_of,
    replicas_of,
    replicated_jobs,
    status_of,
)
from reference_controller.jobset.observation import Job, Observation
from vocabulary.clock import Micros, to_rfc3339
from vocabulary.objects import Object, condition


class StatusDraft:
    """A status in the making. `now_us` stamps the conditions whose status flips."""

    def __init__(self, job_set: Object, now_us: Micros) -> None:
        self._job_set = job_set
        self._status: dict[str, Any] = dict(status_of(job_set))
        self._now_us = now_us

    def done(self) -> Object:
        return self._status

    def restart(self, *, restarts: int, counted: int) -> StatusDraft:
        self._status["restarts"] = restarts
        self._status["restartsCountTowardsMax"] = counted
        return self

    def partial_restart(self, record: Object) -> StatusDraft:
        """Set the record of a Job, or of a replicated job."""
        key = (record["replicatedJob"], record["job"])
        kept = [
            each
            for each in partial_restarts_of(self._job_set)
            if (each["replicatedJob"], each["job"]) != key
        ]
        self._status["partialRestarts"] = [*kept, record]
        return self

    def finished(self, state: str, reason: str, message: str) -> StatusDraft:
        """Set the terminal condition, `Completed` or `Failed`."""
        self._status["terminalState"] = state
        return self.condition(state, "True", reason, message)

    def condition(self, type_: str, status: str, reason: str, message: str) -> StatusDraft:
        standing = condition({"status": self._status}, type_)
        if standing is not None and standing["status"] == status:
            since = standing.get("lastTransitionTime")
        elif standing is None and status != "True":
            return self  # no condition begins as False
        else:
            since = to_rfc3339(self._now_us)
        new = {"type": type_, "status": status, "reason": reason, "message": message}
        kept = [each for each in self._status.get("conditions") or () if each["type"] != type_]
        self._status["conditions"] = [*kept, {**new, "lastTransitionTime": since}]
        return self

    def counts(self, seen: Observation) -> StatusDraft:
        """Count the current Jobs of each replicated job."""
        self._status["replicatedJobsStatus"] = [
            {"name": replicated_job["name"], **_counts(_of(seen, replicated_job))}
            for replicated_job in replicated_jobs(self._job_set)
            if replicas_of(replicated_job) or _of(seen, replicated_job)
        ]
        return self


def _of(seen: Observation, replicated_job: Object) -> list[Job]:
    return [job for job in seen.current if job.child.replicated_job == replicated_job["name"]]


def _counts(jobs: list[Job]) -> dict[str, int]:
    return {
        "ready": sum(job.is_ready and not job.is_finished for job in jobs),
        "succeeded": sum(job.has_succeeded for job in jobs),
        "failed": sum(job.has_failed for job in jobs),
        "active": sum(job.is_active for job in jobs),
        "suspended": sum(job.is_suspended for job in jobs),
    }
