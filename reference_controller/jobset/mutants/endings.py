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


@MUTANTS.wrong_rules("failed-runs-on", "It leaves the Jobs of a failed JobSet running.", "JS-021")
class FailedRunsOn(Rules):
    def goes_at_the_end(self, job: Job, job_set: Object) -> bool:
        if condition_status(job_set, Condition.FAILED) == "True":
            return False
        return super().goes_at_the_end(job, job_set)


@MUTANTS.wrong_rules(
    "failed-ends-in-the-background",
    "It removes the Jobs of a failed JobSet while their pods run on.",
    "JS-021",
)
class FailedEndsInTheBackground(Rules):
    def delete(self, job: Job, job_set: Object) -> Delete:
        found = super().delete(job, job_set)
        if condition_status(job_set, Condition.FAILED) != "True":
            return found
        return structs.replace(found, propagation_policy="Background")


@MUTANTS.wrong_rules(
    "completed-runs-on", "It leaves the Jobs of a completed JobSet running.", "JS-102"
)
class CompletedRunsOn(Rules):
    def goes_at_the_end(self, job: Job, job_set: Object) -> bool:
        if condition_status(job_set, Condition.COMPLETED) == "True":
            return False
        return super().goes_at_the_end(job, job_set)


@MUTANTS.wrong_rules(
    "evidence-is-deleted",
    "It deletes the finished Jobs of a JobSet that has ended.",
    "JS-021",
    "JS-102",
)
class EvidenceIsDeleted(Rules):
    def goes_at_the_end(self, job: Job, job_set: Object) -> bool:
        del job, job_set
        return True


@MUTANTS.wrong_rules(
    "completed-goes-on", "It runs Jobs of a completed JobSet again.", "JS-093", "JS-095"
)
class CompletedGoesOn(Rules):
    def is_over(self, job_set: Object) -> bool:
        return condition_status(job_set, Condition.FAILED) == "True"


@MUTANTS.wrong_rules("failed-goes-on", "It runs Jobs of a failed JobSet again.", "JS-093")
class FailedGoesOn(Rules):
    def is_over(self, job_set: Object) -> bool:
        return condition_status(job_set, Condition.COMPLETED) == "True"


@MUTANTS.wrong_rules("ttl-is-ignored", "It deletes a JobSet as soon as it ends.", "JS-101")
class TtlIsIgnored(Rules):
    def lives_until_us(self, ended_at_us: Micros, ttl_seconds: int) -> Micros:
        del ttl_seconds
        return ended_at_us


@MUTANTS.wrong_rules("ttl-is-in-minutes", "It keeps a JobSet for minutes, not seconds.", "JS-101")
class TtlIsInMinutes(Rules):
    def lives_until_us(self, ended_at_us: Micros, ttl_seconds: int) -> Micros:
        return ended_at_us + ttl_seconds * MINUTE
