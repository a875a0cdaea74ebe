"""AW-007, 010…012: deletion begins at once, asks first, forces later, and comes to its end."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from conformance.history import Moment, Track, earliest
from conformance.norm import (
    OPTIONS,
    WRITERS,
    Obligation,
    Obligations,
    eventually,
    met,
    shared,
    undecided,
    violated,
)
from conformance.norm.words import span, when
from conformance.suites.appwrapper.claims.forceful_clock import (
    clock_start,
    delay_of,
    grace_within,
    removed,
)
from conformance.suites.appwrapper.claims.timed import (
    Timed,
    no_earlier,
    no_later,
    obligations,
)
from conformance.suites.appwrapper.decisions import A9, A19, A21
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.sources import overview, progress_guarantees
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.deletions import DeleteRequest, Deletion
from conformance.suites.appwrapper.view.late_pods import was_made_for_the_gone
from vocabulary.clock import SECOND, Micros
from vocabulary.objects import controller_of, get_path, is_terminating

NOT_FOUND: Final = 404


@claim(
    "AW-007",
    overview(6),
    decision=(A19, A21),
    armed_by="deletion of a workload's resources was due",
)
def deletion_always_succeeds(aw: AppWrapperRun) -> Obligations:
    """A deletion that is due MUST begin, MUST make progress, and MUST end with all pods and
    resources of the workload removed."""
    for deletion in aw.deletions:
        hit = [track for track in deletion.hit if not was_made_for_the_gone(aw, track)]
        if hit:
            gone = deletion.gone_of(hit)
            yield removed(
                aw,
                f"the end of the deletion for {deletion.cause}",
                deletion,
                gone,
                unless=earliest(deletion.end, aw.removed) if gone is None else None,
            )


@claim(
    "AW-010",
    progress_guarantees(2),
    decision=A21,
    armed_by="deletion of a workload's resources was due",
    needs=(WRITERS, OPTIONS),
)
def deletion_begins_with_top_level_resources(aw: AppWrapperRun) -> Obligations:
    """Deletion MUST begin as soon as it is due, with ordinary deletes of all top-level resources
    and of these alone; one that is refused MUST be sent again. Pods MUST be left to the
    controllers of those resources until the forceful deletion grace period is over. An ordinary
    delete neither orphans pods nor shortens the time that they have to stop."""
    for deletion in aw.deletions:
        yield from _first_deletes(aw, deletion)
        yield from _deletes_again(aw, deletion)
    yield from _ordinary_deletes(aw)


def _first_deletes(aw: AppWrapperRun, deletion: Deletion) -> Iterator[Obligation]:
    """An obligation for each component that was not being deleted when the deletion became due."""
    for track in deletion.deletable:
        attempts = deletion.attempts_at(track)
        yield eventually(
            aw,
            f"the delete of {track} for {deletion.cause}",
            since=deletion.begin,
            within_us=delay_of(aw, deletion),
            happened=attempts[0] if attempts else None,
            unless=earliest(deletion.end, aw.removed, track.removed, _terminating(track)),
            timing=aw.history.operator.timing_of_delete(track),
        )


def _deletes_again(aw: AppWrapperRun, deletion: Deletion) -> Iterator[Obligation]:
    """An obligation for each rejected delete: the next one.

    A client that backs off waits for as long as it has been rejected already. A client that is
    informed that the object is gone may believe it.
    """
    for refused in deletion.refused:
        track = refused.track
        if refused.write.code == NOT_FOUND:
            continue
        attempts = deletion.attempts_at(track)
        terminating = None if refused.grace_seconds == 0 else _terminating(track)
        yield eventually(
            aw,
            f"another delete of {track}, which was refused with {refused.write.code},",
            since=refused,
            within_us=refused.t - attempts[0].t,
            happened=next((each for each in attempts if each.n > refused.n), None),
            unless=earliest(deletion.end, aw.removed, track.removed, terminating),
        )


def _terminating(track: Track) -> Moment | None:
    """The first version of an object that shows that it is being deleted, by whomever."""
    return next((each for each in track.versions if is_terminating(each.object or {})), None)


def _ordinary_deletes(aw: AppWrapperRun) -> Iterator[Obligation]:
    top_level = {track.uid for track in aw.component_tracks}
    for deletion in aw.deletions:
        start = clock_start(aw, deletion)
        first = deletion.first_request
        if start is None or first is None or deletion.previous is not None:
            continue
        if not deletion.deletable_before(first):
            continue
        grace = grace_within(aw, deletion, first)[0]
        if not grace.value:
            continue
        if first.is_forced or first.track.uid not in top_level:
            how = "with grace 0" if first.is_forced else "by itself"
            yield violated(
                first,
                f"{when(first)}: the deletion of {aw} began with {first.track}, {how}.",
                deletion.begin,
            )
            continue
        until_us = aw.history.operator.timing.stamped_us(start.t) + grace.value
        for request in deletion.requests:
            how = _unlike_an_ordinary_one(request, deletion, top_level)
            if how and request.t < until_us:
                yield violated(
                    request,
                    f"{when(request)}: {request.track} of {aw} was deleted {how}, "
                    f"{span(request.t - start.t)} after the deletion began; the forceful "
                    f"deletion grace period is {span(grace.value)}.",
                    first,
                )
                break
        else:
            yield met(first)


def _unlike_an_ordinary_one(
    request: DeleteRequest, deletion: Deletion, top_level: Collection[str]
) -> str:
    """The difference of a delete from an ordinary one of a top-level resource; empty: none."""
    track = request.track
    if track.uid not in top_level:
        return "by itself"
    if request.cuts_short and not request.is_forced:
        return f"with grace {request.grace_seconds}, less than it has to stop"
    if request.orphans:
        for other in deletion.left_at(request.n):
            if (controller_of(other.first) or {}).get("uid") == track.uid:
                return f"so that {other} was orphaned"
    return ""


@claim(
    "AW-011",
    progress_guarantees(3),
    decision=A9,
    armed_by="resource took its time to be deleted",
    needs=(WRITERS, OPTIONS),
)
def no_force_within_the_grace_period(aw: AppWrapperRun) -> Obligations:
    """Nothing MUST be deleted forcefully before the forceful deletion grace period has passed
    since the deletion began."""
    for deletion in aw.deletions:
        yield from obligations(forced_no_earlier(aw, deletion))


@shared
def forced_no_earlier(aw: AppWrapperRun, deletion: Deletion) -> Iterator[Timed]:
    """Armed where something outlived the first delete by a second: force was an option."""
    start = clock_start(aw, deletion)
    if start is None:
        return
    forced = next((request for request in deletion.requests if request.is_forced), None)
    lingered = [track for track in deletion.hit if _exists_at(track, start.t + SECOND)]
    if forced is None and not lingered:
        return
    grace = grace_within(aw, deletion, forced or deletion.gone or aw.history.end)[0]
    what = "a forceful deletion" if forced is None else f"the forceful deletion of {forced.track}"
    if forced is None and deletion.gone is not None:
        # It ended without force: that is as it should be, however short it was.
        yield Timed(grace, met(start), from_above=False)
    else:
        yield no_earlier(aw, what, grace, since=start, happened=forced)


@claim(
    "AW-012",
    progress_guarantees(3),
    decision=A21,
    armed_by="pod or resource was left at the end of the forceful deletion grace period",
    needs=(WRITERS, OPTIONS),
)
def force_after_the_grace_period(aw: AppWrapperRun) -> Obligations:
    """Every pod and every resource that remains when the forceful deletion grace period is over
    MUST be deleted with a grace period of 0. A suspension or a deletion of the AppWrapper
    meanwhile does not start the period anew."""
    for deletion in aw.deletions:
        yield from obligations(forced_no_later(aw, deletion))


@shared
def forced_no_later(aw: AppWrapperRun, deletion: Deletion) -> Iterator[Timed]:
    """An obligation for each object that was left at the end of the grace period.

    The period counts from the first delete, which may belong to an episode that this one goes
    on with. Where there was nothing to be deleted first, as where pods have lost what made
    them, it counts from when the controller sees that.
    """
    first, delay_us, steps = _latest_start(aw, deletion)
    grace = grace_within(aw, deletion, deletion.gone or aw.history.end)[1]
    due_us = first.t + delay_us + grace.value + (steps - 1) * aw.history.operator.timing.latency_us
    over_us = max(due_us, deletion.begin.t)
    if (deletion.end is not None and deletion.end.t <= over_us) or aw.history.end.t < over_us:
        return
    left = [track for track in deletion.hit if _exists_at(track, over_us)]
    pods = [track for track in left if track.kind == "Pod"]
    for track in left:
        since_us = over_us
        if track.kind != "Pod" and pods:
            # Pods come first; resources may wait until the last of them is gone.
            ends = [pod.removed for pod in pods]
            if not all(ends):
                yield Timed(grace, undecided(first, f"{track} waits for pods"), from_above=True)
                continue
            since_us = max(end.t for end in ends if end is not None)
        forced = no_later(
            aw,
            f"the forceful deletion of {track}",
            grace,
            since=first,
            happened=_forced_or_gone(deletion, track),
            plus_us=delay_us + since_us - due_us,
            unless=earliest(deletion.end, aw.removed),
            steps=steps,
        )
        is_top_level = aw.component_of(track) is not None
        yield forced._replace(is_forgotten=is_top_level and not deletion.attempts_at(track))


def _latest_start(aw: AppWrapperRun, deletion: Deletion) -> tuple[Moment, Micros, int]:
    """(since, delay, steps) until the forceful deletion of what then remains: one reaction after
    the first delete's grace period, or the one to see that there is nothing to delete before."""
    requests = (each for episode in deletion.chain for each in episode.requests)
    first = next((each for each in requests if each.grace_seconds != 0), None)
    return (deletion.begin, delay_of(aw, deletion), 2) if first is None else (first, 0, 1)


def _forced_or_gone(deletion: Deletion, track: Track) -> Moment | None:
    forced: Iterator[Moment] = (
        request
        for episode in deletion.chain
        for request in episode.requests
        if request.track is track and request.grace_seconds == 0
    )
    return earliest(next(forced, None), _without_grace(track), track.removed)


def _without_grace(track: Track) -> Moment | None:
    """When a pod had no grace left: the API server grants none to one that has ended already.

    Nothing but a finalizer holds it then, and a delete with grace 0 would change nothing.
    Other kinds never have any, which tells nothing of how they were deleted.
    """
    if track.kind != "Pod":
        return None
    return next(
        (
            version
            for version in track.versions
            if get_path(version.object or {}, "metadata.deletionGracePeriodSeconds") == 0
        ),
        None,
    )


def _exists_at(track: Track, time_us: Micros) -> bool:
    """True if an object exists at a time (not: position)."""
    return track.created.t <= time_us and (track.removed is None or track.removed.t > time_us)


def forceful_deletion(aw: AppWrapperRun) -> Iterator[Timed]:
    """Both bounds on force, for the claims about their parameter."""
    for deletion in aw.deletions:
        yield from forced_no_earlier(aw, deletion)
        yield from forced_no_later(aw, deletion)
