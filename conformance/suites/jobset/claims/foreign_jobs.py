"""JS-112: Jobs of others that have the name of a JobSet's own."""

from __future__ import annotations

from itertools import pairwise

from conformance.history import Track
from conformance.norm import WRITERS, Obligations, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.jobset.api import JOB_SET, KEP, KEP_V0_12
from conformance.suites.jobset.decisions import REPLACED_JOBS
from conformance.suites.jobset.judging import claim
from conformance.suites.jobset.sources import implementation
from conformance.suites.jobset.view import JobSetRun
from vocabulary.history import Write
from vocabulary.kinds import JOB
from vocabulary.objects import Object, controller_of


@claim(
    "JS-112",
    implementation(6),
    level=Level.PROVISIONAL,
    decision=REPLACED_JOBS,
    editions=(KEP, KEP_V0_12),
    armed_by="Job of another client with the name of a child Job",
    needs=(WRITERS,),
)
def jobs_of_others_are_left_alone(run: JobSetRun) -> Obligations:
    """The controller MUST NOT delete or change a Job that no JobSet controls, also if that Job
    has taken the name of one that a JobSet controlled."""
    for name in run.wanted:
        for track in run.history.named(str(JOB), run.track.namespace, name):
            if _is_of_a_jobset(track.first):
                continue
            wrong = _interference(run, track)
            if wrong is None:
                yield met(track.created)
            else:
                yield violated(
                    wrong,
                    f"{when(wrong)}: the controller sent a {wrong.verb} of {track}, which is "
                    f"another client's and has the name of a Job of {run}.",
                    track.created,
                )


def _is_of_a_jobset(job: Object) -> bool:
    """True for a Job of this JobSet, or of a namesake before or after it."""
    return (controller_of(job) or {}).get("kind") == JOB_SET.kind


def _interference(run: JobSetRun, track: Track) -> Write | None:
    """The first write by which the controller deletes or changes a Job while it is not, and does
    not become, a JobSet's: one may be given back, or adopted."""
    states: list[Write] = [*track.versions]
    if track.removed is not None:
        states.append(track.removed)
    for before, after in pairwise(states):
        is_ours = any(_is_of_a_jobset(each.object or {}) for each in (before, after))
        if run.operator.is_by(after.actor) and not is_ours:
            return after
    return None
