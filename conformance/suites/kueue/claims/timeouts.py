"""KQ-009, 011, 015, 037, 038, 043: when a Workload is evicted because its pods are not ready, and
how long all of its attempts take."""

from __future__ import annotations

from conformance.norm import WRITERS, Obligations, eventually, met, must, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import span, when
from conformance.suites.kueue.api import KEP
from conformance.suites.kueue.decisions import WHOLE_SECONDS
from conformance.suites.kueue.judging import claim
from conformance.suites.kueue.sources import alternative, api, config, mechanism, story, workload
from conformance.suites.kueue.view import WorkloadRun
from vocabulary.clock import SECOND


@claim("KQ-009", config(8), armed_by="admitted Workload whose pods are not ready in time")
def evicted_at_the_timeout(run: WorkloadRun) -> Obligations:
    """An admitted Workload whose pods were not ready yet MUST be evicted once
    `waitForPodsReady.timeout` has passed, by default 300 seconds, and not before."""
    return _at_its_timeout(run, was_ready=False)


@claim(
    "KQ-043",
    api("WaitForPodsReady", 5),
    level=Level.DERIVED,
    armed_by="admitted Workload whose pods were ready, and are not any more for too long",
)
def evicted_at_the_recovery_timeout(run: WorkloadRun) -> Obligations:
    """An admitted Workload whose pods were ready and are not any more MUST be evicted once
    `waitForPodsReady.recoveryTimeout` has passed, by default the timeout, and not before; not at
    all if that is 0."""
    return _at_its_timeout(run, was_ready=True)


def _at_its_timeout(run: WorkloadRun, *, was_ready: bool) -> Obligations:
    for overdue in run.overdue:
        ended = None if run.job is None else run.job.ended
        if ended is not None and ended.t <= overdue.t:
            continue  # its quota may be held until its last pod is terminal
        if any(each.is_terminating and each.t <= overdue.t for each in run.snapshots):
            continue  # the same while it is being deleted
        if run.was_ready(overdue.state) == was_ready and overdue.state.is_active:
            yield eventually(
                run,
                "its eviction, or its deactivation",
                since=overdue,
                happened=run.next(overdue, lambda each: each.is_evicted or not each.is_active),
                unless=run.ready_or_gone(overdue),
                steps=3,
            )
    for before, after in run.changes:
        begun_us = before.waits_for_pods_since_us
        if not after.is_timed_out or before.is_timed_out or begun_us is None:
            continue
        if run.was_ready(before) != was_ready:
            continue
        span_us = run.ready_within_us(before)
        earliest_us = run.on_its_clock(begun_us) + (span_us or 0) - run.operator.timing.slack_us
        yield must(
            span_us is not None and after.t >= earliest_us,
            after,
            f"{when(after)}: {run} is evicted because its pods were not ready, "
            f"{span(after.t - run.on_its_clock(begun_us))} after it began to wait for them; "
            f"it may wait {'for ever' if span_us is None else span(span_us)}.",
        )


@claim("KQ-011", workload(4), editions=(KEP,), armed_by="admission after a back-off")
def requeue_at_is_kept(run: WorkloadRun) -> Obligations:
    """`status.requeueState.requeueAt` MUST say when a Workload was requeued: it stays as it is
    until the next such eviction, or the reset of the whole."""
    for before, after in run.changes:
        is_new = after.is_timed_out and not before.is_timed_out
        if before.requeue_at_us is None or after.requeue_state is None or is_new:
            continue
        if after.requeue_at_us != before.requeue_at_us:
            yield violated(
                after,
                f"{when(after)}: the requeueAt of {run} changes, and it was not evicted.",
                before,
            )
        elif after.has_reservation and not before.has_reservation:
            yield met(after)


@claim("KQ-037", story(2, 5), armed_by="two admissions with an eviction between them")
def no_rapid_cycle(run: WorkloadRun) -> Obligations:
    """Between two admissions of a Workload whose pods were never ready MUST lie the timeout and the
    back-off, so that it does not go in a rapid cycle."""
    for state in run.timeouts:
        earlier = next((each for each in reversed(run.admissions) if each.n < state.n), None)
        again = run.next(state, lambda each: each.has_reservation and not each.is_evicted)
        if earlier is None or again is None or again.requeue_state is None or run.was_ready(state):
            continue
        shortest_us = run.timeout_us + run.back_off.span_us(state.count)[0]
        # The two times of whole seconds from which it counts may be up to a second early each.
        least_us = shortest_us - 2 * SECOND - run.operator.timing.slack_us
        yield must(
            again.t - earlier.t >= least_us,
            again,
            f"{when(again)}: {run} is admitted again after {span(again.t - earlier.t)}; "
            f"timeout and back-off {state.count} take {span(shortest_us)}.",
            earlier,
        )


@claim(
    "KQ-015",
    mechanism(4),
    decision=WHOLE_SECONDS,
    editions=(KEP,),
    armed_by="deactivation of a Workload that was admitted at once after each back-off",
    needs=(WRITERS,),
)
def lifetime_follows_the_formula(run: WorkloadRun) -> Obligations:
    """A Workload that is admitted at once after each back-off MUST be deactivated after n + 1
    timeouts and n back-offs, where n is its limit."""
    limit = run.limit
    if limit is None or len(run.admissions) < limit + 1:
        return
    first = run.admissions[0]
    deactivated = next((each for each in run.snapshots if not each.is_active), None)
    if deactivated is None or not run.is_by_controller(deactivated):
        return
    admissions = [each for each in run.admissions if each.n < deactivated.n]
    timeouts = [each for each in run.timeouts if each.n < deactivated.n]
    if len(admissions) != limit + 1 or any(each.requeue_at_us is None for each in timeouts):
        return
    waits_us = [
        again.t - run.on_its_clock(state.requeue_at_us or 0)
        for state, again in zip(timeouts, admissions[1:], strict=False)
    ]
    late_us = 2 * run.operator.timing.latency_us
    if any(waited_us > late_us for waited_us in waits_us):
        yield undecided(deactivated, "it was not admitted at once after each back-off")
        return
    spans = [run.back_off.span_us(n) for n in range(1, limit + 1)]
    timeouts_us = (limit + 1) * run.timeout_us
    least_us = timeouts_us + sum(least for least, _ in spans) - (2 * limit + 1) * SECOND
    most_us = timeouts_us + sum(most for _, most in spans) + (limit + 1) * 2 * late_us
    lasted_us = deactivated.t - first.t
    yield must(
        least_us <= lasted_us <= most_us or run.operator.timing.hindered(first.t, deactivated.t),
        deactivated,
        f"{when(deactivated)}: {run} is deactivated {span(lasted_us)} after its first "
        f"admission; the formula gives {span(least_us)} to {span(most_us)}.",
        first,
    )


@claim(
    "KQ-038",
    alternative(3),
    level=Level.DERIVED,
    armed_by="Workload that was requeued several times, without a limit",
    needs=(WRITERS,),
)
def no_time_limit(run: WorkloadRun) -> Obligations:
    """A Workload MUST NOT be deactivated for the time that it has been requeued: only its limit of
    requeues does that."""
    for before, after in run.changes:
        if after.is_active or not before.is_active or not run.is_by_controller(after):
            continue
        if run.limit is None or before.count < run.limit:
            yield violated(
                after,
                f"{when(after)}: {run} is deactivated; it was requeued {before.count} times, "
                f"and its limit is {'none' if run.limit is None else run.limit}.",
            )
    if run.limit is None:
        for state in run.timeouts[2:]:
            yield met(state)
