"""The story of a plan: a bug that others had, with a wrong and a right controller.

The plan's own implementation is the wrong one. A replay runs both, and says whether the wrong one
is convicted as the story says, and the right one acquitted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from chaos.fields import Name, Span, write_fields
from vocabulary.durations import format_duration


@dataclass(frozen=True, slots=True)
class Contradiction:
    """An entry that shows the violation of a claim: the one that contradicts it, or, where an act
    is missing, one that called for it."""

    at: Span
    """When, in whole seconds."""
    shows: Name
    """A part of its line in reports: `QuotaReserved True → False`."""


@dataclass(frozen=True, slots=True)
class Story:
    """A bug, and the violation that shows it."""

    upstream: Name
    """The issue in which they speak of it."""
    tells: Name
    """The bug in a sentence or two."""
    claim: Name
    """The claim that the wrong controller violates and the right one keeps."""
    contradiction: Contradiction
    """Where the wrong one violates it first."""
    right: str = "reference"
    """The right controller."""
    released: dict[str, str] = field(default_factory=dict)
    """Profiles of releases that violate the claim, too, each with the edition to judge it by."""

    def describe(self) -> str:
        """The bug, and the violation, in plain English."""
        at = format_duration(self.contradiction.at)
        return (
            f"{self.upstream}: {self.tells}\n"
            f"Decisive: {self.claim} is violated at {at}, by {self.contradiction.shows!r}. "
            f"The right controller is {self.right}."
        )

    def to_data(self) -> dict[str, Any]:
        return write_fields(self)
