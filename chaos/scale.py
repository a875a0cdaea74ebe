"""How large a scenario is made: a plan may leave it fewer nodes, replicas and components.

What a failure does not need only hides it, so shrinking takes away from these as it does
from the faults.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, Final, TypeAlias

from msgspec import Meta

from chaos.fields import Name, listed, write_fields

MAX_SCALE: Final = 100

_Few: TypeAlias = Annotated[int, Meta(ge=1, le=MAX_SCALE)]


@dataclass(frozen=True, slots=True)
class Scale:
    """The reduced size of a scenario; None is the size that the scenario itself asks for."""

    nodes: _Few | None = None
    """How many nodes the cluster has."""
    replicas: _Few | None = None
    """How many replicas a workload has at most, whatever its kind calls them."""
    components: tuple[Name, ...] | None = None
    """The only components that submitted workloads have, by name; nameless ones stay."""

    def __bool__(self) -> bool:
        """True if it changes anything."""
        return any(getattr(self, field.name) is not None for field in fields(self))

    def to_data(self) -> dict[str, Any]:
        return write_fields(self)

    def describe(self) -> str:
        """`1 node, at most 1 replica each, no component but a-job`; empty if it says nothing."""
        words = []
        if self.nodes is not None:
            words.append(f"{self.nodes} node{'s' * (self.nodes > 1)}")
        if self.replicas is not None:
            words.append(f"at most {self.replicas} replica{'s' * (self.replicas > 1)} each")
        if self.components is not None:
            words.append(f"no component{f' but {listed(self.components)}' * bool(self.components)}")
        return ", ".join(words)


AS_WRITTEN: Final = Scale()
"""The scenario as large as it was written."""
