"""Jobs of a JobSet that is suspended or resumed."""

from __future__ import annotations

from reference_controller.jobset.job_set import is_suspended
from reference_controller.jobset.observation import Job
from reference_controller.jobset.resumption import resumed_template
from vocabulary.objects import Object


class SuspensionRules:
    """JS-047, 099, 104."""

    def starts_suspended(self, job_set: Object) -> bool:
        """True if a Job that is created now does not run yet."""
        return is_suspended(job_set)

    def is_to_suspend(self, job: Job) -> bool:
        """True if a Job of a suspended JobSet is suspended."""
        return not (job.is_finished or job.is_suspended)

    def is_to_resume(self, job: Job) -> bool:
        """True if a Job that may run is resumed."""
        return job.is_suspended

    def resumed_template(self, replicated_job: Object, job: Job) -> Object:
        """A merge patch of the pod template of a Job that is resumed."""
        return resumed_template(replicated_job, job)
