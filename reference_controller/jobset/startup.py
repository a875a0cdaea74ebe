"""The replicated jobs that may start."""

from __future__ import annotations

from reference_controller.jobset.job_set import replicas_of, replicated_jobs
from reference_controller.jobset.names import Condition, Reason
from reference_controller.jobset.observation import Observation
from reference_controller.jobset.rules import Rules
from reference_controller.jobset.status import StatusDraft
from vocabulary.objects import Object, get_path


def may_start(seen: Observation, rules: Rules) -> set[str]:
    """The names of the replicated jobs whose Jobs may run now."""
    in_order = _is_in_order(seen, rules)
    allowed: set[str] = set()
    for replicated_job in replicated_jobs(seen.job_set):
        depends_on = replicated_job.get("dependsOn") or ()
        if all(_all_are(seen, need["name"], need["status"], rules) for need in depends_on):
            allowed.add(replicated_job["name"])
        if in_order and not _all_are(seen, replicated_job["name"], "Ready", rules):
            break
    return allowed


def startup_condition(draft: StatusDraft, seen: Observation, rules: Rules) -> None:
    """Tell how far a start in order has come."""
    done = all(
        _all_are(seen, replicated_job["name"], "Ready", rules)
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


def _is_in_order(seen: Observation, rules: Rules) -> bool:
    return rules.is_in_order(
        str(get_path(seen.job_set, "spec.startupPolicy.startupPolicyOrder", ""))
    )


def _all_are(seen: Observation, name: str, status: str, rules: Rules) -> bool:
    jobs = [job for job in seen.current if job.child.replicated_job == name]
    return len(jobs) >= _replicas(seen.job_set, name) and all(
        rules.satisfies(job, status) for job in jobs
    )


def _replicas(job_set: Object, name: str) -> int:
    return next((replicas_of(each) for each in replicated_jobs(job_set) if each["name"] == name), 0)
