"""INV-1…6, 10, AW-112: what must hold at every position, whatever is going on."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from conformance.norm import (
    OPTIONS,
    WRITERS,
    Obligations,
    exceptions,
    met,
    not_before,
    undecided,
    violated,
)
from conformance.norm.claim import Level
from conformance.norm.words import listed, state_of, when
from conformance.suites.appwrapper.claims.forceful_clock import clock_start, grace_within
from conformance.suites.appwrapper.claims.quota_release import (
    MADE_FOR_THE_GONE,
    released_before_gone,
    undeployed_after_all_is_gone,
)
from conformance.suites.appwrapper.claims.retry_limit import counted_resets
from conformance.suites.appwrapper.decisions import A9, A15, A19, A20
from conformance.suites.appwrapper.judging import claim, claim_of_history
from conformance.suites.appwrapper.sources import detailed_description, guide, progress_guarantees
from conformance.suites.appwrapper.view import AppWrapperHistory, AppWrapperRun
from conformance.suites.appwrapper.view.late_pods import was_made_for_the_gone
from conformance.suites.appwrapper.view.snapshots import (
    FAILED,
    RESETTING,
    RESOURCES_DEPLOYED,
    RESUMING,
    RUNNING,
    SUCCEEDED,
    SUSPENDED,
    SUSPENDING,
    TERMINATING,
    Snapshot,
)


@claim(
    "INV-1",
    progress_guarantees(4),
    level=Level.DERIVED,
    decision=(A19, A20),
    armed_by="resource was created, and none was deleted",
    from_any_versions=True,
)
def not_deployed_means_nothing_exists(aw: AppWrapperRun) -> Obligations:
    """At every position at which ResourcesDeployed is not True, no pod and no resource of the
    workload MUST exist."""
    for track in aw.belongings:
        snapshot = aw.snapshot_at(track.created.n)
        if snapshot is None:
            continue
        if snapshot.shows(RESOURCES_DEPLOYED):
            yield met(track.created)
        elif aw.may_have_shown(RESOURCES_DEPLOYED, track.created.n):
            yield undecided(track.created, "the version that said so may not have been recorded")
        elif was_made_for_the_gone(aw, track):
            yield undecided(track.created, MADE_FOR_THE_GONE, decision=A19.id)
        else:
            yield violated(
                track.created,
                f"{track} of {aw} was created at {when(track.created)}, while "
                f"ResourcesDeployed was {snapshot.status_of(RESOURCES_DEPLOYED) or 'absent'}.",
                snapshot,
            )
    yield from undeployed_after_all_is_gone(aw)


@claim(
    "INV-2",
    progress_guarantees(5),
    name="released-quota-means-nothing-left",
    level=Level.DERIVED,
    decision=(A19, A20),
    armed_by="QuotaReserved turned False outside Succeeded",
    from_any_versions=True,
)
def released_quota_means_nothing_is_left(aw: AppWrapperRun) -> Obligations:
    """At every position at which quota is released without success, no pod and no resource of
    the workload MUST exist."""
    yield from released_before_gone(aw)


@claim(
    "INV-3",
    detailed_description(14),
    level=Level.DERIVED,
    decision=A20,
    armed_by="component was created",
    from_any_versions=True,
)
def one_instance_per_component(aw: AppWrapperRun) -> Obligations:
    """At most one instance of each component MUST exist at any time."""
    for component in aw.components:
        allowed = sum(
            other.kind == component.kind
            and (other.name, other.generate_name) == (component.name, component.generate_name)
            for other in aw.components
        )
        made = [track for track in aw.component_tracks if component.makes(track.kind, track.name)]
        for track in made:
            n = track.created.n
            alive = [other for other in made if aw.is_there(other, n)]
            if len(alive) <= allowed:
                yield met(track.created)
            else:
                yield violated(
                    track.created,
                    f"{when(track.created)}: {listed(state_of(each, n) for each in alive)} of "
                    f"{aw} exist at the same time, all for component {component.position}.",
                    *(each.created for each in alive),
                )


@claim(
    "INV-5",
    detailed_description(16),
    level=Level.DERIVED,
    decision=A15,
    armed_by="AppWrapper was reset, suspended or failed",
)
def retry_count_moves_only_with_resets(aw: AppWrapperRun) -> Obligations:
    """The retry count MUST never decrease, MUST go up by one with each reset that Autopilot did
    not ask for, and MUST NOT change with anything else."""
    allowed = {
        attempt_end.at.n: attempt_end.increments[1] for attempt_end, _, _ in counted_resets(aw)
    }
    for before, after in pairwise(aw.spans):
        # The count may go up where Resetting is entered, within it, or where it is left.
        counts = [snapshot.resets for snapshot in before.snapshots] + [after.begin.resets]
        steps = list(pairwise(counts))
        within = _increments(aw, before.begin, allowed) if before.phase == RESETTING else 0
        entering = _increments(aw, after.begin, allowed) if after.phase == RESETTING else 0
        if any(later < earlier for earlier, later in steps):
            yield violated(
                after.begin,
                f"The retry count of {aw} fell in {before.phase}, between {when(before.begin)} "
                f"and {when(after.begin)}: {' → '.join(map(str, counts))}.",
                before.begin,
            )
        elif counts[-1] - counts[0] > within + entering:
            yield violated(
                after.begin,
                f"{when(after.begin)}: the retry count of {aw} went from {counts[0]} to "
                f"{counts[-1]} in {before.phase} → {after.phase}.",
                before.begin,
            )
        elif before.phase in (RUNNING, RESETTING, SUSPENDING, FAILED):
            yield met(after.begin)


def _increments(aw: AppWrapperRun, reset: Snapshot, allowed: Mapping[int, int]) -> int:
    """The maximum that a reset may add. Its cause is not checked for an AppWrapper that
    is being deleted; an operator that may not have seen the deletion yet may count it."""
    deleted = aw.deleting
    is_unheard = (
        deleted is not None
        and deleted.n <= reset.n
        and deleted.t >= aw.history.operator.timing.seen_us(reset.t)
    )
    return allowed.get(reset.n, int(is_unheard))


EDGES: Final = frozenset(
    {
        ("", SUSPENDED),
        (SUSPENDED, RESUMING),
        (RESUMING, RUNNING),
        (RESUMING, SUSPENDING),
        (RESUMING, RESETTING),
        (RESUMING, FAILED),
        (RUNNING, SUSPENDING),
        (RUNNING, RESETTING),
        (RUNNING, FAILED),
        (RUNNING, SUCCEEDED),
        (RESETTING, SUSPENDING),
        (RESETTING, RESUMING),
        (RESETTING, FAILED),
        (SUSPENDING, SUSPENDED),
    }
)
"""The life cycle of the guide: from within Admitted also to Suspending and to Failed."""
FINAL: Final = (SUCCEEDED, FAILED)


def steps_along_the_graph(aw: AppWrapperRun) -> Obligations:
    """Every change of phase, judged by the life cycle."""
    for before, after in pairwise(aw.spans):
        step = f"from {before.phase or 'no phase'} to {after.phase or 'no phase'}"
        if after.phase == TERMINATING or (before.phase, after.phase) in EDGES:
            yield met(after.begin)
        elif _may_have_missed_phases(aw, before.phase, after.phase):
            yield undecided(after.begin, f"{aw} went {step}, and phases in between may be missing")
        else:
            yield violated(
                after.begin,
                f"{when(after.begin)}: {aw} went {step}, which the life cycle does not have.",
                before.begin,
            )


def _may_have_missed_phases(aw: AppWrapperRun, before: str, after: str) -> bool:
    """True if the history may lack the phases by which one came from one to the other.

    One made of watch events alone may have missed one in between, but none out of a final
    phase. One that lacks versions may have missed any number: from each that is not final,
    every other can be reached.
    """
    if before in FINAL:
        return False
    if not aw.history.shows_every_version:
        return bool(after)
    if aw.history.shows_requests:
        return False
    return any((before, between) in EDGES and (between, after) in EDGES for between, _ in EDGES)


@claim(
    "INV-6",
    guide("AppWrapper Lifecycle", 8),
    level=Level.DERIVED,
    armed_by="AppWrapper changed its phase",
    from_any_versions=True,
)
def phases_follow_the_graph(aw: AppWrapperRun) -> Obligations:
    """Every change of phase MUST be an edge of the life cycle; Failed and Succeeded are final."""
    yield from steps_along_the_graph(aw)


@claim(
    "INV-10",
    progress_guarantees(3),
    level=Level.DERIVED,
    decision=A9,
    armed_by="pod or resource was deleted with grace 0",
    needs=(WRITERS, OPTIONS),
)
def force_has_its_time(aw: AppWrapperRun) -> Obligations:
    """No pod and no resource MUST be deleted with grace 0 earlier than the forceful deletion
    grace period after the deletion began."""
    episodes = {request.n: deletion for deletion in aw.deletions for request in deletion.requests}
    for request in aw.delete_requests:
        if not request.is_forced:
            continue
        deletion = episodes.get(request.n)
        start = None if deletion is None else clock_start(aw, deletion)
        if deletion is None or start is None:
            yield violated(
                request,
                f"{when(request)}: {request.track} of {aw} was deleted with grace 0, although "
                "nothing called for a deletion.",
            )
            continue
        least, _ = grace_within(aw, deletion, request)
        yield not_before(
            aw,
            f"the forceful deletion of {request.track}",
            since=start,
            at_least_us=least.value,
            happened=request,
            origin=least.origin,
        )


@claim_of_history(
    "AW-112",
    exceptions.SOURCE,
    level=Level.DERIVED,
    armed_by="run of the controller",
    from_any_versions=True,
)
def appwrapper_controller_does_not_panic(view: AppWrapperHistory) -> Obligations:
    """The controller and its webhooks MUST NOT panic or raise an exception, whatever they meet."""
    yield from exceptions.escaped(view, view.operator)
