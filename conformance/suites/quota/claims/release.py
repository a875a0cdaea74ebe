"""QL-004, 005, 007, 013, 014, 016: quota comes back, once, and is offered to others."""

from __future__ import annotations

from conformance.history import Moment
from conformance.history.tracks import Instant
from conformance.norm import Obligations, eventually, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import listed, when
from conformance.suites.kueue.view import Snapshot
from conformance.suites.kueue.view.amounts import sum_of
from conformance.suites.quota.claims.holding import (
    quota_is_held_throughout_retries,
    release_follows_the_last_pod,
)
from conformance.suites.quota.decisions import MATRIX, OVERLAP, USED
from conformance.suites.quota.editions import KEP, RELEASED
from conformance.suites.quota.judging import claim, claim_of_history
from conformance.suites.quota.sources import quotas, release, states
from conformance.suites.quota.view import Holding, Loss, QuotaHistory
from conformance.suites.quota.view.holding import Cause

_STEPS = 3
_UNTIL_ALL_IS_OVER = ("pod", "workload.codeflare.dev/appwrapper")
"""The frameworks whose quota is held in every edition until their pods are over, or gone."""


@claim(
    "QL-004",
    release(1),
    decision=(USED, MATRIX),
    armed_by="loss of quota whose last pod has ended",
)
def no_reservation_leaks(holding: Holding) -> Obligations:
    """A reservation whose owner is gone or has ended, or that is evicted, MUST be released within
    three reactions of the moment from which it may be, even if no further event arrives."""
    for loss in holding.losses:
        since = _may_go(holding, loss)
        if since is None:
            continue
        if holding.others_were_down(loss.began, since):
            yield undecided(loss.began, "another controller, which says so, was down")
            continue
        yield eventually(
            holding,
            "the release of its quota",
            since=since,
            happened=loss.released,
            steps=_STEPS,
            evidence=(loss.began,),
        )


def _may_go(holding: Holding, loss: Loss) -> Moment | None:
    """The moment from which nothing holds the quota any more; None while something may."""
    job = holding.job
    if loss.cause in (Cause.SUCCESS, Cause.ORPHAN) or job is None:
        return loss.began
    if job.framework in _UNTIL_ALL_IS_OVER or holding.awaits_last_pod(loss.cause):
        ended = job.last_pod_ended(loss.began, holding.operator.timing.latency_us)
        # That an AppWrapper's controller says so late is no leak.
        word = None if job.framework == "pod" else job.says_inactive(loss.began)
        return ended if ended is None or word is None else max(ended, word, key=lambda at: at.n)
    if loss.cause is Cause.EVICTION:
        return job.says_inactive(loss.began)
    # One that is deleted may stay for a finalizer, and its Workload with it.
    return loss.began if loss.cause is Cause.FAILURE else job.track.removed


@claim("QL-005", states(3), armed_by="admission that was given back")
def quota_is_given_back_once(holding: Holding) -> Obligations:
    """A reservation MUST stay as it was admitted until it is released, less the pods that may be
    reclaimed."""
    for before, after in holding.workload.changes:
        if not (before.has_quota and after.has_quota):
            if before.has_quota:
                yield met(after)
            continue
        if before.assignments != after.assignments:
            yield violated(
                after,
                f"{when(after)}: {holding} reserves quota for {_pods_in(after)} instead of "
                f"{_pods_in(before)} without having released it.",
                before,
            )


def _pods_in(state: Snapshot) -> str:
    """The pods in an admission, by pod set, and what each set uses."""
    return listed(
        f"{each.get('count', 1)} pods of {each['name']} ({each.get('resourceUsage') or 'nothing'})"
        for each in state.assignments
    )


@claim("QL-007", quotas(4), armed_by="release while another Workload waits that then fits")
def freed_quota_is_offered(holding: Holding) -> Obligations:
    """A Workload that waits, fits once quota was released, and is the first in order MUST be
    admitted within three reactions of that release."""
    run, queues = holding.workload, holding.workload.queues
    for state in run.turns(lambda each: not each.has_reservation and each.is_active):
        candidate = queues.first_from(run, state)
        freed = None if candidate is None else queues.freed_at(run, candidate)
        if candidate is None or freed is None:
            continue
        yield eventually(
            holding,
            "its admission once quota was given back",
            since=candidate,
            happened=run.next(state, lambda each: each.has_reservation and not each.is_evicted),
            unless=queues.passed(run, candidate),
            steps=_STEPS,
            evidence=(freed,),
        )


@claim(
    "QL-016",
    states(5),
    decision=MATRIX,
    armed_by="Workload whose job is gone",
)
def orphans_hold_nothing(holding: Holding) -> Obligations:
    """A Workload whose job is gone MUST NOT reserve quota again, and MUST be finished or deleted
    within three reactions of the moment from which its quota may go."""
    owner = holding.owner
    gone = None if owner is None else owner.removed
    if gone is None:
        return
    seen_us = holding.operator.timing.latency_us
    for admitted in holding.workload.admissions:
        if admitted.n > gone.n and admitted.t > gone.t + seen_us:
            yield violated(
                admitted,
                f"{when(admitted)}: {holding} reserves quota, and its job is gone since "
                f"{when(gone)}.",
                gone,
            )
    ends = [pod.ended for pod in holding.pods if pod.ends_after(gone, seen_us)]
    known = [end for end in ends if end is not None]
    if len(known) < len(ends):
        return
    last = max([gone, *known], key=lambda moment: moment.n)
    if holding.others_were_down(gone, last):
        yield undecided(gone, "another controller was down")
        return
    standing = holding.workload.at(last.n)
    if standing is not None and standing.is_finished:
        yield met(gone, last)
        return
    ended = holding.workload.next(gone, lambda state: state.is_finished)
    yield eventually(
        holding,
        "its end",
        since=Instant(last.n, last.t),
        happened=ended or holding.workload.let_go(gone),
        steps=_STEPS,
        evidence=(gone,),
    )


@claim(
    "QL-013",
    release(1),
    level=Level.PROVISIONAL,
    decision=OVERLAP,
    editions=(KEP, RELEASED),
    armed_by="release while pods are terminating",
)
def overlap_is_bounded(holding: Holding) -> Obligations:
    """The pods that are left when the quota of a job is released MUST use no more than it had
    reserved, and be gone within their grace period."""
    for loss in holding.losses:
        if loss.released is None or loss.cause in (Cause.SUCCESS, Cause.ORPHAN):
            continue
        left = loss.running_at(loss.released.n)
        used, reserved = sum_of(pod.usage for pod in left), holding.reserved_at(loss.admitted.n)
        if any(value > reserved.get(name, 0) for name, value in used.items()):
            text = f"{when(loss.released)}: {listed(left)} run beside what {holding} gave back."
            yield violated(loss.released, text, loss.admitted)
        elif any(pod.outlives_grace(holding.operator.timing.latency_us) for pod in left):
            yield undecided(loss.released, "a pod outlived its grace period")
        elif left:
            yield eventually(
                holding,
                "the end of its last pod",
                since=loss.released,
                within_us=max(pod.grace_us for pod in left),
                happened=loss.last_pod_end,
                steps=_STEPS,
            )


@claim_of_history("QL-014", release(1), decision=(USED, MATRIX), armed_by="crash of a controller")
def ledger_outlives_crashes(view: QuotaHistory) -> Obligations:
    """After a crash of a controller, at whichever of its writes, quota MUST be held, released and
    offered as without it, and without a user's help."""
    crashes = [entry.n for entry in view.history.processes if entry.change == "killed"]
    for holding in view.subjects if crashes else ():
        for checker in _OUTLIVE_CRASHES:
            if checker is release_follows_the_last_pod and not holding.holds_until_terminal:
                continue
            for found in checker(holding):
                if max(found.at.n, 0 if found.by is None else found.by.n) > crashes[0]:
                    yield found


_OUTLIVE_CRASHES = (
    release_follows_the_last_pod,
    quota_is_held_throughout_retries,
    no_reservation_leaks,
    quota_is_given_back_once,
    freed_quota_is_offered,
    orphans_hold_nothing,
)
