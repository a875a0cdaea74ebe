"""ST-001, 006 to 010, 027, 028, 044: submissions end, and are whole when they do."""

from __future__ import annotations

from itertools import pairwise

from conformance.norm import Obligations, in_the_end, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import listed, when
from conformance.suites.streams.api import (
    CONTENT_ID,
    COUNTED,
    OF_PE,
    PROCESSING_ELEMENT,
    SUBMISSION,
    SUBMITTED,
)
from conformance.suites.streams.decisions import DURABLE
from conformance.suites.streams.judging import claim, claim_of_history
from conformance.suites.streams.kind import JobState
from conformance.suites.streams.sources import text
from conformance.suites.streams.view import JobRun, StreamsHistory, ending, kept_by_others
from vocabulary.history import Write
from vocabulary.kinds import CONFIG_MAP, POD
from vocabulary.objects import annotations_of, controller_of, get_path, labels_of, owner_references

_SUBMITTED = "Job became Submitted"


@claim("ST-001", text(1), decision=DURABLE, armed_by="operator ended while a Job was not submitted")
def crashes_are_survived(run: JobRun) -> Obligations:
    """Whenever the operator ends, each Job that its user wants MUST exist in the end, itself or as
    its successor."""
    ended = [
        each
        for each in run.operator.processes
        if each.change in ("killed", "stopped", "ended") and each.n > run.track.created.n
    ]
    if not ended or (run.submitted is not None and run.submitted.n < ended[0].n):
        return
    lasts = run.deleting is None or run.successor is not None
    yield in_the_end(
        run,
        "that its name has a Job again",
        since=ended[0],
        happened=(run.successor.track.created if run.successor else ended[0]) if lasts else None,
        unless=run.users_deletion or run.held,
    )


@claim("ST-006", text(5), armed_by="Job was created")
def submissions_are_completed(run: JobRun) -> Obligations:
    """A Job that its user wants MUST be submitted in the end, itself or in its successor, whenever
    the operator was interrupted."""
    if run.submitted is None and run.deleting is not None:
        return
    yield in_the_end(
        run,
        "its submission",
        since=run.track.created,
        happened=run.submitted,
        unless=run.users_deletion or run.forbidden or _left_without(run) or _made_stale(run),
    )


def _left_without(run: JobRun) -> Write | None:
    """The deletion by another client of a pod that its user does not want to be restarted, before
    the Job was Submitted: an element without a pod stays so."""
    for element in run.of(PROCESSING_ELEMENT):
        for pod in run.pods_of(element):
            deleted = ending(pod)
            if deleted is None or run.operator.is_by(deleted.actor):
                continue
            over = ending(element)
            its_own = over is None or deleted.n < over.n
            if its_own and not get_path(element.at(deleted.n), "spec.restartDeletedPod", False):
                return deleted
    return None


def _made_stale(run: JobRun) -> Write | None:
    """Another client's change of what a ConfigMap has for a pod, if it lasted: the pod waits."""
    for config_map in run.of(CONFIG_MAP):
        changes = [
            write
            for before, write in pairwise(config_map.versions)
            if annotations_of(write.object or {}).get(CONTENT_ID)
            != annotations_of(before.object or {}).get(CONTENT_ID)
        ]
        if changes and not run.operator.is_by(changes[-1].actor):
            return changes[-1]
    return None


@claim("ST-007", text(6), armed_by=_SUBMITTED)
def all_kinds_are_waited_for(run: JobRun) -> Obligations:
    """A Job MUST NOT become Submitted while there are fewer objects of its name, of any kind that
    it depends on, than its submission makes."""
    if run.submitted is None:
        return
    n, state = run.submitted.n, JobState(run.submitted.object or {})
    since_us = run.counted_us(run.submitted)
    alive = [
        each
        for each in run.namesakes
        if each.exists_at(n)
        or (each.removed is not None and each.created.n < n and each.removed.t > since_us)
    ]
    missing = []
    for kind, statistic in COUNTED.items():
        found = sum(each.kind == str(kind) for each in alive)
        if found < state.wanted(statistic):
            missing.append(f"{found} of {state.wanted(statistic)} {kind.plural}")
    elements = {labels_of(each.first).get(OF_PE) for each in alive if each.kind == str(POD)}
    if len(elements) < state.size:
        missing.append(f"pods for {len(elements)} of {state.size} elements")
    if missing:
        yield violated(
            run.submitted, f"{when(run.submitted)}: {run} is Submitted with {listed(missing)}."
        )
    else:
        yield met(run.submitted)


@claim("ST-009", text(8), armed_by=_SUBMITTED)
def submitted_ones_are_whole(run: JobRun) -> Obligations:
    """When a Job becomes Submitted, each of its parts MUST exist, and a pod for each
    ProcessingElement, all of them its own."""
    if run.submitted is None:
        return
    missing = list(run.missing_at(run.submitted.n, run.counted_us(run.submitted)))
    if missing:
        yield violated(
            run.submitted,
            f"{when(run.submitted)}: {run} is Submitted, and owns {listed(missing)}.",
        )
    else:
        yield met(run.submitted)


@claim("ST-010", text(7), armed_by="submission of a Job began")
def phase_is_in_the_spec(run: JobRun) -> Obligations:
    """From the first write of its submission on, spec.phase of a Job MUST say Submission, and then
    Submitted."""
    if run.launched is None:
        return
    for before, write in pairwise(run.track.versions):
        phase = JobState(write.object or {}).phase
        is_new = write is run.launched or phase != JobState(before.object or {}).phase
        if not is_new or not run.operator.is_by(write.actor):
            continue
        if phase in (SUBMISSION, SUBMITTED):
            yield met(write)
        else:
            yield violated(write, f"{when(write)}: spec.phase of {run} is {phase!r}.")


@claim("ST-027", text(21), armed_by="operator created a part of a Job")
def owners_are_set(run: JobRun) -> Obligations:
    """Each part of a Job MUST name it as its controller, by uid and blocking, and each pod its
    ProcessingElement."""
    known = {run.track.uid, *(track.uid for track in run.tree)}
    for track in run.namesakes:
        if not run.operator.is_by(track.created.actor) or not _is_of_attempt(run, track.created.n):
            continue
        owner = controller_of(track.first)
        is_set = owner is not None and owner.get("uid") in known
        if is_set and owner is not None and owner.get("blockOwnerDeletion"):
            yield met(track.created)
        else:
            yield violated(
                track.created,
                f"{when(track.created)}: {track} of {run} has "
                f"{list(owner_references(track.first)) or 'no owner'}.",
            )


def _is_of_attempt(run: JobRun, n: int) -> bool:
    removed = run.track.removed
    return run.track.created.n < n and (removed is None or n < removed.n)


@claim("ST-028", text(21), armed_by="Job was deleted")
def trees_go_with_their_jobs(run: JobRun) -> Obligations:
    """When a Job is deleted, it MUST go in the end, and all that the operator has made for it."""
    if run.deleting is None:
        return
    yield in_the_end(
        run,
        "its own end",
        since=run.deleting,
        happened=run.track.removed,
        unless=run.held or kept_by_others(run.track),
    )
    for track in run.namesakes:
        if not run.operator.is_by(track.created.actor) or track.created.n < run.track.created.n:
            continue
        after = run.successor
        if after is not None and track.created.n > after.track.created.n:
            continue
        yield in_the_end(
            run,
            f"the end of {track}",
            since=run.deleting,
            happened=track.removed,
            unless=_orphaned(run) or kept_by_others(track),
        )


def _orphaned(run: JobRun) -> Write | None:
    found = run.users_deletion
    is_orphaning = found is not None and found.options.get("propagationPolicy") == "Orphan"
    return found if is_orphaning else None


@claim_of_history("ST-044", text(6), level=Level.DERIVED, armed_by="submission of a Job began")
def ids_are_unique(view: StreamsHistory) -> Obligations:
    """No two Jobs that exist at once MUST have one id, also if the operator has started anew in
    between."""
    launched = [run for run in view.subjects if run.launched is not None]
    for run in launched:
        assert run.launched is not None
        mine = JobState(run.launched.object or {}).id
        same = [
            each
            for each in launched
            if each is not run
            and each.track.exists_at(run.launched.n)
            and JobState(each.track.at(run.launched.n)).id == mine
        ]
        if same:
            yield violated(
                run.launched, f"{when(run.launched)}: {run} gets the id {mine}, as has {same[0]}."
            )
        else:
            yield met(run.launched)
