"""The temporal operators that checkers are written in.

Each gives one obligation. `what` completes the sentence "… of <subject>", so that every
explanation reads alike: who, what, when, by when, and what the history shows instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.history.timing import Timing
from conformance.history.tracks import Moment, Track
from conformance.norm.obligations import Obligation, met, undecided, violated
from conformance.norm.subject import Subject
from conformance.norm.words import span, states_of, were, when
from vocabulary.clock import Micros


def eventually(
    subject: Subject,
    what: str,
    *,
    since: Moment,
    within_us: Micros = 0,
    happened: Moment | None,
    unless: Moment | None = None,
    steps: int = 1,
    origin: str = "",
    evidence: Sequence[Moment] = (),
    timing: Timing | None = None,
) -> Obligation:
    """It must happen within a span of `since`, latency and outages on top.

    `timing` are the bounds that hold for it; the history's own unless given.

    `origin` is where the span comes from, if that has to be reported.

    `steps` is how many things the controller has to notice one after the other; each may
    take it the latency that the header states.
    `unless` is a moment that lifts the obligation if it comes first. The first line that fits
    decides:

    - it happened by the deadline, or at any time after an outage that does not end: met
    - such an outage: undecided
    - `unless` came by the deadline: undecided
    - it did not happen, and the history ends before the deadline: undecided, unless the run came
      to rest once the span was over; what has not happened then will not happen
    - violated
    """
    timing, end = timing or subject.operator.timing, subject.history.end
    due_us = timing.due_us(since.t, within_us + (steps - 1) * timing.latency_us)
    if happened is not None and (due_us is None or happened.t <= due_us):
        return met(since, happened)
    if due_us is None:
        outage = timing.outages[-1]
        return undecided(since, f"{what} was due, but to the end {outage.because}")
    if unless is not None and unless.t <= due_us:
        return undecided(since, f"{what} was due, but {when(unless)} overtook it")
    if happened is None and end.t <= due_us and not _is_over(subject, timing, since, within_us):
        return undecided(
            since, f"{what} is due at t={span(due_us)}, the history ends at t={span(end.t)}"
        )
    seen = f"it came at {when(happened)}" if happened is not None else "it did not come"
    at = happened if happened is not None else end
    return violated(
        at,
        f"{what} of {subject} was due within {span(within_us)}{_told(origin)} of {when(since)} "
        f"and, with {span(due_us - since.t - within_us)} granted on top of that, at the latest at "
        f"t={span(due_us)}, but {seen}.",
        since,
        *evidence,
    )


def in_the_end(
    subject: Subject,
    what: str,
    *,
    since: Moment,
    happened: Moment | None,
    unless: Moment | None = None,
    evidence: Sequence[Moment] = (),
) -> Obligation:
    """It must happen before the run comes to rest, since the norm does not say how soon.

    The first line that fits decides:

    - it happened, however late: met
    - `unless` lifted the obligation: undecided
    - the controller was kept from acting to the end: undecided
    - the run did not come to rest, or seemed to before one that was hindered had tried again:
      undecided
    - violated
    """
    if happened is not None:
        return met(since, happened)
    timing, end = subject.operator.timing, subject.history.end
    if unless is not None:
        return undecided(since, f"{what} was due, but {when(unless)} overtook it")
    due_us = timing.due_us(since.t, 0)
    if due_us is None:
        return undecided(since, f"{what} was due, but to the end {timing.outages[-1].because}")
    if not subject.history.is_stable:
        return undecided(since, f"{what} was due, and the run did not come to rest")
    if end.t <= due_us and not _is_over(subject, timing, since, 0):
        return undecided(
            since, f"{what} is due at t={span(due_us)}, the history ends at t={span(end.t)}"
        )
    return violated(
        end,
        f"{what} of {subject} was due since {when(since)}, but it had not come when everything was "
        f"at rest at {when(end)}.",
        since,
        *evidence,
    )


def _is_over(subject: Subject, timing: Timing, since: Moment, within_us: Micros) -> bool:
    """True if the run came to rest after a span had passed, with nothing left to be noticed.

    A simulated run rests when the controller neither waits for anything nor has a timer. A real
    one only seems to: who was hindered before may still be waiting to try again.
    """
    history = subject.history
    end_us = history.end.t
    is_certain = history.header.clock == "virtual"
    return (
        history.is_stable
        and since.t + within_us <= end_us
        and not timing.hindered(end_us if is_certain else since.t, end_us)
    )


def not_before(
    subject: Subject,
    what: str,
    *,
    since: Moment,
    at_least_us: Micros,
    happened: Moment | None,
    own: bool = True,
    origin: str = "",
    evidence: Sequence[Moment] = (),
) -> Obligation:
    """It must not happen before a span has passed since `since`.

    `origin` is where the span comes from, if that has to be reported.

    `own`: the controller itself made `since` happen, so its clock may have been read a
    moment before that was committed. Undecided if it did not happen and the history ends
    before the span has passed.
    """
    timing = subject.operator.timing
    begin_us = timing.stamped_us(since.t) if own else since.t - timing.slack_us
    earliest_us = begin_us + at_least_us
    if happened is None:
        if subject.history.end.t < earliest_us:
            return undecided(since, f"{what} may come from t={span(earliest_us)} on; not seen")
        return met(since)
    if happened.t >= earliest_us:
        return met(since, happened)
    return violated(
        happened,
        f"{what} of {subject} came at {when(happened)}, {span(happened.t - since.t)} after "
        f"{when(since)}; it is allowed {span(at_least_us)}{_told(origin)} after that, and not "
        "before.",
        since,
        *evidence,
    )


def _told(origin: str) -> str:
    return f" (from {origin})" if origin else ""


def never(
    subject: Subject, what: str, *, at: Moment, left: Sequence[Track], phrase: str
) -> Obligation:
    """At this moment none of these objects may be stored.

    `phrase` says what happened at the moment, `what` what the objects are.
    """
    if not left:
        return met(at)
    return violated(
        at,
        f"{when(at)} {subject}: {phrase}, but {states_of(left, at.n)} {were(left)} {what}.",
        *(version for track in left if (version := track.version_at(at.n)) is not None),
    )
