"""KQ-001 to 003, 020, 021, 023, 048, 104, 110, 111: which Workload is admitted before which."""

from __future__ import annotations

from collections.abc import Callable

from conformance.norm import Obligations, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.kueue.api import CREATION, EVICTION, RELEASED
from conformance.suites.kueue.judging import claim
from conformance.suites.kueue.settings import TIMESTAMP
from conformance.suites.kueue.sources import api, config, guide, sorting, story
from conformance.suites.kueue.view import Snapshot, WorkloadRun
from vocabulary.objects import get_path

_ADMITTED = "admission while another Workload of the queue waits"
_BACK = "admission beside a Workload that was evicted because its pods were not ready"
_PRIORITIES = "Priorities and Preemption"


def _in_order(
    run: WorkloadRun, concerns: Callable[[WorkloadRun, Snapshot, Snapshot], bool]
) -> Obligations:
    """No Workload that asks for as much as this one, or less, is passed over though it comes first.

    `concerns` says of the other one, its state and that of the admitted one before its admission,
    whether a claim speaks of the two.
    """
    for admission in run.admissions:
        before = run.at(admission.n - 1)
        if before is None or (run.edition == RELEASED and _is_preemptor(run)):
            continue
        for other in run.queues.passed_over(run, admission):
            theirs = other.at(admission.n)
            if theirs is None or not concerns(other, theirs, before):
                continue
            first, mine = other.precedence(theirs), run.precedence(before)
            if first == mine or not _asks_for_no_more(other, run, admission.n - 1):
                continue
            if first < mine:
                yield met(admission)
                continue
            if run.queues.was_chosen(other, admission):
                yield undecided(admission, f"{other} was admitted beside it")
                continue
            yield violated(
                admission,
                f"{when(admission)}: {run} is admitted before {other}, which waits in the same "
                f"queue, asks for no more, and comes first: priority {theirs.priority} and "
                f"{before.priority}, ordered by {-first[1]} and {-mine[1]} µs.",
                theirs,
            )


def _is_preemptor(run: WorkloadRun) -> bool:
    """True if others were preempted for it: released controllers put it before the first."""
    return any(each.preemptor == run.track.uid for each in run.queues.preempted)


def _asks_for_no_more(other: WorkloadRun, run: WorkloadRun, n: int) -> bool:
    """True if one of the two, which have one pod set each, fits wherever the other does."""
    mine = run.asks(n)
    if any(value > mine.get(name, 0) for name, value in other.asks(n).items()):
        return False
    if (run.pod_sets, other.pod_sets) != (1, 1):
        return False
    keys = ("nodeSelector", "tolerations", "affinity")
    return all(other.pod.get(key) == run.pod.get(key) for key in keys)


def _same_priority(theirs: Snapshot, mine: Snapshot) -> bool:
    return theirs.priority == mine.priority


@claim("KQ-110", guide(_PRIORITIES, 1), armed_by=_ADMITTED)
def submission_order(run: WorkloadRun) -> Obligations:
    """Workloads of equal priority MUST be admitted by their queue in the order of their submission,
    save those that were evicted because their pods were not ready."""
    return _in_order(
        run,
        lambda _, theirs, mine: (
            _same_priority(theirs, mine) and not (theirs.is_timed_out or mine.is_timed_out)
        ),
    )


@claim("KQ-111", guide(_PRIORITIES, 2), armed_by=_ADMITTED)
def higher_priority_first(run: WorkloadRun) -> Obligations:
    """A Workload of higher priority MUST be admitted before those of lower priority, whenever it
    was submitted."""
    return _in_order(
        run,
        lambda _, theirs, mine: (
            not _same_priority(theirs, mine) and not (theirs.is_timed_out or mine.is_timed_out)
        ),
    )


@claim("KQ-020", sorting(1), armed_by=_BACK)
def evicted_ones_have_their_place(run: WorkloadRun) -> Obligations:
    """Within a queue Workloads that were evicted MUST be sorted by priority, then by the time of
    that eviction or else of their creation."""
    return _in_order(run, lambda _, theirs, mine: theirs.is_timed_out or mine.is_timed_out)


@claim("KQ-023", sorting(2), level=Level.DERIVED, armed_by=_BACK)
def priority_dominates(run: WorkloadRun) -> Obligations:
    """A Workload that was evicted MUST NOT pass one of higher priority, with either timestamp."""
    return _in_order(
        run,
        lambda _, theirs, mine: (
            (theirs.is_timed_out or mine.is_timed_out) and not _same_priority(theirs, mine)
        ),
    )


def _by_timestamp(run: WorkloadRun, timestamp: str | None) -> Obligations:
    """The order of evicted ones of equal priority, where that timestamp is configured."""
    if get_path(run.written, TIMESTAMP) != timestamp:
        return ()
    return _in_order(
        run,
        lambda _, theirs, mine: (
            (theirs.is_timed_out or mine.is_timed_out) and _same_priority(theirs, mine)
        ),
    )


@claim("KQ-001", story(2, 1), armed_by=f"{_BACK}, with timestamp Creation")
def creation_is_the_front(run: WorkloadRun) -> Obligations:
    """With timestamp Creation, a Workload that was evicted because its pods were not ready MUST be
    sorted by its creation time."""
    return _by_timestamp(run, CREATION)


@claim("KQ-002", config(2), armed_by=f"{_BACK}, with timestamp Eviction")
def eviction_is_the_back(run: WorkloadRun) -> Obligations:
    """With timestamp Eviction, a Workload that was evicted because its pods were not ready MUST be
    sorted by the transition time of its condition Evicted."""
    return _by_timestamp(run, EVICTION)


@claim("KQ-003", config(2), armed_by=f"{_BACK}, without a configured timestamp")
def unset_is_eviction(run: WorkloadRun) -> Obligations:
    """Where no timestamp is configured, it MUST be Eviction."""
    return _by_timestamp(run, None)


@claim(
    "KQ-048",
    api("ClusterQueue", 8),
    level=Level.DERIVED,
    armed_by="admission in a StrictFIFO queue in which another Workload waits",
)
def strict_queues_keep_their_order(run: WorkloadRun) -> Obligations:
    """In a StrictFIFO queue nothing behind a Workload that waits MUST be admitted, save while that
    one is in its back-off."""
    for admission in run.admissions:
        spec = run.queues.spec(str(admission.cluster_queue), admission.n)
        before = run.at(admission.n - 1)
        if spec is None or not spec.is_strict or before is None:
            continue
        for other in run.queues.passed_over(run, admission):
            theirs = other.at(admission.n)
            if theirs is None or other.precedence(theirs) <= run.precedence(before):
                yield met(admission)
            elif run.queues.was_chosen(other, admission):
                yield undecided(admission, f"{other} was admitted beside it")
            else:
                yield violated(
                    admission,
                    f"{when(admission)}: {run} is admitted in the StrictFIFO queue {spec.name}, "
                    f"and {other}, which comes before it, waits.",
                    theirs,
                )


@claim(
    "KQ-021",
    sorting(4),
    armed_by="admission while the first of another queue of the cohort waits",
)
def heads_are_sorted(run: WorkloadRun) -> Obligations:
    """Of the heads of the queues of a cohort that ask for the same, those that need not borrow
    MUST be admitted first, then those of higher priority, then those of the earlier time."""
    for admission in run.admissions:
        before = run.at(admission.n - 1)
        if before is None:
            continue
        for other in run.queues.heads_beside(run, admission):
            theirs = other.at(admission.n)
            n = admission.n - 1
            if theirs is None or other.parts(n) != run.parts(n) or run.pod_sets != 1:
                continue
            first = (run.queues.needs_none(other, admission.n - 1), *other.precedence(theirs))
            mine = (run.queues.needs_none(run, admission.n - 1), *run.precedence(before))
            if first <= mine:
                yield met(admission)
            elif run.queues.had_room(other, run, admission) and not run.queues.fits(
                other, admission.n
            ):
                yield violated(
                    admission,
                    f"{when(admission)}: {run} takes quota that {other} of another queue of the "
                    "cohort waits for, fits into no more, and comes first.",
                    theirs,
                )


@claim(
    "KQ-104",
    guide("Quotas", 5),
    armed_by="admission beside the first of another queue that has another priority",
)
def priorities_stay_within_a_queue(run: WorkloadRun) -> Obligations:
    """The priority of a Workload MUST NOT let it borrow quota that one of another queue waits for
    which need not borrow."""
    for admission in run.admissions:
        n, before = admission.n - 1, run.at(admission.n - 1)
        for other in run.queues.heads_beside(run, admission):
            theirs = other.at(admission.n)
            if before is None or theirs is None:
                continue
            if theirs.priority > before.priority and run.queues.needs_none(run, n):
                yield met(admission)
            elif (
                theirs.priority < before.priority
                and run.queues.needs_none(other, n)
                and not run.queues.needs_none(run, n)
                and not run.queues.fits(other, admission.n)
                and run.queues.had_room(other, run, admission)
            ):
                yield violated(
                    admission,
                    f"{when(admission)}: {run} of priority {before.priority} borrows quota that "
                    f"{other} of another queue waits for, which need not borrow.",
                    theirs,
                )
