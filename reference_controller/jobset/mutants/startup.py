"""Jobs that start before those that they wait for, and counts that say otherwise."""

from __future__ import annotations

from reference_controller.jobset.mutants.registry import MUTANTS
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import Rules


@MUTANTS.mutant(Rules.is_in_order, "It starts all replicated jobs at once.", "JS-100")
def no_order(self: Rules, order: str) -> bool:
    return False


@MUTANTS.mutant(
    Rules.satisfies, "It waits until a Job is ready where its success is asked for.", "JS-100"
)
def ready_is_complete(self: Rules, job: Job, status: str) -> bool:
    return Rules.satisfies(self, job, "Ready")


@MUTANTS.mutant(Rules.are_all_there, "It waits for those Jobs alone that exist already.", "JS-100")
def missing_jobs_are_not_awaited(self: Rules, there: int, wanted: int) -> bool:
    return there > 0 or wanted == 0


@MUTANTS.mutant(
    Rules.counts_as_succeeded, "It counts Jobs that have failed as succeeded.", "JS-105"
)
def failed_ones_have_succeeded(self: Rules, job: Job) -> bool:
    return job.is_finished


@MUTANTS.mutant(
    Rules.counts_as_ready, "It counts Jobs that have succeeded as ready, too.", "JS-105"
)
def succeeded_ones_are_ready(self: Rules, job: Job) -> bool:
    return job.is_ready
