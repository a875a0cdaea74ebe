"""QL-001, 003, 006, 012, 015, 017: nothing runs without quota, and quota is held while pods run."""

from __future__ import annotations

from collections import Counter

from conformance.history import Moment, Track
from conformance.norm import Obligations, eventually, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import listed, when
from conformance.suites.kueue.api import JOB_SET, POD_SET
from conformance.suites.kueue.view import Snapshot
from conformance.suites.kueue.view.amounts import Usage
from conformance.suites.quota.decisions import MATRIX, SERVING, SIGNAL, STARTED_BY_OTHERS, USED
from conformance.suites.quota.editions import MLBATCH, RELEASED, STRICT
from conformance.suites.quota.judging import claim, claim_of_history
from conformance.suites.quota.sources import quotas, release, states
from conformance.suites.quota.view import Holding, QuotaHistory, Step
from conformance.suites.quota.view.holding import Cause
from vocabulary.clock import SECOND
from vocabulary.objects import condition_status, get_path, is_terminating, labels_of


@claim_of_history(
    "QL-001",
    quotas(5),
    decision=(USED, SIGNAL, STARTED_BY_OTHERS),
    armed_by="pod of a queued job that is bound to a node",
)
def nothing_runs_without_quota(view: QuotaHistory) -> Obligations:
    """The pods of a Workload MUST NOT use more than it reserves, at any moment, and those of a
    queued job that has no Workload MUST NOT run."""
    for holding in view.subjects:
        yield from _within_its_reservation(holding)
    for job, pod, since in view.strays:
        yield violated(
            since,
            f"{when(since)}: {pod} of {job} is bound to a node, and {job}, which waits in a "
            "queue, has no Workload with quota.",
            job.created,
            pod.bound,
        )


def _within_its_reservation(holding: Holding) -> Obligations:
    before: Step | None = None
    for step in holding.steps:
        excess = _excess(step.used, step.reserved)
        if excess and not (before and _excess(before.used, before.reserved)):
            if holding.was_started_by_others(step):
                yield undecided(step, f"another client had started the job of {holding}")
            elif holding.was_stopped_by_others(step):
                yield undecided(step, f"another client had suspended the job of {holding}")
            elif holding.leaves_pods(step.n):
                yield undecided(step, "pods whose owner is gone wait for the garbage collector")
            elif _is_replacing(holding, step):
                yield undecided(step, "a pod was replaced while it stops: no quota is for both")
            elif holding.is_seen_late(step):
                yield undecided(step, "the controller may have acted on what it saw before")
            else:
                yield violated(
                    step,
                    f"{when(step)}: pods of {holding} use {_told(step.used)}, and it reserves "
                    f"{_told(step.reserved) or 'nothing'}.",
                )
        elif step.used and not excess:
            yield met(step)
        before = step


def _is_replacing(holding: Holding, step: Step) -> bool:
    """True if what it reserves would do, had Kubernetes' own controllers not replaced a pod that
    stops."""
    stays = holding.used_at(step.n, terminating=False)
    return not _excess(stays, step.reserved) and holding.replaces_early(step)


@claim(
    "QL-003",
    release(1),
    decision=(USED, MATRIX),
    editions=(STRICT, MLBATCH),
    armed_by="quota that was given back",
)
def release_follows_the_last_pod(holding: Holding) -> Obligations:
    """Quota MUST NOT be released before the last pod of the attempt is terminal, except after
    success and after a deletion that orphans."""
    for loss in holding.losses if holding.holds_until_terminal else ():
        if loss.released is None or loss.cause in (Cause.SUCCESS, Cause.ORPHAN):
            continue
        running = loss.running_at(loss.released.n)
        if not running:
            yield met(loss.began, loss.released)
            continue
        yield violated(
            loss.released,
            f"{when(loss.released)}: {holding} releases its quota after {loss.cause} at "
            f"{when(loss.began)}, before {listed(running)} ended.",
            loss.began,
            *(pod.bound for pod in running),
        )


@claim("QL-006", states(3), armed_by="pod that replaces another one of the same admission")
def quota_is_held_throughout_retries(holding: Holding) -> Obligations:
    """Quota MUST be held throughout a retry: it MUST NOT be released, nor the Workload queued
    again, unless it is evicted, has ended or is deleted."""
    for admitted in holding.workload.turns(lambda state: state.has_quota):
        lost = _lost_without_cause(holding, admitted)
        if lost is not None:
            yield violated(
                lost,
                f"{when(lost)}: {holding} loses its quota, though its pods may still be replaced "
                "in time, and it has not ended and is not deleted.",
                admitted,
            )
            continue
        released = holding.workload.next(admitted, lambda state: not state.has_quota)
        retried = holding.retried_between(admitted, released)
        if retried is not None:
            yield met(admitted, retried)


def _lost_without_cause(holding: Holding, admitted: Snapshot) -> Snapshot | None:
    """The state in which an admission was evicted, or gave its quota back, for nothing."""
    run = holding.workload
    lost = run.next(admitted, lambda state: state.is_evicted or not state.has_quota)
    if lost is None or lost.is_finished or lost.is_terminating or not lost.is_active:
        return None
    if lost.is_timed_out:
        begin_us = lost.t - run.recovery_timeout_us + run.operator.timing.stamp_us + SECOND
        unready = [state for state in run.turns(_is_unready) if admitted.n < state.n < lost.n]
        return lost if unready and unready[-1].t > begin_us else None
    return None if lost.is_evicted else lost


def _is_unready(state: Snapshot) -> bool:
    return state.is_admitted and not state.are_pods_ready


@claim(
    "QL-015",
    states(3),
    editions=(STRICT, RELEASED),
    armed_by="pod set of which pods are said to need no quota any more",
)
def reclaimable_pods_are_done(holding: Holding) -> Obligations:
    """Within one reaction, `status.reclaimablePods` MUST NOT count more pods of a pod set than
    those that do not run and are not wanted again."""
    run, job = holding.workload, holding.job
    if job is None or not any(state.reclaimable for state in run.snapshots):
        return
    told = [after for before, after in run.changes if after.reclaimable != before.reclaimable]
    changes: list[Moment] = [*run.snapshots]
    changes += [version for pod in job.pods for version in pod.versions]
    changes += [pod.removed for pod in job.pods if pod.removed is not None]
    changes.sort(key=lambda at: at.n)
    moments: list[Moment] = [*told, *(pod.created for pod in job.pods)]
    for moment in moments:
        state = run.at(moment.n)
        if state is None or not (state.has_quota and state.reclaimable):
            continue
        later = (each for each in changes if each.n >= moment.n)
        yield eventually(
            holding,
            "a count of reclaimable pods that leaves those which it has",
            since=moment,
            happened=next((each for each in later if _leaves_enough(holding, each.n)), None),
        )


def _leaves_enough(holding: Holding, n: int) -> bool:
    state = holding.workload.at(n)
    if state is None or not state.has_quota:
        return True
    wanted = Counter(map(_pod_set_of, holding.pods_wanted(n)))
    counts = {each["name"]: int(each.get("count", 1)) for each in state.pod_sets}
    return all(
        int(each["count"]) + wanted[each["name"]] <= counts[each["name"]]
        for each in get_path(state.object, "status.reclaimablePods") or ()
    )


def _pod_set_of(pod: Track) -> str:
    return labels_of(pod.last).get(POD_SET, "")


@claim(
    "QL-012",
    states(3),
    level=Level.DERIVED,
    armed_by="restart of a JobSet, or eviction of one",
)
def budgets_do_not_leak(holding: Holding) -> Obligations:
    """A restart of a JobSet MUST NOT raise `requeueState.count` before its pods were not ready for
    their timeout, and an eviction MUST NOT raise `status.restarts` of the JobSet."""
    run, job = holding.workload, holding.job
    if job is None or job.track.kind != str(JOB_SET):
        return
    for before, after in run.changes:
        if after.count <= before.count:
            continue
        since_us, span_us = before.waits_for_pods_since_us, run.ready_within_us(before)
        slack_us = run.operator.timing.slack_us
        if (
            since_us is not None
            and span_us is not None
            and run.on_its_clock(since_us) + span_us - slack_us <= after.t
        ):
            yield met(after)
            continue
        yield violated(
            after,
            f"{when(after)}: the count of {holding} goes from {before.count} to {after.count}, and "
            "its pods were not unready for their timeout.",
            before,
        )
    yield from _restarts_of(holding, job.track)


def _restarts_of(holding: Holding, job_set: Track) -> Obligations:
    for before, after in zip(job_set.versions, job_set.versions[1:], strict=False):
        was, now = (int(get_path(each.object, "status.restarts", 0)) for each in (before, after))
        if now <= was:
            continue
        jobs = holding.history.owned.get(job_set.uid, ())
        if any(condition_status(job.at(after.n) or job.last, "Failed") == "True" for job in jobs):
            yield met(after)
        else:
            text = f"{when(after)}: restarts of {job_set} go from {was} to {now}; no Job failed."
            yield violated(after, text)


@claim(
    "QL-017",
    states(3),
    decision=SERVING,
    armed_by="deletion of a pod of a workload that serves",
)
def serving_workloads_keep_their_quota(holding: Holding) -> Obligations:
    """The Workload of a StatefulSet, or of a pod group that serves, MUST NOT be Finished, and MUST
    keep its whole quota, though its pods are deleted and exit with 0."""
    run, job = holding.workload, holding.job
    if job is None or not job.is_serving:
        return
    for before, after in run.changes:
        is_over = after.is_finished and not before.is_finished
        is_lost = before.has_quota and not (before.is_evicted or after.has_quota)
        is_reclaimed = after.reclaimable > before.reclaimable
        if (is_over or is_lost or is_reclaimed) and job.stands(after.n):
            how = "is Finished" if after.is_finished else "gives quota back"
            yield violated(after, f"{when(after)}: {holding} {how}, and {job} stands.")
    for pod in job.pods:
        going = next((each for each in pod.versions if is_terminating(each.object or {})), None)
        if going is not None and holding.reserved_at(going.n):
            yield met(going)


def _excess(used: Usage, reserved: Usage) -> bool:
    return any(value > reserved.get(name, 0) for name, value in used.items())


def _told(usage: Usage) -> str:
    return listed(f"{float(value):g} {name}" for name, value in sorted(usage.items()) if value)
