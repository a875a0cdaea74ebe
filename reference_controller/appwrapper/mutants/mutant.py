"""What a mutant is: the sound controller with exactly one decision made wrong, or installed wrong.

Mutants measure the suite: each must be killed by some claim. They are for nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

from reference_controller.appwrapper.appwrapper_controller import AppWrapperController
from reference_controller.appwrapper.config import OperatorConfig
from reference_controller.appwrapper.rules import Rules
from vocabulary.clock import Micros
from vocabulary.objects import Object

R = TypeVar("R", bound=type[Rules])
ChangeManifest: TypeAlias = Callable[[Object], Object]
"""What becomes of a CustomResourceDefinition, or of a role, that a controller brings."""
C = TypeVar("C", bound=ChangeManifest)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One wrong decision."""

    name: str
    """kebab-case, unique."""
    sentence: str
    """What it does wrong, as one sentence about the controller."""
    killed_by: tuple[str, ...]
    """The claims that notice, the one that is meant first."""
    rules: type[Rules]
    """A subclass of `Rules` that overrides exactly one method."""
    definition: ChangeManifest | None = None
    """The wrong decision, where it is one of the CustomResourceDefinition."""
    role: ChangeManifest | None = None
    """The wrong decision, where it is one of the roles."""

    @property
    def is_installed_wrong(self) -> bool:
        """True if its manifests are wrong, and the rules are the sound ones."""
        return self.definition is not None or self.role is not None

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
        _register(Mutant(name, sentence, killed_by, rules))
        return rules

    return register


def wrong_definition(name: str, sentence: str, *killed_by: str) -> Callable[[C], C]:
    """Decorator: register what a function makes of the CustomResourceDefinition as a mutant."""

    def register(change: C) -> C:
        _register(Mutant(name, sentence, killed_by, Rules, change))
        return change

    return register


def wrong_role(name: str, sentence: str, *killed_by: str) -> Callable[[C], C]:
    """Decorator: register what a function makes of each of the controller's roles as a mutant."""

    def register(change: C) -> C:
        _register(Mutant(name, sentence, killed_by, Rules, role=change))
        return change

    return register


def _register(mutant: Mutant) -> None:
    if mutant.name in MUTANTS:
        raise ValueError(f"mutant {mutant.name} is defined twice; names are unique")
    MUTANTS[mutant.name] = mutant
