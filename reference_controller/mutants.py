"""Mutants: a right controller with exactly one decision made wrong, or installed wrong.

Mutants measure a suite: each must be killed by some claim. They are for nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Concatenate, Generic, ParamSpec, TypeAlias, TypeVar

from reference_controller.rules import Rules
from vocabulary.objects import Object

R = TypeVar("R", bound=Rules)
ChangeManifest: TypeAlias = Callable[[Object], Object]
"""A CustomResourceDefinition, a role or a webhook, as the controller ships it → as the mutant
installs it."""
C = TypeVar("C", bound=ChangeManifest)
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Mutant(Generic[R]):
    """One wrong decision."""

    name: str
    """kebab-case, unique."""
    sentence: str
    """The mistake, as one sentence about the controller."""
    killed_by: tuple[str, ...]
    """The claims that notice, the one that is meant first."""
    rules: type[R]
    """A subclass of the right rules that overrides exactly one method."""
    definition: ChangeManifest | None = None
    """The wrong decision, where it is one of the CustomResourceDefinition."""
    role: ChangeManifest | None = None
    """The wrong decision, where it is one of the roles, or the rights that a wrong design needs."""
    webhook: ChangeManifest | None = None
    """The wrong decision, where it is one of the webhooks' selectors."""

    @property
    def is_installed_wrong(self) -> bool:
        """True if its manifests are not those of the reference."""
        return any((self.definition, self.role, self.webhook))


class Mutants(dict[str, Mutant[R]]):
    """The mutants of one reference by name, filled by decorators as its modules are imported."""

    def __init__(self, right: type[R]) -> None:
        """`right`: the rules of the reference."""
        super().__init__()
        self._right = right

    def mutant(
        self,
        rule: Callable[Concatenate[Any, P], T],
        sentence: str,
        *killed_by: str,
        of: type[R] | None = None,
        name: str = "",
        role: ChangeManifest | None = None,
    ) -> Callable[[Callable[Concatenate[Any, P], T]], Callable[Concatenate[Any, P], T]]:
        """Decorator: register a function in place of a rule as a mutant, named after the function.

        `rule` is a method of the rules, asked for by its class: `Rules.is_over`. `of` are the rules
        that all other decisions are left to; by default the right ones. `role` gives it the rights
        that only it needs.
        """

        def register(wrong: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
            members = {rule.__name__: wrong, "__module__": wrong.__module__}
            rules = type(wrong.__name__, (of or self._right,), members)
            self.add(Mutant(name or _name_of(wrong), sentence, killed_by, rules, role=role))
            return wrong

        return register

    def wrong_rules(self, sentence: str, *killed_by: str) -> Callable[[type[R]], type[R]]:
        """Class decorator: register rules that remember something as a mutant."""

        def register(rules: type[R]) -> type[R]:
            words = re.findall("[A-Z][a-z]*", rules.__name__)
            self.add(Mutant("-".join(words).lower(), sentence, killed_by, rules))
            return rules

        return register

    def wrong_definition(self, sentence: str, *killed_by: str) -> Callable[[C], C]:
        """Decorator: register a change of the CustomResourceDefinition as a mutant."""

        def register(change: C) -> C:
            self.add(Mutant(_name_of(change), sentence, killed_by, self._right, change))
            return change

        return register

    def wrong_role(self, sentence: str, *killed_by: str) -> Callable[[C], C]:
        """Decorator: register a change of each of the controller's roles as a mutant."""

        def register(change: C) -> C:
            self.add(Mutant(_name_of(change), sentence, killed_by, self._right, role=change))
            return change

        return register

    def wrong_webhook(self, sentence: str, *killed_by: str) -> Callable[[C], C]:
        """Decorator: register a change of each of the installed webhooks as a mutant."""

        def register(change: C) -> C:
            self.add(Mutant(_name_of(change), sentence, killed_by, self._right, webhook=change))
            return change

        return register

    def add(self, mutant: Mutant[R]) -> None:
        """Raises ValueError if the name is taken."""
        if mutant.name in self:
            raise ValueError(f"mutant {mutant.name} is defined twice; names are unique")
        self[mutant.name] = mutant


def granting(group: str, resources: Sequence[str], verb: str) -> ChangeManifest:
    """A change of roles: the cluster's role has a further right."""
    rule = {"apiGroups": [group], "resources": [*resources], "verbs": [verb]}

    def change(role: Object) -> Object:
        is_of_cluster = role["kind"] == "ClusterRole"
        return {**role, "rules": [*role["rules"], rule]} if is_of_cluster else role

    return change


def _name_of(function: Callable[..., Any]) -> str:
    return function.__name__.replace("_", "-")
