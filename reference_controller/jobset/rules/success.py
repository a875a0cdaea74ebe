"""Success policies."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set

from reference_controller.jobset.job_set import ChildId, is_finished
from reference_controller.jobset.observation import Job
from vocabulary.clock import SECOND, Micros
from vocabulary.objects import Object


class SuccessRules:
    """The success policy, and what follows an end; JS-072, 093, 098, 101."""

    def lives_until_us(self, ended_at_us: Micros, ttl_seconds: int) -> Micros:
        """The time at which a JobSet with a TTL is deleted that has ended."""
        return ended_at_us + ttl_seconds * SECOND

    def is_over(self, job_set: Object) -> bool:
        """True if the JobSet has ended, whatever becomes of its Jobs."""
        return is_finished(job_set)

    def stays_succeeded(self, succeeded: Set[ChildId]) -> Set[ChildId]:
        """The Jobs that have succeeded, and are not created again when their TTL or a user has
        them deleted."""
        return succeeded

    def is_target(self, replicated_job: str, targets: Collection[str]) -> bool:
        return not targets or replicated_job in targets

    def has_completed(
        self, operator: str, wanted: int, targets: Collection[Job], gone: int, unfinished: int
    ) -> bool:
        """True if the policy holds. `wanted` Jobs are targets, those left failed not counted, and
        `targets` exist; so many had succeeded that are gone. Once a Job was left failed, none of
        all may be `unfinished`."""
        succeeded = gone + sum(job.has_succeeded for job in targets)
        holds = succeeded > 0 if operator == "Any" else succeeded == wanted
        return holds and unfinished == 0

    def hopeless_targets(self, hopeless: Mapping[str, int], targets: Collection[str]) -> int:
        """The number of targets that will never be created; `hopeless` is by replicated job."""
        return sum(count for name, count in hopeless.items() if name in targets)

    def is_out_of_reach(self, operator: str, wanted: int, hopeless: int) -> bool:
        """True if the policy cannot hold any more, of whose `wanted` Jobs so many will never be
        created."""
        return wanted == hopeless or (operator == "All" and hopeless > 0)
