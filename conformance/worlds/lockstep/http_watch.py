"""A watch of a program: the events of one kind, in order, each after a seeded lag."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from chaos.ground import Break, Freeze, WatchRule
from chaos.happening import Happening, Place
from clusters.simulated.latencies import EVENT_US, drawn
from clusters.simulated.watches import EventType, Watch, WatchRequest
from conformance.worlds.lockstep.http_connection import HttpConnection
from vocabulary.clock import HOUR, SECOND
from vocabulary.errors import ApiError
from vocabulary.objects import Object, name_of, namespace_of

if TYPE_CHECKING:
    from conformance.worlds.lockstep.serving import Serving

LONGEST_SECONDS: Final = 1_800
"""How long a watch lasts whose client names no time."""
IDLE_US: Final = HOUR
"""How much longer a watch lasts while its program only polls."""
_GONE: Final = ApiError(410, "Expired", "too old resource version")


class _Told(NamedTuple):
    """An event on its way."""

    event: EventType
    object: Object
    old: Object | None


class HttpWatch:
    """Begun once its request has arrived; ends by its timeout, by a fault or with its program."""

    def __init__(
        self,
        serving: Serving,
        connection: HttpConnection,
        request: WatchRequest,
        render: Callable[[EventType, Object], Any],
        timeout_seconds: int,
    ) -> None:
        self.kind = str(request.kind)
        self._serving = serving
        self._connection = connection
        self._render = render
        loop = self._loop = serving.loop
        self._lag = loop.rng(f"lag/{serving.stream}/{request.kind}").random
        self._last_us = loop.now_us
        self._held: deque[_Told] = deque()
        """Events that have arrived while the watch is frozen."""
        self._known: dict[tuple[str, str], Object] = {}
        self._is_over = False
        self.undelivered = 0
        self._watch: Watch = serving.api.watch(request, self._on_event)
        connection.begin_stream()
        self._watch.start()
        loop.call_later(
            (timeout_seconds or LONGEST_SECONDS) * SECOND, self._time_is_up, background=True
        )

    @property
    def is_over(self) -> bool:
        return self._is_over

    def stop(self) -> None:
        """No more events: its program is gone."""
        self._is_over = True
        self._watch.stop()
        self.undelivered = 0
        self._held.clear()

    def on_rule(self, rule: WatchRule, holds: bool) -> None:
        """A rule came or went: break off now, or let out what was held back."""
        if isinstance(rule.effect, Break) and holds:
            self._break_off()
        elif isinstance(rule.effect, Freeze) and not holds and not self._is_frozen:
            while self._held:
                self._deliver(self._held.popleft())

    @property
    def _is_frozen(self) -> bool:
        return self._serving.frozen_at(self.kind) is not None

    def _on_event(self, event: EventType, obj: Object) -> None:
        key = namespace_of(obj), name_of(obj)
        told = _Told(event, obj, self._known.get(key))
        if event == "DELETED":
            self._known.pop(key, None)
        elif event != "BOOKMARK":
            self._known[key] = obj
        lag_us = drawn(EVENT_US, self._lag)
        lag_us += self._serving.rules.watch_delay_us(self._serving.name, self.kind)
        self._last_us = max(self._last_us, self._loop.now_us + lag_us)
        self.undelivered += 1
        self._serving.carry(self._last_us, self._arrive, told)

    def _arrive(self, told: _Told) -> None:
        if not self._connection.is_open:  # its client has ended it
            self.stop()
        if self._is_over:
            return
        if self._held or self._is_frozen:
            self._held.append(told)
        else:
            self._deliver(told)

    def _deliver(self, told: _Told) -> None:
        self.undelivered -= 1
        self._tell(Place.BEFORE_DELIVERY, told)

        def deliver() -> None:
            if self._is_over:
                return
            shown = self._render(told.event, told.object)
            self._connection.write_line({"type": told.event, "object": shown})
            self._tell(Place.AFTER_DELIVERY, told)

        self._serving.reach(deliver)

    def _tell(self, place: Place, told: _Told) -> None:
        if told.event in ("BOOKMARK", "ERROR"):
            return
        self._serving.connection.tell(
            Happening(
                place=place,
                actor=self._serving.name,
                verb="",
                kind=self.kind,
                namespace=namespace_of(told.object),
                name=name_of(told.object),
                event=told.event,  # type: ignore[arg-type]  # the others are left out above
                object=told.object,
                old=told.old,
            )
        )

    def _break_off(self) -> None:
        self._end({"type": "ERROR", "object": _GONE.to_status()})

    def _time_is_up(self) -> None:
        if self.undelivered:  # what is on its way arrives first
            self._loop.call_at(self._last_us + 1, self._time_is_up)
        elif not self._is_over and self._serving.only_polls():
            self._loop.call_later(IDLE_US, self._time_is_up, background=True)
        else:
            self._end(None)

    def _end(self, last: Any) -> None:
        if self._is_over:
            return
        self.stop()
        self._serving.reach(lambda: self._connection.end_stream(last))
