"""KQ-041, 052, 055, 113 to 118: who gives quota back for whom, and who gets it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from conformance.norm import Obligations, met, must, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.kueue.api import KEP
from conformance.suites.kueue.decisions import FLAVOR_BEFORE_VICTIMS, NO_BORROWING_BY_PREEMPTION
from conformance.suites.kueue.judging import claim
from conformance.suites.kueue.sources import api, guide, sorting
from conformance.suites.kueue.view import Snapshot, WorkloadRun, usage_of
from conformance.suites.kueue.view.standing import Held, Standing, What

_PREEMPTED = "preemption"
_PRIORITIES = "Priorities and Preemption"


def _for_whom(run: WorkloadRun) -> Iterator[tuple[Snapshot, WorkloadRun]]:
    """Each preemption of a Workload, with the one that it was preempted for."""
    for evicted in run.preemptions:
        preemptor = run.queues.find(evicted.preemptor)
        if preemptor is not None:
            yield evicted, preemptor


@claim("KQ-041", sorting(5), level=Level.DERIVED, armed_by="return of a preempted Workload")
def preemptors_come_first(run: WorkloadRun) -> Obligations:
    """A Workload that was preempted MUST NOT hold quota again before the one that it was preempted
    for does, unless that one does not fit any more or is gone."""
    for evicted, preemptor in _for_whom(run):
        released = run.next(evicted, lambda each: not each.has_reservation)
        back = None if released is None else run.next(released, lambda each: each.has_reservation)
        if back is None:
            continue
        first = preemptor.next(evicted, lambda each: each.has_reservation)
        if first is not None and first.n < back.n:
            yield met(back, first)
            continue
        seen_us = run.operator.timing.seen_us(back.t)
        waits = run.queues.waited(preemptor, seen_us, back)
        if not waits or not run.queues.had_room(preemptor, run, back):
            yield undecided(back, f"{preemptor} did not wait, or did not fit")
        elif preemptor.was_refused(seen_us, back) or not run.queues.is_steady(seen_us, back):
            yield undecided(back, f"{preemptor} was refused, or its queue changed")
        else:
            yield violated(
                back,
                f"{when(back)}: {run} holds quota again, and {preemptor}, for which it was "
                "preempted, still waits.",
                evicted,
            )


@claim(
    "KQ-113",
    guide(_PRIORITIES, 4),
    decision=NO_BORROWING_BY_PREEMPTION,
    editions=(KEP,),
    armed_by="admission of a Workload for which others were preempted",
)
def no_borrowing_by_preemption(run: WorkloadRun) -> Obligations:
    """A Workload for which others were preempted MUST NOT be admitted with borrowed quota."""
    for admission in run.admissions:
        for evicted in run.queues.victims_for(run, admission):
            # Of several victims one may be gone first, and its quota be enough for now.
            standing = run.queues.at(admission.n).without(run.queues.leaving(admission.n))
            queue = str(admission.cluster_queue)
            spec = standing.queues.get(queue)
            if spec is None or spec.borrows:
                continue
            # One that held several flavors may have been preempted for what it held of another.
            lost = [name for _, name in usage_of(evicted)]
            beyond = [
                what
                for what in usage_of(admission)
                if standing.held(queue, what) > standing.nominal(queue, what)
                and what in usage_of(evicted)
                and lost.count(what[1]) == 1
            ]
            is_known = run.queues.is_steady(evicted.t, admission)
            if beyond and is_known and not run.queues.freed(evicted, admission, queue):
                yield violated(
                    admission,
                    f"{when(admission)}: {run} is admitted with others preempted for it, and "
                    f"{queue} then holds {standing.held(queue, beyond[0])} of {beyond[0][1]}; its "
                    f"nominal quota is {standing.nominal(queue, beyond[0])}.",
                    evicted,
                )
            else:
                yield met(admission)


@claim(
    "KQ-114",
    guide(_PRIORITIES, 5),
    decision=NO_BORROWING_BY_PREEMPTION,
    editions=(KEP,),
    armed_by=_PREEMPTED,
)
def more_than_nominal_preempts_nothing(run: WorkloadRun) -> Obligations:
    """A Workload that by itself exceeds the nominal quota of its queue MUST NOT have others
    preempted."""
    for evicted, preemptor in _for_whom(run):
        yield from _within(evicted, preemptor, held_by_peers=False)


@claim(
    "KQ-115",
    guide(_PRIORITIES, 6),
    decision=NO_BORROWING_BY_PREEMPTION,
    editions=(KEP,),
    armed_by="preemption within a queue",
)
def peers_and_it_fit_into_nominal(run: WorkloadRun) -> Obligations:
    """A Workload MUST NOT have those of lower priority in its queue preempted if it and those of
    the same or a higher priority exceed the nominal quota of the queue."""
    for evicted, preemptor in _for_whom(run):
        if run.queues.queue_of(preemptor, evicted.n) == evicted.cluster_queue:
            yield from _within(evicted, preemptor, held_by_peers=True)


def _within(evicted: Snapshot, preemptor: WorkloadRun, *, held_by_peers: bool) -> Obligations:
    queues = preemptor.queues
    queue, standing = queues.queue_of(preemptor, evicted.n), queues.at(evicted.n - 1)
    spec = standing.queues.get(queue)
    seen_us = preemptor.operator.timing.seen_us(evicted.t)
    if spec is None or spec.borrows or not queues.is_steady(seen_us, evicted):
        return
    peers = queues.peers(preemptor, queue, evicted.n) if held_by_peers else ()
    held = [usage_of(state) for state in peers]
    fits = any(
        all(
            value + sum(each.get(what, Fraction(0)) for each in held)
            <= standing.nominal(queue, what)
            for what, value in placed.items()
        )
        for placed in standing.placements(queue, preemptor.parts(evicted.n))
    )
    yield must(
        fits,
        evicted,
        f"{when(evicted)}: a Workload is preempted for {preemptor}, which"
        f"{' with its peers' if held_by_peers else ''} exceeds the nominal quota of {queue}.",
    )


def _sum(usages: Iterable[Held], what: What) -> Fraction:
    return sum((each.get(what, Fraction(0)) for each in usages), Fraction(0))


@claim("KQ-116", guide(_PRIORITIES, 7), armed_by="preemption in another queue")
def reclamation_stays_within_nominal(run: WorkloadRun) -> Obligations:
    """Workloads of another queue MUST be preempted only to reclaim borrowed quota: the queue that
    preempts is at or below its nominal quota once the Workload is admitted, unless its
    borrowWithinCohort lets it borrow."""
    for evicted, preemptor in _for_whom(run):
        queue = run.queues.queue_of(preemptor, evicted.n)
        spec = run.queues.at(evicted.n - 1).queues.get(queue)
        if spec is None or spec.borrows or queue == evicted.cluster_queue:
            continue
        stays = _stays_within_nominal(run, evicted, preemptor, queue)
        seen_us = run.operator.timing.seen_us(evicted.t)
        yield must(
            stays or not run.queues.is_steady(seen_us, evicted),
            evicted,
            f"{when(evicted)}: {run} is preempted for {preemptor}, whose queue {queue} would "
            "borrow with it.",
        )


def _stays_within_nominal(
    run: WorkloadRun, evicted: Snapshot, preemptor: WorkloadRun, queue: str
) -> bool:
    """True if the queue of a preemptor is within its nominal quota once that is admitted, and its
    own victims and those that leave have given theirs back."""
    standing = run.queues.at(evicted.n - 1)
    leaving = [each for each in run.queues.leaving(evicted.n) if each.cluster_queue == queue]
    victims = [
        each
        for each in run.queues.victims_of(preemptor, queue)
        if all(each.object["metadata"]["uid"] != own.object["metadata"]["uid"] for own in leaving)
    ]
    own = [usage_of(each) for each in (*leaving, *victims)]
    return any(
        all(
            standing.held(queue, what) + value <= standing.nominal(queue, what) + _sum(own, what)
            for what, value in placed.items()
        )
        for placed in standing.placements(queue, preemptor.parts(evicted.n))
    )


def _from_borrowers(run: WorkloadRun) -> Iterator[tuple[Snapshot, bool]]:
    """Each preemption for another queue, and whether the queue that loses held more than its
    nominal quota of what the preemptor lacked, at some time that the controller may have looked
    at, without the others that it loses to that one; which of them comes last is not said."""
    for evicted, preemptor in _for_whom(run):
        queue = str(evicted.cluster_queue)
        if run.queues.queue_of(preemptor, evicted.n) == queue:
            continue
        standings = [
            each for each in run.queues.standings_before(run, evicted) if queue in each.queues
        ]
        used = usage_of(evicted).keys()
        lacked = used & set(_lacked(preemptor, evicted.n, standings))
        lost = [usage_of(each) for each in (evicted, *run.queues.victims_beside(evicted))]
        yield (
            evicted,
            any(
                standing.held(queue, what) - _all_but_the_largest(lost, what)
                > standing.nominal(queue, what)
                for standing in standings
                for what in lacked or used
            ),
        )


def _all_but_the_largest(lost: Sequence[Held], what: What) -> Fraction:
    amounts = sorted(each.get(what, Fraction(0)) for each in lost)
    return sum(amounts[:-1], Fraction(0))


def _lacked(run: WorkloadRun, n: int, standings: Iterable[Standing]) -> Iterator[What]:
    """The resources of flavors that a Workload needs more of than there is left for it."""
    queue, parts = run.queues.queue_of(run, n), run.parts(n)
    for standing in standings:
        if queue in standing.queues:
            for placed in standing.placements(queue, parts):
                yield from (what for what in placed if placed[what] > standing.left(queue, what))


@claim("KQ-117", guide(_PRIORITIES, 8), armed_by="preemption in another queue")
def victims_are_of_borrowers(run: WorkloadRun) -> Obligations:
    """To reclaim quota only Workloads of queues that exceed their nominal quota MUST be
    considered."""
    for evicted, borrowed in _from_borrowers(run):
        yield must(
            borrowed,
            evicted,
            f"{when(evicted)}: {run} is preempted for another queue, and its own, "
            f"{evicted.cluster_queue}, holds no more than its quota of what is lacking.",
        )


@claim("KQ-118", guide(_PRIORITIES, 9), armed_by="reclamation while another queue does not borrow")
def nominal_ones_are_spared(run: WorkloadRun) -> Obligations:
    """Workloads of queues that are at or below their nominal quota MUST NOT be preempted for other
    queues."""
    for evicted in run.queues.preempted:
        preemptor = run.queues.find(evicted.preemptor)
        state = run.at(evicted.n)
        if preemptor is None or state is None or not state.has_quota or state.is_evicted:
            continue
        mine, theirs = state.cluster_queue, run.queues.queue_of(preemptor, evicted.n)
        if theirs not in (mine, evicted.cluster_queue):
            yield met(evicted)
    for evicted, borrowed in _from_borrowers(run):
        if not borrowed:
            yield violated(
                evicted, f"{when(evicted)}: {run} is preempted, and its queue is within."
            )


@claim(
    "KQ-052",
    api("ClusterQueuePreemption", 1),
    level=Level.DERIVED,
    armed_by=_PREEMPTED,
)
def policies_are_kept(run: WorkloadRun) -> Obligations:
    """A Workload MUST be preempted only for one of a queue whose policies let it: within the queue
    a lower priority, or the same and a later time; in the cohort as reclaimWithinCohort says, or
    borrowWithinCohort where that queue borrows then."""
    for evicted, preemptor in _for_whom(run):
        queue = run.queues.queue_of(preemptor, evicted.n)
        spec, theirs = run.queues.spec(queue, evicted.n), preemptor.at(evicted.n)
        before = run.at(evicted.n - 1)
        seen_us = run.operator.timing.seen_us(evicted.t)
        if spec is None or theirs is None or before is None:
            continue
        if not run.queues.is_steady(seen_us, evicted):
            continue
        is_lower = before.priority < theirs.priority
        if queue == evicted.cluster_queue:
            is_newer = run.precedence(before) < preemptor.precedence(theirs)
            allowed = {
                "LowerPriority": is_lower,
                "LowerOrNewerEqualPriority": is_lower or is_newer,
            }.get(spec.within, False)
        else:
            allowed = {"LowerPriority": is_lower, "Any": True}.get(spec.reclaims, False)
            if spec.borrows and not _stays_within_nominal(run, evicted, preemptor, queue):
                most = spec.most_priority
                allowed = is_lower and (most is None or before.priority <= most)
        yield must(
            allowed,
            evicted,
            f"{when(evicted)}: {run} of priority {before.priority} is preempted for "
            f"{preemptor} of priority {theirs.priority} in {queue}; withinClusterQueue is "
            f"{spec.within}, reclaimWithinCohort {spec.reclaims}, maxPriorityThreshold "
            f"{spec.most_priority}.",
        )


@claim(
    "KQ-055",
    api("ClusterQueuePreemption", 12),
    decision=FLAVOR_BEFORE_VICTIMS,
    level=Level.DERIVED,
    armed_by=_PREEMPTED,
)
def no_victim_too_many(run: WorkloadRun) -> Obligations:
    """A Workload MUST NOT be preempted if the others that are preempted with it would do, nor in
    place of one of its queue that would give back as much and has a lower priority, or got its
    quota later."""
    for evicted, preemptor in _for_whom(run):
        seen_us = run.operator.timing.seen_us(evicted.t)
        if preemptor.pod_sets != 1 or not run.queues.is_steady(seen_us, evicted):
            continue
        if run.queues.was_touched(run, seen_us, evicted):
            yield undecided(evicted, "others of the cohort came or went meanwhile")
        elif run.queues.was_overtaken(run, evicted, preemptor):
            yield undecided(evicted, "one came meanwhile that may go before its preemptor")
        elif run.queues.could_spare(run, evicted, preemptor):
            yield violated(
                evicted,
                f"{when(evicted)}: {run} is preempted for {preemptor}, which would fit once the "
                "others have given their quota back.",
            )
        elif (other := run.queues.better_victim(run, evicted)) is not None:
            yield violated(
                evicted,
                f"{when(evicted)}: {run} is preempted for {preemptor}, and {other}, which would "
                "give back as much, comes first.",
            )
        else:
            yield met(evicted)
