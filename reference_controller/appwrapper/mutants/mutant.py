"""What a mutant is: the sound controller with exactly one decision made wrong.

Mutants measure the suite: each must be killed by some claim. They are for nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from reference_controller.appwrapper.appwrapper_controller import AppWrapperController
from reference_controller.appwrapper.config import OperatorConfig
from reference_controller.appwrapper.rules import Rules
from vocabulary.clock import Micros

R = TypeVar("R", bound=type[Rules])


@dataclass(frozen=True, slots=True)
class Mutant:
    """One wrong decision."""

    name: str
    """kebab-case, unique."""
    sentence: str
    """What it does wrong, as one sentence about the controller."""
    killed_by: tuple[str, ...]
    """The claims that should notice, the one that is meant first."""
    rules: type[Rules]
    """A subclass of `Rules` that overrides exactly one method."""

    def build(
        self, config: OperatorConfig, clock: Callable[[], Micros] | None = None
    ) -> AppWrapperController:
        """A controller with this defect."""
        return AppWrapperController(config, self.rules(), clock)


MUTANTS: Final[dict[str, Mutant]] = {}
"""Every mutant by name, filled as the modules beside this one are imported."""


def mutant(name: str, sentence: str, *killed_by: str) -> Callable[[R], R]:
    """Class decorator: register the rules as a mutant."""

    def register(rules: R) -> R:
        if name in MUTANTS:
            raise ValueError(f"mutant {name} is defined twice; names are unique")
        MUTANTS[name] = Mutant(name, sentence, killed_by, rules)
        return rules

    return register
