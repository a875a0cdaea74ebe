"""ST-029, 030, 032 to 039, 041: the deletion and the recreation of an interrupted Job."""

from __future__ import annotations

from itertools import pairwise

from conformance.history import Moment, Track
from conformance.history.operator import ENDS
from conformance.norm import (
    OPTIONS,
    Obligations,
    eventually,
    in_the_end,
    met,
    undecided,
    violated,
)
from conformance.norm.claim import Level
from conformance.norm.words import states_of, when
from conformance.suites.streams.api import GROUP, OPERATORS_FIELDS, RECOVERY, STRICT
from conformance.suites.streams.decisions import DURABLE, USERS_WISH, VERIFIED
from conformance.suites.streams.judging import claim
from conformance.suites.streams.kind import JobState
from conformance.suites.streams.sources import text
from conformance.suites.streams.view import JobRun
from vocabulary.history import Process, Write
from vocabulary.objects import (
    Object,
    annotations_of,
    controller_of,
    finalizers_of,
    get_path,
    is_terminating,
    labels_of,
)

_RECREATED = "Job was created in place of an interrupted one"
_DELETED = "operator deleted an interrupted Job"
_FOREGROUND = "foregroundDeletion"


@claim("ST-029", text(20), armed_by=_RECREATED)
def the_same_job_comes_back(run: JobRun) -> Obligations:
    """The Job that is created in place of an interrupted one MUST have its user's spec, labels and
    annotations, and no write of the operator MUST change these."""
    for earlier, write in pairwise(run.track.versions):
        kept, wanted = _users_part(write.object or {}), _users_part(earlier.object or {})
        if run.operator.is_by(write.actor) and kept != wanted:
            yield violated(
                write, f"{when(write)}: the operator changes {run}: it has {kept} for {wanted}."
            )
    old = run.interrupted
    if old is None:
        return
    before, after = _users_part(old.track.last), _users_part(run.track.first)
    if before == after:
        yield met(run.track.created)
    else:
        yield violated(
            run.track.created,
            f"{when(run.track.created)}: {run} is created with {after}; the interrupted one has "
            f"{before}.",
        )


def _users_part(job: Object) -> Object:
    """Its spec, labels and annotations without what the operator writes."""
    spec = job.get("spec") or {}
    own = {key: spec[key] for key in spec if key not in OPERATORS_FIELDS}
    found: dict[str, Object] = {"spec": own}
    for name, texts in (("labels", labels_of(job)), ("annotations", annotations_of(job))):
        found[name] = {key: texts[key] for key in texts if not key.startswith(f"{GROUP}/")}
    return found


@claim("ST-030", text(24), armed_by=_RECREATED)
def attempts_do_not_overlap(run: JobRun) -> Obligations:
    """At no moment MUST there be objects of two Jobs of one name: what is created for the new one
    and what is left of the interrupted one would meet."""
    if run.interrupted is None:
        return
    for track in (run.track, *run.tree):
        left = run.left_at(track.created.n)
        if left:
            yield violated(
                track.created,
                f"{when(track.created)}: {track} is created for {run}, and of the interrupted one "
                f"there is {states_of(left, track.created.n)}.",
            )
            return
    yield met(run.track.created)


@claim("ST-032", text(26), armed_by=_DELETED)
def deletions_are_in_progress(run: JobRun) -> Obligations:
    """An interrupted Job that the operator deletes MUST stay readable, with its deletion in
    progress, until its dependents are gone."""
    for delete in run.deletes[:1]:
        stored = delete.object or {}
        is_in_progress = delete.event != "DELETED" and is_terminating(stored)
        if is_in_progress and _FOREGROUND in finalizers_of(stored):
            yield met(delete)
        elif any(track.exists_at(delete.n) for track in run.tree):
            yield violated(
                delete, f"{when(delete)}: {run} is gone at once, or keeps no finalizer for it."
            )


@claim("ST-033", text(27), armed_by=_DELETED)
def owners_outlive_their_dependents(run: JobRun) -> Obligations:
    """An interrupted Job MUST be gone only after all that it owns, since all of it blocks."""
    removed = run.track.removed
    if removed is None or not run.deletes or _was_hurried(run, removed):
        return
    late = [
        track
        for track in run.made
        # What the garbage collector has to have seen as it began.
        if run.track.created.n < track.created.n < run.deletes[0].n
        and track.exists_at(removed.n)
        and not _was_loosened(track, run.deletes[0].n)
    ]
    if late and _collector_was_paused(run, removed):
        yield undecided(removed, "the garbage collector was paused, and may not have seen them")
    elif late:
        yield violated(
            removed, f"{when(removed)}: {run} is gone, and there is {states_of(late, removed.n)}."
        )
    else:
        yield met(removed)


def _collector_was_paused(run: JobRun, removed: Write) -> bool:
    return any(
        each.process == "garbage-collector" and each.change == "paused" and each.n < removed.n
        for each in run.history.processes
    )


def _was_hurried(run: JobRun, removed: Write) -> bool:
    """True if another client's deletion, in the background, has ended that in the foreground."""
    return removed.verb == "delete" and not run.operator.is_by(removed.actor)


def _was_loosened(track: Track, n: int) -> bool:
    """True if another client has taken care that it does not block."""
    before, after = (controller_of(each) or {} for each in (track.first, track.at(n)))
    return bool(before.get("blockOwnerDeletion")) and not after.get("blockOwnerDeletion")


@claim("ST-034", text(29), decision=VERIFIED, armed_by=_RECREATED)
def the_end_is_verified(run: JobRun) -> Obligations:
    """The operator MUST NOT take the end of a Job's deletion for the end of its dependents: it
    MUST NOT create the new Job while the API server has any of them."""
    yield from _nothing_left(run)


@claim("ST-035", text(30), armed_by=_RECREATED)
def old_ones_go_first(run: JobRun) -> Obligations:
    """The new Job MUST be created only once the interrupted one and all of its tree are gone,
    however long that takes."""
    if run.interrupted is not None and run.interrupted.track.exists_at(run.track.created.n):
        yield violated(run.track.created, f"{when(run.track.created)}: {run} is created too early.")
        return
    yield from _nothing_left(run)


def _nothing_left(run: JobRun) -> Obligations:
    if run.interrupted is None:
        return
    created = run.track.created
    left = run.left_at(created.n)
    if left:
        yield violated(
            created,
            f"{when(created)}: {run} is created, and of the interrupted one there is "
            f"{states_of(left, created.n)}.",
        )
    else:
        yield met(created)


@claim("ST-036", text(30), armed_by=_RECREATED)
def new_ones_are_as_any_other(run: JobRun) -> Obligations:
    """The new Job MUST have nothing of the interrupted one but what its user has written: no id, no
    finalizer of its deletion, no owner."""
    if run.interrupted is None:
        return
    first = run.track.first
    kept = [each for each in finalizers_of(first) if each == _FOREGROUND]
    state = JobState(first)
    if kept or state.id is not None or controller_of(first) or state.is_submitted:
        yield violated(
            run.track.created,
            f"{when(run.track.created)}: {run} is created with finalizers {finalizers_of(first)}, "
            f"id {state.id}, phase {state.phase!r}.",
        )
    else:
        yield met(run.track.created)


@claim("ST-037", text(31), armed_by="submission of a Job was interrupted")
def recovery_is_by_replacement(run: JobRun) -> Obligations:
    """A Job whose submission was interrupted MUST be replaced; it MUST NOT become Submitted
    itself."""
    if run.interruption is None:
        return
    if run.submitted is not None:
        yield violated(
            run.submitted,
            f"{when(run.submitted)}: {run} becomes Submitted, though its submission was "
            "interrupted.",
            run.interruption,
        )
    elif run.successor is not None:
        yield met(run.interruption)


@claim(
    "ST-038",
    text(31),
    level=Level.DERIVED,
    decision=DURABLE,
    editions=(STRICT,),
    armed_by="recovery of a Job was begun",
)
def recoveries_are_recovered(run: JobRun) -> Obligations:
    """If the operator ends during a recovery, the interrupted Job MUST have a successor in the end,
    and exactly one. Nothing of a recovery MUST be left once that is there, or its Job has gone for
    good."""
    gone = _is_over(run)
    for record in run.history.by_kind.get(str(RECOVERY), ()):
        if gone is not None and get_path(record.first, "spec.uid") == run.track.uid:
            yield eventually(
                run,
                f"the end of {record}",
                since=gone,
                within_us=0,
                happened=record.removed,
                unless=run.held,
                steps=3,
            )
    if not run.deletes:
        return
    begun, later = run.deletes[0], run.successor
    over = later.track.created.n if later is not None else run.history.end.n
    ended = [
        each
        for each in run.operator.processes
        if each.change in ("killed", "stopped", "ended") and begun.n < each.n <= over
    ]
    if not ended:
        return
    what, happened = "its successor", None if later is None else later.track.created
    unless = run.users_deletion or run.held
    due = _due(run, ended[-1])
    if due is None:
        yield in_the_end(run, what, since=ended[0], happened=happened, unless=unless)
    else:
        yield eventually(
            run, what, since=due, within_us=0, happened=happened, unless=unless, steps=4
        )


def _is_over(run: JobRun) -> Moment | None:
    """The moment from which on nothing of its recovery is needed: it has a successor, or has gone
    for good. If the operator asked for its deletion it comes back once its tree is gone."""
    if run.successor is not None:
        return None if run.track.removed is None else run.successor.track.created
    ends = [run.track.removed, *(track.removed for track in run.tree if run.deletes)]
    found = [each for each in ends if each is not None]
    return max(found, key=lambda each: each.n) if len(found) == len(ends) else None


def _due(run: JobRun, ended: Process) -> Moment | None:
    """When the operator could create the successor: it has started, and nothing is left."""
    starts = (each for each in run.operator.processes if each.change in ("started", "leading"))
    start = next((each for each in starts if each.n > ended.n), None)
    ends = [start, run.track.removed, *(track.removed for track in run.tree)]
    found = [each for each in ends if each is not None]
    return max(found, key=lambda each: each.n) if len(found) == len(ends) else None


@claim("ST-039", text(31), level=Level.DERIVED, decision=USERS_WISH, armed_by="user deleted a Job")
def deleted_ones_stay_away(run: JobRun) -> Obligations:
    """A Job that its user has deleted, by whichever propagation policy and whenever, MUST NOT be
    created again by the operator."""
    if run.users_deletion is None:
        return
    later = run.successor
    if later is None or not run.operator.is_by(later.track.created.actor):
        yield met(run.users_deletion)
    elif _ended_on_its_way(run):
        yield undecided(
            later.track.created,
            "the operator ended between its record that it deletes the Job and the end of the "
            "deletion, and cannot tell who asked for it",
        )
    else:
        yield violated(
            later.track.created,
            f"{when(later.track.created)}: the operator creates {later}, which its user has "
            f"deleted at {when(run.users_deletion)}.",
            run.users_deletion,
        )


def _ended_on_its_way(run: JobRun) -> bool:
    """True if a process ended whose record said that it deletes the Job, which no later one can
    tell from a deletion by the user before that request."""
    ends = [each.n for each in run.operator.processes if each.change in ENDS]
    for record in run.history.by_kind.get(str(RECOVERY), ()):
        if get_path(record.first, "spec.uid") != run.track.uid:
            continue
        for n in ends:
            if record.exists_at(n) and get_path(record.at(n), "spec.deletionRequested", False):
                return True
    return False


@claim("ST-041", text(32), level=Level.DERIVED, needs=(OPTIONS,), armed_by=_DELETED)
def foreground_is_on_the_wire(run: JobRun) -> Obligations:
    """The request that deletes an interrupted Job MUST have the propagation policy Foreground."""
    for delete in run.deletes:
        policy = delete.options.get("propagationPolicy")
        if policy == "Foreground":
            yield met(delete)
        else:
            yield violated(
                delete,
                f"{when(delete)}: {run} is deleted with the policy {policy or 'of its kind'}.",
            )


@claim("ST-046", text(31), level=Level.DERIVED, armed_by=_DELETED)
def another_of_the_name_is_spared(run: JobRun) -> Obligations:
    """A request that deletes an interrupted Job MUST NOT delete another one that its user has
    created under the name since."""
    for delete in run.deletes:
        created = run.track.created
        if run.operator.is_by(created.actor) or run.interruption is not None:
            yield met(delete)
        else:
            yield violated(
                delete,
                f"{when(delete)}: the operator deletes {run}, which its user has created at "
                f"{when(created)}.",
            )
