"""Controllers that do what another one does, later or with more requests: correct wherever a norm
does not say how soon, or with how many.

Each wraps one controller of a process.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from conformance.implementations.ours import Implementation
from reference_controller.runtime.controller import ClockUser, Controller, Key
from vocabulary.clock import Micros
from vocabulary.errors import ApiError
from vocabulary.kinds import Kind
from vocabulary.objects import Object, get_path, meta
from vocabulary.requests import WRITES, Get, Reconcile, Request, Update

if TYPE_CHECKING:
    from reference_controller.runtime.caches import Caches


class Wrapped(ABC):
    """A controller in place of another one, which it calls."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self.clock: Callable[[], Micros] = lambda: 0

    @property
    def name(self) -> str:
        return self.controller.name

    @property
    def watches(self) -> tuple[Kind, ...]:
        return self.controller.watches

    def use_clock(self, clock: Callable[[], Micros]) -> None:
        self.clock = clock
        if isinstance(self.controller, ClockUser):
            self.controller.use_clock(clock)

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        return self.controller.keys_for(kind, obj, old, caches)

    @abstractmethod
    def reconcile(self, key: Key, now_us: Micros) -> Reconcile: ...


class Slow(Wrapped):
    def __init__(self, controller: Controller, late_us: Micros) -> None:
        super().__init__(controller)
        self.late_us = late_us


class ActsLate(Slow):
    """Its queue holds each key back, from the first event to the pass."""

    def __init__(self, controller: Controller, late_us: Micros) -> None:
        super().__init__(controller, late_us)
        self._due_us: dict[Key, Micros] = {}

    def _next_us(self, now_us: Micros) -> Micros:
        return now_us + self.late_us

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        due_us = self._due_us.setdefault(key, self._next_us(now_us))
        if now_us < due_us:
            return due_us
        del self._due_us[key]
        return (yield from self.controller.reconcile(key, now_us))


class Polls(ActsLate):
    """It looks at everything at fixed times alone."""

    def _next_us(self, now_us: Micros) -> Micros:
        return now_us - now_us % self.late_us + self.late_us


@dataclass
class _Held:
    """A pass that waits before its next write."""

    until_us: Micros
    reconcile: Reconcile
    request: Request
    was_woken: bool = False


class WritesLate(Slow):
    """It reads at once, and waits before each of its writes."""

    def __init__(self, controller: Controller, late_us: Micros) -> None:
        super().__init__(controller, late_us)
        self._held: dict[Key, _Held] = {}

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        held = self._held.get(key)
        if held is not None and now_us < held.until_us:
            held.was_woken = True
            return held.until_us
        self._held.pop(key, None)
        try:
            if held is None:
                one = self.controller.reconcile(key, now_us)
                request, was_woken, is_due = next(one), False, False
            else:
                one, request, was_woken, is_due = (
                    held.reconcile,
                    held.request,
                    held.was_woken,
                    True,
                )
            while True:
                if isinstance(request, WRITES) and not is_due:
                    until_us = self.clock() + self.late_us
                    self._held[key] = _Held(until_us, one, request, was_woken)
                    return until_us
                is_due = False
                try:
                    answer = yield request
                except ApiError as error:
                    request = one.throw(error)
                else:
                    request = one.send(answer)
        except StopIteration as stop:
            wake_at_us: Micros | None = stop.value
            return self.clock() if was_woken else wake_at_us


class WritesStatusTwice(Wrapped):
    """It writes each status in two parts: the numbers of Jobs, and then all of it."""

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        one = self.controller.reconcile(key, now_us)
        try:
            request = next(one)
            while True:
                try:
                    answer = yield from self._sent(request)
                except ApiError as error:
                    request = one.throw(error)
                else:
                    request = one.send(answer)
        except StopIteration as stop:
            wake_at_us: Micros | None = stop.value
            return wake_at_us

    def _sent(self, request: Request) -> Generator[Request, Any, Any]:
        if not isinstance(request, Update) or request.subresource != "status":
            return (yield request)
        standing = yield Get(request.kind, request.namespace, request.name, live=True)
        if meta(standing).get("resourceVersion") != meta(request.object).get("resourceVersion"):
            return (yield request)
        counts = get_path(request.object, "status.replicatedJobsStatus")
        before = {**(standing.get("status") or {}), "replicatedJobsStatus": counts}
        first = yield Update(request.kind, {**standing, "status": before}, "status")
        both = {**first, "status": request.object["status"]}
        return (yield Update(request.kind, both, "status"))


def wrapped(
    of: Implementation, kind: Callable[..., Controller], *arguments: object
) -> Implementation:
    """The implementation with all of its controllers in such a one."""

    def controllers(config: Any, rules: Any) -> tuple[Controller, ...]:
        return tuple(kind(each, *arguments) for each in of.program.controllers(config, rules))

    return replace(of, program=replace(of.program, controllers=controllers))
