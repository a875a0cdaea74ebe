"""The operators that a fault hinders, by the actors that its effect names."""

from __future__ import annotations

from vocabulary.fault_effect import FaultEffect
from vocabulary.history import OPERATOR, role_of


def hinders(effect: FaultEffect, role: str) -> bool:
    """True if a fault hinders a replica of the operator of a role."""
    return any(
        (actor.endswith("*") and role.startswith(actor[:-1]))
        or role_of(actor.removesuffix("*")) in (OPERATOR, role)
        for actor in effect.hinders.split(",")
    )
