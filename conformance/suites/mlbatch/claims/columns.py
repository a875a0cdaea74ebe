"""MLB-040, 048, 049, 054: what `kubectl get appwrappers` shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from conformance.history import Moment, earliest
from conformance.norm import Obligation, Obligations, eventually, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import listed, when
from conformance.suites.appwrapper.claims.success import successes
from conformance.suites.appwrapper.judging import claim, claim_of_history
from conformance.suites.appwrapper.sources import guide
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.attempt_ends import Why, attempt_ends
from conformance.suites.appwrapper.view.attempts import Attempt
from conformance.suites.appwrapper.view.health import Health
from conformance.suites.appwrapper.view.history import AppWrapperHistory
from conformance.suites.appwrapper.view.snapshots import (
    QUOTA_RESERVED,
    RESETTING,
    RESOURCES_DEPLOYED,
    UNHEALTHY,
    Snapshot,
)

_SECTION: Final = "AppWrapper Lifecycle"
MAY_RECUR: Final = frozenset({Why.CREATION_FAILED, Why.FEW_PODS})
COLUMNS: Final = ("Status", "Quota Reserved", "Resources Deployed", "Unhealthy")


@claim_of_history(
    "MLB-040",
    guide(_SECTION, 1),
    level=Level.EXTENDED,
    armed_by="CustomResourceDefinition of AppWrapper was stored",
    from_any_versions=True,
)
def printer_columns(history: AppWrapperHistory) -> Obligations:
    """A table of AppWrappers MUST show status, quota reserved, resources deployed and unhealthy,
    in this order."""
    for track in history.by_kind.get("CustomResourceDefinition.apiextensions.k8s.io", ()):
        if track.name != history.profile.custom_resource:
            continue
        for version in (track.last.get("spec") or {}).get("versions") or ():
            names = [
                str(column.get("name")) for column in version.get("additionalPrinterColumns") or ()
            ]
            seen = [name for name in names if name in COLUMNS]
            if seen == list(COLUMNS):
                yield met(track.created)
            else:
                yield violated(
                    track.versions[-1],
                    f"Version {version.get('name')} of {track} has the columns "
                    f"{listed(names) or 'none'}; expected {listed(COLUMNS)} in this order.",
                )


@claim(
    "MLB-048",
    guide(_SECTION, 14),
    armed_by="AppWrapper entered Running",
)
def resources_deployed_means_created(aw: AppWrapperRun) -> Obligations:
    """When a Running AppWrapper shows ResourcesDeployed, its resources MUST have been created."""
    for attempt in aw.attempts:
        running = attempt.running
        if running is None or not running.shows(RESOURCES_DEPLOYED):
            continue
        missing = [
            component
            for component in aw.components
            if not any(
                component.makes(track.kind, track.name)
                and track.created.n < running.n
                and (track in attempt.components or track.exists_at(running.n))
                for track in aw.component_tracks
            )
        ]
        if missing:
            yield violated(
                running,
                f"{when(running)}: {aw} is Running with ResourcesDeployed=True, but not "
                f"there, nor created in this attempt: {listed(missing)}.",
                attempt.begin,
            )
        else:
            yield met(running)


@claim(
    "MLB-049",
    guide(_SECTION, 14),
    armed_by="workload was given up, or ran again after a reset without a failure",
)
def unhealthy_means_the_current_execution(aw: AppWrapperRun) -> Obligations:
    """Unhealthy MUST speak of the current execution: it MUST be True once the workload was given
    up, and False again when one that was reset runs without a failure. A failure of the
    execution before MUST NOT be shown while the next one is Resuming."""
    expected = aw.expected_pods

    def healthy(health: Health) -> bool:
        return health.running_least >= expected and not (
            health.failed_all or health.evicted_most or health.broken or health.missing
        )

    for attempt_end in attempt_ends(aw):
        span = next(span for span in aw.spans if span.begin is attempt_end.at)
        shown = (snapshot for snapshot in span.snapshots if snapshot.shows(UNHEALTHY))
        yield eventually(
            aw,
            f"Unhealthy=True of the execution that ended in {attempt_end.to}",
            since=attempt_end.at,
            happened=next(shown, None),
            unless=earliest(span.end, aw.leaving),
        )
    for attempt in aw.attempts:
        if attempt.after != RESETTING:
            continue
        yield from _forgotten(aw, attempt)
        if attempt.running is None:
            continue
        for spell in attempt.spells(healthy):
            since = attempt.running if spell.begin.n < attempt.running.n else spell.begin
            if spell.end is not None and spell.end.n <= since.n:
                continue
            ended = earliest(spell.end, attempt.left)
            yield eventually(
                aw,
                "Unhealthy=False in the new execution",
                since=since,
                happened=_cleared(aw, since, ended),
                unless=earliest(ended, aw.leaving),
            )


def _forgotten(aw: AppWrapperRun, attempt: Attempt) -> Iterator[Obligation]:
    """Unhealthy's message about the earlier execution is removed within a reaction of the next
    one's begin.

    If creations were rejected before, the same words may refer to a new rejection.
    """
    before = next(
        (each for each in reversed(attempt_ends(aw)) if each.at.n < attempt.begin.n), None
    )
    if before is None or not MAY_RECUR.isdisjoint((*before.certain, *before.present)):
        return
    shown = _words(attempt.begin)
    changed = (each for each in attempt.snapshots if not shown or _words(each) != shown)
    yield eventually(
        aw,
        "the end of an Unhealthy=True that speaks of the execution before",
        since=attempt.begin,
        happened=next(changed, None),
        unless=earliest(attempt.running, attempt.left, aw.leaving),
    )


def _words(snapshot: Snapshot) -> tuple[Any, Any] | None:
    """Reason and message of Unhealthy while it is True."""
    if not snapshot.shows(UNHEALTHY):
        return None
    entry = snapshot.conditions[UNHEALTHY]
    return entry.get("reason"), entry.get("message")


def _cleared(aw: AppWrapperRun, since: Moment, until: Moment | None) -> Snapshot | None:
    """The version from which on Unhealthy was not shown; None if it came back before `until`."""
    found: Snapshot | None = None
    for snapshot in aw.snapshots:
        if until is not None and snapshot.n >= until.n:
            break
        if snapshot.shows(UNHEALTHY):
            found = None
        elif found is None or snapshot.n <= since.n:
            found = snapshot
    return found


_ROW: Final = ((QUOTA_RESERVED, "False"), (RESOURCES_DEPLOYED, "True"), (UNHEALTHY, "False"))


@claim(
    "MLB-054",
    guide(_SECTION, 1),
    level=Level.EXTENDED,
    armed_by="AppWrapper was Succeeded",
)
def succeeded_row(aw: AppWrapperRun) -> Obligations:
    """A Succeeded AppWrapper MUST show QuotaReserved False, ResourcesDeployed True and Unhealthy
    False until its resources are deleted."""
    for deletion in successes(aw):
        begin = deletion.begin
        over = earliest(deletion.first_request, deletion.end, aw.leaving)
        shown = next(
            (
                snapshot
                for snapshot in aw.snapshots
                if snapshot.n >= begin.n and _shows_row(snapshot)
            ),
            None,
        )
        yield eventually(
            aw,
            "the row Succeeded False True False",
            since=begin,
            happened=shown,
            unless=over,
        )


def _shows_row(snapshot: Snapshot) -> bool:
    return all(snapshot.status_of(type_) == status for type_, status in _ROW)
