"""Jobs that run while their JobSet is suspended, or rest while it is not."""

from __future__ import annotations

from reference_controller.jobset.mutants.registry import MUTANTS
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import Rules
from vocabulary.objects import Object


@MUTANTS.wrong_rules(
    "jobs-start-in-suspension", "It creates running Jobs in a suspended JobSet.", "JS-099"
)
class JobsStartInSuspension(Rules):
    def starts_suspended(self, job_set: Object) -> bool:
        del job_set
        return False


@MUTANTS.wrong_rules(
    "jobs-run-on-in-suspension", "It leaves Jobs running when it is suspended.", "JS-099"
)
class JobsRunOnInSuspension(Rules):
    def is_to_suspend(self, job: Job) -> bool:
        del job
        return False


@MUTANTS.wrong_rules(
    "suspended-success-counts",
    "It completes a suspended JobSet although a Job had failed before.",
    "JS-003",
)
class SuspendedSuccessCounts(Rules):
    def failure_goes_first(self) -> bool:
        return False


@MUTANTS.wrong_rules(
    "first-jobs-resume", "It resumes the first Job of each replicated job alone.", "JS-099"
)
class FirstJobsResume(Rules):
    def is_to_resume(self, job: Job) -> bool:
        return super().is_to_resume(job) and job.child.number == 0


@MUTANTS.wrong_rules(
    "resumes-where-it-was", "It resumes Jobs with the pod templates of their creation.", "JS-104"
)
class ResumesWhereItWas(Rules):
    def resumed_template(self, replicated_job: Object, job: Job) -> Object:
        del replicated_job, job
        return {}


@MUTANTS.wrong_rules(
    "resumes-without-tolerations", "It resumes Jobs without what they tolerate by then.", "JS-104"
)
class ResumesWithoutTolerations(Rules):
    def resumed_template(self, replicated_job: Object, job: Job) -> Object:
        found = super().resumed_template(replicated_job, job)
        spec = {key: each for key, each in found.get("spec", {}).items() if key != "tolerations"}
        return {**found, "spec": spec} if found else found
