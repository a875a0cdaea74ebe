"""QL-002, 008 to 011: queues as a whole, and the Workloads that take quota from each other."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from conformance.history.tracks import Instant
from conformance.norm import Obligations, eventually, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import listed, when
from conformance.suites.kueue.api import CLUSTER_QUEUE
from conformance.suites.kueue.claims.preemption import (
    no_victim_too_many,
    policies_are_kept,
    preemptors_come_first,
)
from conformance.suites.kueue.claims.queues import amounts_in, text_of
from conformance.suites.kueue.view import Standing, usage_of
from conformance.suites.kueue.view.standing import Held
from conformance.suites.quota.decisions import BOUND_OF_GRACE, WHEN_RESERVED
from conformance.suites.quota.editions import MLBATCH, RELEASED, STRICT
from conformance.suites.quota.judging import claim, claim_of_history
from conformance.suites.quota.sources import preemption, quotas, reports
from conformance.suites.quota.view import Holding, QuotaHistory

_STEPS: Final = 6
"""Eviction, the stop of the job, the end of its pods, the release and the admission."""
_COUNTS: Final = ("admitted", "reserving", "pending")


@claim("QL-002", quotas(3), decision=WHEN_RESERVED, armed_by="reservation")
def quota_is_given_once(holding: Holding) -> Obligations:
    """With each reservation, the sum of what is reserved of a ClusterQueue MUST be within its
    nominal quota and what it may borrow then, and that of a cohort within the sum of its nominal
    quotas."""
    run, queues = holding.workload, holding.workload.queues
    for reserved in run.turns(lambda state: state.has_quota):
        queue, standing = str(reserved.cluster_queue), queues.at(reserved.n)
        seen_us = run.operator.timing.seen_us(reserved.t)
        if queue not in standing.queues or not queues.is_steady(seen_us, reserved):
            continue
        excess = list(_excess(standing, queue, usage_of(reserved)))
        if not excess:
            yield met(reserved)
        elif queues.rival(run, reserved) is not None:
            yield undecided(reserved, "another replica admitted one at the same time")
        else:
            text = f"{when(reserved)}: {holding} reserves quota of {queue}, and {listed(excess)}."
            yield violated(reserved, text)


def _excess(standing: Standing, queue: str, used: Held) -> Iterator[str]:
    cohort = standing.cohort(queue)
    for flavor, resource in (what for what, value in used.items() if value):
        what = flavor, resource
        held = sum((standing.held(each.name, what) for each in cohort), Fraction(0))
        nominal = sum((standing.nominal(each.name, what) for each in cohort), Fraction(0))
        if standing.left(queue, what) < 0:
            yield (
                f"then {float(standing.held(queue, what)):g} {resource} of {flavor} are held of "
                f"it, {float(held):g} of {float(nominal):g} in its cohort"
            )


@claim(
    "QL-008",
    preemption(6),
    editions=(STRICT, MLBATCH, RELEASED),
    armed_by="preemption",
)
def victims_are_needed(holding: Holding) -> Obligations:
    """Workloads MUST be preempted only where the policies of the queues allow it, and no smaller
    part of those that are preempted for one would be enough."""
    yield from policies_are_kept(holding.workload)
    yield from no_victim_too_many(holding.workload)


@claim("QL-009", preemption(6), armed_by="return of a preempted Workload")
def victims_come_back_later(holding: Holding) -> Obligations:
    """A Workload that was preempted MUST NOT reserve quota again before its preemptor has, unless
    that does not fit any more or is gone."""
    yield from preemptors_come_first(holding.workload)


@claim_of_history(
    "QL-010",
    quotas(4),
    level=Level.DERIVED,
    decision=BOUND_OF_GRACE,
    editions=(STRICT, MLBATCH),
    armed_by="Workload within the nominal quota of its queue, of which others hold a part",
)
def nominal_quota_is_reachable(view: QuotaHistory) -> Obligations:
    """A Workload that is the first to wait, and within the nominal quota of its queue once those
    are preempted that may be, MUST be admitted within their grace period and six reactions."""
    for holding in view.subjects:
        run = holding.workload
        since = run.queues.reclaims_from(run) or run.queues.preempts_from(run)
        if since is None:
            continue
        pods = [
            pod
            for victim in view.subjects
            for evicted in victim.workload.preemptions
            if evicted.preemptor == run.track.uid and evicted.n > since.n
            for pod in victim.pods
            if pod.uses_at(evicted.n, terminating=True)
        ]
        grace_us = max((pod.grace_us for pod in pods), default=0)
        if any(pod.outlives_grace(holding.operator.timing.latency_us) for pod in pods):
            yield undecided(since, "a pod of its victims outlived its grace period")
            continue
        if holding.others_were_down(since, Instant(since.n, since.t + grace_us)):
            yield undecided(since, "another controller, which stops its victims, was down")
            continue
        yield eventually(
            holding,
            "its admission once others are preempted",
            since=since,
            within_us=grace_us,
            happened=run.next(since, lambda each: each.has_reservation),
            unless=run.overtaken(since),
            steps=_STEPS,
        )


@claim_of_history(
    "QL-011", reports(1), level=Level.DERIVED, armed_by="queue with Workloads, at rest"
)
def queues_show_the_ledger(view: QuotaHistory) -> Obligations:
    """At rest the status of a ClusterQueue and of a LocalQueue MUST show the ledger: how much is
    reserved and in use, what of it is borrowed, how many are admitted, reserve quota and wait."""
    end, queues = view.history.end, view.kueue.queues
    if not view.history.is_stable or view.operator.timing.due_us(end.t, 0) is None:
        return
    for track, wanted in queues.statuses(end.n):
        status = track.at(end.n).get("status") or {}
        told = [int(status.get(f"{each}Workloads", 0)) for each in _COUNTS]
        used = status.get("flavorsUsage") or status.get("flavorUsage")
        spec = queues.spec(track.name, end.n) if track.kind == str(CLUSTER_QUEUE) else None
        quotas = {} if spec is None else spec.quotas
        over = {
            what: value - quotas[what].nominal
            for what, value in wanted.held.items()
            if what in quotas and value > quotas[what].nominal
        }
        shown = {
            "reserved": amounts_in(status.get("flavorsReservation")),
            "in use": amounts_in(used),
            "borrowed": amounts_in(used, "borrowed"),
        }
        expected = {"reserved": wanted.held, "in use": wanted.held, "borrowed": over}
        wrong = [each for each in expected if text_of(shown[each]) != text_of(expected[each])]
        for each in wrong:
            yield violated(
                end,
                f"{when(end)}: {track} shows {text_of(shown[each])} {each}; it is "
                f"{text_of(expected[each])}.",
            )
        *holding, pending = told
        if holding != [wanted.holding, wanted.holding] or not wanted.may_show(pending):
            counts = [wanted.holding, wanted.holding, wanted.waiting]
            yield violated(
                end, f"{when(end)}: {track} shows {told} {listed(_COUNTS)}; there are {counts}."
            )
        elif not wrong:
            yield met(end)
