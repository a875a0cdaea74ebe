"""Decisions while Running: the norm's six conditions, in order of precedence.

1. a component deleted by others
2. a Job or PyTorchJob that reports failure
3. (success)
4. failed pods
5. running pods on nodes that Autopilot tagged NoExecute
6. too few pods at least Pending after the admission grace period; or, once they are,
   too few Running after the warm-up grace period

Each condition may have a grace period; the first whose grace is over ends the attempt. While
none is over, the first of those that hold is shown in `Unhealthy`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reference_controller.appwrapper import transitions
from reference_controller.appwrapper.names import Condition, Reason, Stamp
from reference_controller.appwrapper.observation import Observation, PodCounts
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.status import StatusDraft, stamp_of, status_of
from reference_controller.appwrapper.steps import Note, Record, Stay, Step
from reference_controller.appwrapper.watched_kinds import POLL_US
from vocabulary.clock import Micros

_NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Ailment:
    """A condition under which the workload is unhealthy, and that holds now."""

    reason: str
    message: str
    earliest_us: Micros = 0
    """It cannot have held before, whatever a cache that was behind has had us write."""


def running(seen: Observation, rules: Rules) -> Step:
    """The next step of a Running AppWrapper that is not suspended."""
    census = rules.census(seen)
    since_us = stamp_of(seen.aw, Stamp.UNHEALTHY_SINCE)
    standing: list[Ailment] = []
    for ailment in _of_components(seen, rules):
        standing.append(ailment)
        if _is_beyond_grace(ailment, since_us, seen, rules):
            return _give_up(ailment, seen, rules)
    if rules.has_succeeded(seen, census):
        return transitions.succeed(seen, rules)
    for ailment in _of_pods(seen, census, rules):
        standing.append(ailment)
        if _is_beyond_grace(ailment, since_us, seen, rules):
            return _give_up(ailment, seen, rules)
    return _carry_on(seen, census, standing, rules)


def _of_components(seen: Observation, rules: Rules) -> Iterator[Ailment]:
    for component in rules.missing(seen):
        message = f"{component.kind} {component.record['name']} was deleted by somebody else"
        yield Ailment(Reason.MISSING_COMPONENT, message)
    for component in seen.components:
        if rules.says_failed(component):
            message = f"{component.kind} {component.record['name']} has failed"
            yield Ailment(Reason.FAILED_COMPONENT, message)


def _of_pods(seen: Observation, census: Sequence[PodCounts], rules: Rules) -> Iterator[Ailment]:
    failed = rules.failed_pods(seen, census)
    if failed:
        yield Ailment(Reason.FOUND_FAILED_PODS, f"{failed} failed pods")
    migrating = rules.pods_to_migrate(seen)
    if migrating:
        message = f"pods on nodes tagged NoExecute: {', '.join(migrating[:_NAMES_SHOWN])}"
        yield Ailment(Reason.AUTOPILOT_NO_EXECUTE, message)
    expected = sum(counts.expected for counts in census)
    missing = rules.missing_pods(seen, census)
    ends_us = rules.admission_ends_at(seen.aw, seen.parameters)
    if missing and seen.looked_us >= ends_us:
        message = f"{missing} of {expected} pods are not there"
        yield Ailment(Reason.INSUFFICIENT_PODS_READY, message, ends_us)
    idle = 0 if missing else rules.idle_pods(seen, census)
    ends_us = rules.warmup_ends_at(seen.aw, seen.parameters)
    if idle and seen.looked_us >= ends_us:
        message = f"{idle} of {expected} pods are not running"
        yield Ailment(Reason.INSUFFICIENT_PODS_READY, message, ends_us)


def _grace_ends_at(
    ailment: Ailment, since_us: Micros | None, seen: Observation, rules: Rules
) -> Micros:
    began_us = seen.now_us if since_us is None else max(since_us, ailment.earliest_us)
    return rules.failure_grace_ends_at(began_us, ailment.reason, seen.parameters)


def _is_beyond_grace(
    ailment: Ailment, since_us: Micros | None, seen: Observation, rules: Rules
) -> bool:
    return seen.looked_us >= _grace_ends_at(ailment, since_us, seen, rules)


def _give_up(ailment: Ailment, seen: Observation, rules: Rules) -> Record:
    return transitions.give_up_attempt(seen, ailment.reason, ailment.message, rules)


def _carry_on(
    seen: Observation, census: Sequence[PodCounts], standing: Sequence[Ailment], rules: Rules
) -> Step:
    """Keep conditions true to what is seen; wake at the next deadline."""
    aw, parameters = seen.aw, seen.parameters
    since_us = stamp_of(aw, Stamp.UNHEALTHY_SINCE)
    idle = rules.idle_pods(seen, census)
    draft = StatusDraft(aw, seen.now_us)
    note = None
    begins_grace = bool(standing) and since_us is None
    if idle:
        draft.condition(Condition.PODS_READY, "False", Reason.INSUFFICIENT_PODS_READY)
    else:
        draft.condition(Condition.PODS_READY, "True", Reason.SUFFICIENT_PODS_READY)
    if not standing:
        draft.condition(Condition.UNHEALTHY, *rules.unhealthy_when_well(aw))
        if rules.renews_grace(aw):
            draft.clear(Stamp.UNHEALTHY_SINCE)
    else:
        first = standing[0]
        draft.condition(Condition.UNHEALTHY, "True", first.reason, first.message)
        if begins_grace:
            draft.stamp(Stamp.UNHEALTHY_SINCE, seen.now_us)
            note = Note(Condition.UNHEALTHY, f"{first.reason}: {first.message}", is_warning=True)
    if draft.done() != status_of(aw):
        return Record(draft.done(), note, is_momentous=begins_grace)
    deadlines = [_grace_ends_at(ailment, since_us, seen, rules) for ailment in standing]
    if rules.missing_pods(seen, census):
        deadlines.append(rules.admission_ends_at(aw, parameters))
    elif idle:
        deadlines.append(rules.warmup_ends_at(aw, parameters))
    if not all(component.is_watched for component in seen.components):
        deadlines.append(seen.now_us + POLL_US)
    return Stay(min((at_us for at_us in deadlines if at_us > seen.looked_us), default=None))
