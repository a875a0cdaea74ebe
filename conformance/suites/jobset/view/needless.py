"""Requests of the controller that could only be refused by what it knew."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.history import Track
from conformance.suites.jobset.api import JOB_SET
from conformance.suites.jobset.view.job_set import JobSetRun
from vocabulary.clock import Micros
from vocabulary.history import Write
from vocabulary.kinds import JOB
from vocabulary.objects import controller_of


def needless_requests(run: JobSetRun, since: int, until: int) -> Iterator[Write]:
    """Requests between two positions about the JobSet's status or its Jobs that were refused for a
    state which had lasted longer than a controller is late: a creation beside the JobSet's own Job,
    any other request for a Job that is gone, or with a version or uid that is not the current one.

    Faults, quotas and names that other clients have taken are no such states.
    """
    names = run.wanted.keys()
    for write in run.operator.writes:
        if not since < write.n < until or write.namespace != run.track.namespace:
            continue
        is_job = write.kind == str(JOB) and write.name in names
        is_itself = write.kind == str(JOB_SET) and write.name == run.track.name
        if (is_job or is_itself) and _is_needless(run, write):
            yield write


def _is_needless(run: JobSetRun, write: Write) -> bool:
    if write.code not in (404, 409):
        return False
    if write.verb != "create":
        return _lasts(run, write)
    seen_us = run.operator.seen_us(write.actor, write.t)
    return any(
        track.exists_at(write.n) and _has_been_own(run, track, seen_us, write)
        for track in run.history.named(write.kind, write.namespace, write.name)
    )


def _has_been_own(run: JobSetRun, track: Track, since_us: Micros, until: Write) -> bool:
    """True if the JobSet has controlled a Job all the time from before `since_us`. Other clients
    may take a Job away from it, whose name is taken then, and give it back."""
    before = [each for each in track.versions if each.n < until.n]
    first = max((n for n, each in enumerate(before) if each.t < since_us), default=None)
    return first is not None and all(
        (controller_of(each.object or {}) or {}).get("uid") == run.track.uid
        for each in before[first:]
    )


def _lasts(run: JobSetRun, write: Write) -> bool:
    """True if the object of a request had not changed for longer than a controller is late."""
    seen_us = run.operator.seen_us(write.actor, write.t)
    return not any(
        seen_us <= version.t and version.n < write.n
        for track in run.history.named(write.kind, write.namespace, write.name)
        for version in (*track.versions, *((track.removed,) if track.removed else ()))
    )
