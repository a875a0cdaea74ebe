"""Obligations: what one occurrence of a claim's precondition demanded, and what came of it."""

from __future__ import annotations

from enum import Enum

import msgspec

from conformance.history.tracks import Moment


class Fate(Enum):
    """The state of an obligation at the end of a history."""

    MET = "met"
    VIOLATED = "violated"
    UNDECIDED = "undecided"


class Obligation(msgspec.Struct, frozen=True):
    """`at` is where the history contradicts a violated claim, else where it armed it.

    `because` names actual values; it may be empty for what was met. `evidence` are the
    positions of the entries that show it. `by` is what met it; None: nothing had to come.
    """

    fate: Fate
    at: Moment
    because: str = ""
    evidence: tuple[int, ...] = ()
    by: Moment | None = None
    decision: str = ""
    """The id of the decision by which it is undecided."""
    accepted: tuple[str, ...] = ()
    """The texts by which a profile accepts what would be violated."""


def met(at: Moment, by: Moment | None = None) -> Obligation:
    """The precondition occurred there, and what it demanded happened."""
    return Obligation(Fate.MET, at, "", (), by)


def violated(at: Moment, because: str, *evidence: Moment) -> Obligation:
    """The claim is contradicted at that entry; `evidence` are the others that show it."""
    positions = {moment.n for moment in evidence} | {at.n}
    return Obligation(Fate.VIOLATED, at, because, tuple(sorted(positions)))


def must(holds: object, at: Moment, because: str, *evidence: Moment) -> Obligation:
    """The precondition occurred there: met if something holds, or else violated."""
    return met(at) if holds else violated(at, because, *evidence)


def undecided(
    at: Moment, because: str, *, decision: str = "", accepted: tuple[str, ...] = ()
) -> Obligation:
    """The precondition occurred there, but the history does not show what became of it.

    Or what it shows decides nothing, by a decision that the claim cites.
    """
    return Obligation(Fate.UNDECIDED, at, because, decision=decision, accepted=accepted)
