"""The registry that the mutants' modules fill."""

from __future__ import annotations

from typing import Final

from reference_controller.kueue.rules import Rules
from reference_controller.mutants import Mutants

MUTANTS: Final = Mutants(Rules)
