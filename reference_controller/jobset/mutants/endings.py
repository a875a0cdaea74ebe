"""Ends that are none, and what is left after them."""

from __future__ import annotations

from reference_controller.jobset.mutants.registry import MUTANTS
from reference_controller.jobset.names import Condition
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import Rules
from vocabulary.objects import Object, condition_status


@MUTANTS.wrong_rules("failed-runs-on", "It leaves the Jobs of a failed JobSet running.", "JS-021")
class FailedRunsOn(Rules):
    def goes_at_the_end(self, job: Job) -> bool:
        del job
        return False


@MUTANTS.wrong_rules(
    "evidence-is-deleted", "It deletes the finished Jobs of a JobSet that has ended.", "JS-021"
)
class EvidenceIsDeleted(Rules):
    def goes_at_the_end(self, job: Job) -> bool:
        del job
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
