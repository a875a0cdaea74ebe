"""Faults on a served cluster: rules between clients and the API server, and the ground.

A delay is one of virtual time: a request that a fault holds waits in its connection until the test
has advanced the clock so far. Nothing else of a fault takes time.
"""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from chaos.connection_rules import ConnectionRules
from chaos.ground import Break, Freeze, NoAnswer, Refuse, Rule, Slow, WatchRule
from clusters.simulated.cluster import SimulatedCluster
from clusters.simulated.serve.requests import Call, request_of
from clusters.simulated.serve.routing import Route
from clusters.simulated.serve.server import ServedCluster
from clusters.simulated.serve.traffic import HungUpError
from clusters.simulated.watches import Deliver, EventType
from conformance.worlds.simulated.processes import GroundProcesses
from vocabulary.clock import Micros
from vocabulary.errors import ApiError
from vocabulary.history import OPERATOR
from vocabulary.objects import Object
from vocabulary.requests import List, Request, as_served

T = TypeVar("T")

LOOK_SECONDS: Final = 0.2
"""How often a request that is held looks whether the cluster is still served."""
_GONE: Final = ApiError(410, "Expired", "too old resource version")
_FROM_CACHE: Final = "0"
"""The resourceVersion of a list that may come out of the watch cache."""


class ServedGround:
    """Implements `chaos.ground.Ground`. Its methods are called with the cluster's lock held."""

    namespace = "default"

    def __init__(self, cluster: SimulatedCluster, rules: ConnectionRules) -> None:
        self._cluster = cluster
        self.processes = GroundProcesses(cluster.processes)
        self.connection = rules
        self._roles = [OPERATOR]

    @property
    def roles(self) -> tuple[str, ...]:
        return tuple(self._roles)

    def add_role(self, role: str) -> None:
        """A program of this role is run."""
        if role not in self._roles:
            self._roles.append(role)

    def concerned(self, kind: str) -> Sequence[str]:  # noqa: ARG002 - nothing is known of programs
        return self.roles

    def call(self, request: Request, actor: str = "chaos") -> Any:
        api = self._cluster.api
        return api.handle(as_served(request, api.served(request.kind), self.namespace), actor)

    def rng(self, name: str) -> random.Random:
        return self._cluster.loop.rng(name)

    def elapsed_us(self) -> Micros:
        return self._cluster.loop.elapsed_us


class FaultGate:
    """Implements `clusters.simulated.serve.traffic.Gate`."""

    def __init__(self, served: ServedCluster) -> None:
        self.rules = ConnectionRules(self._on_rule)
        self.reached: set[str] = set()
        """The actors that have sent a request."""
        self._served = served
        self._watches: dict[_RuledWatch, None] = {}
        self._frozen: list[tuple[WatchRule, int]] = []
        """Watch caches that hang, each with the store's revision when it began to."""
        self._gaps: list[tuple[WatchRule, Micros]] = []
        """Rules that broke watches off, each with the time from which lists are answered again."""

    def carry(self, actor: str, call: Call, target: Route, carry: Callable[[Call], T]) -> T:
        self.reached.add(actor)
        served = self._served
        with served.lock:
            if not self.rules.rules and not self._gaps:
                return carry(call)
            strategy = served.api.strategies[str(target.kind)]
            request = request_of(call, target, strategy)
            effect = self.rules.meets(actor, request)
            if isinstance(request, List):
                call = self._travelled_back(actor, call, target.kind.group_kind)
                gap_us = self._gap_us(actor, target.kind.group_kind)
            else:
                gap_us = 0
        self._wait(gap_us)
        match effect:
            case Refuse():
                seconds = effect.retry_after_seconds
                details = {"retryAfterSeconds": seconds} if seconds else None
                raise ApiError(effect.code, effect.reason, effect.message, details)
            case NoAnswer():
                if effect.reached:
                    carry(call)
                self._wait(effect.after_us)
                raise HungUpError
            case Slow():
                answer = carry(call)
                self._wait(effect.by_us)
                return answer
        return carry(call)

    def _wait(self, span_us: Micros) -> None:
        """Wait until so much virtual time has passed; the client waits in real time."""
        if span_us <= 0:
            return
        due = threading.Event()
        traffic = self._served.traffic

        def let_go() -> None:
            traffic.let_go()
            due.set()

        with self._served.lock:
            self._served.loop.call_later(span_us, let_go)
            traffic.hold()
        while not due.wait(LOOK_SECONDS):
            if self._served.stopped.is_set():
                raise HungUpError

    def watch(self, actor: str, target: Route, deliver: Deliver) -> _RuledWatch:
        self.reached.add(actor)
        watch = _RuledWatch(self, actor, target.kind.group_kind, deliver)
        self._watches[watch] = None
        return watch

    def has_clients_beside(self, actor: str) -> bool:
        """True if another actor has sent requests, or anybody watches."""
        return bool(self._watches) or bool(self.reached - {actor})

    def forget(self, watch: _RuledWatch) -> None:
        """The client of a watch is gone."""
        self._watches.pop(watch, None)

    # Rules for watches.

    def _on_rule(self, rule: Rule, holds: bool) -> None:
        if not isinstance(rule, WatchRule):
            return
        if isinstance(rule.effect, Freeze) and holds:
            self._frozen.append((rule, self._served.api.store.revision))
        elif isinstance(rule.effect, Freeze):
            self._frozen.remove(next(entry for entry in self._frozen if entry[0] == rule))
        elif isinstance(rule.effect, Break) and holds:
            self._gaps.append((rule, self._served.loop.now_us + rule.effect.gap_us))
        for watch in tuple(self._watches):
            if rule.matches(watch.actor, watch.kind):
                watch.on_rule(rule, holds)

    def frozen_at(self, actor: str, kind: str) -> int | None:
        """The revision at which the watch cache of a kind hangs; None if it does not."""
        return min((at for rule, at in self._frozen if rule.matches(actor, kind)), default=None)

    def _gap_us(self, actor: str, kind: str) -> Micros:
        """How long lists of a kind are held, since its watch broke off."""
        now_us = self._served.loop.now_us
        self._gaps = [(rule, until_us) for rule, until_us in self._gaps if until_us > now_us]
        return max(
            (until_us - now_us for rule, until_us in self._gaps if rule.matches(actor, kind)),
            default=0,
        )

    def _travelled_back(self, actor: str, call: Call, kind: str) -> Call:
        """A list out of a frozen watch cache shows the past; one out of the store never does."""
        revision = self.frozen_at(actor, kind)
        if revision is None or call.query.get("resourceVersion") != _FROM_CACHE:
            return call
        exact = {"resourceVersion": str(revision), "resourceVersionMatch": "Exact"}
        return Call(call.method, call.path, {**call.query, **exact}, call.headers, call.body)

    def loop_at(self, at_us: Micros, arrive: Callable[..., None], *args: Any) -> None:
        """Have something happen at a time."""
        self._served.loop.call_at(at_us, arrive, *args)

    @property
    def now_us(self) -> Micros:
        return self._served.loop.now_us


class _RuledWatch:
    """A client's watch, whose events faults hold back, delay or break off."""

    def __init__(self, gate: FaultGate, actor: str, kind: str, deliver: Deliver) -> None:
        self.actor = actor
        self.kind = kind
        self._gate = gate
        self._deliver = deliver
        self._last_us: Micros = 0
        self._late: deque[tuple[EventType, Object]] = deque()
        self._held: deque[tuple[EventType, Object]] = deque()
        self._is_over = False

    def deliver(self, event: EventType, obj: Object) -> None:
        delay_us = self._gate.rules.watch_delay_us(self.actor, self.kind)
        if not delay_us and not self._late:
            self._arrive(event, obj)
            return
        self._last_us = max(self._last_us, self._gate.now_us + delay_us)
        self._late.append((event, obj))
        self._gate.loop_at(self._last_us, self._arrive_late)

    def _arrive_late(self) -> None:
        self._arrive(*self._late.popleft())

    def _arrive(self, event: EventType, obj: Object) -> None:
        if self._is_over:
            return
        if self._held or self._gate.frozen_at(self.actor, self.kind) is not None:
            self._held.append((event, obj))
        else:
            self._deliver(event, obj)

    def on_rule(self, rule: WatchRule, holds: bool) -> None:
        """A rule came or went: break off now, or let out what was held back."""
        if isinstance(rule.effect, Break) and holds:
            self._deliver("ERROR", _GONE.to_status())
            self.end()
        elif isinstance(rule.effect, Freeze) and not holds:
            while self._held and self._gate.frozen_at(self.actor, self.kind) is None:
                self._deliver(*self._held.popleft())

    def end(self) -> None:
        self._is_over = True
        self._gate.forget(self)
