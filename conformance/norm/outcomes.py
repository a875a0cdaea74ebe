"""Outcomes that the norm allows: exactly one, or one of several where it leaves a race open.

A race is open if the norm does not say which of two writers comes first. A checker works out what
each order leads to, and demands one of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.history.tracks import Moment
from conformance.norm.obligations import Obligation, met, violated
from conformance.norm.subject import Subject
from conformance.norm.words import when


def exactly(
    subject: Subject, what: str, expected: Any, *, found: Any, at: Moment, since: Moment
) -> Obligation:
    """It has to be this value at that moment; `since` is what it follows from."""
    return _one_of(subject, what, {expected: ""}, found, at, (since,))


def one_of(
    subject: Subject,
    what: str,
    allowed: Mapping[Any, str],
    *,
    found: Any,
    at: Moment,
    since: Moment,
    racing: Moment,
) -> Obligation:
    """It has to be one of these values at that moment, each with the order of events that leads to
    it.

    `since` and `racing` are the two events whose order the norm leaves open. Raises ValueError for
    fewer than two values: then nothing is open, and `exactly` says so.
    """
    if len(allowed) < 2:
        raise ValueError(f"{what}: {len(allowed)} outcomes are no race; use exactly")
    return _one_of(subject, what, allowed, found, at, (since, racing))


def _one_of(
    subject: Subject,
    what: str,
    allowed: Mapping[Any, str],
    found: Any,
    at: Moment,
    evidence: tuple[Moment, ...],
) -> Obligation:
    if found in allowed:
        return met(evidence[0], at)
    expected = ", or ".join(
        f"{value!r} ({order})" if order else f"{value!r}" for value, order in allowed.items()
    )
    return violated(
        at, f"{when(at)}: {what} of {subject} is {found!r}; expected {expected}.", *evidence
    )
