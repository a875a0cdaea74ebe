"""Verdicts: what a checker says of one claim on one history, and how verdicts merge."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

import msgspec


class Outcome(StrEnum):
    """Best first. The worst wins when outcomes merge; only `passed` is a pass."""

    SKIPPED = "skipped"
    """Deliberately not run; the reason says why."""
    UNSUPPORTED = "unsupported"
    """The implementation declares that it lacks the feature."""
    PASSED = "passed"
    INCONCLUSIVE = "inconclusive"
    """Could not be judged, or its precondition never occurred. Never counts as passed."""
    FAILED = "failed"


_BADNESS = {outcome: rank for rank, outcome in enumerate(Outcome)}


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """The worst of several outcomes; of none, `inconclusive`: nothing was judged."""
    return max(outcomes, key=_BADNESS.__getitem__, default=Outcome.INCONCLUSIVE)


class Kept(NamedTuple):
    """An obligation that was met: the positions at which it arose, and at which it was met."""

    since: int
    by: int


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """One contradiction: where in the history, and why, from actual values."""

    at: int
    """Position of the entry at which the claim was contradicted."""
    because: str
    evidence: tuple[int, ...] = ()
    """Positions of the entries that show it, in order; `at` among them. The first is the one
    at which the obligation arose."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """One claim, one history."""

    claim: str
    outcome: Outcome
    armed: int = 0
    """How often the claim's precondition occurred."""
    because: str = ""
    """One paragraph of plain English from actual values."""
    violations: tuple[Violation, ...] = ()
    error: str = ""
    """The exception that the checker raised; nothing was judged then."""
    kept: tuple[Kept, ...] = ()
    """The obligations that were met, for pages; the first hundred."""
    accepted: tuple[str, ...] = ()
    """The texts by which a profile accepts violations; with any, the claim has not passed."""


def merge(claim: str, verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict over several histories: the worst outcome, armed counts added up.

    A history on which the claim was never armed says nothing, so it spoils nothing: it
    counts only if no other history armed the claim. An accepted violation always counts.
    """
    all_verdicts = list(verdicts)
    telling = [
        verdict
        for verdict in all_verdicts
        if verdict.armed or verdict.accepted or verdict.outcome is not Outcome.INCONCLUSIVE
    ] or all_verdicts
    if not telling:
        return Verdict(claim=claim, outcome=Outcome.INCONCLUSIVE, because="No history was judged.")
    # What stayed undecided says more than a precondition that never occurred.
    worst = max(
        telling,
        key=lambda verdict: (
            _BADNESS[verdict.outcome],
            bool(verdict.accepted),
            verdict.because[:9] == "Undecided",
        ),
    )
    return Verdict(
        claim=claim,
        outcome=worst.outcome,
        armed=sum(verdict.armed for verdict in all_verdicts),
        because=worst.because,
        violations=tuple(v for verdict in telling for v in verdict.violations),
        error=next((verdict.error for verdict in all_verdicts if verdict.error), ""),
        accepted=tuple(dict.fromkeys(text for each in telling for text in each.accepted)),
    )
