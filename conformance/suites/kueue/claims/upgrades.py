"""KQ-051: what runs goes on when Kueue starts again, as another release too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.history import Moment, Track
from conformance.norm import WRITERS, Obligation, Obligations, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import listed, when
from conformance.suites.kueue.judging import claim
from conformance.suites.kueue.sources import api
from conformance.suites.kueue.view import Snapshot, WorkloadRun, usage_of
from conformance.suites.kueue.view.job import JobRun, stops
from vocabulary.clock import SECOND
from vocabulary.history import Process
from vocabulary.objects import is_terminating, owner_references

SETTLED_US: Final = 30 * SECOND
"""Changes that follow from a start come within this time."""
_OTHER_CAUSES: Final = (
    *("PodsReadyTimeout", "Preempted", "ClusterQueueStopped", "LocalQueueStopped", "Deactivated"),
    *("AdmissionCheck", "NodeFailures"),
)
"""Begin the reasons of evictions that have nothing to do with the start."""


@claim(
    "KQ-051",
    api("WorkloadStatus.admission", 2),
    level=Level.DERIVED,
    armed_by="start of Kueue while an admitted job runs",
    needs=(WRITERS,),
)
def upgrades_keep_reservations(run: WorkloadRun) -> Obligations:
    """When Kueue starts again, as the same release or another one, a Workload whose pods run MUST
    keep its reservation and remain the only one of its job, and the job MUST NOT be restarted."""
    job = run.job
    for start in run.history.processes:
        if start.change != "started" or not run.operator.is_by(start.process):
            continue
        before = run.at(start.n)
        if before is None or job is None or not _runs(before):
            continue
        pods = job.pods_left(start.n)
        if pods and job.stands(start.n):
            yield _kept(run, job, pods, before, start)


def _reserved(state: Snapshot) -> object:
    """Its queue, and the flavors of its pod sets: of done pods the amounts go back."""
    flavors = {each["name"]: each.get("flavors") for each in state.assignments}
    return state.has_reservation, state.cluster_queue, flavors


def _runs(state: Snapshot) -> bool:
    is_over = state.is_evicted or state.is_finished or state.is_terminating
    return state.is_admitted and state.is_active and not is_over


def _kept(
    run: WorkloadRun, job: JobRun, pods: list[Track], before: Snapshot, start: Process
) -> Obligation:
    """The obligation of one start; it ends with the first act of another client."""
    until_n = min((each.n for each in _others_acts(run, job, start)), default=run.history.end.n)
    lost = run.next(
        start, lambda each: each.is_evicted or _reserved(each) != _reserved(before)
    ) or (run.track.removed if run.track.removed and run.track.removed.n > start.n else None)
    stopped = next((each for each in stops(job.track) if each.n > start.n), None)
    deleted = min(
        (each for pod in pods if (each := _deletion(run, pod, start))),
        key=lambda each: each.n,
        default=None,
    )
    found = [
        (lost, f"has lost or changed its reservation of {_told(before)}"),
        (_double(run, job, start), f"is not the only Workload of {job}"),
        (stopped, f"has its job suspended: {job} ran"),
        (deleted, f"has pods of its job deleted: {listed(map(str, pods[:3]))} ran"),
    ]
    broken = [
        (moment, what)
        for moment, what in found
        if moment is not None and moment.n < until_n and moment.t <= start.t + SETTLED_US
    ]
    if not broken:
        return met(start)
    moment, what = min(broken, key=lambda each: each[0].n)
    why = lost.why_evicted if isinstance(lost, Snapshot) and lost.is_evicted else ""
    if str(why).startswith(_OTHER_CAUSES):
        return undecided(start, f"{run} was evicted meanwhile: {why}")
    return violated(
        moment,
        f"{when(moment)}: {run} {what}, since {start.process} started at {when(start)}.",
        start,
    )


def _others_acts(run: WorkloadRun, job: JobRun, start: Moment) -> Iterator[Moment]:
    """Acts of other clients on a Workload and its job after a moment, and the end of the job."""
    inactive = run.next(start, lambda each: not each.is_active)
    ended = job.ended if job.ended is not None and job.ended.n > start.n else None
    ends = (job.was_deleted(start), run.gone(start), run.queues.closed(run, start), inactive, ended)
    yield from filter(None, ends)
    for track in (run.track, *job.roots):
        for version in track.versions:
            if version.n > start.n and not run.is_by_controllers(version.actor):
                yield version


def _deletion(run: WorkloadRun, pod: Track, start: Moment) -> Moment | None:
    """The moment at which Kueue deleted a pod."""
    for version in pod.versions:
        if version.n > start.n and is_terminating(version.object or {}):
            return version if run.operator.is_by(version.actor) else None
    return None


def _double(run: WorkloadRun, job: JobRun, start: Moment) -> Moment | None:
    """The first moment at which another Workload is created for a job that has this one."""
    uids = {root.uid for root in job.roots}
    for track in run.history.by_kind.get(run.track.kind, ()):
        owners = {each["uid"] for each in owner_references(track.first)}
        standing = run.at(track.created.n)
        is_another = track is not run.track and track.created.n > start.n and owners & uids
        if is_another and standing is not None and not standing.is_terminating:
            return track.created
    return None


def _told(state: Snapshot) -> str:
    used = usage_of(state).items()
    amounts = ", ".join(f"{amount} {name} of {flavor}" for (flavor, name), amount in used)
    return f"{amounts} of {state.cluster_queue}"
