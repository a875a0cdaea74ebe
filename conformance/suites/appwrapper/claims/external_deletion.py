"""AW-035, 045, 057: a component that another client deletes ends the workload, at once."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.history import Moment
from conformance.norm import WRITERS, Obligations, eventually, met, undecided, violated
from conformance.norm.words import when
from conformance.suites.appwrapper.claims.noticing import could_know
from conformance.suites.appwrapper.decisions import A12, A13
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.parameters import FAILURE_GRACE
from conformance.suites.appwrapper.sources import detailed_description
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.attempt_ends import Why, attempt_ends
from conformance.suites.appwrapper.view.attempts import Attempt
from conformance.suites.appwrapper.view.snapshots import FAILED, RESETTING, UNHEALTHY, Snapshot


@claim(
    "AW-035",
    detailed_description(11),
    decision=A13,
    armed_by="component was deleted externally while it ran",
    needs=(WRITERS,),
)
def external_deletion_is_unhealthy(aw: AppWrapperRun) -> Obligations:
    """A workload of which a top-level resource is externally deleted MUST be found unhealthy."""
    for attempt, deleted in external_deletions(aw):
        noticed: Moment | None = None
        for snapshot in aw.snapshots:
            if snapshot.n > deleted.n and (snapshot.shows(UNHEALTHY) or snapshot.phase == FAILED):
                noticed = snapshot
                break
        yield eventually(
            aw,
            "Unhealthy or Failed after an external deletion",
            since=deleted,
            within_us=0,
            happened=noticed,
            unless=overtaken_by(aw, attempt),
        )


@claim(
    "AW-045",
    detailed_description(13),
    armed_by="component was deleted externally under a long failure grace period",
    needs=(WRITERS,),
)
def no_grace_after_external_deletion(aw: AppWrapperRun) -> Obligations:
    """After an external deletion the failure grace period MUST NOT be waited for."""
    for attempt, deleted in external_deletions(aw):
        if aw.parameter(FAILURE_GRACE, deleted).value > aw.history.operator.timing.latency_us:
            yield eventually(
                aw,
                "the reaction to an external deletion",
                since=deleted,
                within_us=0,
                happened=attempt.left,
                unless=aw.leaving,
            )


@claim(
    "AW-057",
    detailed_description(19),
    decision=A12,
    armed_by="component was deleted externally while it ran",
    needs=(WRITERS,),
)
def external_deletion_fails_directly(aw: AppWrapperRun) -> Obligations:
    """External deletion of a top-level resource MUST lead directly to Failed, whatever the retry
    limit, without a reset and without counting one."""
    for attempt, deleted in external_deletions(aw):
        left = attempt.left
        if left is not None and left.phase == RESETTING:
            if _was_due_already(aw, attempt, deleted, left):
                yield undecided(deleted, f"a reset at {when(left)} was due for another reason")
            else:
                yield violated(
                    left,
                    f"{when(left)}: {aw} entered Resetting after the external deletion at "
                    f"{when(deleted)}; it had to enter Failed.",
                    deleted,
                )
        elif left is not None and left.phase == FAILED:
            before = aw.snapshot_at(left.n - 1)
            if before is not None and before.resets != left.resets:
                yield violated(
                    left,
                    f"{when(left)}: the retry count of {aw} went from {before.resets} to "
                    f"{left.resets} with an external deletion.",
                    deleted,
                )
            else:
                yield met(deleted, left)
        else:
            yield eventually(
                aw,
                "Failed after an external deletion",
                since=deleted,
                within_us=0,
                happened=None,
                unless=overtaken_by(aw, attempt),
            )


def external_deletions(aw: AppWrapperRun) -> Iterator[tuple[Attempt, Moment]]:
    """Each attempt during which a component was deleted externally, and the first such moment."""
    for attempt in aw.attempts:
        spells = attempt.spells(lambda health: health.missing > 0)
        if spells and spells[0].begin.n > attempt.begin.n and could_know(aw, spells[0].begin):
            yield attempt, spells[0].begin


def overtaken_by(aw: AppWrapperRun, attempt: Attempt) -> Moment | None:
    """Lawful reasons to end an attempt before its failure is acted on: anything but a reset."""
    left = attempt.left
    if left is not None and left.phase not in (RESETTING, FAILED):
        return left
    return aw.leaving


def _was_due_already(aw: AppWrapperRun, attempt: Attempt, deleted: Moment, left: Snapshot) -> bool:
    """True if the reset had another ripe cause and may not have seen the deletion yet."""
    for attempt_end in attempt_ends(aw):
        if attempt_end.attempt is attempt:
            others = attempt_end.ripe - {Why.COMPONENT_MISSING}
            return bool(others) and deleted.t >= aw.history.operator.timing.seen_us(left.t)
    return False
