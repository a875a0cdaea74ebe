"""AW-031, 032, 041, 042: pods that do not come, or do not start, within their grace periods."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from conformance.history import Moment, earliest
from conformance.norm import Obligations, met, shared
from conformance.suites.appwrapper.claims.noticing import (
    given_up,
    later,
    overtaken,
    turned_unhealthy,
)
from conformance.suites.appwrapper.claims.timed import (
    Timed,
    no_earlier,
    no_later,
    obligations,
)
from conformance.suites.appwrapper.decisions import A2, A5, A11
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.parameters import ADMISSION_GRACE, FAILURE_GRACE, WARMUP_GRACE
from conformance.suites.appwrapper.sources import detailed_description
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.attempt_ends import AttemptEnd, Why, attempt_ends
from conformance.suites.appwrapper.view.attempts import Attempt
from conformance.suites.appwrapper.view.health import Health
from conformance.suites.appwrapper.view.parameters import Value
from conformance.suites.appwrapper.view.snapshots import UNHEALTHY, Snapshot


@claim(
    "AW-031",
    detailed_description(7),
    name="pods-must-be-pending-within-admission-grace",
    decision=A5,
    armed_by="attempt had fewer pods than expected for its admission grace period",
)
def pods_come_within_admission_grace(aw: AppWrapperRun) -> Obligations:
    """A workload MUST be found unhealthy if the expected number of pods is not at least Pending
    within the admission grace period, and MUST NOT be for that reason before."""
    yield from obligations(found_late(aw, FEW))


@claim(
    "AW-032",
    detailed_description(8),
    name="pods-must-be-running-within-warmup-grace",
    decision=A11,
    armed_by="attempt had pods that did not run for its warmup grace period",
)
def pods_run_within_warmup_grace(aw: AppWrapperRun) -> Obligations:
    """A workload MUST be found unhealthy if the expected number of pods is not Running within
    the warmup grace period, and MUST NOT be for that reason before."""
    yield from obligations(found_late(aw, IDLE))


@claim(
    "AW-041",
    detailed_description(12),
    decision=A2,
    armed_by="attempt was given up, or should be, for lack of pods",
)
def failure_grace_follows_admission_grace(aw: AppWrapperRun) -> Obligations:
    """A workload that lacks pods MUST be given up when the failure grace period has passed after
    its admission grace period, and MUST NOT be before."""
    yield from obligations(given_up_late(aw, FEW))


@claim(
    "AW-042",
    detailed_description(12),
    decision=A2,
    armed_by="attempt was given up, or should be, for pods that did not run",
)
def failure_grace_follows_warmup_grace(aw: AppWrapperRun) -> Obligations:
    """A workload whose pods do not run MUST be given up when the failure grace period has passed
    after its warmup grace period, and MUST NOT be before."""
    yield from obligations(given_up_late(aw, IDLE))


class Lack:
    """One way in which an attempt can fail to start: its grace period, and who lacks what."""

    def __init__(
        self,
        why: Why,
        parameter: str,
        surely: Callable[[Health, int], bool],
        perhaps: Callable[[Health, int], bool],
    ) -> None:
        self.why = why
        self.parameter = parameter
        self.surely = surely
        """True if it holds by every reading, so that something must happen."""
        self.perhaps = perhaps
        """True if it holds by some reading, so that something may happen."""


FEW = Lack(
    Why.FEW_PODS,
    ADMISSION_GRACE,
    surely=lambda health, expected: health.present_most < expected,
    perhaps=lambda health, expected: health.present_least + health.failed_most < expected,
)
IDLE = Lack(
    Why.NOT_RUNNING,
    WARMUP_GRACE,
    surely=lambda health, expected: (
        health.present_least >= expected and health.running_most + health.failed_all < expected
    ),
    perhaps=lambda health, expected: health.running_least + health.failed_most < expected,
)


@shared
def found_late(aw: AppWrapperRun, lack: Lack) -> Iterator[Timed]:
    """Unhealthy for lack of pods: at the end of the grace period, not before."""
    what = f"Unhealthy=True for {lack.why}"
    for attempt in aw.attempts:
        shown = turned_unhealthy(attempt)
        if shown is not None and _is_shown_for(aw, attempt, shown, lack):
            least = aw.parameter_within(lack.parameter, attempt.begin, shown)[0]
            since = attempt.first_start
            yield no_earlier(aw, what, least, since=since, happened=shown)
    for attempt, begin, until in _lacking(aw, lack):
        most = aw.parameter_within(lack.parameter, attempt.begin, until or aw.history.end)[1]
        yield no_later(
            aw,
            what,
            most,
            since=_counted_from(attempt, begin, most),
            happened=_first_unhealthy(attempt) or given_up(attempt),
            unless=earliest(until, overtaken(aw, attempt)),
            steps=1,
        )


@shared
def given_up_late(aw: AppWrapperRun, lack: Lack) -> Iterator[Timed]:
    """Resetting or Failed for lack of pods: when both grace periods are over, not before."""
    for attempt_end in attempt_ends(aw):
        attempt = attempt_end.attempt
        least = aw.parameter_within(lack.parameter, attempt.begin, attempt_end.at)[0]
        if attempt_end.ripe == {lack.why}:
            yield Timed(least, met(attempt.begin, attempt_end.at), from_above=False)
        elif _is_too_early(attempt_end, lack):
            grace = aw.parameter_within(FAILURE_GRACE, attempt.begin, attempt_end.at)[0]
            yield no_earlier(
                aw,
                f"{attempt_end.to} for {lack.why}",
                least,
                since=attempt.first_start,
                happened=attempt_end.at,
                plus_us=grace.value,
            )
    for attempt, begin, until in _lacking(aw, lack):
        end = until or aw.history.end
        most = aw.parameter_within(lack.parameter, attempt.begin, end)[1]
        grace = aw.parameter_within(FAILURE_GRACE, attempt.begin, end)[1]
        yield no_later(
            aw,
            f"Resetting or Failed for {lack.why}",
            most,
            since=_counted_from(attempt, begin, most),
            happened=given_up(attempt),
            plus_us=grace.value,
            unless=earliest(until, overtaken(aw, attempt)),
        )


@shared
def _lacking(aw: AppWrapperRun, lack: Lack) -> Iterator[tuple[Attempt, Moment, Moment | None]]:
    """Attempts that lacked pods at their start, since when, and when that ended; None: not before
    them.

    Armed are those in which it lasted the whole grace period, or in which it still lasts.
    """
    expected = aw.expected_pods
    if not expected:
        return
    for attempt in aw.attempts:
        if attempt.failed_creates:
            continue
        for spell in attempt.spells(lambda health: lack.surely(health, expected)):
            grace = aw.parameter(lack.parameter, attempt.begin)
            ended = spell.end.t if spell.end is not None else aw.history.end.t
            if _since_start(attempt, spell.begin, lack) and ended >= attempt.begin.t + grace.value:
                yield attempt, spell.begin, spell.end


def _counted_from(attempt: Attempt, begin: Moment, grace: Value) -> Moment:
    """From when a grace period is counted at the latest. Pods that came only after it was over
    are not to be found idle before they came."""
    return later(attempt.begin, max(attempt.last_start_us, begin.t - grace.value))


def _since_start(attempt: Attempt, begin: Moment, lack: Lack) -> bool:
    """True if a spell is one of the start: pods that stopped running later are another matter."""
    if lack is FEW:
        return begin.n == attempt.begin.n
    ran = (point.n for point in attempt.health if point.running_most > 0)
    return begin.n <= min(ran, default=begin.n)


def _first_unhealthy(attempt: Attempt) -> Snapshot | None:
    for snapshot in attempt.snapshots:
        if snapshot.shows(UNHEALTHY):
            return snapshot
    return None


def _is_shown_for(aw: AppWrapperRun, attempt: Attempt, shown: Snapshot, lack: Lack) -> bool:
    """True if a version can show Unhealthy for this lack, and for nothing else."""
    expected = aw.expected_pods
    if not expected or _may_lack_components(aw, attempt, shown):
        return False
    if attempt.failed_creates and (lack is FEW or not _has_all_before(aw, attempt, shown)):
        return False
    if lack is FEW:
        # Pods that are not there do not run either, and that may have had less time.
        warmup = aw.parameter_within(WARMUP_GRACE, attempt.begin, shown)[0]
        if shown.t >= aw.history.operator.timing.stamped_us(attempt.begin.t) + warmup.value:
            return False
    seen_us = aw.history.operator.timing.seen_us(shown.t)
    looked_at = [
        point
        for point, following in zip(attempt.health, [*attempt.health[1:], None], strict=True)
        if point.n < shown.n and (following is None or following.t >= seen_us)
    ]
    others = (FEW,) if lack is IDLE else ()
    return lack.surely(looked_at[-1], expected) and not any(
        point.failed_most
        or point.evicted_most
        or point.broken
        or point.missing
        or any(other.perhaps(point, expected) for other in others)
        for point in looked_at
    )


def _may_lack_components(aw: AppWrapperRun, attempt: Attempt, at: Moment) -> bool:
    """True if a creation may have failed that left no entry, since it never reached the server,
    or got no answer: that counts as missing pods by itself (A23)."""
    has_all = attempt.running is not None and attempt.running.n < at.n
    return not has_all and bool(aw.history.operator.timing.hindered(attempt.begin.t, at.t))


def _has_all_before(aw: AppWrapperRun, attempt: Attempt, at: Moment) -> bool:
    """True if what the controller had seen before a moment had all that it creates: refusals were
    over, and count as missing pods no more (A23)."""
    created = attempt.all_created
    return created is not None and created.t < aw.history.operator.timing.seen_us(at.t)


def _is_too_early(attempt_end: AttemptEnd, lack: Lack) -> bool:
    """True if a attempt_end is for this lack, for certain, and not for one that may be worse."""
    worse = {Why.FAILED_PODS, Why.FEW_PODS} - {lack.why}
    return attempt_end.is_too_early_for(lack.why) and worse.isdisjoint(attempt_end.present)
