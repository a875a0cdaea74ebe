"""Deletions of Jobs that no restart asks for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from conformance.norm import Obligation, violated
from conformance.norm.words import when
from conformance.suites.jobset.view.answers import is_pending
from conformance.suites.jobset.view.job_set import Child, JobSetRun
from conformance.suites.jobset.view.snapshots import Snapshot
from conformance.suites.jobset.view.status_steps import is_replaced, may_be_born_stale
from vocabulary.history import Write
from vocabulary.objects import get_path, meta


def deletions_without_cause(run: JobSetRun) -> Iterator[Obligation]:
    """Each deletion by the controller of a Job that had not completed, before the end, though no
    restart replaces the Job."""
    for child in run.children:
        deletion = child.deletion
        if deletion is None or not run.operator.is_by(deletion.actor):
            continue
        has_ended = run.end is not None and run.end.n < deletion.n
        has_completed = child.succeeded is not None and child.succeeded.n <= deletion.n
        if has_ended or has_completed or is_replaced(run, child, deletion.n):
            continue
        if _is_the_controllers(run, child, deletion) and not _may_have_a_cause(
            run, child, deletion
        ):
            yield violated(
                deletion,
                f"{when(deletion)}: the controller deleted {child} of {run}, which no restart "
                "replaces: no Job stood failed, and its status shows none.",
                child.track.created,
            )


def _is_the_controllers(run: JobSetRun, child: Child, deletion: Write) -> bool:
    """True if the controller created the Job, and no other client has changed what tells which
    one it is."""
    if not run.operator.is_by(child.track.created.actor):
        return False
    versions = [each for each in child.track.versions if each.n < deletion.n]
    return all(
        run.operator.is_by(after.actor) or _identity(before) == _identity(after)
        for before, after in pairwise(versions)
    )


def _identity(version: Write) -> tuple[object, ...]:
    metadata = meta(version.object or {})
    keys = ("labels", "annotations", "ownerReferences")
    return (*(metadata.get(key) for key in keys), get_path(version.object or {}, "spec.template"))


def _may_have_a_cause(run: JobSetRun, child: Child, deletion: Write) -> bool:
    """True if the controller may delete a Job for anything but a restart that its status shows: a
    failure whose answer it has not written yet, a suspension, another spec or status by a user, or
    a restart that it did not know of when it created the Job."""
    created, job_set = child.track.created, run.at(deletion.n)
    if job_set is None or job_set.is_terminating:
        return True
    if any(is_pending(run, failure, deletion) for failure in run.failures):
        return True
    if any(_is_failing(other, deletion.n) for other in run.standing(deletion.n)):
        return True
    if may_be_born_stale(run, child):
        return True
    first = run.at(created.n)
    states = [each for each in run.snapshots if created.n < each.n < deletion.n]
    states += [job_set] if first is None else [job_set, first]
    if any(each.is_suspended or _spec(each) != _spec(job_set) for each in states):
        return True
    return any(
        after.n < deletion.n
        and after.write.actor
        and not run.operator.is_by(after.write.actor)
        and (before.restarts, before.counted, before.partial)
        != (after.restarts, after.counted, after.partial)
        for before, after in run.changes
    )


def _spec(state: Snapshot) -> object:
    return state.object.get("spec")


def _is_failing(child: Child, n: int) -> bool:
    has_failed = child.failed is not None and child.failed.n <= n
    return not has_failed and child.at(n).is_to_fail
