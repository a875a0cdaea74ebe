"""KQ-006, 010 to 016: what an eviction writes, how long it waits, and that it comes back."""

from __future__ import annotations

from conformance.norm import Obligations, eventually, met, must, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import span, when
from conformance.suites.kueue.api import KEP
from conformance.suites.kueue.decisions import (
    ALWAYS_BACKS_OFF,
    EVERY_BACK_OFF_ENDS,
    WHOLE_SECONDS,
)
from conformance.suites.kueue.judging import claim
from conformance.suites.kueue.sources import config, evaluation, mechanism, workload
from conformance.suites.kueue.view import WorkloadRun
from vocabulary.clock import SECOND

_EVICTED = "eviction because pods were not ready in time"


@claim("KQ-012", evaluation(1), decision=ALWAYS_BACKS_OFF, armed_by=_EVICTED)
def each_timeout_counts(run: WorkloadRun) -> Obligations:
    """Each eviction because pods were not ready in time MUST increment `status.requeueState.count`
    by 1 and set `status.requeueState.requeueAt`."""
    for before, after in run.changes:
        if after.is_timed_out and not before.is_timed_out:
            yield must(
                after.count == before.count + 1 and after.requeue_at_us is not None,
                after,
                f"{when(after)}: {run} is evicted because its pods were not ready, and its "
                f"requeueState is {after.requeue_state}; it was {before.requeue_state}.",
                before,
            )


@claim("KQ-010", workload(1), level=Level.DERIVED, armed_by="change of a requeue count")
def only_timeouts_count(run: WorkloadRun) -> Obligations:
    """`status.requeueState.count` MUST NOT change except by an eviction because pods were not ready
    in time, or by a reset once it was deactivated."""
    for before, after in run.changes:
        was_active = all(each.is_active for each in run.snapshots if each.n <= after.n)
        is_reset = after.requeue_state is None and not (run.edition == KEP and was_active)
        if before.count == after.count or is_reset:
            continue
        yield must(
            after.is_timed_out and not before.is_timed_out,
            after,
            f"{when(after)}: the count of {run} goes from {before.count} to {after.count} "
            "without such an eviction.",
            before,
        )


@claim(
    "KQ-006",
    config(5),
    decision=(ALWAYS_BACKS_OFF, WHOLE_SECONDS),
    armed_by=_EVICTED,
)
def back_off_follows_the_formula(run: WorkloadRun) -> Obligations:
    """The n-th back-off MUST be 1.41284738^(n−1) seconds plus a random jitter; in edition released,
    backoffBaseSeconds · 2^(n−1), at most backoffMaxSeconds, plus a random jitter."""
    resolution_us = max(SECOND, run.operator.timing.slack_us)
    for state in run.timeouts:
        if state.requeue_at_us is None or not state.count:
            continue
        shortest_us, longest_us = run.back_off.span_us(state.count)
        stamped_us = run.operator.timing.stamped_us(state.t)
        waited_us = run.on_its_clock(state.requeue_at_us)
        yield must(
            stamped_us + shortest_us - resolution_us <= waited_us <= state.t + longest_us,
            state,
            f"{when(state)}: back-off {state.count} of {run} ends "
            f"{span(waited_us - state.t)} after its eviction; the formula gives "
            f"{span(shortest_us)}.",
        )


@claim(
    "KQ-013",
    config(6),
    decision=ALWAYS_BACKS_OFF,
    armed_by="Workload that waits and fits while another one is in its back-off",
)
def others_have_a_chance(run: WorkloadRun) -> Obligations:
    """While a Workload is in its back-off, it MUST NOT keep another one of its queue from being
    admitted that fits."""
    for other in run.queues.others(run):
        for state in other.timeouts:
            released = other.next(state, lambda each: not each.has_reservation)
            if released is None or state.requeue_at_us is None:
                continue
            end_us = run.on_its_clock(state.requeue_at_us)
            candidate = run.queues.first_from(run, released)
            if candidate is None or candidate.t >= end_us:
                continue
            yield eventually(
                run,
                f"its admission while {other} is in its back-off",
                since=candidate,
                happened=run.next(candidate, lambda each: each.has_reservation),
                unless=run.queues.passed(run, candidate),
                steps=2,
                evidence=(state,),
            )


@claim("KQ-014", mechanism(1), armed_by="admission after a back-off")
def no_admission_before_requeue_at(run: WorkloadRun) -> Obligations:
    """A Workload MUST NOT be admitted again before its requeueAt."""
    for state in run.timeouts:
        again = run.next(state, lambda each: each.has_reservation and not each.is_evicted)
        if again is None or state.requeue_at_us is None:
            continue
        if again.requeue_state is None:
            yield undecided(again, "its requeueState was reset")
            continue
        earliest_us = run.on_its_clock(state.requeue_at_us) - run.operator.timing.slack_us
        if again.t >= earliest_us:
            yield met(state, again)
        else:
            yield violated(
                again,
                f"{when(again)}: {run} is admitted {span(earliest_us - again.t)} before its "
                "requeueAt.",
                state,
            )


@claim(
    "KQ-016",
    mechanism(1),
    level=Level.DERIVED,
    decision=EVERY_BACK_OFF_ENDS,
    armed_by="back-off of a Workload that fits and is the first of its queue",
)
def back_off_ends(run: WorkloadRun) -> Obligations:
    """Once its requeueAt has come, a Workload that fits and is the first in order MUST be admitted,
    also if it was written to meanwhile."""
    for state in run.timeouts:
        if state.requeue_at_us is None:
            continue
        released = run.next(state, lambda each: not each.has_reservation)
        if released is None:
            yield undecided(state, f"{run} has not given its quota back")
            continue
        due = run.queues.instant(run.on_its_clock(state.requeue_at_us), released)
        candidate = run.queues.first_from(run, due)
        if candidate is None:
            yield undecided(state, f"{run} did not fit, or was not the first of its queue")
            continue
        yield eventually(
            run,
            "its admission after the back-off",
            since=candidate,
            happened=run.next(state, lambda each: each.has_reservation and not each.is_evicted),
            unless=run.queues.passed(run, candidate),
            steps=2,
            evidence=(state,),
        )
