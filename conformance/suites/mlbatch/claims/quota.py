"""MLB-046, 047, 050…053: what is said of quota, and when it may be said."""

from __future__ import annotations

from typing import Final

from conformance.history import earliest
from conformance.norm import WRITERS, Obligations, eventually, met, undecided, violated
from conformance.norm.words import states_of, were, when
from conformance.suites.appwrapper.claims.failed import failures
from conformance.suites.appwrapper.claims.quota_release import MADE_FOR_THE_GONE, quota_is_held
from conformance.suites.appwrapper.claims.retry_quota import retry_stretches
from conformance.suites.appwrapper.claims.success import successes, ttl_of
from conformance.suites.appwrapper.claims.timed import no_earlier
from conformance.suites.appwrapper.decisions import A19, A20
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.sources import guide
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.appwrapper import NEVER
from conformance.suites.appwrapper.view.late_pods import came_too_late_to_see
from conformance.suites.appwrapper.view.snapshots import (
    QUOTA_RESERVED,
    RESOURCES_DEPLOYED,
    RUNNING,
    SUCCEEDED,
)
from vocabulary.clock import SECOND
from vocabulary.objects import condition_status

_SECTION: Final = "AppWrapper Lifecycle"


@claim(
    "MLB-046",
    guide(_SECTION, 11),
    armed_by="AppWrapper was reset",
)
def retries_keep_their_place(aw: AppWrapperRun) -> Obligations:
    """Retrying a workload MUST NOT release its quota and reserve it again, so that it keeps its
    place."""
    for begin, end_n in retry_stretches(aw):
        since = _reserved_since(begin.conditions.get(QUOTA_RESERVED))
        moved = next(
            (
                snapshot
                for snapshot in aw.snapshots
                if begin.n <= snapshot.n < end_n
                and snapshot.shows(QUOTA_RESERVED)
                and _reserved_since(snapshot.conditions.get(QUOTA_RESERVED)) != since
            ),
            None,
        )
        if moved is not None:
            yield violated(
                moved,
                f"{when(moved)}: the quota of {aw} counts as reserved since "
                f"{_reserved_since(moved.conditions.get(QUOTA_RESERVED))}; when it was reset at "
                f"{when(begin)} it was {since}.",
                begin,
            )
        else:
            yield from quota_is_held(aw, begin, end_n)


def _reserved_since(condition: object) -> str:
    return str(condition.get("lastTransitionTime", "")) if isinstance(condition, dict) else ""


@claim(
    "MLB-047",
    guide(_SECTION, 13),
    armed_by="QuotaReserved turned True",
)
def quota_reserved_means_admitted(aw: AppWrapperRun) -> Obligations:
    """QuotaReserved MUST be True only for a workload whose quota has been reserved."""
    seen_before = aw.history.operator.timing.seen_us
    for edge in aw.turns(QUOTA_RESERVED, "True"):
        admitted = any(
            not snapshot.suspended and snapshot.n <= edge.n
            for snapshot, following in zip(aw.snapshots, [*aw.snapshots[1:], None], strict=True)
            if following is None or following.n > edge.n or following.t >= seen_before(edge.t)
        )
        reserved = not aw.workloads or any(
            condition_status(version.object or {}, QUOTA_RESERVED) == "True"
            for workload in aw.workloads
            for version in workload.versions
            if version.n <= edge.n
        )
        if admitted and reserved:
            yield met(edge)
        else:
            missing = "spec.suspend was true" if not admitted else "its Workload had none"
            yield violated(edge, f"{when(edge)}: {edge} of {aw}, although {missing}.")


@claim(
    "MLB-050",
    guide(_SECTION, 15),
    armed_by="AppWrapper was Running",
    from_any_versions=True,
)
def running_holds_quota_and_resources(aw: AppWrapperRun) -> Obligations:
    """A Running AppWrapper MUST show both QuotaReserved and ResourcesDeployed."""
    for span in aw.in_phase(RUNNING):
        lost = next(
            (
                snapshot
                for snapshot in span.snapshots
                if not snapshot.deleting
                and not (snapshot.shows(QUOTA_RESERVED) and snapshot.shows(RESOURCES_DEPLOYED))
            ),
            None,
        )
        if lost is None:
            yield met(span.begin)
        else:
            yield violated(
                lost,
                f"{when(lost)}: {aw} is Running with QuotaReserved="
                f"{lost.status_of(QUOTA_RESERVED) or 'absent'} and ResourcesDeployed="
                f"{lost.status_of(RESOURCES_DEPLOYED) or 'absent'}.",
                span.begin,
            )


@claim(
    "MLB-051",
    guide(_SECTION, 16),
    armed_by="AppWrapper succeeded",
)
def succeeded_holds_no_quota(aw: AppWrapperRun) -> Obligations:
    """A Succeeded AppWrapper MUST no longer reserve quota."""
    for span in aw.in_phase(SUCCEEDED):
        released = next((snap for snap in span.snapshots if not snap.shows(QUOTA_RESERVED)), None)
        yield eventually(
            aw,
            "QuotaReserved=False after success",
            since=span.begin,
            happened=released,
            unless=earliest(aw.leaving, span.end),
        )
        if released is None:
            continue
        again = next(
            (snap for snap in span.snapshots if snap.n > released.n and snap.shows(QUOTA_RESERVED)),
            None,
        )
        if again is not None:
            yield violated(
                again, f"{when(again)}: {aw} has succeeded and reserves quota again.", released
            )


@claim(
    "MLB-052",
    guide(_SECTION, 16),
    name="succeeded-pods-are-kept-for-their-logs",
    armed_by="AppWrapper was Succeeded for a second",
    needs=(WRITERS,),
)
def succeeded_pods_are_kept(aw: AppWrapperRun) -> Obligations:
    """The pods of a Succeeded AppWrapper MUST be preserved for a period, and ResourcesDeployed
    MUST stay True for as long."""
    for deletion in successes(aw):
        ttl = ttl_of(aw, deletion)[0]
        end = earliest(deletion.end, aw.removed) or aw.history.end
        if end.t - deletion.begin.t < min(SECOND, ttl.value) or not deletion.hit:
            continue
        undeployed = next(
            (
                edge
                for edge in aw.turns(RESOURCES_DEPLOYED, "False")
                if deletion.begin.n <= edge.n < (NEVER if deletion.end is None else deletion.end.n)
            ),
            None,
        )
        first = earliest(deletion.first_request, undeployed)
        if first is None:
            yield met(deletion.begin)
        else:
            what = "the end of what succeeded"
            yield no_earlier(aw, what, ttl, since=deletion.begin, happened=first).obligation


@claim(
    "MLB-053",
    guide(_SECTION, 17),
    decision=(A19, A20),
    armed_by="AppWrapper failed with resources deployed",
    from_any_versions=True,
)
def failed_holds_quota_until_undeployed(aw: AppWrapperRun) -> Obligations:
    """A Failed AppWrapper MUST continue to reserve quota until its resources have been
    undeployed."""
    for deletion in failures(aw):
        if not deletion.left_at(deletion.begin.n):
            continue
        end_n = NEVER if deletion.end is None else deletion.end.n
        early = next(
            (
                snapshot
                for snapshot in aw.snapshots
                if deletion.begin.n <= snapshot.n < end_n
                and not snapshot.shows(QUOTA_RESERVED)
                and aw.left_at(snapshot.n)
            ),
            None,
        )
        if early is None:
            yield met(deletion.begin)
        elif all(came_too_late_to_see(aw, track, early.n) for track in aw.left_at(early.n)):
            yield undecided(early, MADE_FOR_THE_GONE, decision=A19.id)
        else:
            tracks = aw.left_at(early.n)
            left = f"{states_of(tracks, early.n)} {were(tracks)}"
            yield violated(
                early,
                f"{when(early)}: {aw} is Failed and reserves no quota, but {left} still there.",
                deletion.begin,
            )
