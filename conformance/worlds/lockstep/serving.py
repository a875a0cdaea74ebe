"""The requests of one program, with the places and rules of the simulated connection."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from chaos.connection_rules import ConnectionRules
from chaos.ground import Break, Freeze, NoAnswer, Refuse, Slow, WatchRule
from chaos.happening import Happening, Place
from clusters.go_time.lockstep_patches import DNS_SERVER
from clusters.simulated.api_server import ApiServer
from clusters.simulated.latencies import READ_US, WRITE_US, drawn
from clusters.simulated.loop import Loop, Timer
from clusters.simulated.serve import events
from clusters.simulated.serve.answering import (
    JSON,
    OPEN_PATHS,
    answer_list,
    answer_one,
    document,
    event_renderer,
    media_type_of,
)
from clusters.simulated.serve.clock import ServedClock
from clusters.simulated.serve.requests import Call, in_json, request_of, watch_request
from clusters.simulated.serve.routing import PlainTextError, Route, route
from clusters.simulated.serve.traffic import Traffic
from conformance.worlds.lockstep.http_connection import CONNECT, TUNNELLED, HttpConnection
from conformance.worlds.lockstep.http_watch import HttpWatch
from conformance.worlds.lockstep.outgoing import CONNECTED, Outgoing
from conformance.worlds.simulated.connection import Connection
from vocabulary.clock import Micros
from vocabulary.errors import ApiError
from vocabulary.requests import WRITES, List, Request

_REBUILT: Final = ApiError(503, "ServiceUnavailable", "the watch cache is rebuilt")
_READS: Final = ("GET", CONNECT, TUNNELLED)
FROM_CACHE: Final = "0"
"""The resourceVersion of a list that may come out of the watch cache: informers ask like that."""


class Served:
    """The cluster as responses need it. There is one thread only, so its lock is free."""

    tells_managers = False
    """Larger responses change when a program collects its garbage, and with that, by seconds, when
    a run ends."""

    def __init__(self, api: ApiServer, loop: Loop, port: int) -> None:
        self.api = api
        self.loop = loop
        self.lock = threading.RLock()
        self.clock = ServedClock(loop, self.lock, "advanced")
        self.traffic = Traffic()
        self.port = port


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request, and where its answer goes."""

    connection: HttpConnection
    call: Call
    incarnation: int
    """The process that asked; one that is restarted never sees the answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A response, and what came of the write that it answers."""

    code: int
    body: Any
    outcome: Happening | None = None
    media_type: str = JSON
    warnings: Sequence[str] = ()


def _error(
    error: ApiError, outcome: Happening | None = None, warnings: Sequence[str] = ()
) -> Answer:
    return Answer(error.code or 500, error.to_status(), outcome, warnings=warnings)


class Serving:
    """Carries one program's requests to the API server, and its watches' events back."""

    def __init__(
        self,
        name: str,
        stream: str,
        served: Served,
        connection: Connection,
        outgoing: Outgoing,
        reach: Callable[[Callable[[], None]], None],
        only_polls: Callable[[], bool],
    ) -> None:
        """`stream` names the random streams; `reach` lets something arrive at the program, now or
        once it runs again; `only_polls` returns True while it has long had nothing to do."""
        self.name = name
        self.stream = stream
        self.connection = connection
        self._outgoing = outgoing
        self.reach = reach
        self.only_polls = only_polls
        self.api = served.api
        self.loop = served.loop
        self._served = served
        self._incarnation = 0
        self._in_flight = 0
        self._on_way: deque[Timer] = deque()
        self._watches: dict[HttpWatch, None] = {}
        self._frozen: list[tuple[WatchRule, int]] = []
        self._gaps: list[tuple[WatchRule, Micros]] = []
        """Rules that broke watches off, each with the time until which lists are refused."""
        self.is_aside = False
        """True while the program answers a webhook: others stand still, and what it asks for
        meanwhile is answered at once."""

    @property
    def rules(self) -> ConnectionRules:
        return self.connection.rules

    @property
    def is_idle(self) -> bool:
        """True if nothing is on its way, in either direction."""
        return not self._in_flight and not any(each.undelivered for each in self._watches)

    def end(self) -> None:
        """The program is gone: what is on its way never arrives."""
        self._incarnation += 1
        self._in_flight = 0
        for watch in self._watches:
            watch.stop()
        self._watches.clear()

    # Rules.

    def on_watch_rule(self, rule: WatchRule, holds: bool) -> None:
        """A rule for watches came or went; those it matches act on it."""
        if isinstance(rule.effect, Freeze) and holds:
            self._frozen.append((rule, self.api.store.revision))
        elif isinstance(rule.effect, Freeze):
            self._frozen.remove(next(entry for entry in self._frozen if entry[0] == rule))
        elif isinstance(rule.effect, Break) and holds:
            self._gaps.append((rule, self.loop.now_us + rule.effect.gap_us))
        for watch in tuple(self._watches):
            if rule.matches(self.name, watch.kind):
                watch.on_rule(rule, holds)

    def frozen_at(self, kind: str) -> int | None:
        """The revision at which the watch cache of a kind hangs; None if it does not."""
        return min((at for rule, at in self._frozen if rule.matches(self.name, kind)), default=None)

    def _refuses_lists(self, kind: str) -> bool:
        return any(
            until_us > self.loop.now_us and rule.matches(self.name, kind)
            for rule, until_us in self._gaps
        )

    # What is on its way.

    def carry(self, at_us: Micros, arrive: Callable[..., None], *args: Any) -> None:
        """Have a request, a response or an event arrive at a time."""
        on_way = self._on_way
        while on_way and on_way[0].callback is None:
            on_way.popleft()
        on_way.append(self.loop.call_at(at_us, arrive, *args))

    def next_arrival(self) -> Timer | None:
        """The first of those on their way."""
        on_way = (timer for timer in self._on_way if timer.callback is not None)
        return min(on_way, key=lambda timer: timer.at_us, default=None)

    # Requests.

    def receive(self, connection: HttpConnection, call: Call) -> None:
        """A request leaves the program."""
        self._in_flight += 1
        exchange = Exchange(connection, call, self._incarnation)
        if self.is_aside:
            self._send(exchange)
        else:
            way = READ_US if call.method in _READS else WRITE_US
            self.carry(self.loop.now_us + self._delay_us(call, way), self._send, exchange)

    def _is_waited_for(self, exchange: Exchange) -> bool:
        return exchange.incarnation == self._incarnation

    def _delay_us(self, call: Call, way: Sequence[Micros]) -> Micros:
        """How long a request, or its response, is on its way, drawn from these quantiles.

        The draws of one path are independent of those of others: which of two requests at the same
        moment leaves the program first makes no difference.
        """
        if self.is_aside:
            return 0
        draw = self.loop.rng(f"latency/{self.stream}/{call.method} {call.path}").random
        return drawn(way, draw)

    def _send(self, exchange: Exchange) -> None:
        """The request reaches the server, unless something lies between."""
        if not self._is_waited_for(exchange):
            return
        if exchange.call.method == CONNECT:
            code = self._outgoing.connect(exchange.call.path, self.loop.now_us)
            if code == CONNECTED and exchange.call.path != DNS_SERVER:
                exchange.connection.lead_to(exchange.call.path)
            self._reply(exchange, Answer(code, ""))
            return
        if address := exchange.connection.leads_to:
            status, body = self._outgoing.answer(address, exchange.call, self.loop.now_us)
            self._reply(exchange, Answer(status, body))
            return
        if exchange.call.method == TUNNELLED:
            self._tell(exchange, self._outgoing.resolve(exchange.call.body, self.loop.now_us))
            return
        if exchange.call.path in OPEN_PATHS:
            self._reply(exchange, Answer(200, "ok"))
            return
        try:
            proxied = self._outgoing.proxied(exchange.call, self.name, self.loop.now_us)
            if proxied is not None:
                self._reply(exchange, Answer(*proxied))
                return
            call = in_json(exchange.call)
            found = document(call, self._served)
            if found is not None:
                self._reply(exchange, Answer(200, found, media_type=media_type_of(found)))
                return
            call, back = events.as_core(call)
            target = route(call.path, self.api.strategies)
            if call.method == "GET" and (target.watch or (call.flag("watch") and not target.name)):
                self._watch(exchange, call, target, back)
                return
            request = request_of(call, target, self.api.strategies[str(target.kind)])
        except ApiError as error:
            self._reply(exchange, _error(error))
        except PlainTextError as refusal:
            self._reply(exchange, Answer(refusal.code, refusal.text))
        else:
            self._pass_on(exchange, request, lambda: self._carry(call, target, request, back))

    def _pass_on(self, exchange: Exchange, request: Request, carry: Callable[[], Answer]) -> None:
        if isinstance(request, WRITES):
            self.connection.pass_by(Place.BEFORE_COMMIT, self.name, request)
            if not self._is_waited_for(exchange):
                return
        effect = self.rules.meets(self.name, request)
        delay_us = self._delay_us(exchange.call, READ_US)
        match effect:
            case Refuse():
                seconds = effect.retry_after_seconds
                details = {"retryAfterSeconds": seconds} if seconds else None
                refused = ApiError(effect.code, effect.reason, effect.message, details)
                self._later(delay_us, exchange, _error(refused))
                return
            case NoAnswer(reached=reached, after_us=after_us):
                if reached:
                    carry()
                if self._is_waited_for(exchange):
                    self.loop.call_later(after_us, self._hang_up, exchange)
                return
            case Slow():
                delay_us += effect.by_us
        answer = carry()
        if self._is_waited_for(exchange):  # else the commit set off a fault that ended it
            self._later(delay_us, exchange, answer)

    def _carry(self, call: Call, target: Route, request: Request, back: events.Back) -> Answer:
        """Have it carried out."""
        kind = target.kind.group_kind
        if isinstance(request, List):
            if self._refuses_lists(kind):
                return _error(_REBUILT)
            call = self._travelled_back(call, kind)
        self.connection.begin()
        try:
            if isinstance(request, List):
                code, body = 200, answer_list(call, target, self.name, self._served)
            else:
                code, body = answer_one(call, target, self.name, self._served)
        except ApiError as error:
            return _error(error, self._outcome(request), call.warnings)
        return Answer(code, back(body), self._outcome(request), warnings=call.warnings)

    def _outcome(self, request: Request) -> Happening | None:
        return self.connection.take_outcome() if isinstance(request, WRITES) else None

    def _travelled_back(self, call: Call, kind: str) -> Call:
        """A list out of a frozen watch cache shows the past; one out of the store never does."""
        revision = self.frozen_at(kind)
        if revision is None or call.query.get("resourceVersion") != FROM_CACHE:
            return call
        exact = {"resourceVersion": str(revision), "resourceVersionMatch": "Exact"}
        return Call(call.method, call.path, {**call.query, **exact}, call.headers, call.body)

    def _later(self, delay_us: Micros, exchange: Exchange, answer: Answer) -> None:
        if delay_us:
            self.carry(self.loop.now_us + delay_us, self._reply, exchange, answer)
        else:
            self._reply(exchange, answer)

    def _reply(self, exchange: Exchange, answer: Answer) -> None:
        if not self._is_waited_for(exchange):
            return
        outcome = answer.outcome
        if outcome is not None:
            self.connection.tell(outcome._replace(place=Place.BEFORE_REPLY))

        def arrive() -> None:
            if not self._is_waited_for(exchange):
                return
            self._in_flight -= 1
            exchange.connection.respond(
                answer.code, answer.body, answer.media_type, answer.warnings
            )
            if outcome is not None:
                self.connection.tell(outcome._replace(place=Place.AFTER_REPLY))

        self.reach(arrive)

    def _tell(self, exchange: Exchange, data: bytes) -> None:
        """The answer to what is no request of HTTP."""

        def arrive() -> None:
            if self._is_waited_for(exchange):
                self._in_flight -= 1
                exchange.connection.send(data)

        self.reach(arrive)

    def _hang_up(self, exchange: Exchange) -> None:
        """No answer comes: the connection ends."""
        if not self._is_waited_for(exchange):
            return
        self._in_flight -= 1
        self.reach(exchange.connection.hang_up)

    def _watch(self, exchange: Exchange, call: Call, target: Route, back: events.Back) -> None:
        request = watch_request(call, target)
        self.api.access.authorize(request, self.name)
        if request.initial_events and self._refuses_lists(str(request.kind)):
            raise _REBUILT
        self._in_flight -= 1
        for each in [watch for watch in self._watches if watch.is_over]:
            del self._watches[each]
        render = event_renderer(call, target, self._served)
        timeout_seconds = call.integer("timeoutSeconds")
        self.reach(
            lambda: self._watches.setdefault(
                HttpWatch(
                    self,
                    exchange.connection,
                    request,
                    lambda event, obj: back(render(event, obj)),
                    timeout_seconds,
                )
            )
        )
