"""A scenario's handle of one AppWrapper: its state, conditions to wait for, its user's actions.

`World.submit` returns it. It stores nothing but the name: callers see the object stored at that
moment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from chaos.appwrapper.faults import APPWRAPPER_LABEL
from vocabulary.kinds import APPWRAPPER, POD, Kind
from vocabulary.objects import (
    Object,
    condition_status,
    controller_of,
    get_path,
    is_terminating,
    name_of,
    uid_of,
)
from vocabulary.requests import PropagationPolicy

if TYPE_CHECKING:
    from conformance.world import World


PARAMETER_PREFIX: Final = "workload.codeflare.dev.appwrapper/"


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that a scenario can wait for: a predicate on stored objects, and its name."""

    text: str
    holds: Callable[[], bool]

    def __and__(self, other: Condition) -> Condition:
        return Condition(f"{self.text} and {other.text}", lambda: self.holds() and other.holds())

    def __or__(self, other: Condition) -> Condition:
        return Condition(f"{self.text} or {other.text}", lambda: self.holds() or other.holds())


class AppWrapper:
    """One AppWrapper of a scenario: its state now, and what a user can do to it."""

    kind: Final = APPWRAPPER

    def __init__(self, world: World, name: str, namespace: str = "") -> None:
        self.world = world
        self.name = name
        self.namespace = namespace or world.namespace

    @property
    def now(self) -> Object:
        """The object as it is stored now; empty once it is gone."""
        return self.world.get(APPWRAPPER, self.name, namespace=self.namespace) or {}

    @property
    def phase(self) -> str:
        return str(get_path(self.now, "status.phase", ""))

    @property
    def resets(self) -> int:
        """The retry counter; absent means 0."""
        return int(get_path(self.now, "status.resettingCount", 0))

    @property
    def pods(self) -> list[Object]:
        """Its pods in order of their names, terminating ones included."""
        selector = f"{APPWRAPPER_LABEL}={self.name}"
        found = self.world.list(POD, selector, namespace=self.namespace)
        return sorted(found, key=name_of)

    def components(self, kind: Kind) -> list[Object]:
        """The objects of a kind that it owns, in order of their names."""
        uid = uid_of(self.now)
        owned = (
            obj
            for obj in self.world.list(kind, namespace=self.namespace)
            if (controller_of(obj) or {}).get("uid") == uid
        )
        return sorted(owned, key=name_of)

    # Conditions to wait for.

    def is_in(self, *phases: str) -> Condition:
        """It is in one of these phases."""
        return Condition(
            f"AppWrapper {self.name} is {' or '.join(phases)}", lambda: self.phase in phases
        )

    def has_reset(self, times: int) -> Condition:
        """Its retry counter has reached this number."""
        return Condition(
            f"AppWrapper {self.name} was reset {times} times", lambda: self.resets >= times
        )

    def shows(self, type_: str, status: str = "True") -> Condition:
        """It shows a condition with that status."""
        return Condition(
            f"AppWrapper {self.name} shows {type_}={status}",
            lambda: condition_status(self.now, type_) == status,
        )

    def has_pods(self, count: int, *phases: str) -> Condition:
        """Exactly so many of its pods are in one of the phases (any phase if none is named)."""

        def holds() -> bool:
            alive = [pod for pod in self.pods if not is_terminating(pod)]
            return (
                sum(not phases or get_path(pod, "status.phase") in phases for pod in alive) == count
            )

        return Condition(f"AppWrapper {self.name} has {count} {'/'.join(phases) or ''} pods", holds)

    def is_gone(self) -> Condition:
        """The AppWrapper itself no longer exists."""
        return Condition(f"AppWrapper {self.name} is gone", lambda: not self.now)

    # What a user can do to it.

    def suspend(self, value: bool = True) -> None:
        """Set `spec.suspend`, as Kueue does when it evicts (True) or admits (False)."""
        self._patch({"spec": {"suspend": value}})

    def resume(self) -> None:
        self.suspend(False)

    def annotate(self, **parameters: str | int | None) -> None:
        """Set parameter annotations; None removes one."""
        body = {
            PARAMETER_PREFIX + key: None if value is None else str(value)
            for key, value in parameters.items()
        }
        self._patch({"metadata": {"annotations": body}})

    def delete(self, propagation_policy: PropagationPolicy | None = None) -> None:
        self.world.delete(
            APPWRAPPER, self.name, propagation_policy=propagation_policy, namespace=self.namespace
        )

    def _patch(self, body: Object) -> None:
        self.world.patch(APPWRAPPER, self.name, body, namespace=self.namespace)
