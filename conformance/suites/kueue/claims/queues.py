"""KQ-042, 044, 046, 050, 069: queues that admit nothing, and what users read of all this."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.norm import (
    Obligations,
    eventually,
    exceptions,
    in_the_end,
    met,
    must,
    undecided,
    violated,
)
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.kueue.api import STOPPED_REASONS
from conformance.suites.kueue.judging import claim, claim_of_history
from conformance.suites.kueue.sources import api, config
from conformance.suites.kueue.view import KueueHistory, WorkloadRun
from conformance.suites.kueue.view.standing import Held
from vocabulary.objects import Object
from vocabulary.quantities import parse_quantity


@claim(
    "KQ-042",
    config(7),
    level=Level.DERIVED,
    armed_by="admission where blockAdmission is set",
)
def admission_is_blocked(run: WorkloadRun) -> Obligations:
    """Where blockAdmission is set, nothing MUST be admitted while an admitted Workload is not
    ready."""
    if not run.blocks_admission:
        return
    for admission in run.admissions:
        seen_us = run.operator.timing.seen_us(admission.t)
        other = run.queues.unready(seen_us, admission, run)
        yield must(
            other is None,
            admission,
            f"{when(admission)}: {run} is admitted, and {other} is admitted and not ready.",
        )


@claim("KQ-044", api("ClusterQueue", 14), level=Level.DERIVED, armed_by="queue that is stopped")
def stopped_queues_admit_nothing(run: WorkloadRun) -> Obligations:
    """A queue with stopPolicy Hold or HoldAndDrain MUST NOT admit; with HoldAndDrain it MUST evict
    those that it has admitted, for that reason, without a change of their requeueState."""
    for admission in run.admissions:
        seen_us = run.operator.timing.seen_us(admission.t)
        if not run.queues.was_stopped(run, seen_us, admission):
            continue
        yield violated(
            admission, f"{when(admission)}: {run} is admitted, and its queue is stopped."
        )
    for drained, since, again in run.queues.drains(run):
        yield eventually(
            run,
            f"its eviction from {drained}",
            since=since,
            happened=run.next(since, lambda each: each.is_evicted),
            unless=min(filter(None, (run.gone(since), again)), key=lambda at: at.n, default=None),
            steps=2,
        )
    for before, after in run.changes:
        if after.why_evicted not in STOPPED_REASONS or not after.is_evicted or before.is_evicted:
            continue
        if not run.queues.was_drained(run, run.operator.timing.seen_us(after.t), after):
            yield violated(after, f"{when(after)}: {run} is evicted, and its queue is not drained.")
        elif after.requeue_state == before.requeue_state:
            yield met(after)
        else:
            yield violated(
                after,
                f"{when(after)}: {run} is evicted since its queue is stopped, and its "
                f"requeueState goes from {before.requeue_state} to {after.requeue_state}.",
            )
    for since in run.queues.held_back(run):
        yield met(since)


@claim(
    "KQ-046",
    api("ClusterQueue", 10),
    level=Level.DERIVED,
    armed_by="Workload of a namespace that its queue does not admit from",
)
def namespaces_are_selected(run: WorkloadRun) -> Obligations:
    """A Workload of a namespace that the queue's namespaceSelector does not match MUST NOT be
    admitted, and MUST say why it waits."""
    for admission in run.admissions:
        seen_us = run.operator.timing.seen_us(admission.t)
        spec = run.queues.spec(str(admission.cluster_queue), admission.n)
        if spec is None or not run.queues.is_steady(seen_us, admission):
            continue
        if run.queues.serves(spec, run.track.namespace, admission.n) is False:
            yield violated(
                admission, f"{when(admission)}: {run} is admitted from a namespace that is not."
            )
    since = run.queues.not_served_from(run)
    if since is not None:
        yield eventually(
            run,
            "a message that says why it waits",
            since=since,
            happened=next(
                (each for each in run.snapshots if each.n >= since.n and each.why_waiting), None
            ),
            # Once it is admitted there is nothing to say.
            unless=run.next(since, lambda each: each.has_reservation) or run.overtaken(since),
            steps=2,
        )


@claim(
    "KQ-050",
    api("Workload", 12),
    level=Level.DERIVED,
    armed_by="Workload that waits, or was evicted",
)
def users_read_why(run: WorkloadRun) -> Obligations:
    """A Workload that waits MUST say why in its condition QuotaReserved, one that has quota again
    MUST NOT be Preempted, and each eviction MUST be an Event."""
    last = run.snapshots[-1]
    waits = last.is_active and not (last.has_reservation or last.is_finished)
    if waits and run.track.removed is None and not last.is_terminating:
        yield in_the_end(
            run,
            "a message that says why it waits",
            since=last,
            happened=last if last.why_waiting else None,
        )
    for again in run.turns(
        lambda state: state.has_reservation and state.is_preempted and not state.is_evicted
    ):
        yield eventually(
            run,
            "its condition Preempted with the status False",
            since=again,
            happened=run.next(again, lambda each: not each.is_preempted),
            unless=run.next(again, lambda each: each.is_evicted or not each.has_reservation),
        )
    for evicted in run.turns(lambda state: state.is_evicted):
        if run.history.header.clock != "virtual":
            yield undecided(evicted, "histories of real clusters have no Events")
            continue
        yield in_the_end(
            run,
            f"an Event that says that it was evicted for {evicted.why_evicted}",
            since=evicted,
            happened=next(run.events(evicted), None),
            unless=run.track.removed,
        )


@claim_of_history(
    "KQ-053",
    api("ClusterQueue", 30),
    level=Level.DERIVED,
    armed_by="queue with Workloads, at rest",
)
def queues_tell_the_truth(view: KueueHistory) -> Obligations:
    """At rest the status of a ClusterQueue and of a LocalQueue MUST show what is held, and how many
    wait and hold quota."""
    end = view.history.end
    if not view.history.is_stable or view.operator.timing.due_us(end.t, 0) is None:
        return
    for track, wanted in view.queues.statuses(end.n):
        status = track.at(end.n).get("status") or {}
        counts = ("pendingWorkloads", "reservingWorkloads")
        pending, holding = (int(status.get(key, 0)) for key in counts)
        held = amounts_in(status.get("flavorsReservation"))
        yield must(
            wanted.may_show(pending) and holding == wanted.holding and held == wanted.held,
            end,
            f"{when(end)}: {track} shows {pending} pending, {holding} reserving and "
            f"{text_of(held)} held; there are {wanted.waiting}, {wanted.holding} and "
            f"{text_of(wanted.held)}.",
        )


def amounts_in(flavors: Iterable[Object] | None, key: str = "total") -> Held:
    """The amounts of a queue's status that are not 0, by flavor and resource."""
    found = {
        (flavor["name"], each["name"]): parse_quantity(each.get(key, 0))
        for flavor in flavors or ()
        for each in flavor.get("resources") or ()
    }
    return {what: value for what, value in found.items() if value}


def text_of(held: Held) -> str:
    told = ((value, what) for what, value in sorted(held.items()) if value)
    return ", ".join(f"{value} {name} of {flavor}" for value, (flavor, name) in told) or "0"


@claim_of_history(
    "KQ-069",
    exceptions.SOURCE,
    level=Level.DERIVED,
    armed_by="run of the controller",
    from_any_versions=True,
)
def kueue_does_not_panic(view: KueueHistory) -> Obligations:
    """The controller and its webhooks MUST NOT panic or raise an exception, whatever they meet."""
    yield from exceptions.escaped(view.history, view.operator)
