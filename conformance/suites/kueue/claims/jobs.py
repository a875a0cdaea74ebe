"""KQ-060 to 064: what stands for itself, and pods that wait behind a gate."""

from __future__ import annotations

from conformance.norm import Obligations, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.kueue.api import FRAMEWORKS, QUEUE_LABEL
from conformance.suites.kueue.judging import claim, claim_of_history
from conformance.suites.kueue.sources import api
from conformance.suites.kueue.view import KueueHistory, WorkloadRun
from vocabulary.kinds import POD, STATEFUL_SET
from vocabulary.objects import controller_of, get_path, labels_of


@claim("KQ-060", api("queue-name", 1), level=Level.DERIVED, armed_by="Workload")
def parts_do_not_wait_themselves(run: WorkloadRun) -> Obligations:
    """A job that is part of another one that waits in a queue MUST NOT have a Workload of its
    own."""
    created = run.track.created
    owner = None if run.job is None else run.job.queued_owner(created.n)
    if owner is None:
        yield met(created)
    else:
        yield violated(
            created,
            f"{when(created)}: {run} is created for {run.job}, a part of {owner}, which waits in "
            "a queue itself.",
        )


@claim(
    "KQ-061",
    api("ownerReferences", 1),
    level=Level.DERIVED,
    armed_by="eviction of a Workload whose job stays",
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
        yield violated(
            removed,
            f"{when(removed)}: {run} is gone, and {run.job} stands, for which it was evicted.",
            state,
        )


@claim(
    "KQ-062",
    api("pod-group-total-count", 1),
    level=Level.DERIVED,
    armed_by="pod of a group that is bound",
)
def no_more_pods_run_than_have_quota(run: WorkloadRun) -> Obligations:
    """No more pods of a group MUST be let go than its Workload has, those included that are
    terminating."""
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
        if any(state.is_admitted and state.n < bound.n for run in runs for state in run.snapshots):
            yield met(bound)
        else:
            yield violated(bound, f"{when(bound)}: {pod} is bound, and was not admitted.")
