"""KQ-030 to 036: the limit of requeues, deactivation and reactivation."""

from __future__ import annotations

from conformance.norm import WRITERS, Obligations, eventually, met, must, violated
from conformance.norm.words import when
from conformance.suites.kueue.api import INACTIVE_REASONS, KEP
from conformance.suites.kueue.decisions import LIMIT_AT_NEXT, RESET_BY_LIMIT
from conformance.suites.kueue.judging import claim
from conformance.suites.kueue.sources import evaluation, story
from conformance.suites.kueue.view import Snapshot, WorkloadRun

_LIMIT = "timeout of a Workload that was requeued as often as it may be"


@claim("KQ-030", evaluation(2), decision=LIMIT_AT_NEXT, armed_by=_LIMIT)
def deactivated_at_the_limit(run: WorkloadRun) -> Obligations:
    """A Workload whose count is at the limit MUST be deactivated at its next timeout, with its
    requeueState as it was."""
    if run.limit is None:
        return
    for state in run.timeouts:
        if state.count > run.limit:
            yield violated(
                state,
                f"{when(state)}: {run} is requeued for the {state.count}th time; its limit is "
                f"{run.limit}.",
            )
    for overdue in run.overdue:
        if overdue.state.count < run.limit:
            continue
        deactivated = run.next(overdue, lambda each: not each.is_active)
        yield eventually(
            run,
            "its deactivation",
            since=overdue,
            happened=deactivated,
            unless=run.ready_or_gone(overdue),
            steps=2,
        )
        if deactivated is None:
            continue
        yield must(
            deactivated.requeue_state == overdue.state.requeue_state,
            deactivated,
            f"{when(deactivated)}: {run} is deactivated, and its requeueState goes from "
            f"{overdue.state.requeue_state} to {deactivated.requeue_state}.",
        )


@claim("KQ-032", evaluation(3), armed_by="deactivation of a Workload that held quota")
def deactivated_ones_are_evicted(run: WorkloadRun) -> Obligations:
    """A Workload that is deactivated while it holds quota MUST be evicted for that reason, and its
    job MUST be stopped after that."""
    for before, after in run.changes:
        if after.is_active or not before.is_active or not after.has_quota or after.is_evicted:
            continue
        evicted = run.next(after, lambda each: each.is_evicted)
        yield eventually(
            run,
            "its eviction",
            since=after,
            happened=evicted,
            unless=run.gone(after),
            steps=2,
        )
        if evicted is None:
            continue
        yield from _stopped(run, evicted)
        known = INACTIVE_REASONS[run.edition]
        yield must(
            evicted.why_evicted in known or evicted.is_active,
            evicted,
            f"{when(evicted)}: {run} is evicted for {evicted.why_evicted!r}; a deactivated "
            f"one is for {' or '.join(known)}.",
            after,
        )


def _stopped(run: WorkloadRun, evicted: Snapshot) -> Obligations:
    job = run.job
    if job is None or "suspend" not in (job.track.at(evicted.n).get("spec") or {}):
        return
    yield eventually(
        run,
        "the end of its job's run",
        since=evicted,
        happened=job.stopped(evicted),
        unless=run.gone(evicted),
        steps=2,
    )


@claim("KQ-033", story(3, 1), armed_by="deactivated Workload")
def deactivated_ones_stay_out(run: WorkloadRun) -> Obligations:
    """A deactivated Workload MUST NOT be admitted until it is activated again."""
    for before, after in run.changes:
        if after.is_active:
            continue
        if after.has_reservation and not before.has_reservation:
            if run.operator.timing.seen_us(after.t) <= before.t and before.is_active:
                continue
            if run.was_active_since(run.operator.timing.seen_us(after.t), after):
                continue
            yield violated(after, f"{when(after)}: {run} is admitted, and it is deactivated.")
        elif not after.has_reservation:
            yield met(after)


@claim(
    "KQ-034",
    evaluation(5),
    decision=RESET_BY_LIMIT,
    editions=(KEP,),
    armed_by="reactivation of a Workload that the limit had deactivated",
    needs=(WRITERS,),
)
def reset_after_the_limit(run: WorkloadRun) -> Obligations:
    """The requeueState of a Workload that the limit had deactivated MUST be reset once it is
    activated again."""
    for deactivated, activated in run.reactivations:
        if not run.is_by_controller(deactivated):
            continue
        yield eventually(
            run,
            "the reset of its requeueState",
            since=activated,
            happened=run.next(activated, lambda each: each.requeue_state is None),
            unless=run.gone(activated),
            steps=2,
        )


@claim(
    "KQ-035",
    evaluation(6),
    decision=RESET_BY_LIMIT,
    editions=(KEP,),
    armed_by="reactivation of a Workload that a user had deactivated",
    needs=(WRITERS,),
)
def kept_after_a_user(run: WorkloadRun) -> Obligations:
    """The requeueState of a Workload that was deactivated by other means MUST NOT be reset."""
    for deactivated, activated in run.reactivations:
        if run.is_by_controller(deactivated) or not deactivated.count:
            continue
        reset = run.counts_less(deactivated)
        if reset is not None and not run.was_deactivated_by_controller(activated, reset):
            yield violated(
                reset,
                f"{when(reset)}: the requeueState of {run} is reset, though a user had "
                f"deactivated it at {when(deactivated)}.",
                deactivated,
                activated,
            )
        else:
            yield met(activated)


@claim("KQ-036", story(3, 1), armed_by="reactivation of a Workload that fits and is the first")
def reactivated_ones_are_requeued(run: WorkloadRun) -> Obligations:
    """A Workload that is activated again MUST be admitted, without its job being created again, if
    it fits and is the first in order."""
    for _, activated in run.reactivations:
        candidate = run.queues.first_from(run, activated)
        if candidate is None:
            continue
        yield eventually(
            run,
            "its admission after its reactivation",
            since=candidate,
            happened=run.next(activated, lambda each: each.has_reservation and not each.is_evicted),
            unless=run.queues.passed(run, candidate),
            steps=3,
            evidence=(activated,),
        )
