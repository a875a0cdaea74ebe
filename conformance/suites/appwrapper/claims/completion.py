"""AW-096: a workload that completes becomes Succeeded, and none does before its pods exist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from conformance.history import Moment, Track, earliest
from conformance.history.tracks import Instant
from conformance.norm import Obligation, Obligations, eventually, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.appwrapper.claims.noticing import overtaken
from conformance.suites.appwrapper.decisions import A22
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.sources import guide
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.attempt_ends import attempt_ends
from conformance.suites.appwrapper.view.attempts import Attempt
from conformance.suites.appwrapper.view.health import COMPLETION
from conformance.suites.appwrapper.view.pod_sets import Component
from conformance.suites.appwrapper.view.snapshots import SUCCEEDED
from vocabulary.clock import SECOND, parse_rfc3339
from vocabulary.history import Write
from vocabulary.objects import (
    condition_status,
    controller_of,
    get_path,
    is_terminating,
    labels_of,
    meta,
)

JOB: Final = "Job.batch"
COMPLETE: Final = {**COMPLETION, "JobSet.jobset.x-k8s.io": "Completed"}
"""The condition by which a workload of a kind says that it completed."""
ENDED: Final = ("Succeeded", "Failed")


@claim(
    "AW-096",
    guide("AppWrapper Lifecycle", 5),
    level=Level.DERIVED,
    decision=A22,
    armed_by="workload completed, or AppWrapper entered Succeeded",
)
def completed_workloads_succeed(aw: AppWrapperRun) -> Obligations:
    """A workload whose controllers are done and all of whose expected pods completed MUST become
    Succeeded within one reaction, and no workload MUST become so before its expected pods exist
    and have completed."""
    if not aw.expected_pods:
        return
    for attempt in aw.attempts:
        if attempt.left_to == SUCCEEDED:
            yield _had_completed(aw, attempt)
        if attempt.running is not None:
            yield from _succeeds(aw, attempt, attempt.running)


def _had_completed(aw: AppWrapperRun, attempt: Attempt) -> Obligation:
    """Each component said that it is complete, or its expected pods existed and succeeded."""
    succeeded = attempt.left
    assert succeeded is not None
    for component in aw.components:
        if not component.expected_pods:
            continue
        made = _made(attempt, component)
        if any(_says_complete(track, succeeded.n) for track in made):
            continue
        exits = _exits(aw, made, succeeded.n)
        ended = [exit_ for exit_ in exits if not exit_.by_deletion]
        if len(ended) < component.expected_pods:
            deleted = [exit_.write for exit_ in exits if exit_.by_deletion]
            beside = f", not counting {len(deleted)} whose deletion ended them" if deleted else ""
            return violated(
                succeeded,
                f"{when(succeeded)}: {aw} is Succeeded, after {len(ended)} of "
                f"{component.expected_pods} expected pods of {component} had succeeded{beside}.",
                attempt.begin,
                *deleted,
            )
    return met(attempt.begin, succeeded)


def _succeeds(aw: AppWrapperRun, attempt: Attempt, running: Moment) -> Iterator[Obligation]:
    completed = _completed(aw, attempt)
    if completed is None:
        return
    since = completed if completed.n > running.n else running
    state = [point for point in attempt.health if point.n <= since.n][-1]
    if state.missing or state.broken or since.n >= attempt.until_n:
        return
    left = attempt.left
    is_for_another_reason = any(
        attempt_end.attempt is attempt and attempt_end.ripe for attempt_end in attempt_ends(aw)
    )
    yield eventually(
        aw,
        "Succeeded after the workload completed",
        since=since,
        within_us=0,
        happened=left if attempt.left_to == SUCCEEDED else None,
        unless=earliest(
            overtaken(aw, attempt) if attempt.left_to != SUCCEEDED else None,
            left if is_for_another_reason else None,
            _next_sickness(attempt, since),
        ),
    )


def _next_sickness(attempt: Attempt, since: Moment) -> Moment | None:
    """The event after which a completed workload fails after all: an external deletion."""
    later = (point for point in attempt.health if point.n > since.n and point.missing)
    return next(later, None)


def _completed(aw: AppWrapperRun, attempt: Attempt) -> Moment | None:
    """When the last component was done and the last pod had ended; None if that never was.

    Only kinds whose completion is known count; of those other than Jobs the pods count, too.
    """
    done: list[Moment] = []
    for component in aw.components:
        if not component.expected_pods:
            continue
        made = _made(attempt, component)
        said = _said_complete(made)
        exits = _exits(aw, made, attempt.until_n - 1)
        ended = [exit_.write for exit_ in exits if exit_.by_deletion is False]
        if component.kind in COMPLETE and said is None:
            return None
        if component.kind != "Pod" and component.kind not in COMPLETE:
            return None
        if len(ended) < component.expected_pods:
            return None
        done.append(ended[component.expected_pods - 1])
        done += [said] if said is not None else []
    pods = [pod for pod in aw.pods if attempt.begin.n < pod.created.n < attempt.until_n]
    for pod in pods:
        if (end := _end_of(pod)) is None:
            return None
        done.append(end)
    if any(_lost_its_label(aw, pod) for pod in pods):
        return None
    last = max(done, key=lambda moment: moment.n, default=None)
    if last is None or any(_stays_failed(aw, pod, last.n) for pod in pods):
        return None
    return Instant(last.n, last.t)


def _lost_its_label(aw: AppWrapperRun, pod: Track) -> bool:
    """True if a pod was out of its controller's sight for a time."""
    label = aw.history.profile.label
    return any(labels_of(write.object or {}).get(label) != aw.name for write in pod.versions)


def _made(attempt: Attempt, component: Component) -> list[Track]:
    return [track for track in attempt.components if component.makes(track.kind, track.name)]


class _Exit(NamedTuple):
    """The success of a pod."""

    write: Write
    by_deletion: bool | None
    """True if its containers ended because it was deleted, and another pod takes its place; None
    if the history leaves that open."""


def _exits(aw: AppWrapperRun, made: Sequence[Track], n: int) -> list[_Exit]:
    """The pods of these components that succeeded up to a position, in order."""
    found: list[_Exit] = []
    for track in aw.with_made(made):
        if track.kind != "Pod":
            continue
        success = next((write for write in track.versions if _phase(write) == "Succeeded"), None)
        if success is not None and success.n <= n:
            found.append(_Exit(success, _ended_by_deletion(aw, track, success)))
    return sorted(found, key=lambda found: found.write.n)


def _ended_by_deletion(aw: AppWrapperRun, pod: Track, success: Write) -> bool | None:
    """As it is recorded, unless the kubelet reported late what had ended before the deletion.

    The times of containers show that, in whole seconds. Containers that are always restarted end
    by deletion alone. A Job's own count of its pods decides for these: it replaces no pod that it
    takes for a success. A pod that is a component itself is replaced by nothing.
    """
    marked = next(each for each in pod.versions if each is success or _is_deleted(each))
    owner = str((controller_of(pod.first) or {}).get("uid", ""))
    if not _is_deleted(marked) or owner == aw.uid:
        return False
    maker = aw.history.tracks.get(owner)
    if maker is not None and maker.kind == JOB:
        return _counted_as_failed(maker, pod)
    status = (success.object or {}).get("status") or {}
    ends = [
        get_path(container, "state.terminated.finishedAt", "")
        for container in status.get("containerStatuses") or ()
    ]
    if not ends or not all(ends) or get_path(pod.first, "spec.restartPolicy") == "Always":
        return True
    metadata = meta(marked.object or {})
    asked_us = parse_rfc3339(metadata["deletionTimestamp"])
    asked_us -= int(metadata.get("deletionGracePeriodSeconds") or 0) * SECOND
    ended_us = max(map(parse_rfc3339, ends))
    return None if ended_us == asked_us else ended_us > asked_us


def _counted_as_failed(job: Track, pod: Track) -> bool | None:
    """True or False as the Job counted the pod; None if no recorded version shows that."""
    for write in job.versions:
        uncounted = get_path(write.object, "status.uncountedTerminatedPods") or {}
        for phase in ("failed", "succeeded"):
            if pod.uid in (uncounted.get(phase) or ()):
                return phase == "failed"
    return None


def _said_complete(made: Sequence[Track]) -> Write | None:
    for track in made:
        for write in track.versions:
            if condition_status(write.object or {}, COMPLETE.get(track.kind, "")) == "True":
                return write
    return None


def _says_complete(track: Track, n: int) -> bool:
    said = _said_complete([track])
    early = condition_status(track.at(n), "SuccessCriteriaMet") == "True"
    return (said is not None and said.n <= n) or (track.kind == JOB and early)


def _end_of(pod: Track) -> Write | None:
    """When a pod had ended, one way or another; None if it still may run."""
    return next((write for write in pod.versions if _phase(write) in ENDED), pod.removed)


def _stays_failed(aw: AppWrapperRun, pod: Track, n: int) -> bool:
    """True if a failed pod counts: one of a Job that completed does not (A14)."""
    if not pod.exists_at(n) or (pod.at(n).get("status") or {}).get("phase") != "Failed":
        return False
    made = [track for track in aw.component_tracks if track.kind == JOB]
    return not any(pod in aw.with_made([job]) and _says_complete(job, n) for job in made)


def _is_deleted(write: Write) -> bool:
    return is_terminating(write.object or {})


def _phase(write: Write) -> str:
    return str(((write.object or {}).get("status") or {}).get("phase", ""))
