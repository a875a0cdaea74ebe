"""AW-004, 040, 043, 044, 046: who is given time to repair a workload, and who is not."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.history import Moment, earliest
from conformance.norm import Obligation, Obligations, eventually, met, shared, undecided, violated
from conformance.norm.words import listed, span, when
from conformance.suites.appwrapper.claims.noticing import (
    Sickness,
    component_failed,
    given_up,
    node_tagged,
    overtaken,
    pods_failed,
    sicknesses,
)
from conformance.suites.appwrapper.claims.timed import (
    Timed,
    no_earlier,
    no_later,
    obligations,
)
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.parameters import FAILURE_GRACE
from conformance.suites.appwrapper.sources import detailed_description, overview
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.attempt_ends import POD_LEVEL, AttemptEnd, Why, attempt_ends
from conformance.suites.appwrapper.view.attempts import Attempt
from conformance.suites.appwrapper.view.deletions import DeleteRequest
from conformance.suites.appwrapper.view.health import Health, Spell
from conformance.suites.appwrapper.view.snapshots import UNHEALTHY


@claim(
    "AW-004",
    overview(4),
    armed_by="workload was given up for the state of its pods",
)
def underlying_controllers_get_time(aw: AppWrapperRun) -> Obligations:
    """When pods make a workload unhealthy, the controllers of its resources MUST be given a
    bounded time to correct that: until then nothing is deleted and the phase stays."""
    for attempt_end in attempt_ends(aw):
        causes = attempt_end.certain.union(attempt_end.present)
        if not causes or not causes <= POD_LEVEL:
            continue
        attempt, at = attempt_end.attempt, attempt_end.at
        if attempt_end.certain and not attempt_end.ripe:
            yield _too_early(attempt_end)
            continue
        deleted = [
            request
            for request in aw.delete_requests
            if attempt.begin.n < request.n < at.n and not _makes_way(attempt, request)
        ]
        if deleted and (attempt_end.certain or _had_failed_pods(attempt, deleted[0])):
            yield violated(
                deleted[0],
                f"{when(deleted[0])}: {deleted[0].track} of {aw} was deleted while the "
                f"controllers of its resources had time to repair it, until {when(at)}.",
                at,
            )
        elif attempt_end.certain:
            yield met(_first(attempt_end), at)
        else:
            yield undecided(at, f"{listed(sorted(causes))} may have been seen before {when(at)}")


def _makes_way(attempt: Attempt, request: DeleteRequest) -> bool:
    """True if an object was deleted to be created anew while the workload was still being created:
    without an answer, and the marks that others have taken, it may be of an earlier attempt."""
    if attempt.running is not None and attempt.running.n < request.n:
        return False
    gone = request.track
    return any(
        (track.kind, track.name) == (gone.kind, gone.name) and track.created.n > request.n
        for track in attempt.components
    )


def _had_failed_pods(attempt: Attempt, at: Moment) -> bool:
    """True if pods had failed for certain just before a moment."""
    before = [point for point in attempt.health if point.n < at.n]
    return bool(before) and before[-1].failed_least > 0


def _first(attempt_end: AttemptEnd) -> Moment:
    """Since when the first of its causes held."""
    begin: Moment = attempt_end.attempt.begin
    return min(attempt_end.since.values(), key=lambda moment: moment.n, default=begin)


def _too_early(attempt_end: AttemptEnd) -> Obligation:
    at = attempt_end.at
    ripe_us = min(attempt_end.present.values(), default=None)
    lasted = "had not passed" if ripe_us is None else f"lasted until t={span(ripe_us)}"
    return violated(
        at,
        f"{when(at)}: {attempt_end.to} was entered for {listed(sorted(attempt_end.certain))}, "
        f"although the grace periods for that {lasted}.",
        _first(attempt_end),
    )


@claim(
    "AW-040",
    detailed_description(12),
    armed_by="workload was given up, or should be, for failed pods",
)
def failure_grace_follows_failed_pods(aw: AppWrapperRun) -> Obligations:
    """A workload with Failed pods MUST be given up when the failure grace period has passed, and
    MUST NOT be before."""
    yield from obligations(failure_grace(aw))


@shared
def failure_grace(aw: AppWrapperRun) -> Iterator[Timed]:
    """Given up for failed pods when their grace period is over, not before."""
    for attempt_end in attempt_ends(aw):
        begin = attempt_end.since.get(Why.FAILED_PODS)
        if begin is None:
            continue
        grace = aw.parameter_within(FAILURE_GRACE, begin, attempt_end.at)[0]
        if attempt_end.ripe == {Why.FAILED_PODS}:
            yield Timed(grace, met(begin, attempt_end.at), from_above=False)
        elif attempt_end.is_too_early_for(Why.FAILED_PODS):
            yield no_earlier(
                aw,
                f"{attempt_end.to} for failed pods",
                grace,
                since=begin,
                happened=attempt_end.at,
                own=False,
            )
    for attempt, since, healed in sicknesses(aw, pods_failed):
        end = earliest(healed, attempt.left) or aw.history.end
        yield no_later(
            aw,
            "Resetting or Failed for failed pods",
            aw.parameter_within(FAILURE_GRACE, since, end)[1],
            since=since,
            happened=given_up(attempt),
            unless=earliest(healed, overtaken(aw, attempt)),
        )


@claim(
    "AW-043",
    detailed_description(13),
    armed_by="node was tagged NoExecute under a long failure grace period",
)
def no_grace_on_tagged_nodes(aw: AppWrapperRun) -> Obligations:
    """When Autopilot tags the node of a Running pod NoExecute for what it uses, the failure
    grace period MUST NOT be waited for."""
    yield from _no_grace(aw, "a running pod on a node tagged NoExecute", node_tagged)


@claim(
    "AW-044",
    detailed_description(13),
    armed_by="Job or PyTorchJob failed under a long failure grace period",
)
def no_grace_for_failed_jobs(aw: AppWrapperRun) -> Obligations:
    """When a Job or a PyTorchJob says that it has failed, the failure grace period MUST NOT be
    waited for."""
    yield from _no_grace(aw, "a failed component", component_failed)


def _no_grace(aw: AppWrapperRun, what: str, sick: Sickness) -> Iterator[Obligation]:
    """Given up immediately, where that can be distinguished from waiting for the grace period."""
    for attempt, since, healed in sicknesses(aw, sick):
        if aw.parameter(FAILURE_GRACE, since).value > aw.history.operator.timing.latency_us:
            yield eventually(
                aw,
                f"Resetting or Failed for {what}",
                since=since,
                within_us=0,
                happened=given_up(attempt),
                unless=earliest(healed, overtaken(aw, attempt)),
            )


@claim(
    "AW-046",
    detailed_description(14),
    armed_by="workload became healthy again well within its failure grace period",
)
def repaired_in_time_means_no_reset(aw: AppWrapperRun) -> Obligations:
    """A workload that is healthy again within the failure grace period MUST NOT be reset, and
    MUST NOT stay marked as unhealthy."""
    timing = aw.history.operator.timing
    for attempt, spell, relapse in _repairs(aw):
        repaired = spell.end
        assert repaired is not None
        grace = aw.parameter_within(FAILURE_GRACE, spell.begin, repaired)[0]
        if repaired.t + timing.latency_us > spell.begin.t + grace.value:
            continue
        left = given_up(attempt)
        until_us = spell.begin.t + grace.value + 2 * timing.latency_us
        calm_until = earliest(relapse, overtaken(aw, attempt))
        if left is not None and (calm_until is None or left.n < calm_until.n):
            yield violated(
                left,
                f"{when(left)}: {aw} entered {left.phase}, although it was healthy again at "
                f"{when(repaired)}, {span(repaired.t - spell.begin.t)} after its pods failed; "
                f"the failure grace period is {span(grace.value)}.",
                spell.begin,
                repaired,
            )
            continue
        seen_until = calm_until or aw.history.end
        if seen_until.t < until_us:
            yield undecided(repaired, f"the repair was seen to hold until t={span(seen_until.t)}")
        else:
            yield met(repaired)
        shown = aw.snapshot_at(repaired.n)
        if shown is not None and shown.shows(UNHEALTHY):
            cleared = (edge for edge in aw.turns(UNHEALTHY, "False") if edge.n > repaired.n)
            yield eventually(
                aw,
                "Unhealthy=False after a repair",
                since=repaired,
                within_us=0,
                happened=next(cleared, None),
                unless=calm_until,
            )


def _repairs(aw: AppWrapperRun) -> Iterator[tuple[Attempt, Spell, Moment | None]]:
    """(attempt, sick spell that ended, next sickness) for workloads that had been healthy."""
    expected = aw.expected_pods

    def healthy(health: Health) -> bool:
        return (
            health.running_least >= expected
            and not health.failed_most
            and not health.evicted_most
            and not health.broken
            and not health.missing
        )

    for attempt in aw.attempts:
        if attempt.running is None:
            continue
        sick = attempt.spells(lambda health: not healthy(health))
        for index, spell in enumerate(sick):
            # The spell from the beginning of an attempt is its start and no sickness.
            is_start = spell.begin.n == attempt.begin.n or spell.begin.n < attempt.running.n
            if not is_start and spell.end is not None and _only_pods_were_sick(attempt, spell):
                yield attempt, spell, sick[index + 1].begin if index + 1 < len(sick) else None


def _only_pods_were_sick(attempt: Attempt, spell: Spell) -> bool:
    """True if nothing happened in a spell that elides the failure grace period."""
    assert spell.end is not None
    return not any(
        point.evicted_most or point.broken or point.missing
        for point in attempt.health
        if spell.begin.n <= point.n < spell.end.n
    )
