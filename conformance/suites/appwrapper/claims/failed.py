"""AW-053, 060…062: a Failed workload is cleaned up, at once or after time for debugging."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.history import Moment, earliest
from conformance.norm import WRITERS, Obligations, met, shared, undecided, violated
from conformance.norm.words import span, when
from conformance.suites.appwrapper.claims.forceful_clock import cleaned_up
from conformance.suites.appwrapper.claims.timed import (
    Timed,
    no_earlier,
    no_later,
    obligations,
)
from conformance.suites.appwrapper.decisions import A9, A10
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.parameters import DELETION_ON_FAILURE_GRACE
from conformance.suites.appwrapper.sources import configuration_details, detailed_description
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.appwrapper import NEVER
from conformance.suites.appwrapper.view.deletions import Cause, Deletion
from conformance.suites.appwrapper.view.parameters import Value
from conformance.suites.appwrapper.view.snapshots import (
    QUOTA_RESERVED,
    RESOURCES_DEPLOYED,
    Snapshot,
)


@claim(
    "AW-053",
    detailed_description(16),
    armed_by="AppWrapper entered Failed",
)
def failed_workloads_are_deleted(aw: AppWrapperRun) -> Obligations:
    """The resources of a Failed workload MUST be deleted, and its quota MUST then be released."""
    for deletion in failures(aw):
        released = next(
            (
                snapshot
                for snapshot in aw.snapshots
                if snapshot.n >= deletion.begin.n and holds_nothing(snapshot)
            ),
            None,
        )
        yield cleaned_up(
            aw,
            "ResourcesDeployed=False and QuotaReserved=False after the failure",
            deletion,
            since=deletion.begin,
            happened=released,
            plus_us=_delay(aw, deletion)[1].value,
            unless=aw.leaving,
        )


def holds_nothing(snapshot: Snapshot) -> bool:
    """True if neither resources nor quota are shown as held."""
    return not snapshot.shows(RESOURCES_DEPLOYED) and not snapshot.shows(QUOTA_RESERVED)


def failures(aw: AppWrapperRun) -> Iterator[Deletion]:
    """The deletion episodes that entering Failed called for."""
    return (deletion for deletion in aw.deletions if deletion.cause is Cause.FAILURE)


def _delay(aw: AppWrapperRun, deletion: Deletion) -> tuple[Value, Value]:
    """The least and the greatest delay that was in force until the deletion began."""
    until: Moment = deletion.first_request or deletion.end or aw.history.end
    return aw.parameter_within(DELETION_ON_FAILURE_GRACE, deletion.begin, until)


@claim(
    "AW-060",
    detailed_description(20),
    name="deletion-is-delayed-for-debugging",
    decision=A9,
    armed_by="AppWrapper with a delayed deletion entered Failed",
    needs=(WRITERS,),
)
def deletion_is_delayed(aw: AppWrapperRun) -> Obligations:
    """With a deletion-on-failure grace period, deletion MUST begin when that has passed since
    the AppWrapper entered Failed, and MUST NOT begin before."""
    for deletion in failures(aw):
        if _delay(aw, deletion)[0].value:
            yield from obligations(delayed_deletion(aw, deletion))


def delayed_deletion(aw: AppWrapperRun, deletion: Deletion) -> Iterator[Timed]:
    """Both bounds on the beginning of a Failed workload's deletion."""
    least, most = _delay(aw, deletion)
    if not deletion.deletable:
        return
    first = deletion.first_request
    suspended = _suspended(aw, deletion)
    if least.value and (suspended is None or first is None or first.n < suspended.n):
        yield no_earlier(
            aw,
            "the beginning of the deletion",
            least,
            since=deletion.begin,
            happened=first,
        )
    yield no_later(
        aw,
        "the beginning of the deletion",
        most,
        since=deletion.begin,
        happened=first,
        unless=earliest(deletion.end, aw.removed, deletion.gone),
        steps=1,
    )


def _suspended(aw: AppWrapperRun, deletion: Deletion) -> Snapshot | None:
    """The version in which a Failed AppWrapper was suspended: deletion may then begin at once."""
    for snapshot in aw.snapshots:
        if snapshot.n >= deletion.begin.n and snapshot.suspended:
            return snapshot
    return None


@shared
def deletion_on_failure(aw: AppWrapperRun) -> Iterator[Timed]:
    """The bounds of every failure, for the claims about their parameter."""
    for deletion in failures(aw):
        yield from delayed_deletion(aw, deletion)


@claim(
    "AW-061",
    detailed_description(21),
    decision=A10,
    armed_by="AppWrapper with a delayed deletion entered Failed",
    needs=(WRITERS,),
)
def quota_is_held_during_the_delay(aw: AppWrapperRun) -> Obligations:
    """While its deletion is delayed, a Failed workload MUST keep its quota and its resources."""
    for deletion in failures(aw):
        delay = _delay(aw, deletion)[0]
        if not delay.value or not deletion.left_at(deletion.begin.n):
            continue
        first = deletion.first_request
        suspended = _suspended(aw, deletion)
        cut = earliest(first, suspended, deletion.end, deletion.gone)
        lost = next(
            (
                snapshot
                for snapshot in aw.snapshots
                if deletion.begin.n <= snapshot.n < (NEVER if cut is None else cut.n)
                and not (snapshot.shows(QUOTA_RESERVED) and snapshot.shows(RESOURCES_DEPLOYED))
            ),
            None,
        )
        if lost is not None:
            yield violated(
                lost,
                f"{when(lost)}: {aw} shows QuotaReserved={lost.status_of(QUOTA_RESERVED)} and "
                f"ResourcesDeployed={lost.status_of(RESOURCES_DEPLOYED)} while its deletion is "
                f"delayed by {span(delay.value)}.",
                deletion.begin,
            )
        elif (cut or aw.history.end).t - deletion.begin.t < min(
            delay.value, aw.history.operator.timing.latency_us
        ):
            yield undecided(deletion.begin, "the delay was not seen")
        else:
            yield met(deletion.begin)


@claim(
    "AW-062",
    configuration_details(3),
    armed_by="AppWrapper without a delay entered Failed",
    needs=(WRITERS,),
)
def deletion_is_immediate_by_default(aw: AppWrapperRun) -> Obligations:
    """Without a deletion-on-failure grace period, the deletion of a Failed workload MUST begin
    at once."""
    for deletion in failures(aw):
        if not _delay(aw, deletion)[1].value:
            yield from obligations(delayed_deletion(aw, deletion))
