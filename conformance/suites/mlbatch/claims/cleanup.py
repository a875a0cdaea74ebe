"""MLB-023, 024: cleaning up and retrying is the same for every kind, and takes minutes."""

from __future__ import annotations

from typing import Final

from conformance.norm import Obligations, met, never, undecided, violated
from conformance.norm.words import listed, when
from conformance.suites.appwrapper.claims.failed import failures, holds_nothing
from conformance.suites.appwrapper.claims.forceful_clock import cleaned_up
from conformance.suites.appwrapper.claims.quota_release import STRIPPED
from conformance.suites.appwrapper.claims.retry_pause import attempt_after, resets
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.parameters import (
    DELETION_ON_FAILURE_GRACE,
    FORCEFUL_DELETION_GRACE,
)
from conformance.suites.appwrapper.sources import guide
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.parameters import Origin
from conformance.suites.appwrapper.view.snapshots import RESOURCES_DEPLOYED
from conformance.suites.appwrapper.view.stripped import was_stripped_and_removed

_SECTION: Final = "AppWrappers"


@claim(
    "MLB-023",
    guide(_SECTION, 6),
    armed_by="component was cleaned up or created again",
)
def all_kinds_are_handled_alike(aw: AppWrapperRun) -> Obligations:
    """Components of every kind MUST be cleaned up alike when resources are deleted, and MUST be
    created again alike when a workload is retried."""
    for edge in aw.turns(RESOURCES_DEPLOYED, "False"):
        if edge.removed and was_stripped_and_removed(aw):
            yield undecided(edge, STRIPPED)
            continue
        for component in aw.components:
            left = [
                track
                for track in aw.component_tracks
                if component.makes(track.kind, track.name) and track.exists_at(edge.n)
            ]
            yield never(aw, "still there", at=edge, left=left, phrase=str(edge))
    for deletion in resets(aw):
        attempt = attempt_after(aw, deletion)
        # A reset that removed nothing calls for no second creation.
        if attempt is None or attempt.running is None or deletion.gone is None:
            continue
        if attempt.running.n >= attempt.until_n:  # it is told of an attempt that was cut short
            continue
        missing = [
            component
            for component in aw.components
            if not any(
                component.makes(track.kind, track.name)
                and deletion.begin.n < track.created.n < attempt.until_n
                for track in aw.component_tracks
            )
        ]
        if missing:
            yield violated(
                attempt.running,
                f"{when(attempt.running)}: {aw} is Running again, and {listed(missing)} was not "
                f"created since the reset at {when(deletion.begin)}.",
                deletion.begin,
            )
        else:
            yield met(deletion.begin, attempt.running)


@claim(
    "MLB-024",
    guide(_SECTION, 7),
    name="failed-workloads-return-resources-within-minutes",
    only_simulated="speaks of default durations, which real time is too short for",
    armed_by="AppWrapper with default parameters failed",
)
def failed_workloads_return_resources(aw: AppWrapperRun) -> Obligations:
    """By default the resources of a failed workload MUST be returned to the cluster within
    minutes."""
    for deletion in failures(aw):
        force = aw.parameter_within(FORCEFUL_DELETION_GRACE, deletion.begin, aw.history.end)[1]
        delay = aw.parameter_within(DELETION_ON_FAILURE_GRACE, deletion.begin, aw.history.end)[1]
        if (force.origin, delay.origin) != (Origin.DEFAULT, Origin.DEFAULT):
            continue
        released = next(
            (snap for snap in aw.snapshots if snap.n >= deletion.begin.n and holds_nothing(snap)),
            None,
        )
        if released is not None and aw.left_at(released.n):
            yield undecided(deletion.begin, "what was released is not gone")
            continue
        yield cleaned_up(
            aw,
            "the return of all resources",
            deletion,
            since=deletion.begin,
            happened=released,
            unless=aw.leaving,
        )
