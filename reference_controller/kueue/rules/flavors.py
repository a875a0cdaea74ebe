"""Flavors: which are tried, and which is taken."""

from __future__ import annotations

from reference_controller.kueue.flavors import Mode
from vocabulary.objects import Object


class FlavorRules:
    """Flavors of a resource group."""

    def suits(self, is_tolerated: bool, is_selected: bool) -> bool:
        """True if pods may run on the nodes of a flavor."""
        return is_tolerated and is_selected

    def in_order(self, flavors: tuple[str, ...]) -> tuple[str, ...]:
        """The flavors of a group in the order in which they are tried."""
        return flavors

    def is_usable(self, mode: Mode) -> bool:
        """True if a flavor that could serve so may be taken."""
        return mode > Mode.NONE

    def limit(self, limit: int | None) -> int | None:
        """The limit of what a queue borrows or lends; None: there is none."""
        return limit

    def is_sidecar(self, container: Object) -> bool:
        """True if an init container runs on beside the others."""
        return container.get("restartPolicy") == "Always"

    def is_needed(self, asked: int) -> bool:
        """True if a resource that is asked for has to be covered by the queue."""
        return asked > 0

    def is_counted(self, asked: int) -> bool:
        """True if so much of a resource may be lacking, or borrowed."""
        return asked > 0

    def ends_trial(self, mode: Mode, borrows_at_once: bool, preempts_at_once: bool) -> bool:
        """True if no further flavor is tried after one that could serve so."""
        if mode == Mode.BORROW:
            return borrows_at_once
        if mode == Mode.PREEMPT:
            return preempts_at_once
        return mode == Mode.FIT

    def lacking(self, resource: str, flavor: str, exceeds: bool) -> str:
        """A message for users about the resource of which there is too little in a flavor; with
        `exceeds`, more than there can ever be is asked for."""
        why = "exceeds the most" if exceeds else "is more than what is left"
        return f"request of {resource} {why} in flavor {flavor}"
