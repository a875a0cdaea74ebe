"""Faults: things that go wrong, as data, each with what puts it right again.

A fault is a frozen dataclass in `chaos/faults/`, registered under its name:

    @fault("cordon")
    class Cordon(Fault):
        node: str | NodeChoice

and in a plan it is a mapping with that one key: `cordon: {node: n0}`. The life of a fault:
`resolve` replaces what it chooses by (the first pod of a JobSet) by names, `inverse`
says as faults what will undo it, `inject` does it. The inverse is known before anything is
done, and it is data, so a run that was killed half-way can be cleaned up from its journal.
`fault_effect` says how it hinders controllers: the injector records it, checkers read it.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Final, TypeVar, dataclass_transform

from chaos.choice import Choice, chosen
from chaos.fields import PlanError, at, closest, mapping, read_fields, write_fields
from chaos.ground import Ground, named_actors
from chaos.subject_kind import registered
from vocabulary.fault_effect import FaultEffect


@dataclasses.dataclass(frozen=True, slots=True)
class Fault(ABC):
    """One thing that goes wrong. Subclasses are registered with `@fault(name)`."""

    plan_key: ClassVar[str]
    """Its name in plans, unique."""

    is_user_act: ClassVar[bool] = False
    """True for an intended act of a user, such as a suspend: it stands when the faults stop, since
    it does not heal by itself. Cleaning up takes it back nevertheless."""

    leaves_nothing: ClassVar[bool] = False
    """True for an event, such as a deletion, as opposed to a state: there is nothing to put back,
    controllers are expected to answer it."""

    def resolve(self, ground: Ground) -> tuple[Fault, ...]:
        """The same on names: one fault per object that is chosen, and per operator that is meant.

        Raises FaultRefusedError if nothing fits a choice.
        """
        found: tuple[Fault, ...] = (self,)
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Choice):
                names = chosen(ground, value, getattr(self, "kind", ""))
            elif field.name == "actor":
                names = named_actors(value, ground.roles)
            else:
                continue
            found = tuple(
                dataclasses.replace(each, **{field.name: name}) for each in found for name in names
            )
        return found

    @abstractmethod
    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        """Faults that undo this resolved one, in order; read from the ground before `inject`."""

    @abstractmethod
    def inject(self, ground: Ground) -> None:
        """Do it, on names. Raises ApiError or FaultRefusedError if it cannot be done."""

    @abstractmethod
    def describe(self) -> str:
        """The act in plain English, without a full stop: `cordon node n0`."""

    def fault_effect(self) -> FaultEffect:
        """How it hinders the controllers under test; here: not at all.

        A fault that strikes a process hinders no controller in this sense, since the process's own
        entries in the history show when it was down, exactly.
        """
        return FaultEffect()

    def befalls(self) -> str:
        """The kind whose requests or events it is about; empty: those of every kind, or none."""
        return ""

    def to_data(self) -> dict[str, Any]:
        """The fault as a plan spells it: one key, its name."""
        return {self.plan_key: write_fields(self)}


FAULTS: Final[dict[str, type[Fault]]] = {}
"""Every fault by name, filled as `chaos.faults` is imported."""

F = TypeVar("F", bound=Fault)


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def fault(plan_key: str) -> Callable[[type[F]], type[F]]:
    """Make the class a frozen dataclass and register it under this name."""

    def register(cls: type[F]) -> type[F]:
        if plan_key in FAULTS:
            raise ValueError(f"fault {plan_key!r} is defined twice; names are unique")
        made = dataclasses.dataclass(frozen=True, slots=True)(cls)
        made.plan_key = plan_key
        FAULTS[plan_key] = made
        return made

    return register


def fault_from_data(data: Any, path: str = "") -> Fault:
    """The fault that a one-key mapping spells; raises PlanError with the path in the plan."""
    spelled = mapping(data, path)
    if len(spelled) != 1:
        found = ", ".join(spelled) or "none"
        raise PlanError(path, f"expected exactly one fault, found {found}")
    ((key, fields),) = spelled.items()
    cls = fault_class(key, path)
    given = dict(mapping({} if fields is None else fields, at(path, key)))
    for each in registered():
        given = {**each.implied.get(key, {}), **given}
    return read_fields(cls, given, at(path, key))


def fault_class(key: str, path: str = "") -> type[Fault]:
    """The class of that name; raises PlanError that lists all names."""
    found = FAULTS.get(key)
    if found is None:
        known = ", ".join(sorted(FAULTS))
        raise PlanError(
            at(path, key), f"is not a fault{closest(key, tuple(FAULTS))}; faults are {known}"
        )
    return found
