"""Ends that are none, and what is left after them."""

from __future__ import annotations

from msgspec import structs

from reference_controller.jobset.mutants.registry import MUTANTS
from reference_controller.jobset.names import Condition
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import Rules
from vocabulary.clock import MINUTE, Micros
from vocabulary.objects import Object, condition_status
from vocabulary.requests import Delete


@MUTANTS.mutant(Rules.goes_at_the_end, "It leaves the Jobs of a failed JobSet running.", "JS-021")
def failed_runs_on(self: Rules, job: Job, job_set: Object) -> bool:
    if condition_status(job_set, Condition.FAILED) == "True":
        return False
    return Rules.goes_at_the_end(self, job, job_set)


@MUTANTS.mutant(
    Rules.delete, "It removes the Jobs of a failed JobSet while their pods run on.", "JS-021"
)
def failed_ends_in_the_background(self: Rules, job: Job, job_set: Object) -> Delete:
    found = Rules.delete(self, job, job_set)
    if condition_status(job_set, Condition.FAILED) != "True":
        return found
    return structs.replace(found, propagation_policy="Background")


@MUTANTS.mutant(
    Rules.goes_at_the_end, "It leaves the Jobs of a completed JobSet running.", "JS-102"
)
def completed_runs_on(self: Rules, job: Job, job_set: Object) -> bool:
    if condition_status(job_set, Condition.COMPLETED) == "True":
        return False
    return Rules.goes_at_the_end(self, job, job_set)


@MUTANTS.mutant(
    Rules.goes_at_the_end,
    "It deletes the finished Jobs of a JobSet that has ended.",
    "JS-021",
    "JS-102",
)
def evidence_is_deleted(self: Rules, job: Job, job_set: Object) -> bool:
    return True


@MUTANTS.mutant(Rules.is_over, "It runs Jobs of a completed JobSet again.", "JS-093", "JS-095")
def completed_goes_on(self: Rules, job_set: Object) -> bool:
    return condition_status(job_set, Condition.FAILED) == "True"


@MUTANTS.mutant(Rules.is_over, "It runs Jobs of a failed JobSet again.", "JS-093")
def failed_goes_on(self: Rules, job_set: Object) -> bool:
    return condition_status(job_set, Condition.COMPLETED) == "True"


@MUTANTS.mutant(Rules.lives_until_us, "It deletes a JobSet as soon as it ends.", "JS-101")
def ttl_is_ignored(self: Rules, ended_at_us: Micros, ttl_seconds: int) -> Micros:
    return ended_at_us


@MUTANTS.mutant(Rules.lives_until_us, "It keeps a JobSet for minutes, not seconds.", "JS-101")
def ttl_is_in_minutes(self: Rules, ended_at_us: Micros, ttl_seconds: int) -> Micros:
    return ended_at_us + ttl_seconds * MINUTE
