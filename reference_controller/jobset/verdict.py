"""The next status of a JobSet: pure, from an observation.

A failure is judged before a success, and one at a time: the earliest failed Job decides, what is
left of the others after that is judged by the next pass.
"""

from __future__ import annotations

from dataclasses import dataclass

from reference_controller.jobset.job_set import (
    ChildId,
    failure_policy,
    is_suspended,
    partial_restarts_of,
    replicas_of,
    replicated_jobs,
    spec_of,
)
from reference_controller.jobset.names import Action, Condition, Reason
from reference_controller.jobset.observation import Job, Observation
from reference_controller.jobset.rules import Rules
from reference_controller.jobset.startup import never_start, startup_condition
from reference_controller.jobset.status import StatusDraft
from reference_controller.shared.events import Note
from vocabulary.clock import to_rfc3339_micro
from vocabulary.objects import Object, condition_status


@dataclass(frozen=True, slots=True)
class Verdict:
    """The status to write, and the Event about it."""

    status: Object
    note: Note | None = None


def judge(seen: Observation, rules: Rules) -> Verdict:
    """The next status: by a failure, a success, a suspension, or the numbers of Jobs alone."""
    draft = StatusDraft(seen.job_set, seen.now_us).counts(seen, rules)
    if rules.is_over(seen.job_set):
        return Verdict(draft.done())
    left_failed = [*seen.left_failed]
    for job in rules.in_order_of_failure([job for job in seen.current if job.has_failed]):
        action = _action(seen.job_set, job, rules)
        if rules.is_left_failed(action):
            left_failed.append(job.child)
            draft.left_failed(job)
        elif is_suspended(seen.job_set) and not rules.acts_while_suspended():
            if rules.failure_goes_first():
                return _suspended(draft, seen, rules)
            break
        else:
            return _acted(draft, seen, job, action, rules)
    return _succeeded(draft, seen, left_failed, rules) or _suspended(draft, seen, rules)


def _action(job_set: Object, job: Job, rules: Rules) -> str:
    policy = failure_policy(job_set)
    if policy is None:
        return rules.action_without_policy()
    return rules.action_for(policy.get("rules") or (), job)


def _acted(draft: StatusDraft, seen: Observation, job: Job, action: str, rules: Rules) -> Verdict:
    """The status once an action is taken on a failed Job."""
    told = f" (first failed job: {job.name})"
    if action == Action.FAIL_JOB_SET:
        if failure_policy(seen.job_set) is None:
            reason, text = Reason.FAILED_JOBS, "jobset failed due to one or more job failures"
        else:
            reason, text = Reason.FAIL_JOB_SET, "applying FailJobSet failure policy action"
        return _failed(draft, reason, text + told)
    if rules.needs_budget(action) and not rules.is_within_budget(seen.job_set):
        text = "jobset failed due to reaching max number of restarts"
        return _failed(draft, Reason.REACHED_MAX_RESTARTS, text + told)
    note = Note(
        f"{action}FailurePolicyAction", f"applying {action} failure policy action{told}", True
    )
    if action in (Action.RESTART_JOB_SET, Action.RESTART_UNCOUNTED):
        draft.restart(
            restarts=rules.restarts_after(seen.job_set),
            counted=rules.counted_after(seen.job_set, action),
            partial=rules.partial_restarts_kept(seen.job_set),
        )
    else:
        draft.partial_restart(_partial_restart(seen, job, action, rules))
    return Verdict(draft.done(), note)


def _failed(draft: StatusDraft, reason: str, message: str) -> Verdict:
    draft.finished(Condition.FAILED, reason, message)
    return Verdict(draft.done(), Note(reason, message, is_warning=True))


def _partial_restart(seen: Observation, job: Job, action: str, rules: Rules) -> Object:
    key = {
        "replicatedJob": job.child.replicated_job,
        "job": rules.scope_of_partial(action, job),
    }
    standing = next(
        (
            record
            for record in partial_restarts_of(seen.job_set)
            if record["replicatedJob"] == key["replicatedJob"] and record["job"] == key["job"]
        ),
        key,
    )
    streak = rules.streak_after(standing, rules.ran_us(job))
    return {
        **key,
        "restarts": rules.partial_restarts_after(standing),
        "streak": streak,
        "notBefore": to_rfc3339_micro(job.failed_at_us + rules.backoff_us(streak)),
    }


def _succeeded(
    draft: StatusDraft, seen: Observation, left_failed: list[ChildId], rules: Rules
) -> Verdict | None:
    policy = spec_of(seen.job_set)["successPolicy"]
    targets = policy.get("targetReplicatedJobs", ())
    aimed_at = [rj for rj in replicated_jobs(seen.job_set) if rules.is_target(rj["name"], targets)]
    names = {rj["name"] for rj in aimed_at}
    lost = sum(child.replicated_job in names for child in left_failed)
    wanted = sum(map(replicas_of, aimed_at)) - lost
    jobs = [job for name in names for job in seen.current_of.get(name, ())]
    hopeless = _hopeless(seen, left_failed)
    unfinished = 0
    if left_failed:
        asked_for = sum(map(replicas_of, replicated_jobs(seen.job_set))) - sum(hopeless.values())
        finished = len(seen.left_failed | seen.succeeded)
        finished += sum(job.is_finished for job in seen.current)
        unfinished = asked_for - finished
    operator = str(policy["operator"])
    out_of_hope = rules.hopeless_targets(hopeless, names)
    if left_failed and rules.is_out_of_reach(operator, wanted, out_of_hope):
        message = "jobset failed since no job is left that could succeed"
        return _failed(draft, Reason.SUCCESS_OUT_OF_REACH, message)
    gone = sum(child.replicated_job in names for child in seen.succeeded)
    if rules.has_completed(operator, wanted, jobs, gone, unfinished):
        message = "jobset completed successfully"
        draft.finished(Condition.COMPLETED, Reason.ALL_JOBS_COMPLETED, message)
        return Verdict(draft.done(), Note(Reason.ALL_JOBS_COMPLETED, message))
    return None


def _hopeless(seen: Observation, left_failed: list[ChildId]) -> dict[str, int]:
    """By replicated job: the Jobs that will never run, since one that theirs waits for is left
    failed. They may have been created while the JobSet was suspended."""
    failed = {child.replicated_job for child in left_failed}
    blocked = never_start(seen.job_set, failed)
    return {
        rj["name"]: replicas_of(rj)
        for rj in replicated_jobs(seen.job_set)
        if rj["name"] in blocked
        and all(job.is_suspended for job in seen.current_of.get(rj["name"], ()))
    }


def _suspended(draft: StatusDraft, seen: Observation, rules: Rules) -> Verdict:
    if is_suspended(seen.job_set):
        note = Note(Reason.SUSPENDED_JOBS, "jobset is suspended")
        draft.condition(Condition.SUSPENDED, "True", note.reason, note.message)
    else:
        note = Note(Reason.RESUMED_JOBS, "jobset is resumed")
        draft.condition(Condition.SUSPENDED, "False", note.reason, note.message)
        startup_condition(draft, seen, rules)
    return Verdict(draft.done(), _if_new(note, seen.job_set))


def _if_new(note: Note, job_set: Object) -> Note | None:
    """The Event about a suspension or a resumption, unless the status tells of it already."""
    was_suspended = condition_status(job_set, Condition.SUSPENDED) == "True"
    return None if was_suspended == is_suspended(job_set) else note
