"""INV-8, INV-9: workloads settle when the faults stop, and without faults nothing fails."""

from __future__ import annotations

from functools import partial
from itertools import pairwise, takewhile
from typing import Final

from conformance.history import Moment
from conformance.norm import Obligations, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.livelock import unless_given_up
from conformance.norm.words import listed, span, when
from conformance.suites.appwrapper.claims.forceful_clock import held_by_others
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.parameters import (
    ADMISSION_GRACE,
    DELETION_ON_FAILURE_GRACE,
    FAILURE_GRACE,
    FORCEFUL_DELETION_GRACE,
    RETRY_LIMIT,
    RETRY_PAUSE,
    WARMUP_GRACE,
)
from conformance.suites.appwrapper.sources import detailed_description, overview
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.attempt_ends import POD_LEVEL, attempt_ends
from conformance.suites.appwrapper.view.attempts import Attempt
from conformance.suites.appwrapper.view.health import Health
from conformance.suites.appwrapper.view.snapshots import (
    FAILED,
    PODS_READY,
    RESETTING,
    RESOURCES_DEPLOYED,
    RUNNING,
    SUCCEEDED,
    SUSPENDED,
    Snapshot,
)
from vocabulary.clock import MINUTE, Micros

WAITS: Final = (
    ADMISSION_GRACE,
    WARMUP_GRACE,
    FAILURE_GRACE,
    RETRY_PAUSE,
    FORCEFUL_DELETION_GRACE,
    DELETION_ON_FAILURE_GRACE,
)
"""The parameters whose time may have to pass before anything happens."""
STEPS_PER_ATTEMPT: Final = 12
"""How many things must be noticed one after the other in one attempt and its reset."""

QUIET_US: Final = 20 * MINUTE
"""A simulated run of an operator that polls counts as stable once it has been quiet for so long."""


@claim(
    "INV-8",
    overview(6),
    level=Level.DERIVED,
    armed_by="end of the faults, and time enough after it",
)
def workloads_settle_when_faults_stop(aw: AppWrapperRun) -> Obligations:
    """When faults have stopped, every AppWrapper MUST reach, within a bound that follows from
    its parameters, a state in which it stays: Running with its pods ready, Succeeded, Failed
    with nothing left, or Suspended as it was asked to be."""
    marks = {mark.mark: mark for mark in aw.history.marks}
    stopped = marks.get("faults-stopped")
    last = aw.snapshots[-1]
    given_up = unless_given_up(
        aw,
        aw.snapshots,
        lambda snapshot: (snapshot.phase, snapshot.resets),
        last.phase or "without a phase",
    )
    if given_up is not None and aw.removed is None:
        yield given_up
        return
    if stopped is None or aw.removed is not None:
        if aw.removed is not None and stopped is not None:
            yield met(stopped, aw.removed)
        return
    at: Moment = marks.get("stable") or aw.history.end
    since = _asked_last(aw, stopped)
    due_us = aw.history.operator.timing.due_us(since.t, _bound_us(aw) + _worked_us(aw, since))
    settled = _settled_since(aw)
    if settled is not None:
        # No claim bounds how long a workload takes to complete; AW-096 bounds what follows.
        if due_us is None or settled.t <= due_us or last.phase == SUCCEEDED:
            yield met(stopped, at)
        else:
            yield violated(
                settled,
                f"{when(settled)}: {aw} settled as {settled.phase}, {span(settled.t - stopped.t)} "
                f"after the faults stopped; it had to settle by t={span(due_us)} at the latest.",
                stopped,
            )
        return
    is_at_rest = "stable" in marks and not _may_be_waiting(aw, last, at)
    standing = [track for track in aw.with_made(aw.belongings) if aw.is_there(track, at.n)]
    if not last.has_finalizer:
        standing.append(aw.track)
    held = held_by_others(aw, standing)
    shown = ", ".join(
        f"{type_}={last.status_of(type_) or 'absent'}" for type_ in (RESOURCES_DEPLOYED, PODS_READY)
    )
    if held.text:
        yield undecided(at, f"{aw} waits for what is held: {held.text}")
    elif due_us is not None and (is_at_rest or at.t > due_us):
        yield violated(
            at,
            f"{span(at.t - stopped.t)} after the faults stopped at {when(stopped)}, {aw} is "
            f"{last.phase or 'without a phase'} with {shown}, and nothing more is going on."
            if is_at_rest
            else f"{aw} is {last.phase} with {shown} at {when(at)}; it had to settle by "
            f"t={span(due_us)} at the latest.",
            last,
        )
    else:
        yield undecided(at, f"{aw} is {last.phase} with {shown} when the history ends")


def _asked_last(aw: AppWrapperRun, stopped: Moment) -> Moment:
    """The end of the faults, or the last time after it that it was suspended or resumed: a queue
    may do so as late as it likes."""
    changes = (
        after for before, after in pairwise(aw.snapshots) if before.suspended != after.suspended
    )
    return max([stopped, *changes], key=lambda moment: moment.n)


def _settled_since(aw: AppWrapperRun) -> Snapshot | None:
    """The first of the versions at the history's end that are all settled."""
    settled = list(takewhile(partial(_is_settled, aw), reversed(aw.snapshots)))
    return settled[-1] if settled else None


def _is_settled(aw: AppWrapperRun, at: Snapshot) -> bool:
    if at.deleting:
        return False
    if at.phase == RUNNING:
        return at.shows(PODS_READY) or not aw.expected_pods
    if at.phase == FAILED:
        return not at.shows(RESOURCES_DEPLOYED)
    if at.phase == SUSPENDED:
        return at.suspended
    return at.phase == SUCCEEDED


def _may_be_waiting(aw: AppWrapperRun, last: Snapshot, at: Moment) -> bool:
    """True if the time of a parameter may still be running: the timers of a program are unknown, as
    are those of an operator that polls, whose run counts as stable once it has been quiet for a
    while, or that retries. The run of another one does as soon as it has no timer."""
    operator = aw.history.operator
    is_quiet = at.t - aw.history.entries[at.n - 1].t >= QUIET_US or aw.history.retries_at_rest
    if not operator.under_test.facts.profile_sha256 and not is_quiet:
        return False
    longest_us = max(
        aw.parameter_within(name, aw.snapshots[0], aw.history.end)[1].value for name in WAITS
    )
    return at.t - last.t <= longest_us + operator.timing.latency_us


def _worked_us(aw: AppWrapperRun, since: Moment) -> Micros:
    """How long its pods were ready from then on; no claim bounds how long they work."""
    return sum(
        max(0, after.t - max(before.t, since.t))
        for before, after in pairwise(aw.snapshots)
        if before.phase == RUNNING and before.shows(PODS_READY)
    )


def _bound_us(aw: AppWrapperRun) -> Micros:
    """The longest way to a settled state: every retry at its longest, then the failure."""

    def most(name: str) -> int:
        return aw.parameter_within(name, aw.snapshots[0], aw.history.end)[1].value

    attempt_us = (
        max(most(ADMISSION_GRACE), most(WARMUP_GRACE))
        + most(FAILURE_GRACE)
        + 2 * most(FORCEFUL_DELETION_GRACE)
        + most(RETRY_PAUSE)
        + STEPS_PER_ATTEMPT * aw.history.operator.timing.latency_us
    )
    return (most(RETRY_LIMIT) + 2) * attempt_us + most(DELETION_ON_FAILURE_GRACE)


@claim(
    "INV-9",
    detailed_description(5),
    level=Level.DERIVED,
    armed_by="healthy attempt, and none was given up",
)
def nothing_fails_without_a_reason(aw: AppWrapperRun) -> Obligations:
    """Without a fault, an AppWrapper MUST NOT be reset and MUST NOT fail; with one, neither MUST
    happen without a reason that the cluster shows."""
    ends = {attempt_end.attempt.number: attempt_end for attempt_end in attempt_ends(aw)}
    for attempt in aw.attempts:
        attempt_end = ends.get(attempt.number)
        if attempt_end is not None:
            if attempt_end.ripe or attempt_end.certain & POD_LEVEL & attempt_end.present.keys():
                yield met(attempt.begin, attempt_end.at)
            elif seen := POD_LEVEL & attempt_end.present.keys():
                because = f"{listed(sorted(seen))} may have been seen before {when(attempt_end.at)}"
                yield undecided(attempt_end.at, because)
            else:
                yield violated(
                    attempt_end.at,
                    f"{when(attempt_end.at)}: {aw} entered {attempt_end.to} without any reason: "
                    f"{_state(aw, attempt.health[-1])}.",
                    attempt.begin,
                )
        elif _was_healthy(aw, attempt):
            yield met(attempt.begin)


def _was_healthy(aw: AppWrapperRun, attempt: Attempt) -> bool:
    """True if an attempt was left for another reason, or had all its pods running."""
    if attempt.left is not None and attempt.left.phase not in (RESETTING, FAILED):
        return True
    return any(point.running_least >= aw.expected_pods for point in attempt.health)


def _state(aw: AppWrapperRun, health: Health) -> str:
    counts = (
        ("failed pods", health.failed_most),
        ("failed components", health.broken),
        ("missing components", health.missing),
    )
    found = ", ".join(f"{what}: {count}" for what, count in counts if count)
    state = found or "nothing had failed, and nothing was missing"
    return f"{health.running_least} of {aw.expected_pods} pods were running, {state}"
