"""AW-013…015: resources count as deployed, and quota as used, until the last one is gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.history import Moment, Track
from conformance.norm import Obligation, Obligations, met, never, shared, undecided, violated
from conformance.norm.words import when
from conformance.suites.appwrapper.decisions import A4, A19, A20
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.sources import detailed_description, progress_guarantees
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.appwrapper import NEVER
from conformance.suites.appwrapper.view.late_pods import came_too_late_to_see, was_made_for_the_gone
from conformance.suites.appwrapper.view.snapshots import (
    QUOTA_RESERVED,
    RESOURCES_DEPLOYED,
    SUCCEEDED,
    SUSPENDING,
    TERMINATING,
)
from conformance.suites.appwrapper.view.stripped import was_stripped_and_removed
from vocabulary.history import Write, role_of
from vocabulary.objects import condition_status

STRIPPED: Final = "somebody else took away the finalizer, and it could not be put back in time"
MADE_FOR_THE_GONE: Final = "a pod was made for an owner that was gone already"


@claim(
    "AW-013",
    progress_guarantees(4),
    name="resources-deployed-until-all-deleted",
    decision=(A19, A20),
    armed_by="ResourcesDeployed turned False",
    from_any_versions=True,
)
def deployed_until_all_is_deleted(aw: AppWrapperRun) -> Obligations:
    """ResourcesDeployed MUST stay True until every resource and every pod of the AppWrapper has
    been deleted, whatever the reason for the deletion."""
    yield from undeployed_after_all_is_gone(aw)


@shared
def undeployed_after_all_is_gone(aw: AppWrapperRun) -> Obligations:
    """An obligation for each time that ResourcesDeployed turned False: nothing may be left."""
    for edge in aw.turns(RESOURCES_DEPLOYED, "False"):
        yield nothing_is_left(aw, edge, str(edge))


def nothing_is_left(aw: AppWrapperRun, at: Moment, phrase: str) -> Obligation:
    """Nothing of it may be stored at this moment; `phrase` says what its controller wrote then.

    For claims that cite decision A19: pods that it could not see decide nothing.
    """
    left = aw.left_at(at.n)
    if left and aw.removed is not None and at.n >= aw.removed.n and was_stripped_and_removed(aw):
        return undecided(at, STRIPPED)
    seen = [track for track in left if not came_too_late_to_see(aw, track, at.n)]
    if left and not seen:
        return undecided(at, MADE_FOR_THE_GONE, decision=A19.id)
    return never(aw, "still there", at=at, left=seen, phrase=phrase)


@claim(
    "AW-014",
    progress_guarantees(5),
    name="nothing-left-when-resources-deployed-is-false",
    decision=(A19, A20),
    armed_by="ResourcesDeployed turned False",
    from_any_versions=True,
)
def nothing_is_left_while_nothing_is_deployed(aw: AppWrapperRun) -> Obligations:
    """When ResourcesDeployed becomes False, everything that the workload created MUST have been
    removed from the cluster, and MUST stay so until ResourcesDeployed is True again."""
    deployed_again = aw.turns(RESOURCES_DEPLOYED, "True")
    for edge in aw.turns(RESOURCES_DEPLOYED, "False"):
        yield nothing_is_left(aw, edge, str(edge))
        until_n = min((again.n for again in deployed_again if again.n > edge.n), default=NEVER)
        for track in aw.belongings:
            if not edge.n < track.created.n < until_n or aw.may_have_shown(
                RESOURCES_DEPLOYED, track.created.n
            ):
                continue
            if was_made_for_the_gone(aw, track):
                yield undecided(track.created, MADE_FOR_THE_GONE, decision=A19.id)
            else:
                yield violated(
                    track.created,
                    f"{track} of {aw} was created at {when(track.created)}, although "
                    f"ResourcesDeployed had been False since {when(edge)}.",
                    edge,
                )


@claim(
    "AW-015",
    detailed_description(16),
    name="quota-released-after-last-pod",
    decision=(A4, A19, A20),
    armed_by="QuotaReserved turned False outside Succeeded",
    from_any_versions=True,
)
def quota_is_released_after_the_last_pod(aw: AppWrapperRun) -> Obligations:
    """The quota of a workload that did not succeed MUST NOT be released before every pod and
    every resource of it is gone."""
    yield from released_before_gone(aw)


@shared
def released_before_gone(aw: AppWrapperRun) -> Obligations:
    """An obligation for each release of quota without success: nothing may be left then."""
    every_version = aw.history.shows_every_version
    # A version that is not known may have released it, after success.
    may_follow_success = {SUCCEEDED} if every_version else {SUCCEEDED, SUSPENDING, TERMINATING}
    for edge in aw.turns(QUOTA_RESERVED, "False"):
        if edge.phase not in may_follow_success and (every_version or not edge.removed):
            yield nothing_is_left(aw, edge, str(edge))
    for workload in aw.workloads if every_version else ():
        for moment, phrase in _releases(workload):
            if role_of(moment.actor) in aw.history.operators.keys() - {aw.operator.role}:
                continue  # another operator under test answers for it
            snapshot = aw.snapshot_at(moment.n)
            if snapshot is None or snapshot.phase != SUCCEEDED:
                yield nothing_is_left(aw, moment, phrase)


def _releases(workload: Track) -> Iterator[tuple[Write, str]]:
    """The writes by which a Workload gave its quota back."""
    held = False
    for write in workload.versions:
        holds = _holds_quota(write)
        if held and not holds:
            yield write, f"{workload} gave back the quota"
        held = holds
    if held and workload.removed is not None:
        yield workload.removed, f"{workload} was deleted while it held the quota"


def _holds_quota(write: Write) -> bool:
    obj = write.object or {}
    return (
        condition_status(obj, "QuotaReserved") == "True"
        and condition_status(obj, "Finished") != "True"
    )


def quota_is_held(aw: AppWrapperRun, begin: Moment, end_n: int) -> Obligations:
    """One obligation: from `begin` until position `end_n` the quota is never given back."""
    for snapshot in aw.snapshots:
        if begin.n <= snapshot.n < end_n and not snapshot.shows(QUOTA_RESERVED):
            yield violated(
                snapshot,
                f"{when(snapshot)}: QuotaReserved of {aw} is "
                f"{snapshot.status_of(QUOTA_RESERVED) or 'absent'} in phase {snapshot.phase}; "
                f"from {when(begin)} on it had to be held.",
                begin,
            )
            return
    for workload in aw.workloads if aw.history.shows_every_version else ():
        for moment, phrase in _releases(workload):
            if begin.n <= moment.n < end_n:
                yield violated(moment, f"{when(moment)}: {phrase} of {aw}.", begin)
                return
    yield met(begin)
