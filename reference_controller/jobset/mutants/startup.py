"""Jobs that start before those that they wait for, and counts that say otherwise."""

from __future__ import annotations

from reference_controller.jobset.mutants.registry import MUTANTS
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import Rules


@MUTANTS.wrong_rules("no-order", "It starts all replicated jobs at once.", "JS-100")
class NoOrder(Rules):
    def is_in_order(self, order: str) -> bool:
        del order
        return False


@MUTANTS.wrong_rules(
    "ready-is-complete", "It waits until a Job is ready where its success is asked for.", "JS-100"
)
class ReadyIsComplete(Rules):
    def satisfies(self, job: Job, status: str) -> bool:
        del status
        return super().satisfies(job, "Ready")


@MUTANTS.wrong_rules(
    "missing-jobs-are-not-awaited", "It waits for those Jobs alone that exist already.", "JS-100"
)
class MissingJobsAreNotAwaited(Rules):
    def are_all_there(self, there: int, wanted: int) -> bool:
        return there > 0 or wanted == 0


@MUTANTS.wrong_rules(
    "failed-ones-have-succeeded", "It counts Jobs that have failed as succeeded.", "JS-105"
)
class FailedOnesHaveSucceeded(Rules):
    def counts_as_succeeded(self, job: Job) -> bool:
        return job.is_finished


@MUTANTS.wrong_rules(
    "succeeded-ones-are-ready", "It counts Jobs that have succeeded as ready, too.", "JS-105"
)
class SucceededOnesAreReady(Rules):
    def counts_as_ready(self, job: Job) -> bool:
        return job.is_ready
