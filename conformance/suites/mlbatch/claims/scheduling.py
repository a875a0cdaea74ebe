"""MLB-003 to 006, 062 to 070: which AppWrapper gets quota, and at whose expense.

Each is what Kueue promises of any job, asked of AppWrappers alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from conformance.norm import Obligations
from conformance.suites.kueue.api import APP_WRAPPER, KEP
from conformance.suites.kueue.claims import order, preemption, quota
from conformance.suites.kueue.decisions import FITS_THOUGH_OTHERS_WAIT, NO_BORROWING_BY_PREEMPTION
from conformance.suites.kueue.judging import claim
from conformance.suites.kueue.sources import guide
from conformance.suites.kueue.view import WorkloadRun

_PRIORITIES: Final = "Priorities and Preemption"
_QUOTAS: Final = "Quotas"
_ADMITTED: Final = "admission while another AppWrapper of the queue waits"
_RECLAIMED: Final = "preemption of an AppWrapper of another queue"


def asked_of_app_wrapper(
    run: WorkloadRun, checker: Callable[[WorkloadRun], Obligations]
) -> Obligations:
    """The obligations of a checker for the Workload of an AppWrapper; none for others."""
    is_its = run.job is not None and run.job.track.kind == str(APP_WRAPPER)
    return checker(run) if is_its else ()


@claim("MLB-003", guide(_QUOTAS, 3), armed_by="AppWrapper that fits into what its cohort lends")
def app_wrappers_borrow_unused_quota(run: WorkloadRun) -> Obligations:
    """An AppWrapper that fits into the unused quota of other queues MUST be admitted, if no other
    one waits."""
    return asked_of_app_wrapper(run, quota.unused_quota_is_borrowed)


@claim("MLB-004", guide(_QUOTAS, 4), armed_by="AppWrapper whose quota others have borrowed")
def teams_get_their_quota_back(run: WorkloadRun) -> Obligations:
    """An AppWrapper that fits into the quota of its team MUST be admitted though others have
    borrowed that."""
    return asked_of_app_wrapper(run, quota.nominal_quota_comes_back)


@claim("MLB-005", guide(_QUOTAS, 5), armed_by="AppWrapper of lower priority in another queue")
def priorities_stay_within_a_team(run: WorkloadRun) -> Obligations:
    """The priority of an AppWrapper MUST NOT let it borrow what one of another queue waits for
    that need not borrow."""
    return asked_of_app_wrapper(run, order.priorities_stay_within_a_queue)


@claim("MLB-006", guide(_QUOTAS, 2), armed_by="AppWrapper that fits and is the first")
def quota_alone_admits(run: WorkloadRun) -> Obligations:
    """An AppWrapper that fits into the quota of its queue and is the first MUST be admitted,
    whatever room nodes have."""
    return asked_of_app_wrapper(run, quota.what_fits_is_admitted)


@claim("MLB-062", guide(_PRIORITIES, 1), armed_by=_ADMITTED)
def equal_ones_in_submission_order(run: WorkloadRun) -> Obligations:
    """AppWrappers of equal priority MUST be admitted by their queue in the order of their
    submission."""
    return asked_of_app_wrapper(run, order.submission_order)


@claim("MLB-063", guide(_PRIORITIES, 2), armed_by=_ADMITTED)
def higher_ones_first(run: WorkloadRun) -> Obligations:
    """An AppWrapper of higher priority MUST be admitted before those of lower priority, whenever it
    was submitted."""
    return asked_of_app_wrapper(run, order.higher_priority_first)


@claim(
    "MLB-064",
    guide(_PRIORITIES, 3),
    decision=FITS_THOUGH_OTHERS_WAIT,
    armed_by="AppWrapper that fits while one before it does not",
)
def what_does_not_fit_blocks_none(run: WorkloadRun) -> Obligations:
    """An AppWrapper that fits into the nominal quota of its queue MUST be admitted though others
    wait that do not fit."""
    return asked_of_app_wrapper(run, quota.no_head_blocks)


@claim(
    "MLB-065",
    guide(_PRIORITIES, 4),
    decision=NO_BORROWING_BY_PREEMPTION,
    armed_by="admission of an AppWrapper for which others were preempted",
)
def none_preempts_and_borrows(run: WorkloadRun) -> Obligations:
    """An AppWrapper for which others were preempted MUST NOT be admitted with borrowed quota."""
    return (
        asked_of_app_wrapper(run, preemption.no_borrowing_by_preemption)
        if run.edition == KEP
        else ()
    )


@claim(
    "MLB-066",
    guide(_PRIORITIES, 5),
    decision=NO_BORROWING_BY_PREEMPTION,
    armed_by="preemption of an AppWrapper",
)
def larger_than_nominal_preempts_none(run: WorkloadRun) -> Obligations:
    """An AppWrapper that by itself exceeds the nominal quota of its queue MUST NOT have others
    preempted."""
    return (
        asked_of_app_wrapper(run, preemption.more_than_nominal_preempts_nothing)
        if run.edition == KEP
        else ()
    )


@claim(
    "MLB-067",
    guide(_PRIORITIES, 6),
    decision=NO_BORROWING_BY_PREEMPTION,
    armed_by="preemption of an AppWrapper within its queue",
)
def peers_count_before_preemption(run: WorkloadRun) -> Obligations:
    """An AppWrapper MUST NOT have those of lower priority in its queue preempted if it and those of
    the same or a higher priority exceed the nominal quota."""
    return (
        asked_of_app_wrapper(run, preemption.peers_and_it_fit_into_nominal)
        if run.edition == KEP
        else ()
    )


@claim("MLB-068", guide(_PRIORITIES, 7), armed_by=_RECLAIMED)
def quota_is_reclaimed_within_nominal(run: WorkloadRun) -> Obligations:
    """AppWrappers of other queues MUST be preempted only for a queue that stays at or below its
    nominal quota."""
    return asked_of_app_wrapper(run, preemption.reclamation_stays_within_nominal)


@claim("MLB-069", guide(_PRIORITIES, 8), armed_by=_RECLAIMED)
def borrowers_alone_lose(run: WorkloadRun) -> Obligations:
    """AppWrappers MUST be preempted for another queue only where their own exceeds its nominal
    quota."""
    return asked_of_app_wrapper(run, preemption.victims_are_of_borrowers)


@claim(
    "MLB-070",
    guide(_PRIORITIES, 9),
    armed_by="reclamation while the queue of an AppWrapper does not borrow",
)
def those_within_nominal_are_safe(run: WorkloadRun) -> Obligations:
    """An AppWrapper of a queue at or below its nominal quota MUST NOT be preempted for another
    queue."""
    return asked_of_app_wrapper(run, preemption.nominal_ones_are_spared)
