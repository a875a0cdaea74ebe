"""Obligations that come from a parameter, with the value that they were judged by.

The claims about a behaviour and those about its parameter look at the same occurrences. The
former ask whether the value was kept, the latter whether it was this value or another one
that governed: see `governing`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from conformance.history import Moment
from conformance.norm import Fate, Obligation, eventually, not_before, undecided
from conformance.suites.appwrapper.claims.governing import Count, Elapsed
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.parameters import Value
from vocabulary.clock import Micros


class Timed(NamedTuple):
    value: Value
    obligation: Obligation
    from_above: bool
    """True if it bounds from above: only that shows that a cap is in force."""
    observed: Elapsed | Count | None = None
    """The observation, to be compared with other values; None if nothing can be violated."""
    is_forgotten: bool = False
    """True if it did not happen since the controller knew nothing of it: that tells of no value."""

    @property
    def happened(self) -> Moment | None:
        """The moment that it bounds, where there is one."""
        return self.observed.happened if isinstance(self.observed, Elapsed) else None


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
        aw,
        what,
        since=since,
        at_least_us=least.value + plus_us,
        happened=happened,
        own=own,
        origin=least.origin,
    )
    observed = Elapsed(aw, since=since, happened=happened, plus_us=plus_us)
    return Timed(least, obligation, from_above=False, observed=observed)


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
        origin=most.origin,
    )
    observed = Elapsed(aw, since=since, happened=happened, plus_us=plus_us, steps=steps)
    return Timed(most, obligation, from_above=True, observed=observed)


def obligations(timed: Iterable[Timed]) -> Iterator[Obligation]:
    """Just what was demanded."""
    return (each.obligation for each in timed)


def governed(timed: Iterable[Timed], others: Iterable[int]) -> Iterator[Obligation]:
    """The requirement of a claim about a parameter: none of the other values governs.

    An observation that no value explains is undecided, and so is the other bound on the same event.
    """
    others = tuple(others)
    judged = [(each, _governed(each, others)) for each in timed]
    unexplained = {
        each.happened.n
        for each, found in judged
        if each.happened is not None
        and found.fate is Fate.UNDECIDED
        and each.obligation.fate is Fate.VIOLATED
    }
    for each, found in judged:
        position = None if each.happened is None else each.happened.n
        if found.fate is not Fate.MET or position not in unexplained:
            yield found


def _governed(timed: Timed, others: Iterable[int]) -> Obligation:
    """Undecided where something is violated, but none of them explains it, or the value itself
    does, counted from another moment: that is for the claim about the behaviour.
    """
    value, obligation, observed = timed.value, timed.obligation, timed.observed
    if observed is None or obligation.fate is not Fate.VIOLATED:
        return obligation
    told = f"{observed.told(value.value)} (from {value.origin})"
    if timed.is_forgotten:
        return undecided(obligation.at, f"it was forgotten, whatever {told} would have had it do")
    if observed.fits_from_elsewhere(value.value):
        return undecided(obligation.at, f"{told} explains it, counted from another moment")
    for other in sorted(set(others) - {value.value}):
        if observed.fits(other, value.value):
            because = f"{obligation.because} That fits {observed.told(other)}, and not {told}."
            return msgspec.structs.replace(obligation, because=because)
    return undecided(obligation.at, f"neither {told} nor another value explains what happened")
