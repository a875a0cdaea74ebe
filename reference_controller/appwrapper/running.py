"""What to do while Running: the six conditions of the seed, in the order in which they count.

1. a component deleted by others: Failed, directly
2. a Job or PyTorchJob that says it failed: reset, without grace
3. success
4. failed pods, or too few pods, for longer than the failure grace period: reset
5. running pods on what Autopilot tagged NoExecute: reset, without grace, not counted
6. failed pods, or too few pods: unhealthy, and the grace period begins
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reference_controller.appwrapper import transitions
from reference_controller.appwrapper.names import Condition, Reason, Stamp
from reference_controller.appwrapper.observation import Observation, PodCounts
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.status import StatusDraft, stamp_of, status_of
from reference_controller.appwrapper.steps import Note, Record, Stay, Step
from vocabulary.clock import Micros


@dataclass(frozen=True, slots=True)
class _Ailment:
    """A Pod-level condition that holds now."""

    reason: str
    message: str


def running(seen: Observation, rules: Rules) -> Step:
    """The next step of a Running AppWrapper that nobody suspended."""
    census = rules.census(seen)
    ended = _ended(seen, census, rules)
    if ended is not None:
        return ended
    ailment = _ailment(seen, census, rules)
    since_us = stamp_of(seen.aw, Stamp.UNHEALTHY_SINCE)
    if ailment is not None:
        began_us = seen.now_us if since_us is None else since_us
        grace_ends_us = rules.failure_grace_ends_at(began_us, ailment.reason, seen.parameters)
        if seen.now_us >= grace_ends_us:
            return transitions.give_up_attempt(
                seen,
                ailment.reason,
                ailment.message,
                rules,
                is_terminal=_is_fatal(seen, ailment, rules),
            )
    migrating = rules.pods_to_migrate(seen)
    if migrating:
        message = f"pods on nodes tagged NoExecute: {', '.join(migrating[:5])}"
        return transitions.give_up_attempt(seen, Reason.AUTOPILOT_NO_EXECUTE, message, rules)
    return _carry_on(seen, census, ailment, since_us, rules)


def _ended(seen: Observation, census: Sequence[PodCounts], rules: Rules) -> Record | None:
    """What ends the attempt at once, whatever the pods look like."""
    for component in seen.components:
        if rules.is_missing(component):
            message = f"{component.kind} {component.record['name']} was deleted by somebody else"
            return transitions.give_up_attempt(seen, Reason.MISSING_COMPONENT, message, rules)
    for component in seen.components:
        if rules.says_failed(component):
            message = f"{component.kind} {component.record['name']} has failed"
            return transitions.give_up_attempt(seen, Reason.FAILED_COMPONENT, message, rules)
    return transitions.succeed(seen, rules) if rules.has_succeeded(seen, census) else None


def _ailment(seen: Observation, census: Sequence[PodCounts], rules: Rules) -> _Ailment | None:
    failed = rules.failed_pods(seen, census)
    if failed:
        return _Ailment(Reason.FOUND_FAILED_PODS, f"{failed} failed pods")
    expected = sum(counts.expected for counts in census)
    missing = rules.missing_pods(seen, census)
    if missing and _is_over(rules.admission_ends_at(seen.aw, seen.parameters), seen):
        message = f"{missing} of {expected} pods are not there"
        return _Ailment(Reason.INSUFFICIENT_PODS_READY, message)
    idle = rules.idle_pods(seen, census)
    if idle and _is_over(rules.warmup_ends_at(seen.aw, seen.parameters), seen):
        message = f"{idle} of {expected} pods are not running"
        return _Ailment(Reason.INSUFFICIENT_PODS_READY, message)
    return None


def _is_over(ends_us: Micros | None, seen: Observation) -> bool:
    return ends_us is not None and seen.now_us >= ends_us


def _is_fatal(seen: Observation, ailment: _Ailment, rules: Rules) -> bool:
    if ailment.reason != Reason.FOUND_FAILED_PODS:
        return False
    failed = [
        pod
        for pod in seen.pods
        if rules.is_failed_pod(pod) and rules.is_of_current_attempt(pod, seen.aw)
    ]
    return rules.is_fatal_exit(failed, seen.parameters)


def _carry_on(
    seen: Observation,
    census: Sequence[PodCounts],
    ailment: _Ailment | None,
    since_us: Micros | None,
    rules: Rules,
) -> Step:
    """Keep conditions true to what is seen; wake at the next deadline."""
    idle = rules.idle_pods(seen, census)
    draft = StatusDraft(seen.aw, seen.now_us)
    note = None
    if idle:
        draft.condition(Condition.PODS_READY, "False", Reason.INSUFFICIENT_PODS_READY)
    else:
        draft.condition(Condition.PODS_READY, "True", Reason.SUFFICIENT_PODS_READY)
    if ailment is None:
        draft.condition(Condition.UNHEALTHY, "False", Reason.FOUND_NO_FAILED_PODS)
        draft.clear(Stamp.UNHEALTHY_SINCE)
    else:
        draft.condition(Condition.UNHEALTHY, "True", ailment.reason, ailment.message)
        if since_us is None:
            draft.stamp(Stamp.UNHEALTHY_SINCE, seen.now_us)
            note = Note(
                Condition.UNHEALTHY, f"{ailment.reason}: {ailment.message}", is_warning=True
            )
    if draft.done() != status_of(seen.aw):
        return Record(draft.done(), note)
    if ailment is not None and since_us is not None:
        return Stay(rules.failure_grace_ends_at(since_us, ailment.reason, seen.parameters))
    deadlines = []
    if rules.missing_pods(seen, census):
        deadlines.append(rules.admission_ends_at(seen.aw, seen.parameters))
    if idle:
        deadlines.append(rules.warmup_ends_at(seen.aw, seen.parameters))
    due = [at_us for at_us in deadlines if at_us is not None and at_us > seen.now_us]
    return Stay(min(due, default=None))


def earliest(at_us: Micros, other_us: Micros | None) -> Micros:
    return at_us if other_us is None else min(at_us, other_us)
