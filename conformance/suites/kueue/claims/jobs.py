"""KQ-049, 056 to 058, 060 to 067: what stands for itself, and pods that wait behind a gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.history import Moment, Track, earliest
from conformance.norm import WRITERS, Obligations, eventually, met, must, violated
from conformance.norm.claim import Level
from conformance.norm.view import ObjectRun
from conformance.norm.words import when
from conformance.suites.kueue.api import FRAMEWORKS, QUEUE_LABEL
from conformance.suites.kueue.decisions import AS_ITS_USER_WROTE_IT, WHAT_IS_MANAGED
from conformance.suites.kueue.judging import claim, claim_of_history
from conformance.suites.kueue.sources import api
from conformance.suites.kueue.view import KueueHistory, WorkloadRun
from conformance.suites.kueue.view.job import JobRun, placement, starts, stops
from vocabulary.history import Write
from vocabulary.kinds import JOB, POD, STATEFUL_SET
from vocabulary.objects import Object, controller_of, get_path, is_terminating, labels_of


@claim("KQ-056", api("count", 1), level=Level.DERIVED, armed_by="Workload of a Job or JobSet")
def no_other_pods_are_counted(run: WorkloadRun) -> Obligations:
    """A Workload MUST count the pods that its job runs at the same time: of a Job not more than
    complete it."""
    created = run.snapshots[0]
    wanted = frozenset() if run.job is None else run.job.pods_at_once(created.n)
    if not wanted:
        return
    count = sum(int(each.get("count", 1)) for each in created.pod_sets)
    yield must(
        count in wanted,
        created,
        f"{when(created)}: {run} counts {count} pods; {run.job} runs {min(wanted)} at once.",
    )


@claim("KQ-060", api("queue-name", 1), level=Level.DERIVED, armed_by="Workload")
def parts_do_not_wait_themselves(run: WorkloadRun) -> Obligations:
    """A job that is part of another one that waits in a queue MUST NOT have a Workload of its
    own."""
    created = run.track.created
    owner = None if run.job is None else run.job.queued_owner(created.n)
    yield must(
        owner is None,
        created,
        f"{when(created)}: {run} is created for {run.job}, a part of {owner}, which waits in "
        "a queue itself.",
    )


@claim_of_history(
    "KQ-057", api("queue-name", 3), level=Level.DERIVED, armed_by="job that names a queue"
)
def jobs_of_queues_have_workloads(view: KueueHistory) -> Obligations:
    """A job that names a queue, and priority classes that are there, is not over and is no part of
    another one, MUST have a Workload that it controls, and another one once that is gone."""
    controlled: dict[str, list[Track]] = {}
    for run in view.subjects:
        owner = controller_of(run.track.first) or {}
        controlled.setdefault(str(owner.get("uid", "")), []).append(run.track)
    for kind, framework in FRAMEWORKS.items():
        if framework == "pod" or not view.integrates(framework):
            continue  # pods of a group own theirs together
        for job in view.history.by_kind.get(kind, ()):
            yield from _has_workloads(view, job, controlled.get(job.uid, ()))


def _has_workloads(view: KueueHistory, job: Track, its: Sequence[Track]) -> Obligations:
    run = JobRun(view.history, (job,))
    since = run.shows_its_pods
    for workload in (*its, None):
        if since is None:
            return
        left = run.left_queue(since)
        if left is since or not view.priority_classes(since.n) >= run.priority_classes:
            return
        yield eventually(
            ObjectRun(view, job),
            "its Workload",
            since=since,
            happened=None if workload is None else workload.created,
            unless=left,
            steps=2,
        )
        if workload is None or workload.removed is None:
            return
        since = workload.removed


@claim(
    "KQ-061",
    api("ownerReferences", 1),
    level=Level.DERIVED,
    armed_by="eviction of a Workload whose job stays",
    needs=(WRITERS,),
)
def evicted_ones_stay(run: WorkloadRun) -> Obligations:
    """A Workload that is evicted MUST stay, with its requeueState, while its job does and is not
    changed: another one in its place would begin anew."""
    removed = run.track.removed
    for state in run.turns(lambda each: each.is_evicted):
        if run.job is None or not run.job.stands(state.n):
            continue
        if removed is None or not run.job.stands(removed.n):
            yield met(state)
            continue
        if run.job.was_changed(state.n, removed.n, run.is_by_controllers):
            continue
        if not run.is_by_controllers(_deleter(run, removed)):
            continue
        yield violated(
            removed,
            f"{when(removed)}: {run} is gone, and {run.job} stands, for which it was evicted.",
            state,
        )


@claim(
    "KQ-058",
    api("ResourceFlavor", 2),
    level=Level.DERIVED,
    decision=AS_ITS_USER_WROTE_IT,
    armed_by="job that stops, or starts again, after quota of a flavor with nodeLabels",
    needs=(WRITERS,),
)
def placement_is_taken_back(run: WorkloadRun) -> Obligations:
    """A job whose quota is released MUST have the node selectors and tolerations that its user gave
    it, and one that starts again MUST have no others than these and those of its flavors."""
    if run.job is None or run.job.framework == "pod":
        return
    track = run.job.track
    began = [each for each in starts(track) if each is not track.versions[0]]
    if not began:
        return
    before = _before(track, began[0])
    wanted = placement(before.object or {})
    later = (each for each in track.versions if each.n > before.n)
    edited = next((each for each in later if not run.is_by_controllers(each.actor)), None)
    for start in began[1:]:
        if edited is None or start.n < edited.n:
            yield from _starts_again(run, start, wanted)
    for stop in stops(track):
        released = run.next(stop, lambda each: not each.has_reservation)
        if released is None or stop.n < began[0].n or (edited is not None and edited.n < stop.n):
            continue
        if placement(_before(track, stop).object or {}) == wanted:
            continue
        as_written = (each for each in track.versions if placement(each.object or {}) == wanted)
        again = next((each for each in began if each.n > stop.n), None)
        yield eventually(
            run,
            f"the placement that its user gave {run.job}, instead of its flavor's,",
            since=released,
            happened=next((each for each in as_written if each.n >= stop.n), None),
            unless=earliest(again, edited, run.job.ended, run.job.was_deleted(stop)),
            steps=2,
        )


def _starts_again(
    run: WorkloadRun, start: Write, wanted: Mapping[str, Mapping[str, Any]]
) -> Obligations:
    """A job that starts again is placed by its user, and by the flavors that it has now."""
    admission = next((each for each in reversed(run.admissions) if each.n < start.n), None)
    if admission is None:
        return
    of_flavors = set[tuple[str, str]]().union(*run.queues.labels_of_pod_sets(admission))
    for path, said in placement(start.object or {}).items():
        of_user = (wanted.get(path) or {}).get("nodeSelector") or {}
        others = (said.get("nodeSelector") or {}).items() - of_user.items() - of_flavors
        if others:
            key, value = min(others)
            yield violated(
                start,
                f"{when(start)}: {run.job} of {run} starts again on nodes with {key}={value}, "
                "which neither its user nor its flavors say.",
                admission,
            )
            return
    if of_flavors:
        yield met(start)


def _before(track: Track, moment: Moment) -> Write:
    """The version of an object before a write to it."""
    return next(each for each in reversed(track.versions) if each.n < moment.n)


def _deleter(run: WorkloadRun, removed: Write) -> str:
    """The client that deleted it; the controller's finalizer may have kept it for a while."""
    begun = next((each.write for each in run.snapshots if each.is_terminating), removed)
    return begun.actor


@claim(
    "KQ-062",
    api("pod-group-total-count", 1),
    level=Level.DERIVED,
    armed_by="pod of a group that is bound",
)
def no_more_pods_run_than_have_quota(run: WorkloadRun) -> Obligations:
    """The pods of a group that have no scheduling gate, including terminating ones, MUST NOT be
    more than the pods of its Workload."""
    if run.job is None or run.job.framework != "pod":
        return
    count = sum(int(each.get("count", 1)) for each in run.snapshots[0].pod_sets)
    for pod in run.job.pods:
        for version in pod.versions:
            running = run.job.pods_left(version.n)
            if len(running) > count:
                yield violated(
                    version,
                    f"{when(version)}: {len(running)} pods of {run} run; it has {count}.",
                )
                return
            if running:
                yield met(version)


@claim(
    "KQ-063",
    api("pod-group-serving", 1),
    level=Level.DERIVED,
    armed_by="end of a pod of a StatefulSet that waits in a queue",
)
def serving_groups_do_not_end(run: WorkloadRun) -> Obligations:
    """The Workload of a StatefulSet MUST NOT be Finished while that stands, whatever becomes of
    its pods."""
    if run.job is None or run.job.track.kind != str(STATEFUL_SET):
        return
    for state in run.turns(lambda each: each.is_finished):
        if run.job.stands(state.n):
            yield violated(state, f"{when(state)}: {run} is Finished, and {run.job} stands.")
    for pod in run.job.pods:
        if pod.removed is not None:
            yield met(pod.removed)


@claim_of_history(
    "KQ-064",
    api("queue-name", 2),
    level=Level.DERIVED,
    armed_by="pod of a queue that is bound",
)
def pods_wait_for_quota(view: KueueHistory) -> Obligations:
    """A pod that names a queue, and is part of no job, MUST NOT be bound before its Workload is
    admitted."""
    for pod in view.history.by_kind.get(str(POD), ()):
        owner = view.history.tracks.get(str((controller_of(pod.first) or {}).get("uid", "")))
        is_part = owner is not None and owner.kind != str(STATEFUL_SET) and owner.kind in FRAMEWORKS
        if QUEUE_LABEL not in labels_of(pod.first) or is_part:
            continue
        bound = next(
            (each for each in pod.versions if get_path(each.object, "spec.nodeName")), None
        )
        if bound is None:
            continue
        roots = {pod.uid, "" if owner is None else owner.uid}
        runs = (
            run
            for run in view.subjects
            if run.job is not None and roots & {root.uid for root in run.job.roots}
        )
        yield must(
            any(state.is_admitted and state.n < bound.n for run in runs for state in run.snapshots),
            bound,
            f"{when(bound)}: {pod} is bound, and was not admitted.",
        )


@claim(
    "KQ-065",
    api("reclaimablePods", 1),
    level=Level.DERIVED,
    armed_by="pod set of which pods are said to need no quota any more",
)
def pods_that_run_are_not_reclaimable(run: WorkloadRun) -> Obligations:
    """`status.reclaimablePods` MUST NOT count a pod that runs, or, within a reaction, that its job
    wants again."""
    if run.job is None:
        return
    count = sum(int(each.get("count", 1)) for each in run.snapshots[0].pod_sets)
    told = (after for before, after in run.changes if after.reclaimable != before.reclaimable)
    moments: list[Moment] = [*told, *run.job.bindings]
    for moment in moments:
        state, left = run.at(moment.n), len(_of_this_attempt(run, moment))
        if state is None or not (state.has_quota and state.reclaimable) or state.is_evicted:
            continue  # of one that is evicted, pods stop that count until then
        is_true = state.reclaimable + left <= count
        yield eventually(
            run,
            f"a count of reclaimable pods that leaves {left}",
            since=moment,
            happened=moment if is_true else run.next_needed(moment, count - left),
            unless=run.job.has_at_most(count - state.reclaimable, moment),
        )


def _of_this_attempt(run: WorkloadRun, at: Moment) -> list[Track]:
    """The pods that are left of a job, but for those that stop since before its last admission."""
    assert run.job is not None
    began = max((each.n for each in run.admissions if each.n <= at.n), default=-1)
    return [
        pod
        for pod in run.job.pods_left(at.n)
        if pod.created.n > began or not is_terminating(pod.at(at.n))
    ]


@claim(
    "KQ-066",
    api("reclaimablePods", 2),
    level=Level.DERIVED,
    armed_by="Job that needs fewer pods than it has quota for",
)
def quota_of_done_pods_is_offered(run: WorkloadRun) -> Obligations:
    """Of a Job that has fewer completions left than pods of its Workload, the others MUST be
    counted in `status.reclaimablePods`."""
    if run.job is None or run.job.track.kind != str(JOB):
        return
    asked: set[int] = set()
    for version in run.job.track.versions:
        job, standing = version.object or {}, run.at(version.n)
        completions = get_path(job, "spec.completions")
        left = int(completions or 0) - int(get_path(job, "status.succeeded", 0))
        if standing is None or not standing.has_quota or completions is None or left in asked:
            continue
        count = sum(int(each.get("count", 1)) for each in standing.pod_sets)
        if not 0 < left < count or len(run.job.pods_left(version.n)) > left:
            continue
        asked.add(left)
        if standing.reclaimable >= count - left:
            yield met(version)
            continue
        yield eventually(
            run,
            f"its count of {count - left} pods as reclaimable",
            since=version,
            happened=run.next_reclaimable(version, count - left),
            unless=run.next(version, lambda each: not each.has_quota or each.is_leaving),
            steps=2,
        )


@claim_of_history(
    "KQ-067",
    api("manageJobsWithoutQueueName", 1),
    level=Level.DERIVED,
    armed_by="job that names no queue where all are managed",
)
def unqueued_jobs_wait(view: KueueHistory) -> Obligations:
    """Where jobs that name no queue are managed, none of their pods MUST be bound before their
    Workload is admitted."""
    for kind in FRAMEWORKS:
        for track in view.history.by_kind.get(kind, ()):
            if controller_of(track.first) or QUEUE_LABEL in labels_of(track.first):
                continue
            if view.manages_unqueued(track.namespace, track.created.n):
                yield from pods_wait(view, track)


def pods_wait(view: KueueHistory, job: Track) -> Obligations:
    """No pod of a job is bound before a Workload of it was admitted."""
    since = view.first_admission(job)
    for pod in JobRun(view.history, (job,)).pods:
        bound = next((v for v in pod.versions if get_path(v.object, "spec.nodeName")), None)
        if bound is None:
            continue
        if since is not None and since.n < bound.n:
            yield met(bound)
        else:
            text = f"{when(bound)}: {pod} of {job} is bound, which was not admitted."
            yield violated(bound, text)


@claim_of_history(
    "KQ-049",
    api("manageJobsWithoutQueueName", 2),
    level=Level.DERIVED,
    decision=WHAT_IS_MANAGED,
    armed_by="creation of a Job while the webhook of Jobs is down",
    needs=(WRITERS,),
)
def others_can_be_created(view: KueueHistory) -> Obligations:
    """While the webhook of the controller is down, a Job that it does not manage MUST be accepted;
    one that it manages is refused, or waits."""
    refused = [each for each in view.history.refused_submissions if _is_unanswered(each)]
    for each in refused:
        if not _is_managed(view, each.submitted or {}, each):
            job = f"job/{each.name}"
            yield violated(each, f"{when(each)}: {job}, which names no queue, is refused.")
    for track in view.history.by_kind.get(str(JOB), ()) if refused else ():
        created = track.created
        is_during = refused[0].n < created.n < refused[-1].n
        if is_during and not (
            controller_of(track.first) or _is_managed(view, track.first, created)
        ):
            yield met(created)


def _is_unanswered(refused: Write) -> bool:
    """True if an API server answers so that cannot ask a webhook."""
    return refused.kind == str(JOB) and (refused.code, refused.reason) == (500, "InternalError")


def _is_managed(view: KueueHistory, job: Object, at: Write) -> bool:
    return QUEUE_LABEL in labels_of(job) or view.manages_unqueued(at.namespace, at.n)
