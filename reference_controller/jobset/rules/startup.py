"""The order in which replicated jobs start."""

from __future__ import annotations

from reference_controller.jobset.observation import Job


class StartupRules:
    """The startup policy, and `dependsOn`; JS-100, 105."""

    def is_in_order(self, order: str) -> bool:
        return order == "InOrder"

    def counts_as_ready(self, job: Job) -> bool:
        """True if the status counts a Job as ready: finished ones have counts of their own."""
        return job.is_ready and not job.is_finished

    def counts_as_succeeded(self, job: Job) -> bool:
        """True if the status counts a Job as succeeded."""
        return job.has_succeeded

    def are_all_there(self, there: int, wanted: int) -> bool:
        """True if what waits for the Jobs of a replicated job finds as many as it asks for."""
        return there >= wanted

    def has_started(self, job: Job) -> bool:
        return job.is_ready or job.is_finished

    def satisfies(self, job: Job, status: str) -> bool:
        """True if what waits for the Job to be `Ready` or `Complete` need not wait any more."""
        return job.has_succeeded if status == "Complete" else self.has_started(job)
