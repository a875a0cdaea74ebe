"""The state of a JobSet that a run waits for once its faults have stopped."""

from __future__ import annotations

from conformance.suites.jobset.api import CONTROLLER_NAME
from vocabulary.objects import Object, condition_status, get_path


def is_finished(job_set: Object) -> bool:
    return "True" in (
        condition_status(job_set, "Completed"),
        condition_status(job_set, "Failed"),
    )


def is_managed(job_set: Object) -> bool:
    """True if it is the JobSet controller's to manage."""
    return get_path(job_set, "spec.managedBy") in (None, CONTROLLER_NAME)


def is_at_rest(job_set: Object) -> bool:
    """True if a JobSet may stay as it is indefinitely: it has ended, is suspended, is another
    controller's to manage, or all of its Jobs are ready or done."""
    if is_finished(job_set) or not is_managed(job_set):
        return True
    if get_path(job_set, "spec.suspend", False):
        return condition_status(job_set, "Suspended") == "True"
    wanted = {
        each["name"]: int(each.get("replicas", 1))
        for each in get_path(job_set, "spec.replicatedJobs") or ()
    }
    seen = {
        each["name"]: sum(int(each.get(key, 0)) for key in ("ready", "succeeded", "failed"))
        for each in get_path(job_set, "status.replicatedJobsStatus") or ()
    }
    return all(seen.get(name, 0) >= replicas for name, replicas in wanted.items())


def progress(job_set: Object) -> object:
    """The end, the number of restarts, and how many Jobs are ready or done."""
    status = job_set.get("status") or {}
    return (
        status.get("terminalState"),
        status.get("restarts"),
        tuple(
            (each["name"], each.get("ready"), each.get("succeeded"))
            for each in status.get("replicatedJobsStatus") or ()
        ),
    )


def begins_again(job_set: Object) -> bool:
    """No state of a JobSet tells that it is on its way back."""
    del job_set
    return False
