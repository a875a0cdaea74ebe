"""AW-005, 006, 047…049: a reset is deleting, waiting, and creating anew, in that order."""

from __future__ import annotations

from typing import Final

from conformance.history import earliest
from conformance.norm import Fate, Obligations, eventually, met, never, undecided, violated
from conformance.norm.templates import first_difference
from conformance.norm.words import when
from conformance.suites.appwrapper.claims.retry_pause import (
    attempt_after,
    pause_is_kept,
    resets,
    resets_with_next_attempt,
    retry_pause,
)
from conformance.suites.appwrapper.claims.timed import obligations
from conformance.suites.appwrapper.decisions import A3, A20
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.parameters import RETRY_PAUSE
from conformance.suites.appwrapper.sources import detailed_description, overview
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.attempts import Attempt
from vocabulary.history import Write

FORBIDDEN: Final = 403


@claim(
    "AW-005",
    overview(5),
    decision=A20,
    armed_by="resource was created after a reset",
)
def reset_removes_everything(aw: AppWrapperRun) -> Obligations:
    """A reset MUST remove all resources that were created, not only the failed one, before
    anything is created anew."""
    for _, attempt in resets_with_next_attempt(aw):
        created = attempt.components[0]
        old = [
            track
            for track in aw.left_at(created.created.n)
            if track.created.n < created.created.n and track not in attempt.components
        ]
        phrase = f"{created} was created anew after the reset"
        yield never(
            aw, "still there from an earlier attempt", at=created.created, left=old, phrase=phrase
        )


@claim(
    "AW-006",
    overview(5),
    armed_by="reset removed everything",
)
def reset_recreates_the_workload(aw: AppWrapperRun) -> Obligations:
    """After its resources are removed, a workload that is being reset MUST be created anew."""
    for deletion in resets(aw):
        if deletion.gone is None:
            continue
        attempt = attempt_after(aw, deletion)
        overtaken = deletion.end if deletion.end is not None and attempt is None else None
        pause = aw.parameter_within(RETRY_PAUSE, deletion.begin, aw.history.end)[1]
        missing = [
            component
            for component in aw.components
            if attempt is None
            or not any(component.makes(track.kind, track.name) for track in attempt.components)
        ]
        if attempt is not None and missing and attempt.left is not None:
            yield undecided(deletion.begin, f"the next attempt ended at {when(attempt.left)}")
            continue
        complete = None if missing or attempt is None else attempt.components[-1].created
        created = eventually(
            aw,
            "the creation of new instances of all components",
            since=deletion.gone,
            within_us=pause.value,
            happened=complete,
            unless=earliest(overtaken or aw.leaving, _first_refusal(attempt)),
            steps=2,
        )
        refusal = _last_refusal(attempt) if created.because and attempt is not None else None
        if refusal is not None:  # how soon it could have succeeded is not known
            yield undecided(deletion.begin, f"creating it anew was forbidden at {when(refusal)}")
        elif created.fate is Fate.VIOLATED and not aw.history.shows_requests:
            yield undecided(deletion.begin, "whether creating it anew was forbidden is not shown")
        else:
            yield created


def _first_refusal(attempt: Attempt | None) -> Write | None:
    """The first creation that a quota, a policy or the lack of a right forbade."""
    creates = () if attempt is None else attempt.failed_creates
    return next((write for write in creates if write.code == FORBIDDEN), None)


def _last_refusal(attempt: Attempt) -> Write | None:
    """The last creation that a quota, a policy or the lack of a right forbade."""
    forbidden = [write for write in attempt.failed_creates if write.code == FORBIDDEN]
    return forbidden[-1] if forbidden else None


@claim(
    "AW-047",
    detailed_description(14),
    name="reset-deletes-then-waits-then-creates",
    decision=(A3, A20),
    armed_by="resource was created after a reset",
)
def reset_deletes_waits_creates(aw: AppWrapperRun) -> Obligations:
    """A reset MUST first delete the resources, then wait for the retry pause, and only then
    create new instances."""
    for deletion, attempt in resets_with_next_attempt(aw):
        created = attempt.components[0].created
        still = [track for track in deletion.left_at(created.n) if track.created.n < created.n]
        if still:
            yield never(
                aw,
                "still there",
                at=created,
                left=still,
                phrase="a new instance was created by the reset",
            )
            continue
        yield from obligations(pause_is_kept(aw, deletion, attempt))


@claim(
    "AW-048",
    detailed_description(14),
    armed_by="component was created again after a reset",
)
def reset_creates_new_instances(aw: AppWrapperRun) -> Obligations:
    """A reset MUST create new instances of the same components, true to their templates."""
    for _, attempt in resets_with_next_attempt(aw):
        for track in attempt.components:
            component = aw.component_of(track)
            if component is None:
                continue
            reused = [
                old
                for old in aw.component_tracks
                if old.created.n < track.created.n
                and old not in attempt.components
                and old.exists_at(track.created.n)
                and component.makes(old.kind, old.name)
            ]
            if reused:
                yield never(
                    aw,
                    "still in use",
                    at=track.created,
                    left=reused,
                    phrase=f"{track} was created anew",
                )
                continue
            difference = first_difference(component.template, track.first)
            if difference:
                yield violated(
                    track.created,
                    f"{track} of {aw}, created at {when(track.created)}, is not an instance of "
                    f"its template: {difference}.",
                )
            else:
                yield met(track.created)


@claim(
    "AW-049",
    detailed_description(14),
    decision=A3,
    armed_by="reset with a retry pause went on to create",
)
def retry_pause_lasts_its_period(aw: AppWrapperRun) -> Obligations:
    """Between the removal of the last resource and the creation of the first new one there MUST
    be the retry pause, no less, and no more than it takes to notice that it is over."""
    yield from obligations(retry_pause(aw))
