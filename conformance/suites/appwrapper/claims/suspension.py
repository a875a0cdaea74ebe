"""AW-054: a workload that is suspended gives way, wherever in its retry loop it is."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.history import earliest
from conformance.norm import Obligations, eventually, violated
from conformance.norm.words import when
from conformance.suites.appwrapper.claims.forceful_clock import cleaned_up
from conformance.suites.appwrapper.claims.quota_release import nothing_is_left
from conformance.suites.appwrapper.decisions import A19, A20
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.sources import detailed_description
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.deletions import Cause, Deletion
from conformance.suites.appwrapper.view.snapshots import (
    FAILED,
    QUOTA_RESERVED,
    RESETTING,
    RESOURCES_DEPLOYED,
    RESUMING,
    RUNNING,
    SUCCEEDED,
    SUSPENDED,
    SUSPENDING,
    Snapshot,
)


@claim(
    "AW-054",
    detailed_description(17),
    name="suspension-is-respected-at-any-time",
    decision=(A19, A20),
    armed_by="AppWrapper was suspended during its retry loop",
)
def suspension_is_respected(aw: AppWrapperRun) -> Obligations:
    """At any time in its retry loop, a workload that is suspended MUST delete its resources and
    then give back its quota."""
    for suspended in suspensions(aw):
        after = [snapshot for snapshot in aw.snapshots if snapshot.n > suspended.n]
        obeyed = next((s for s in after if s.phase in (SUSPENDING, SUSPENDED)), None)
        taken_back = next((s for s in after if not s.suspended), None)
        ended = next((s for s in after if s.phase in (FAILED, SUCCEEDED)), None)
        yield eventually(
            aw,
            "Suspending after spec.suspend",
            since=suspended,
            within_us=0,
            happened=obeyed,
            unless=earliest(taken_back, ended, aw.leaving),
        )
    for deletion in aw.deletions:
        if deletion.cause is Cause.SUSPENSION:
            reached = deletion.end
            yield cleaned_up(
                aw,
                "Suspended after Suspending",
                deletion,
                since=deletion.begin,
                happened=reached,
                unless=aw.leaving,
            )
            if isinstance(reached, Snapshot) and reached.phase == SUSPENDED:
                yield from _has_given_way(aw, deletion, reached)


def _has_given_way(aw: AppWrapperRun, deletion: Deletion, reached: Snapshot) -> Obligations:
    for condition in (RESOURCES_DEPLOYED, QUOTA_RESERVED):
        if reached.shows(condition):
            yield violated(
                reached,
                f"{when(reached)}: {aw} is Suspended and still shows {condition}=True.",
                deletion.begin,
            )
    yield nothing_is_left(aw, reached, "Suspended was reached")


def suspensions(aw: AppWrapperRun) -> Iterator[Snapshot]:
    """The versions that first ask a workload in its retry loop to give way."""
    was_suspended = True
    for snapshot in aw.snapshots:
        if (
            snapshot.suspended
            and not was_suspended
            and not snapshot.deleting
            and snapshot.phase in (RESUMING, RUNNING, RESETTING)
        ):
            yield snapshot
        was_suspended = snapshot.suspended
