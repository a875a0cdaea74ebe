"""The registry that the mutants' modules fill."""

from __future__ import annotations

from typing import Final

from reference_controller.mutants import Mutants
from reference_controller.streams.rules import Rules

MUTANTS: Final = Mutants(Rules)
