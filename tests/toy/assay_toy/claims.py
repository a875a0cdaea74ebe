"""The claims: a Crew keeps its pods, counts no others, and comes to rest."""

from __future__ import annotations

from conformance import (
    Obligations,
    Source,
    eventually,
    met,
    unless_given_up,
    violated,
    when,
)
from vocabulary.objects import get_path, is_terminating

from .api import progress
from .view import JUDGING, CrewRun

README = "toy-readme"


@JUDGING.claim("TOY-001", Source(README, "Crews", 1), armed_by="pod of a Crew was lost")
def lost_pods_are_replaced(crew: CrewRun) -> Obligations:
    """A pod of a Crew that is gone MUST be replaced, unless the Crew was deleted or shrunk, or
    the API server refuses the pod."""
    for lost in crew.pods:
        gone = lost.removed
        if gone is None:
            continue
        index = int(lost.name.rpartition("-")[2])
        shrunk = (
            version
            for version in crew.track.versions
            if is_terminating(version.object or {})
            or get_path(version.object or {}, "spec.pods", 0) <= index
        )
        refused = (
            write
            for write in crew.operator.refused_creates
            if write.n > gone.n and write.name.startswith(f"{crew.track.name}-")
        )
        later = (pod.created for pod in crew.pods if pod.name == lost.name)
        yield eventually(
            crew,
            f"a replacement of {lost}",
            since=gone,
            within_us=0,
            happened=next((created for created in later if created.n > gone.n), None),
            unless=crew.track.removed or next(shrunk, None) or next(refused, None),
        )


@JUDGING.claim(
    "TOY-002",
    Source(README, "Crews", 2),
    editions=("strict",),
    armed_by="Crew counted pods",
)
def only_running_pods_are_counted(crew: CrewRun) -> Obligations:
    """status.ready MUST NOT exceed the number of the Crew's pods that have ever run."""
    for version in crew.track.versions:
        ready = get_path(version.object or {}, "status.ready", 0)
        if not ready:
            continue
        ran = [
            pod
            for pod in crew.pods
            if any(
                get_path(seen.object or {}, "status.phase") == "Running" and seen.n < version.n
                for seen in pod.versions
            )
        ]
        if len(ran) >= ready:
            yield met(version)
        else:
            yield violated(
                version,
                f"{when(version)} {crew} counts {ready} pods, of which {len(ran)} have run.",
            )


@JUDGING.claim(
    "TOY-003",
    Source(README, "Crews", 3),
    armed_by="end of a run with a Crew",
)
def crews_come_to_rest(crew: CrewRun) -> Obligations:
    """The controller MUST NOT go on writing a Crew of which nothing changes."""
    versions = crew.track.versions
    ended = unless_given_up(crew, versions, lambda write: progress(write.object or {}), "as it was")
    yield ended or met(crew.history.end)
