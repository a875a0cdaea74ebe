"""JS-101, 113: how long a JobSet is kept that has ended, and what is not made for a deleted one."""

from __future__ import annotations

from conformance.history.tracks import Instant
from conformance.norm import WRITERS, Obligations, eventually, met, not_before, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.jobset.decisions import DELETED_JOB_SETS, TIME_TO_LIVE
from conformance.suites.jobset.judging import claim
from conformance.suites.jobset.sources import field
from conformance.suites.jobset.view import JobSetRun
from conformance.suites.jobset.view.scopes import LATE_US
from vocabulary.clock import SECOND, parse_rfc3339
from vocabulary.history import Write
from vocabulary.objects import condition, get_path


@claim(
    "JS-101",
    field("JobSetSpec.ttlSecondsAfterFinished", 2),
    level=Level.DERIVED,
    decision=TIME_TO_LIVE,
    armed_by="JobSet ended",
    needs=(WRITERS,),
)
def ended_jobset_lives_on(run: JobSetRun) -> Obligations:
    """The controller MUST delete a JobSet once ttlSecondsAfterFinished have passed since its
    end, and MUST NOT delete it before, or if it has none."""
    end, deletion = run.end, _deletion(run)
    standing = end if deletion is None else run.at(deletion.n - 1) or end
    ttl: int | None = get_path(
        {} if standing is None else standing.object, "spec.ttlSecondsAfterFinished"
    )
    if deletion is not None and (end is None or end.n > deletion.n or ttl is None):
        why = "has not ended" if end is None or end.n > deletion.n else "has no time to live"
        yield violated(
            deletion,
            f"{when(deletion)}: the controller deleted {run}, which {why}.",
            run.track.created,
        )
    elif end is not None and ttl is None:
        yield met(end)
    elif end is not None and ttl is not None:
        found = condition(end.object, "Failed" if end.has_failed else "Completed") or {}
        stamped_us = parse_rfc3339(found["lastTransitionTime"]) - run.history.header.began_us
        yield not_before(
            run,
            "its deletion",
            since=Instant(end.n, stamped_us),
            at_least_us=ttl * SECOND,
            happened=deletion,
            own=False,
            origin=f"its time to live of {ttl}s",
            evidence=(end,),
        )
        yield eventually(
            run,
            "its deletion",
            since=end,
            within_us=ttl * SECOND + LATE_US,
            happened=deletion,
            unless=run.hindrance(end),
            origin=f"its time to live of {ttl}s and 30s",
        )


@claim(
    "JS-113",
    field("JobSetSpec.replicatedJobs", 1),
    level=Level.DERIVED,
    decision=DELETED_JOB_SETS,
    armed_by="object of a JobSet that goes while that is being deleted",
    needs=(WRITERS,),
)
def deleted_jobsets_get_nothing_new(run: JobSetRun) -> Obligations:
    """The controller MUST NOT create anything for a JobSet that is being deleted."""
    deleted = next((each for each in run.snapshots if each.is_terminating), None)
    if deleted is None:
        return
    owned = run.history.owned.get(run.track.uid, ())
    gone = [track.removed for track in owned if track.removed and track.removed.n > deleted.n]
    late = [
        created
        for created in (track.created for track in owned)
        if created.n > deleted.n
        and run.operator.is_by(created.actor)
        and run.operator.seen_us(created.actor, created.t) > deleted.t
    ]
    for created in late:
        yield violated(
            created,
            f"{when(created)}: {created.kind} {created.name} was created for {run}, which has been "
            f"deleted since {when(deleted)}.",
            deleted,
        )
    if gone and not late:
        yield met(gone[0])


def _deletion(run: JobSetRun) -> Write | None:
    """The first request by which the controller deleted it."""
    track = run.track
    asked = run.operator.deletes.get((track.kind, track.namespace, track.name), ())
    return next((write for write in asked if track.exists_at(write.n - 1)), None)
