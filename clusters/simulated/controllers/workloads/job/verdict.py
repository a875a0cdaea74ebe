"""The end of a Job and its reason: the causes in order of precedence.

When several hold in one sync, the first wins. So a fatal failure by the pod failure policy
decides the reason even where the back-off limit is exceeded by the same pod.
"""

from __future__ import annotations

from typing import Any

from clusters.simulated.controllers.workloads.job import conditions as c
from clusters.simulated.controllers.workloads.job.failure_policy import match_policy
from clusters.simulated.controllers.workloads.job.pods import has_failed
from clusters.simulated.controllers.workloads.job.success_policy import matched_rule
from clusters.simulated.controllers.workloads.job.tally import Tally
from clusters.simulated.controllers.workloads.pods import phase_of
from vocabulary.clock import SECOND, Micros, parse_rfc3339


def judge(tally: Tally) -> dict[str, Any] | None:
    """The condition to end in; None while the Job goes on.

    What an earlier sync has decided stands: FailureTarget becomes Failed. A new decision is
    returned as FailureTarget or SuccessCriteriaMet, the interim condition.
    """
    shown = tally.status.get("conditions") or ()
    met = c.find(shown, c.SUCCESS_CRITERIA_MET)
    if met is not None:
        return dict(met)
    target = c.find(shown, c.FAILURE_TARGET)
    if target is not None:
        return c.job_condition(c.FAILED, target["reason"], target["message"], tally.now)
    fatal = _fatal_pod(tally)
    if fatal:
        return c.job_condition(c.FAILURE_TARGET, c.POD_FAILURE_POLICY, fatal, tally.now)
    cause = _cause_of_failure(tally)
    if cause is not None:
        return c.job_condition(c.FAILURE_TARGET, *cause, tally.now)
    if tally.is_indexed:
        rule = matched_rule(
            tally.spec.get("successPolicy"), tally.completions or 0, tally.succeeded_indexes
        )
        if rule is not None:
            text = f"Matched rules at index {rule}"
            return c.job_condition(c.SUCCESS_CRITERIA_MET, c.SUCCESS_POLICY, text, tally.now)
    return None


def deadline_us(tally: Tally) -> Micros | None:
    """When the Job's active deadline passes; None if it has none, or is suspended."""
    limit = tally.spec.get("activeDeadlineSeconds")
    began = tally.status.get("startTime")
    if limit is None or began is None or tally.spec.get("suspend"):
        return None
    at_us: Micros = parse_rfc3339(began) + limit * SECOND
    return at_us


def _fatal_pod(tally: Tally) -> str:
    """The message of the first failed pod for which the policy says FailJob; else empty."""
    policy = tally.spec.get("podFailurePolicy")
    if policy is None:
        return ""
    for pod in tally.pods:
        if has_failed(pod, tally.spec):
            message = match_policy(policy, pod).fail_job
            if message:
                return message
    return ""


def _cause_of_failure(tally: Tally) -> tuple[str, str] | None:
    if tally.failed > tally.spec["backoffLimit"] or _restarts_exhausted(tally):
        return c.BACKOFF_LIMIT
    deadline = deadline_us(tally)
    if deadline is not None and tally.now_us >= deadline:
        return c.DEADLINE
    failed = tally.failed_indexes
    if failed:
        most = tally.spec.get("maxFailedIndexes")
        if most is not None and len(failed) > most:
            return c.MAX_FAILED_INDEXES
        if len(failed) + len(tally.succeeded_indexes) >= (tally.completions or 0):
            return c.FAILED_INDEXES
    return None


def _restarts_exhausted(tally: Tally) -> bool:
    """With restartPolicy OnFailure the kubelet retries: its restarts count, while pods live."""
    if tally.spec["template"]["spec"].get("restartPolicy") != "OnFailure":
        return False
    restarts: int = sum(
        entry.get("restartCount", 0)
        for pod in tally.pods
        if phase_of(pod) in ("Running", "Pending")
        for member in ("initContainerStatuses", "containerStatuses")
        for entry in (pod.get("status") or {}).get(member) or ()
    )
    limit: int = tally.spec["backoffLimit"]
    return restarts > 0 if limit == 0 else restarts >= limit
