"""A trivial driver: one operator on a simulated cluster, with faults that tests ask for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from clusters.simulated.cluster import NodeSpec, SimulatedCluster
from clusters.simulated.controllers.settings import Settings
from clusters.simulated.store import Change
from reference_controller.runtime.controller import Controller
from reference_controller.runtime.operator import Operator, Pending
from vocabulary import requests as rq
from vocabulary.clock import MILLISECOND, SECOND, Micros
from vocabulary.errors import ApiError, no_answer
from vocabulary.kinds import EVENT, Kind
from vocabulary.objects import Object

NAMESPACE = "team"

Spoil = Callable[[rq.Request, int], ApiError | None]
"""(request, its number) → the error to answer instead, or None."""


class OperatorWorld(ABC):
    """A cluster, and one operator process that can be killed and started again."""

    def __init__(
        self,
        *crds: Object,
        seed: int = 1,
        nodes: int | Iterable[NodeSpec] = 3,
        gpus: int = 0,
        cache_lag_us: Micros = 5 * MILLISECOND,
        latency_us: Micros = 1 * MILLISECOND,
        settings: Settings | None = None,
    ) -> None:
        self.cluster = SimulatedCluster(
            seed, nodes=nodes, gpus=gpus, crds=crds, namespaces=[NAMESPACE], settings=settings
        )
        self.loop = self.cluster.loop
        self.cache_lag_us = cache_lag_us
        self.lag_of: dict[Kind, Micros] = {}
        """By kind: the lag of its cache, where it is another one."""
        self.latency_us = latency_us
        self.spoil: Spoil = lambda request, number: None
        self.lose_reply_of: set[int] = set()
        self.crash_before: set[int] = set()
        self.crash_after: set[int] = set()
        self.requests: list[rq.Request] = []
        self.crashes: list[Exception] = []
        self.user = self.cluster.client("user")
        self._client = self.cluster.client("operator")
        self._incarnation = 0
        self._wake: Any = None
        self._stop_watch: Callable[[], None] = lambda: None
        self.operator: Operator | None = None
        self.start()

    @abstractmethod
    def controllers_of_process(self) -> tuple[Controller, ...]:
        """New controllers, with nothing in their memory."""

    # the process

    def start(self) -> None:
        self._incarnation += 1
        made = self.controllers_of_process()
        self.operator = Operator(made)
        kinds = {str(kind): kind for each in made for kind in each.watches}
        for kind in kinds.values():
            try:
                listed = self._client(rq.List(kind)).items
            except ApiError:
                listed = ()
            self.operator.replace(kind, listed, self.loop.now_us)
        incarnation = self._incarnation

        def heard(change: Change) -> None:
            kind = kinds[change.key.kind]
            lag_us = self.lag_of.get(kind, self.cache_lag_us)
            self.loop.call_later(lag_us, self._deliver, incarnation, kind, change)

        self._stop_watch = self.cluster.store.watch(heard, frozenset(kinds))
        self.loop.call_later(0, self._poll, incarnation)

    def kill(self, restart_after_us: Micros | None = 1 * SECOND) -> None:
        self._incarnation += 1
        self._stop_watch()
        if self.operator is not None:
            self.crashes.extend(self.operator.crashes)
        self.operator = None
        if restart_after_us is not None:
            self.loop.call_later(restart_after_us, self.start)

    def _deliver(self, incarnation: int, kind: Kind, change: Change) -> None:
        if incarnation == self._incarnation and self.operator is not None:
            self.operator.deliver(kind, change.event, change.object, self.loop.now_us)
            self._poll(incarnation)

    def _poll(self, incarnation: int) -> None:
        if incarnation != self._incarnation or self.operator is None:
            return
        while (pending := self.operator.poll(self.loop.now_us)) is not None:
            self.loop.call_later(self.latency_us, self._send, incarnation, pending)
        if self._wake is not None:
            self._wake.cancel()
        at_us = self.operator.wake_at_us()
        is_ahead = at_us is not None and at_us > self.loop.now_us  # else a reply will poll again
        self._wake = self.loop.call_at(at_us or 0, self._poll, incarnation) if is_ahead else None

    def _send(self, incarnation: int, pending: Pending) -> None:
        if incarnation != self._incarnation or self.operator is None:
            return
        number = len(self.requests)
        self.requests.append(pending.request)
        if number in self.crash_before:
            self.kill()
            return
        reply: Any = self.spoil(pending.request, number)
        if reply is None:
            try:
                reply = self._client(pending.request)
            except ApiError as error:
                reply = error
        if number in self.crash_after:
            self.kill()
            return
        if number in self.lose_reply_of:
            reply = no_answer("the reply was lost")
        self.operator.answer(pending.ticket, reply, self.loop.now_us)
        self._poll(incarnation)

    # what tests ask

    def patch_object(self, kind: Kind, name: str, body: Object) -> None:
        self.user(rq.Patch(kind, NAMESPACE if kind.namespaced else "", name, body))

    def get(self, kind: Kind, name: str) -> Object | None:
        try:
            found: Object = self.user(rq.Get(kind, NAMESPACE, name))
        except ApiError:
            return None
        return found

    def events(self, namespace: str = NAMESPACE) -> list[str]:
        return [event["message"] for event in self.user(rq.List(EVENT, namespace)).items]

    def until(self, done: Callable[[], bool], within_us: Micros = 3600 * SECOND) -> bool:
        reached = self.loop.run_until(done, self.loop.now_us + within_us)
        if self.operator is not None and self.operator.crashes:
            raise self.operator.crashes[0]
        if self.crashes:
            raise self.crashes[0]
        return reached

    def run_for(self, span_us: Micros) -> None:
        self.loop.run_for(span_us)

    def snapshots(self, kind: Kind, name: str) -> list[Change]:
        return [
            change
            for change in self.cluster.store.changes
            if change.key.kind == str(kind) and change.key.name == name
        ]
