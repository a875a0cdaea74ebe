"""Deriving the next `status` from the one that stands."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from reference_controller.jobset.job_set import (
    ChildId,
    job_name,
    partial_restarts_of,
    replicated_jobs,
    status_of,
    succeeded_of,
    succeeded_records,
)
from reference_controller.jobset.observation import Job, Observation
from reference_controller.jobset.rules import Rules
from reference_controller.shared.conditions import with_condition
from vocabulary.clock import Micros
from vocabulary.objects import Object, condition


class StatusDraft:
    """A status in the making. `now_us` stamps the conditions whose status flips."""

    def __init__(self, job_set: Object, now_us: Micros) -> None:
        self._job_set = job_set
        self._status: dict[str, Any] = dict(status_of(job_set))
        self._now_us = now_us

    def done(self) -> Object:
        return self._status

    def _succeeded(self, children: Collection[ChildId]) -> None:
        """Remember the Jobs that have succeeded: they may be deleted, and are not created again."""
        self._status.pop("succeeded", None)
        if children:
            self._status["succeeded"] = succeeded_records(children)

    def restart(self, *, restarts: int, counted: int, partial: Sequence[Object]) -> None:
        self._status["restarts"] = restarts
        self._status["restartsCountTowardsMax"] = counted
        self._succeeded(())
        if partial_restarts_of(self._job_set):
            self._status["partialRestarts"] = [*partial]

    def partial_restart(self, record: Object) -> None:
        """Set the record of a Job, or of a replicated job."""
        key = (record["replicatedJob"], record["job"])
        kept = [
            each
            for each in partial_restarts_of(self._job_set)
            if (each["replicatedJob"], each["job"]) != key
        ]
        self._status["partialRestarts"] = [*kept, record]
        self._succeeded(
            {
                child
                for child in succeeded_of({"status": self._status})
                if child.replicated_job != record["replicatedJob"]
                or record["job"] not in ("", job_name(self._job_set, child))
            }
        )

    def left_failed(self, job: Job) -> None:
        """Remember a Job that is left failed: it may be deleted, and is not created again."""
        record = {
            "replicatedJob": job.child.replicated_job,
            "index": job.child.number,
            "restarts": job.restarts,
            "partialRestarts": job.partial_restarts,
        }
        kept = [
            each
            for each in self._status.get("leftFailed") or ()
            if (each["replicatedJob"], each["index"]) != job.child
        ]
        self._status["leftFailed"] = [*kept, record]

    def finished(self, state: str, reason: str, message: str) -> None:
        """Set the terminal condition, `Completed` or `Failed`."""
        self._status["terminalState"] = state
        self.condition(state, "True", reason, message)

    def condition(self, type_: str, status: str, reason: str, message: str) -> None:
        if condition({"status": self._status}, type_) is None and status != "True":
            return  # no condition begins as False
        new = {"type": type_, "status": status, "reason": reason, "message": message}
        standing = self._status.get("conditions") or ()
        self._status["conditions"] = with_condition(standing, new, self._now_us)

    def counts(self, seen: Observation, rules: Rules) -> StatusDraft:
        """Count the current Jobs of each replicated job. Those that a restart has yet to replace
        are active as long as their pods run: a queue gives their quota to others else."""
        counted = []
        for replicated_job in replicated_jobs(self._job_set):
            name = replicated_job["name"]
            count = {"name": name, **_counts(seen.current_of.get(name, ()), rules)}
            count["failed"] += sum(child.replicated_job == name for child in seen.left_failed)
            count["succeeded"] += sum(child.replicated_job == name for child in seen.succeeded)
            count["active"] += sum(
                job.is_active and job.child.replicated_job == name for job in seen.stale
            )
            counted.append(count)
        self._status["replicatedJobsStatus"] = counted
        self._succeeded({job.child for job in seen.current if job.has_succeeded} | seen.succeeded)
        return self


def _counts(jobs: Sequence[Job], rules: Rules) -> dict[str, Any]:
    return {
        "ready": sum(rules.counts_as_ready(job) for job in jobs),
        "succeeded": sum(rules.counts_as_succeeded(job) for job in jobs),
        "failed": sum(job.has_failed for job in jobs),
        "active": sum(job.is_active for job in jobs),
        "suspended": sum(job.is_suspended and not job.is_finished for job in jobs),
    }
