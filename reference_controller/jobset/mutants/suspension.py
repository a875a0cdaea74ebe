"""Jobs that run while their JobSet is suspended, or rest while it is not."""

from __future__ import annotations

from reference_controller.jobset.mutants.registry import MUTANTS
from reference_controller.jobset.observation import Job
from reference_controller.jobset.resumption import is_at_rest
from reference_controller.jobset.rules import Rules
from vocabulary.objects import Object


@MUTANTS.mutant(Rules.starts_suspended, "It creates running Jobs in a suspended JobSet.", "JS-099")
def jobs_start_in_suspension(self: Rules, job_set: Object) -> bool:
    return False


@MUTANTS.mutant(Rules.is_to_suspend, "It leaves Jobs running when it is suspended.", "JS-099")
def jobs_run_on_in_suspension(self: Rules, job: Job) -> bool:
    return False


@MUTANTS.mutant(
    Rules.failure_goes_first,
    "It completes a suspended JobSet although a Job had failed before.",
    "JS-003",
)
def suspended_success_counts(self: Rules) -> bool:
    return False


@MUTANTS.mutant(
    Rules.is_to_resume, "It resumes the first Job of each replicated job alone.", "JS-099"
)
def first_jobs_resume(self: Rules, job: Job) -> bool:
    return Rules.is_to_resume(self, job) and job.child.number == 0


@MUTANTS.mutant(
    Rules.resumed_template, "It resumes Jobs with the pod templates of their creation.", "JS-104"
)
def resumes_where_it_was(self: Rules, replicated_job: Object, job: Job) -> Object:
    return {}


@MUTANTS.mutant(
    Rules.resumed_template,
    "It resumes Jobs that have not come to rest, with the pod templates that they have.",
    "JS-104",
)
def resumes_before_it_may(self: Rules, replicated_job: Object, job: Job) -> Object:
    return Rules.resumed_template(self, replicated_job, job) if is_at_rest(job) else {}


@MUTANTS.mutant(
    Rules.resumed_template, "It resumes Jobs without what they tolerate by then.", "JS-104"
)
def resumes_without_tolerations(self: Rules, replicated_job: Object, job: Job) -> Object:
    found = Rules.resumed_template(self, replicated_job, job)
    spec = {key: each for key, each in found.get("spec", {}).items() if key != "tolerations"}
    return {**found, "spec": spec} if found else found
