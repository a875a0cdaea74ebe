"""The events of an operator that its driver may log and count."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

from reference_controller.runtime.caches import Change
from reference_controller.runtime.controller import Key
from vocabulary.clock import Micros
from vocabulary.kinds import Kind

Outcome: TypeAlias = Literal["done", "failed", "crashed", "abandoned"]
"""The end of a reconcile: returned, let an ApiError escape, raised anything else, was cut off."""


class Observer(Protocol):
    """Receives events for a driver's logs and metrics."""

    def changed(self, kind: Kind, change: Change) -> None:
        """A cache took in a change."""
        ...

    def reconciled(
        self,
        controller: str,
        key: Key,
        outcome: Outcome,
        error: Exception | None,
        began_us: Micros,
        now_us: Micros,
    ) -> None:
        """A reconcile of the controller of that name ended; `error` is what escaped it, if any."""
        ...

    def leadership_changed(self, leads: bool) -> None:
        """This operator began or ceased to lead."""
        ...
