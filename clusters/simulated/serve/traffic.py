"""Requests and watch events on their way: how a clock knows that its clients have reacted.

Clients of a served cluster live in real time. Before virtual time goes on, they get the chance to
react to the last change: `settle` waits until nothing has been on its way, and no program has been
at work, for a span of real time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol, TypeVar

from clusters.simulated.serve.requests import Call
from clusters.simulated.serve.routing import Route
from clusters.simulated.watches import Deliver, EventType
from vocabulary.objects import Object

T = TypeVar("T")

LOOK_SECONDS: Final = 0.01
PATIENCE_SECONDS: Final = 60.0
_MOST_STARVED: Final = 9
"""In how many times the patience starvation may last: who computes forever starves, too, where
others compute."""


class HungUpError(Exception):
    """The connection ends without an answer."""


class UnsettledError(Exception):
    """Clients were still at work when the patience was over; the message says which."""


class Ruled(Protocol):
    """A watch with something between it and its client."""

    def deliver(self, event: EventType, obj: Object) -> None:
        """An event comes from the API server."""

    def end(self) -> None:
        """Its client is gone."""


class Gate(Protocol):
    """Something between clients and the API server, such as faults."""

    def carry(self, actor: str, call: Call, target: Route, carry: Callable[[Call], T]) -> T:
        """Have a request carried out, which may be another one, late or not at all; called without
        the cluster's lock. Raises ApiError, and HungUpError for no answer."""

    def watch(self, actor: str, target: Route, deliver: Deliver) -> Ruled:
        """The way of a watch's events to its client."""


class Traffic:
    """Counts the requests and events that are on their way, of all clients together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._delivered = threading.Condition(self._lock)
        self._requests = 0
        self._events = 0
        self._moved_s = time.monotonic()
        self.has_news = False
        """True if a client has had something to react to since the last `settle` began."""

    @contextmanager
    def request(self) -> Iterator[None]:
        """A request is on its way."""
        self._count(requests=1)
        try:
            yield
        finally:
            self._count(requests=-1)

    def note(self) -> None:
        """A client has something to react to."""
        self.has_news = True

    def hold(self) -> None:
        """From now on, only virtual time can let a request go on."""
        self._count(requests=-1)

    def let_go(self) -> None:
        """A request that was held goes on."""
        self._count(requests=1)
        self.note()

    def queued(self) -> None:
        """An event waits for being written to its client."""
        self.note()
        self._count(events=1)

    def written(self, events: int = 1) -> None:
        """Events have been written, or never will be."""
        self._count(events=-events)

    def await_delivery(self, seconds: float) -> None:
        """Wait until no event waits for being written to its client, but no longer."""
        with self._delivered:
            self._delivered.wait_for(lambda: not self._events, seconds)

    def _count(self, *, requests: int = 0, events: int = 0) -> None:
        with self._lock:
            self._requests += requests
            self._events += events
            self._moved_s = time.monotonic()
            if events < 0 and not self._events:
                self._delivered.notify_all()

    def settle(
        self,
        reaction_s: float,
        busy: Callable[[], str] = str,
        patience_s: float = PATIENCE_SECONDS,
        starved_s: Callable[[], float] = float,
    ) -> None:
        """Wait until all has been quiet for `reaction_s`.

        `busy` says what is at work besides; empty: nothing. UnsettledError after `patience_s`, of
        which the time does not count that programs have waited for a processor: `starved_s`, in
        all their threads together.
        """
        self.has_news = False
        began_s = looked_s = time.monotonic()
        moved_s, quiet_s, late_s = 0.0, 0.0, 0.0
        starving = _Starvation(starved_s, began_s)
        while quiet_s < reaction_s:
            why = busy() or self._on_way()
            now_s = time.monotonic()
            if why or moved_s != self._moved_s:
                moved_s, quiet_s = self._moved_s, 0.0
            else:
                # On a busy machine, clients may not have run while this thread did not.
                quiet_s += min(now_s - looked_s, 2 * LOOK_SECONDS)
            looked_s = now_s
            late_s = min(late_s + starving.since(now_s), _MOST_STARVED * patience_s)
            if now_s - began_s - late_s > patience_s:
                raise UnsettledError(
                    f"clients were not quiet for {reaction_s:g} s within {patience_s:g} s: "
                    f"{why or 'their requests follow each other faster'}"
                )
            time.sleep(LOOK_SECONDS)

    def _on_way(self) -> str:
        with self._lock:
            if self._requests:
                return f"{self._requests} requests are being answered"
            return f"{self._events} watch events wait for their clients" if self._events else ""


class _Starvation:
    """Looks every second at how long programs have waited for a processor: it takes many reads."""

    def __init__(self, starved_s: Callable[[], float], now_s: float) -> None:
        self._read = starved_s
        self._looked_s = now_s
        self._total_s = starved_s()

    def since(self, now_s: float) -> float:
        """How much of the time since the last look they have waited."""
        past_s = now_s - self._looked_s
        if past_s < 1:
            return 0.0
        before_s, self._total_s, self._looked_s = self._total_s, self._read(), now_s
        return min(max(self._total_s - before_s, 0.0), past_s)
