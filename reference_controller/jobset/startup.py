"""The replicated jobs that may start, and those that never will."""

from __future__ import annotations

from collections.abc import Set

from reference_controller.jobset.job_set import replicas_of, replicated_jobs
from reference_controller.jobset.names import Condition, Reason
from reference_controller.jobset.observation import Observation
from reference_controller.jobset.rules import Rules
from reference_controller.jobset.status import StatusDraft
from vocabulary.objects import Object, get_path


def may_start(seen: Observation, rules: Rules) -> set[str]:
    """The names of the replicated jobs whose Jobs may run now."""
    in_order = _is_in_order(seen.job_set, rules)
    of_name = {each["name"]: each for each in replicated_jobs(seen.job_set)}
    allowed: set[str] = set()
    for replicated_job in of_name.values():
        needs = replicated_job.get("dependsOn") or ()
        if all(_all_are(seen, of_name[need["name"]], need["status"], rules) for need in needs):
            allowed.add(replicated_job["name"])
        if in_order and not _all_are(seen, replicated_job, "Ready", rules):
            break
    return allowed


def never_start(job_set: Object, left_failed: Set[str]) -> set[str]:
    """The names of the replicated jobs that depend on the completion of one of which a Job is left
    failed, or on one that never starts itself."""
    blocked: set[str] = set()
    for replicated_job in replicated_jobs(job_set):
        if any(
            need["name"] in blocked
            or (need["status"] == "Complete" and need["name"] in left_failed)
            for need in replicated_job.get("dependsOn") or ()
        ):
            blocked.add(replicated_job["name"])
    return blocked


def startup_condition(draft: StatusDraft, seen: Observation, rules: Rules) -> None:
    """Tell how far a start in order has come, if it is one."""
    if not _is_in_order(seen.job_set, rules):
        return
    done = all(
        _all_are(seen, replicated_job, "Ready", rules)
        for replicated_job in replicated_jobs(seen.job_set)
    )
    starting = (Reason.IN_ORDER_STARTING, "in order startup policy is in progress")
    started = (Reason.IN_ORDER_STARTED, "in order startup policy has completed")
    draft.condition(
        Condition.STARTING, "False" if done else "True", *(started if done else starting)
    )
    draft.condition(
        Condition.STARTED, "True" if done else "False", *(started if done else starting)
    )


def _is_in_order(job_set: Object, rules: Rules) -> bool:
    return rules.is_in_order(str(get_path(job_set, "spec.startupPolicy.startupPolicyOrder", "")))


def _all_are(seen: Observation, replicated_job: Object, status: str, rules: Rules) -> bool:
    jobs = seen.current_of.get(replicated_job["name"], ())
    gone = seen.succeeded if status == "Complete" else seen.succeeded | seen.left_failed
    started = len(jobs) + sum(child.replicated_job == replicated_job["name"] for child in gone)
    return rules.are_all_there(started, replicas_of(replicated_job)) and all(
        rules.satisfies(job, status) for job in jobs
    )
