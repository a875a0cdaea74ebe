"""Temporal claims: how a checker says never, always, eventually within, and not before.

A checker is a generator. For each occurrence of its claim's precondition it yields one
obligation, which was met, was violated, or stays undecided. A tour:

- `obligations`: the three of them, with positions as evidence.
- `words`: how moments, objects and spans of time are put into an explanation.
- `sentences`: the temporal operators that checkers are written in.
- `outcomes`: values that the norm allows, also where it leaves a race open.
- `livelock`: an operator that writes on and makes no progress.
- `shared`: what several checkers ask is worked out once.
- `view`: the objects of a kind in a history, the subjects of most suites' claims.
- `checker`: how a generator becomes the `judge` of a claim, and obligations a verdict.

What these rules share: bounds from above give the controller the latency that the header
states and stop while it could not act; bounds from below are strict; what the history is
too short to show is undecided; what it cannot show is inconclusive, never guessed.
"""

from conformance.norm.checker import (
    OPTIONS,
    WRITERS,
    ClaimDetails,
    Judging,
    Obligations,
    View,
)
from conformance.norm.livelock import unless_given_up
from conformance.norm.obligations import Fate, Obligation, met, must, undecided, violated
from conformance.norm.outcomes import exactly, one_of
from conformance.norm.sentences import eventually, in_the_end, never, not_before
from conformance.norm.shared import shared
from conformance.norm.subject import Subject

__all__ = [
    "OPTIONS",
    "WRITERS",
    "ClaimDetails",
    "Fate",
    "Judging",
    "Obligation",
    "Obligations",
    "Subject",
    "View",
    "eventually",
    "exactly",
    "in_the_end",
    "met",
    "must",
    "never",
    "not_before",
    "one_of",
    "shared",
    "undecided",
    "unless_given_up",
    "violated",
]
