"""The wrong controllers, each with the claim that it breaks."""

from __future__ import annotations

from typing import Final

from reference_controller.mutants import Mutants
from reference_controller.streams.rules import Rules

MUTANTS: Final = Mutants(Rules)


@MUTANTS.mutant(Rules.is_interrupted, "It creates what is missing of it.", "ST-016")
def only_what_is_missing(self: Rules, is_driven: bool) -> bool:
    return False
