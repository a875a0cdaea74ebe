"""Counters, stale Jobs, and the times at which they come back."""

from __future__ import annotations

from typing import Final

from reference_controller.jobset.job_set import (
    counted_restarts_of,
    max_restarts,
    partial_restarts_of,
    partial_restarts_of_child,
    restarts_of,
)
from reference_controller.jobset.names import RESTART, Action
from reference_controller.jobset.observation import Job
from vocabulary.clock import MINUTE, SECOND, Micros
from vocabulary.objects import Object

FIRST_BACKOFF_US: Final = SECOND
MAX_BACKOFF_US: Final = MINUTE
HEALTHY_US: Final = 10 * MINUTE
"""A Job that ran so long begins with the first back-off again."""


class RestartRules:
    """JS-001, 022…028, 070, 071, 073, 090, 092, 097."""

    def budget_used(self, job_set: Object) -> int:
        """Restarts of the whole JobSet that count, and all partial ones."""
        partial = sum(int(record["restarts"]) for record in partial_restarts_of(job_set))
        return counted_restarts_of(job_set) + partial

    def is_within_budget(self, job_set: Object) -> bool:
        """True if one more restart that counts is allowed."""
        return self.budget_used(job_set) < max_restarts(job_set)

    def needs_budget(self, action: str) -> bool:
        return action in (Action.RESTART_JOB_SET, Action.RESTART_REPLICATED_JOB, Action.RESTART_JOB)

    def restarts_after(self, job_set: Object) -> int:
        """`status.restarts` once the JobSet restarts."""
        return restarts_of(job_set) + 1

    def counted_after(self, job_set: Object, action: str) -> int:
        """`status.restartsCountTowardsMax` once the JobSet restarts."""
        return counted_restarts_of(job_set) + (1 if action == Action.RESTART_JOB_SET else 0)

    def partial_restarts_kept(self, job_set: Object) -> tuple[Object, ...]:
        """`status.partialRestarts` once the JobSet restarts: they stay spent."""
        return partial_restarts_of(job_set)

    def partial_restarts_after(self, record: Object) -> int:
        return int(record.get("restarts", 0)) + 1

    def scope_of_partial(self, action: str, job: Job) -> str:
        """The Job that restarts; "" for all Jobs of its replicated job."""
        return job.name if action == Action.RESTART_JOB else ""

    def ran_us(self, job: Job) -> Micros:
        """How long a Job had run when it failed, since it was resumed the last time."""
        return job.failed_at_us - job.started_at_us

    def backoff_us(self, streak: int) -> Micros:
        """How long after its failure a Job comes back that has failed so often in a row."""
        return min(FIRST_BACKOFF_US << (streak - 1), MAX_BACKOFF_US)

    def streak_after(self, record: Object, ran_us: Micros) -> int:
        """How often in a row a Job has failed that a record is about, this failure included."""
        return 1 if ran_us >= HEALTHY_US else int(record.get("streak", 0)) + 1

    def waits_for_back_off(self, job_set: Object) -> bool:
        """True if a Job is not created before its back-off is over, not even to be suspended."""
        del job_set
        return True

    def is_stale(self, job: Job, job_set: Object) -> bool:
        """True if the Job was created before the last restart that concerns it."""
        return job.restarts < restarts_of(job_set) or (
            job.partial_restarts < partial_restarts_of_child(job_set, job.child, job.name)
        )

    def attempt(self, job_set: Object, partial_restarts: int) -> int:
        """The restart attempt of a Job that is created now, after so many partial restarts: counted
        restarts of the whole JobSet alone increment it."""
        del partial_restarts
        return counted_restarts_of(job_set)

    def needs_mark(self, job: Job, job_set: Object) -> bool:
        """True if the Job restarts by a restart that does not count, and is not marked yet."""
        was_uncounted = job.restarts < restarts_of(job_set) and (
            job.restart_attempt == counted_restarts_of(job_set)
        )
        return was_uncounted and RESTART not in job.annotations

    def waits_for_stale(self, strategy: str) -> bool:
        """True if no Job is created before all stale ones are gone."""
        return strategy == "BlockingRecreate"

    def waits_for_pods(self, strategy: str) -> bool:
        """True if no Job is created beside pods of the one that it replaces, even if another client
        deleted that one."""
        return strategy == "BlockingRecreate"
