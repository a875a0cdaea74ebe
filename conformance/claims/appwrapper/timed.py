"""Obligations that come from a parameter, with the value that they were judged by.

The claims about a behaviour and those about its parameter demand the same; the latter ask
in addition where the value came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from conformance.history_view import AppWrapperRun, Moment
from conformance.history_view.parameters import Value
from conformance.temporal import Obligation, eventually, not_before
from vocabulary.clock import Micros


class Timed(NamedTuple):
    value: Value
    obligation: Obligation
    from_above: bool
    """Whether it bounds from above: only that shows that a cap is in force."""


def no_earlier(
    aw: AppWrapperRun,
    what: str,
    least: Value,
    *,
    since: Moment,
    happened: Moment | None,
    plus_us: Micros = 0,
    own: bool = True,
) -> Timed:
    """It must not come before the parameter's time (and `plus_us`) has passed."""
    obligation = not_before(
        aw, what, since=since, at_least_us=least.value + plus_us, happened=happened, own=own
    )
    return Timed(least, obligation, from_above=False)


def no_later(
    aw: AppWrapperRun,
    what: str,
    most: Value,
    *,
    since: Moment,
    happened: Moment | None,
    plus_us: Micros = 0,
    unless: Moment | None = None,
    steps: int = 2,
) -> Timed:
    """It must come once the parameter's time (and `plus_us`) has passed."""
    obligation = eventually(
        aw,
        what,
        since=since,
        within_us=most.value + plus_us,
        happened=happened,
        unless=unless,
        steps=steps,
    )
    return Timed(most, obligation, from_above=True)


def obligations(timed: Iterable[Timed]) -> Iterator[Obligation]:
    """Just what was demanded."""
    return (each.obligation for each in timed)


def earliest(*moments: Moment | None) -> Moment | None:
    """The first of several moments, those left out that never came."""
    return min((moment for moment in moments if moment is not None), key=_position, default=None)


def _position(moment: Moment) -> int:
    return moment.n
