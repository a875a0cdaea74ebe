"""ST-019 to 024, 040, 045, 052: launches, restarts, and what is restored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from conformance.history import Moment, Track
from conformance.norm import Obligations, eventually, exceptions, in_the_end, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import states_of, when
from conformance.suites.streams.api import (
    CONTENT_ID,
    COUNTED,
    HOST_POOL,
    LAUNCH_COUNT,
    OF_PE,
    PROCESSING_ELEMENT,
)
from conformance.suites.streams.decisions import HEALED
from conformance.suites.streams.judging import claim, claim_of_history
from conformance.suites.streams.kind import ElementState
from conformance.suites.streams.sources import text
from conformance.suites.streams.view import FORBIDDEN, JobRun, StreamsHistory, ending, first
from vocabulary.history import Write
from vocabulary.kinds import CONFIG_MAP, POD
from vocabulary.objects import Object, annotations_of, get_path, is_terminating, labels_of

_LOST = "pod of a Submitted Job was deleted"


def _refused(run: JobRun, element: Track) -> Write | None:
    """The first pod of an element that the API server has refused, for lack of quota or rights:
    the operator may wait before it tries again."""
    for write in run.operator.refused_creates:
        where = write.kind, write.namespace, write.code
        if where != (str(POD), element.namespace, FORBIDDEN):
            continue
        if write.name.startswith(f"{element.name}-"):
            return write
    return None


def _lost_pods(run: JobRun) -> Iterator[tuple[Track, Track, Write]]:
    """Pods that others deleted while their Job was Submitted: element, pod, its removal."""
    for element in run.of(PROCESSING_ELEMENT):
        for pod in run.pods_of(element):
            gone, deleted = pod.removed, ending(pod)
            if gone is None or deleted is None or run.submitted is None:
                continue
            by_others = not run.operator.is_by(deleted.actor)
            if by_others and run.submitted.n < deleted.n and _is_wanted(run, element, gone.n):
                yield element, pod, gone


def _is_wanted(run: JobRun, element: Track, n: int) -> bool:
    """True if neither the Job nor the element is on its way out."""
    over = first([run.deleting, ending(element)])
    return over is None or over.n > n


@claim("ST-019", text(18), armed_by=_LOST)
def deleted_pods_are_restarted(run: JobRun) -> Obligations:
    """A pod of a Job that a user deletes MUST be restarted if restartDeletedPod is set, by one more
    launch of its ProcessingElement, and MUST NOT otherwise."""
    for element, pod, gone in _lost_pods(run):
        later = (each.created for each in run.pods_of(element) if each.created.n > pod.created.n)
        if not get_path(element.at(gone.n), "spec.restartDeletedPod", False):
            again = next(later, None)
            if again is None:
                yield met(gone)
            else:
                yield violated(
                    again,
                    f"{when(again)}: {again.name} is created in place of {pod}, which a user has "
                    "deleted; restartDeletedPod is not set.",
                    gone,
                )
            continue
        yield eventually(
            run,
            f"a pod in place of {pod}",
            since=gone,
            within_us=0,
            happened=next(later, None),
            unless=first([run.deleting, ending(element), _refused(run, element)]),
            steps=3,
        )
        before = ElementState(element.at(pod.created.n)).launches
        if element.removed is None and ElementState(element.last).launches <= before:
            yield in_the_end(
                run,
                f"another launch of {element}",
                since=gone,
                happened=None,
                unless=_refused(run, element),
            )


@claim("ST-047", text(18), level=Level.DERIVED, armed_by="ProcessingElement was launched")
def running_pods_are_not_replaced(run: JobRun) -> Obligations:
    """A ProcessingElement MUST NOT be launched again while the pod of its last launch is there and
    has not ended."""
    for element in run.of(PROCESSING_ELEMENT):
        for before, after in pairwise(element.versions):
            launch = ElementState(before.object or {}).launches
            is_next = ElementState(after.object or {}).launches == launch + 1
            if not launch or not is_next or not run.operator.is_by(after.actor):
                continue
            running = [
                pod
                for pod in run.pods_of(element)
                if labels_of(pod.first).get(LAUNCH_COUNT) == str(launch)
                and pod.exists_at(after.n)
                and not is_terminating(pod.at(after.n))
            ]
            if running:
                yield violated(
                    after,
                    f"{when(after)}: {element} is launched again, and there is "
                    f"{states_of(running, after.n)}.",
                )
            else:
                yield met(after)


@claim("ST-048", text(18), level=Level.DERIVED, armed_by="pod of a Submitted Job failed")
def failed_pods_are_restarted(run: JobRun) -> Obligations:
    """A pod of a Submitted Job that fails MUST be restarted, by one more launch of its
    ProcessingElement, unless restartFailedPod is false, or deleteFailedPod keeps it, and MUST NOT
    otherwise."""
    if run.submitted is None:
        return
    for element in run.of(PROCESSING_ELEMENT):
        for pod in run.pods_of(element):
            failed = next((w for w in pod.versions if _has_failed(w.object or {})), None)
            if failed is None or failed.n < run.submitted.n:
                continue
            if not _is_wanted(run, element, failed.n):
                continue
            spec = (element.at(failed.n) or {}).get("spec", {})
            later = (each for each in run.pods_of(element) if each.created.n > pod.created.n)
            again = next((each.created for each in later), None)
            is_kept = spec.get("restartFailedPod") is False or not spec.get("deleteFailedPod", True)
            if not is_kept:
                yield eventually(
                    run,
                    f"a pod in place of {pod}",
                    since=failed,
                    within_us=0,
                    happened=again,
                    unless=first([run.deleting, ending(element), _refused(run, element)]),
                    steps=4,
                )
            elif again is None:
                yield met(failed)
            elif ending(pod) is None or run.operator.is_by((ending(pod) or failed).actor):
                yield violated(
                    again,
                    f"{when(again)}: {again.name} is created in place of {pod}, which has failed "
                    "and is to stay.",
                    failed,
                )


def _has_failed(pod: Object) -> bool:
    """True unless it was deleted before: its containers are killed then."""
    return bool(get_path(pod, "status.phase") == "Failed" and not is_terminating(pod))


@claim("ST-020", text(18), armed_by="Job was deleted that had pods")
def pods_of_gone_jobs_stay_away(run: JobRun) -> Obligations:
    """Once a Job is gone, no pod of it MUST be created, in whichever order deletions are seen."""
    removed = run.track.removed
    if removed is None or not run.of(POD):
        return
    later = [pod for pod in run.of(POD) if pod.created.n > removed.n]
    looked_us = run.operator.looked_us
    # What it asked for before may come after, once for each ProcessingElement.
    twice = Counter(labels_of(pod.first).get(OF_PE) for pod in later)
    late = [
        pod
        for pod in later
        if looked_us(pod.created.actor, pod.created.t) > removed.t
        or twice[labels_of(pod.first).get(OF_PE)] > 1
    ]
    if late:
        yield violated(
            late[0].created,
            f"{when(late[0].created)}: {late[0]} is created; {run} is gone since {when(removed)}.",
            removed,
        )
    else:
        yield met(removed)


@claim("ST-021", text(18), armed_by="pods of a Job that was not Submitted were deleted")
def recovery_restarts_no_pods(run: JobRun) -> Obligations:
    """The deletion of an interrupted attempt's pods MUST NOT restart them: a ProcessingElement that
    was there before the crash MUST NOT be launched again."""
    if run.interruption is None or run.launched is None:
        return
    for element in run.of(PROCESSING_ELEMENT):
        before = ElementState(element.at(run.interruption.n)).launches
        if not before or not element.exists_at(run.interruption.n):
            continue
        more = next(
            (
                each
                for each in element.versions
                if each.n > run.interruption.n
                and run.operator.is_by(each.actor)
                and ElementState(each.object or {}).launches > before
            ),
            None,
        )
        if more is None:
            yield met(run.interruption)
        else:
            yield violated(
                more,
                f"{when(more)}: {element} of {run}, whose submission was interrupted, is "
                "launched once more.",
                run.launched,
            )


@claim("ST-022", text(18), armed_by="pod was created")
def pods_do_not_run_stale_content(run: JobRun) -> Obligations:
    """A pod MUST be created for the content that its ProcessingElement has at that moment, and MUST
    NOT be left when its Job becomes Submitted if the operator has changed that since."""
    for element, pod in _pods(run):
        wanted = ElementState(element.at(pod.created.n)).content
        given = annotations_of(pod.first).get(CONTENT_ID)
        if given == wanted:
            yield met(pod.created)
        elif wanted is not None:
            yield violated(
                pod.created,
                f"{when(pod.created)}: {pod} runs {given}; {element} is to run {wanted}.",
            )
        if run.submitted is None or not pod.exists_at(run.submitted.n):
            continue
        since = _changed_content(run.submitted, run, element, pod)
        if since is not None:
            yield violated(
                run.submitted,
                f"{when(run.submitted)}: {run} is Submitted, and {pod} runs {given}; {element} is "
                f"to run {ElementState(since.object or {}).content} since {when(since)}.",
            )


def _changed_content(until: Moment, run: JobRun, element: Track, pod: Track) -> Write | None:
    """The operator's last change of an element, if its pod runs another content than that says."""
    own = [
        write
        for write in element.versions
        if pod.created.n < write.n <= until.n and run.operator.is_by(write.actor)
    ]
    given = annotations_of(pod.first).get(CONTENT_ID)
    is_other = own and ElementState(own[-1].object or {}).content != given
    return own[-1] if is_other else None


@claim("ST-023", text(18), armed_by="pod was created")
def config_maps_come_first(run: JobRun) -> Obligations:
    """A pod MUST NOT be created before the ConfigMap is there that has what it runs."""
    for _, pod in _pods(run):
        content = annotations_of(pod.first).get(CONTENT_ID)
        # One that has just gone may still be in the operator's cache.
        since_us = run.operator.seen_us(pod.created.actor, pod.created.t)
        there = [
            each
            for each in run.of(CONFIG_MAP)
            if any(
                write.n < pod.created.n
                and (write.n == each.created.n or run.operator.is_by(write.actor))
                and annotations_of(write.object or {}).get(CONTENT_ID) == content
                for write in each.versions
            )
            and (each.removed is None or each.removed.t > since_us)
        ]
        if there:
            yield met(pod.created)
        else:
            yield violated(
                pod.created,
                f"{when(pod.created)}: {pod} is created, and no ConfigMap has what it runs.",
            )


def _pods(run: JobRun) -> Iterator[tuple[Track, Track]]:
    """The pods that the operator has created, each with its ProcessingElement."""
    for element in run.of(PROCESSING_ELEMENT):
        for pod in run.pods_of(element):
            if run.operator.is_by(pod.created.actor):
                yield element, pod


@claim("ST-024", text(19), armed_by="ProcessingElement was created")
def elements_are_launched(run: JobRun) -> Obligations:
    """A ProcessingElement MUST be launched and get a pod, unless its Job is deleted, or its
    submission was interrupted."""
    disturbed = _disturbed(run)
    for element in run.of(PROCESSING_ELEMENT):
        pods = run.pods_of(element)
        yield eventually(
            run,
            f"a pod of {element}",
            since=element.created,
            within_us=0,
            happened=pods[0].created if pods else None,
            unless=first(
                [
                    run.interruption,
                    run.deleting,
                    ending(element),
                    _refused(run, element),
                    disturbed,
                ]
            ),
            steps=4,
        )


def _disturbed(run: JobRun) -> Write | None:
    """The first change by others of what a pod waits for: ConfigMaps and HostPools."""
    changes = [
        write
        for track in (*run.of(CONFIG_MAP), *run.of(HOST_POOL))
        for write in (*track.versions, *((track.removed,) if track.removed else ()))
        if not run.operator.is_by(write.actor)
    ]
    return min(changes, key=lambda each: each.n, default=None)


@claim("ST-040", text(21), level=Level.DERIVED, armed_by="deletion of a Job began")
def nothing_is_made_below_the_dying(run: JobRun) -> Obligations:
    """Once the deletion of a Job has begun, nothing MUST be created for it, except for what the
    operator could not know better."""
    begun = run.deleting
    if begun is None:
        return
    seen: set[tuple[str, str]] = set()
    for track in run.tree:
        created = track.created
        if created.n < begun.n or not run.operator.is_by(created.actor):
            continue
        # What it asked for before the deletion may come after it, once.
        is_late = run.operator.looked_us(created.actor, created.t) > begun.t
        if is_late or (track.kind, track.name) in seen:
            yield violated(
                created,
                f"{when(created)}: {track} is created for {run}, which is being deleted since "
                f"{when(begun)}.",
                begun,
            )
            return
        seen.add((track.kind, track.name))
    yield met(begun)


@claim("ST-045", text(18), decision=HEALED, armed_by="part of a Submitted Job was deleted")
def lost_parts_are_restored(run: JobRun) -> Obligations:
    """A part of a Submitted Job that a user deletes MUST be created again."""
    if run.submitted is None:
        return
    for kind in COUNTED:
        for track in run.of(kind):
            gone, deleted = track.removed, ending(track)
            if gone is None or deleted is None or deleted.n < run.submitted.n:
                continue
            if run.operator.is_by(deleted.actor) or (run.deleting and run.deleting.n < gone.n):
                continue
            yield in_the_end(
                run,
                f"{track} again",
                since=gone,
                happened=_again(run, track, gone),
                unless=run.deleting,
            )


def _again(run: JobRun, lost: Track, gone: Moment) -> Moment | None:
    later = (
        each.created
        for each in run.tree
        if each.kind == lost.kind and each.name == lost.name and each.created.n > gone.n
    )
    return next(later, None)


@claim_of_history(
    "ST-052",
    exceptions.SOURCE,
    level=Level.DERIVED,
    armed_by="run of the controller",
    from_any_versions=True,
)
def streams_operator_does_not_panic(view: StreamsHistory) -> Obligations:
    """The controller and its webhooks MUST NOT panic or raise an exception, whatever they meet."""
    yield from exceptions.escaped(view.history, view.operator)
