"""AW-063, 064: what a succeeded workload leaves behind is kept for a time, then deleted."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.history import Moment
from conformance.norm import WRITERS, Obligations, met, shared
from conformance.suites.appwrapper.claims.forceful_clock import cleaned_up
from conformance.suites.appwrapper.claims.governing import Elapsed
from conformance.suites.appwrapper.claims.timed import Timed, no_earlier, obligations
from conformance.suites.appwrapper.decisions import A8
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.parameters import SUCCESS_TTL
from conformance.suites.appwrapper.sources import detailed_description
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.deletions import Cause, Deletion
from conformance.suites.appwrapper.view.parameters import Value
from conformance.suites.appwrapper.view.snapshots import RESOURCES_DEPLOYED
from vocabulary.clock import SECOND


@claim(
    "AW-063",
    detailed_description(22),
    decision=A8,
    armed_by="AppWrapper outlived its success TTL",
    needs=(WRITERS,),
)
def succeeded_workloads_are_deleted_after_their_ttl(aw: AppWrapperRun) -> Obligations:
    """The resources of a workload that succeeded MUST be deleted when SuccessTTL has passed
    since it entered Succeeded, and MUST NOT be before."""
    yield from obligations(success_ttl(aw))


@shared
def success_ttl(aw: AppWrapperRun) -> Iterator[Timed]:
    """Both bounds on the deletion of what succeeded, where the history shows the TTL pass."""
    for deletion in successes(aw):
        least, most = ttl_of(aw, deletion)
        if not deletion.left_at(deletion.begin.n):
            continue
        first = deletion.first_request
        if first is not None:
            what = "the deletion of what succeeded"
            yield no_earlier(aw, what, least, since=deletion.begin, happened=first)
        undeployed = next(
            (edge for edge in aw.turns(RESOURCES_DEPLOYED, "False") if edge.n > deletion.begin.n),
            None,
        )
        obligation = cleaned_up(
            aw,
            "ResourcesDeployed=False after the success TTL",
            deletion,
            since=deletion.begin,
            happened=undeployed,
            plus_us=most.value,
            unless=aw.leaving,
        )
        observed = Elapsed(aw, since=deletion.begin, happened=first)
        yield Timed(most, obligation, from_above=True, observed=observed)


def successes(aw: AppWrapperRun) -> Iterator[Deletion]:
    """The episodes that began with entering Succeeded."""
    return (deletion for deletion in aw.deletions if deletion.cause is Cause.SUCCESS)


def ttl_of(aw: AppWrapperRun, deletion: Deletion) -> tuple[Value, Value]:
    """The least and the greatest TTL in force until the deletion began."""
    until: Moment = deletion.first_request or deletion.end or aw.history.end
    return aw.parameter_within(SUCCESS_TTL, deletion.begin, until)


@claim(
    "AW-064",
    detailed_description(22),
    armed_by="AppWrapper was Succeeded for a second",
    needs=(WRITERS,),
)
def succeeded_workloads_are_kept_until_their_ttl(aw: AppWrapperRun) -> Obligations:
    """Until SuccessTTL has passed, the resources of a workload that succeeded MUST be kept."""
    for deletion in successes(aw):
        least = ttl_of(aw, deletion)[0]
        first = deletion.first_request
        end = deletion.end or aw.removed or aw.history.end
        if first is not None:
            what = "the deletion of what succeeded"
            yield no_earlier(aw, what, least, since=deletion.begin, happened=first).obligation
        elif end.t - deletion.begin.t >= min(SECOND, least.value) and deletion.hit:
            yield met(deletion.begin)
