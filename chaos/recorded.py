"""The run that a plan's file was written beside, for a replay to be compared with.

It decides nothing of a run. Only the simulation gives the same history twice, so only its plans
have one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from chaos.fields import Name, write_fields


@dataclass(frozen=True, slots=True)
class Recorded:
    """The history that the plan gave, and the suite that recorded it."""

    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    """`vocabulary.history.history_digest` of it."""
    assay: Name
    """The version of Assay, with the commit if it was a checkout."""
    decisive: str = ""
    """The entry of that history that contradicts a claim, as reports show it."""

    def to_data(self) -> dict[str, Any]:
        return write_fields(self)
