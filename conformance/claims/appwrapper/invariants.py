"""INV-1…10: what must hold at every position, whatever is going on."""

from __future__ import annotations

from conformance.claim import Claim, Level
from conformance.claims.appwrapper.quota_release import released_before_gone
from conformance.claims.appwrapper.retry_limit import counted_resets
from conformance.claims.decisions import A15
from conformance.claims.sources import detailed_description, guide, progress_guarantees
from conformance.history_view import AppWrapperRun
from conformance.history_view.snapshots import (
    FAILED,
    RESETTING,
    RESUMING,
    RUNNING,
    SUCCEEDED,
    SUSPENDED,
    SUSPENDING,
    TERMINATING,
)
from conformance.temporal import Obligations, judges, met, violated
from conformance.temporal.words import when

INV_2 = Claim(
    id="INV-2",
    name="released-quota-means-nothing-left",
    level=Level.DERIVED,
    profile="appwrapper",
    text=(
        "At every position at which quota is released without success, no pod and no resource "
        "of the workload MUST exist."
    ),
    source=progress_guarantees(
        "when ResourcesDeployed becomes False, which indicates to Kueue that the quota has been "
        "released, all resources created by a failed workload will have been totally removed "
        "from the cluster."
    ),
)


@judges(INV_2, armed_by="QuotaReserved turned False outside Succeeded")
def released_quota_means_nothing_is_left(aw: AppWrapperRun) -> Obligations:
    yield from released_before_gone(aw)


INV_5 = Claim(
    id="INV-5",
    name="retry-count-moves-only-with-resets",
    level=Level.DERIVED,
    profile="appwrapper",
    text=(
        "The retry count MUST never decrease, MUST go up by one with each reset that Autopilot "
        "did not ask for, and MUST NOT change with anything else."
    ),
    source=detailed_description(
        "The number of times an AppWrapper is reset is tracked as part of its status"
    ),
    decision=A15,
)


@judges(INV_5, armed_by="AppWrapper was reset, suspended, failed or restarted")
def retry_count_moves_only_with_resets(aw: AppWrapperRun) -> Obligations:
    allowed = {departure.at.n: departure.increments[1] for departure, _, _ in counted_resets(aw)}
    for before, after in zip(aw.spans, aw.spans[1:], strict=False):
        # The count may go up where Resetting is entered, within it, or where it is left.
        first, last = before.begin.resets, before.last.resets
        limit = allowed.get(before.begin.n, 0)
        entered = allowed.get(after.begin.n, 0) if after.phase == RESETTING else 0
        grown = after.begin.resets - first
        if last < first or after.begin.resets < last:
            yield violated(
                after.begin,
                f"{when(after.begin)}: the retry count of {aw} fell from {max(first, last)} to "
                f"{min(last, after.begin.resets)}.",
                before.begin,
            )
        elif grown > (limit if before.phase == RESETTING else 0) + entered:
            yield violated(
                after.begin,
                f"{when(after.begin)}: the retry count of {aw} went from {first} to "
                f"{after.begin.resets} in {before.phase} → {after.phase}.",
                before.begin,
            )
        elif before.phase in (RUNNING, RESETTING, SUSPENDING, FAILED):
            yield met(after.begin)


INV_6 = Claim(
    id="INV-6",
    name="phases-follow-the-graph",
    level=Level.DERIVED,
    profile="appwrapper",
    text="Every change of phase MUST be an edge of the life cycle; Failed and Succeeded are final.",
    source=guide("AppWrapper Lifecycle", "[*] --> rs rs --> rn rn --> rt rt --> rs"),
)

EDGES = frozenset(
    {
        ("", SUSPENDED),
        (SUSPENDED, RESUMING),
        (RESUMING, RUNNING),
        (RESUMING, SUSPENDING),
        (RESUMING, RESETTING),
        (RESUMING, FAILED),
        (RUNNING, SUSPENDING),
        (RUNNING, RESETTING),
        (RUNNING, FAILED),
        (RUNNING, SUCCEEDED),
        (RESETTING, SUSPENDING),
        (RESETTING, RESUMING),
        (RESETTING, FAILED),
        (SUSPENDING, SUSPENDED),
    }
)
"""The life cycle of the guide: inside Admitted it may leave each state for Suspending or Failed."""


@judges(INV_6, armed_by="AppWrapper changed its phase")
def phases_follow_the_graph(aw: AppWrapperRun) -> Obligations:
    for before, after in zip(aw.spans, aw.spans[1:], strict=False):
        if after.phase == TERMINATING or (before.phase, after.phase) in EDGES:
            yield met(after.begin)
        else:
            yield violated(
                after.begin,
                f"{when(after.begin)}: {aw} went from {before.phase or 'no phase'} to "
                f"{after.phase or 'no phase'}, which the life cycle does not have.",
                before.begin,
            )
