"""The registry of this controller's mutants, and the decorators that fill it."""

from __future__ import annotations

from typing import Final

from reference_controller.appwrapper.rules import Rules
from reference_controller.mutants import Mutants

MUTANTS: Final = Mutants(Rules)
mutant: Final = MUTANTS.mutant
wrong_definition: Final = MUTANTS.wrong_definition
wrong_role: Final = MUTANTS.wrong_role
