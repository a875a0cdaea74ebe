"""The lanes of a JobSet on failure pages: its restarts against their limit, and its child Jobs."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.history import History, Track
from conformance.history.lanes import Lane, Tone, lane_of
from vocabulary.objects import Object, condition_status, get_path


def lanes(history: History, job_set: Track) -> Iterator[Lane]:
    yield lane_of("restarts", job_set, _restarts)
    for track in history.descendants(job_set.uid):
        if track.kind == "Job.batch":
            yield lane_of(f"job {track.name}", track, _job)


def _restarts(job_set: Object) -> tuple[Tone, str]:
    restarts = get_path(job_set, "status.restarts", 0)
    counted = get_path(job_set, "status.restartsCountTowardsMax", 0)
    limit = get_path(job_set, "spec.failurePolicy.maxRestarts", 0)
    text = f"{restarts} restarts, {counted} of {limit} count"
    return "good" if restarts == 0 else "warn", text


def _job(job: Object) -> tuple[Tone, str]:
    if condition_status(job, "Failed") == "True":
        return "bad", "failed"
    if condition_status(job, "Complete") == "True":
        return "good", "complete"
    ready, active = get_path(job, "status.ready", 0), get_path(job, "status.active", 0)
    return "good" if ready and ready == active else "warn", f"{ready} of {active} pods ready"
