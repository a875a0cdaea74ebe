"""AW-101: PodsReady says that the expected pods run, and ends with the workload's resources."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.norm import Obligation, Obligations, eventually, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.appwrapper.decisions import A11
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.sources import detailed_description
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.snapshots import (
    PODS_READY,
    RESOURCES_DEPLOYED,
    Edge,
    edges_of,
)


@claim(
    "AW-101",
    detailed_description(2),
    level=Level.DERIVED,
    decision=A11,
    armed_by="PodsReady turned True",
)
def pods_ready_is_true_of_the_pods(aw: AppWrapperRun) -> Obligations:
    """PodsReady MUST NOT turn True before the expected pods run or have succeeded, and MUST NOT
    stay True after the workload's resources are removed."""
    # Pods that users labelled themselves may be counted by a reader of the label.
    if not aw.expected_pods or aw.foreign_pods:
        return
    turns = edges_of(PODS_READY, aw.snapshots, aw.removed)
    for index, edge in enumerate(turns):
        if edge.status == "True":
            yield _is_ready(aw, edge)
            ended = turns[index + 1] if index + 1 < len(turns) else None
            yield from _is_taken_back(aw, edge, ended)


def _is_ready(aw: AppWrapperRun, shown: Edge) -> Obligation:
    """Enough pods ran at some time that the controller may have looked at."""
    expected = aw.expected_pods
    seen_us = aw.history.operator.timing.seen_us(shown.t)
    most = 0
    for point in aw.health:
        if point.n > shown.n:
            break
        most = point.running_most if point.t <= seen_us else max(most, point.running_most)
    if most >= expected:
        return met(shown)
    return violated(
        shown,
        f"{when(shown)}: PodsReady of {aw} turned True, while {most} of {expected} expected pods "
        "ran or had succeeded.",
    )


def _is_taken_back(aw: AppWrapperRun, shown: Edge, ended: Edge | None) -> Iterator[Obligation]:
    """An obligation for each time at which ResourcesDeployed turned False under it.

    While the workload runs, a shortage of pods shows in Unhealthy. Readings differ on how soon it
    shows in PodsReady as well, so only a condition that nothing can bear out any more counts.
    """
    for edge in aw.turns(RESOURCES_DEPLOYED, "False"):
        if edge.n > shown.n and (ended is None or ended.n >= edge.n):
            yield eventually(
                aw,
                "the end of PodsReady=True, with nothing deployed any more,",
                since=edge,
                within_us=0,
                happened=ended,
                unless=aw.removed,
            )
