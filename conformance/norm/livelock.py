"""An operator that writes on and makes no progress, in a run that was ended for that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from conformance.history import Moment
from conformance.norm.obligations import Obligation, undecided, violated
from conformance.norm.subject import Subject
from conformance.norm.words import when
from vocabulary.clock import MINUTE
from vocabulary.history import Write
from vocabulary.kinds import EVENT, LEASE

REWRITES: Final = 100
"""So many versions in a row tell of no progress."""
_EVENT: Final = str(EVENT)
_LEASE: Final = str(LEASE)
V = TypeVar("V", bound=Moment)


def unless_given_up(
    subject: Subject, versions: Sequence[V], progress: Callable[[V], object], state: str
) -> Obligation | None:
    """The obligation of a run that reached one of its bounds, whether or not the subject is at
    rest; None if the run came to its end.

    Violated if the operator only rewrote the subject at the end, much faster than anything changed
    that it could have reported. `progress` changes with each step of the subject towards its goal;
    `state` is the last one in words.
    """
    marks = {mark.mark: mark for mark in subject.history.marks}
    bound = marks["not-stable"].text if "not-stable" in marks else ""
    if not bound:
        return None
    rewrites = _rewrites(subject, versions, progress)
    if len(rewrites) < REWRITES:
        return undecided(subject.history.end, f"the run of {subject} was {bound}")
    first, last = rewrites[0], rewrites[-1]
    if len(_writers(subject, rewrites)) > 1 and subject.operator.timing.hindered(first.t, last.t):
        return undecided(last, f"replicas wrote {subject} in turns, which may see other states")
    return violated(
        last,
        f"From {when(first)} to {when(last)} the controller wrote {subject} {len(rewrites)} times, "
        f"while it stayed {state} and nobody else wrote anything. The run was {bound}.",
        first,
    )


def _writers(subject: Subject, versions: Sequence[Moment]) -> set[str]:
    positions = {version.n for version in versions}
    return {write.actor for write in subject.operator.writes if write.n in positions}


def _rewrites(
    subject: Subject, versions: Sequence[V], progress: Callable[[V], object]
) -> Sequence[V]:
    """The versions of the last minute that are as far as the last one, while only the subject's
    operator wrote anything, and nothing was created or removed."""
    last = versions[-1]
    since_n = max(
        (
            write.n
            for write in subject.history.entries
            if isinstance(write, Write)
            and write.event
            and write.kind != _LEASE
            and (
                not subject.operator.is_by(write.actor)
                or (write.event != "MODIFIED" and write.kind != _EVENT)
            )
        ),
        default=-1,
    )
    return [
        version
        for version in versions
        if version.n > since_n
        and last.t - version.t <= MINUTE
        and progress(version) == progress(last)
    ]
