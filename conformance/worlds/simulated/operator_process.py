"""The operator as a process of the simulated cluster: caches that lag, requests that take time.

An `Operator` is a state machine without I/O. This driver gives it what a process has: an
informer per kind whose events arrive late (each kind by its own seeded lag, so kinds are not
ordered among each other), a connection on which every request takes a while, and a life
that can end between any two of its requests. A restart begins with empty caches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from chaos.ground import Break, Freeze, NoAnswer, Refuse, Slow, WatchRule
from chaos.happening import Happening, Place
from clusters.simulated.latencies import EVENT_US, READ_US, WRITE_US, drawn
from clusters.simulated.loop import Loop, Timer
from clusters.simulated.store import Change, Store
from conformance.worlds.simulated.connection import Connection
from reference_controller.runtime.operator import Operator, Pending
from vocabulary.clock import MILLISECOND, SECOND, Micros
from vocabulary.errors import ApiError, no_answer
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION, Kind
from vocabulary.requests import WRITES, List, ObjectList

START_UP_US: Final = 50 * MILLISECOND
RELIST_RETRY_US: Final = 1 * SECOND
FAST_WAKES: Final = 500
"""An operator that has woken so often in a row, with nothing written by anybody, is only polling.
From then on it wakes no more often than once in each second, as one would with other work to do."""
LEAST_POLL_US: Final = 1 * SECOND


class OperatorProcess:
    """One operator process, through all its incarnations."""

    def __init__(
        self,
        name: str,
        build: Callable[[Micros], Operator],
        *,
        loop: Loop,
        store: Store,
        connection: Connection,
        on_crash: Callable[[str, Exception], None],
        stream: str,
    ) -> None:
        """`on_crash` is called with (name, exception) for each reconcile that ended in a bug;
        `stream` names its random streams."""
        self.name = name
        self.stream = stream
        self._on_crash = on_crash
        self._connection = connection
        self._build = build
        self._loop = loop
        self._store = store
        self._latency = loop.rng(f"latency/{stream}").random
        self._operator: Operator | None = None
        self._incarnation = 0
        self.running = False
        self.paused = False
        self._backlog: list[Callable[[], None]] = []
        self._informers: dict[Kind, _Informer] = {}
        self._wake: Timer | None = None
        self._idle_wakes = 0
        """How often it has woken by its own timers since the store last changed, or it last tried
        to write."""
        self._idle_revision = 0
        self._in_flight = 0
        self._frozen: list[tuple[WatchRule, int]] = []
        """Watch caches that hang, and the store's revision when they began to."""

    # Life: what `clusters.simulated.processes` asks of a process, and records.

    def start(self) -> None:
        """Start a new incarnation, with empty memory; nothing happens if one is running."""
        if self._operator is not None:
            return
        self._incarnation += 1
        self._idle_wakes = 0
        self.running = True
        self._operator = operator = self._build(self._loop.now_us)
        for kind in operator.watches:
            self._watch(kind, START_UP_US)
        self._pump()

    def kill(self) -> None:
        """End the incarnation at once: memory, caches and unanswered requests are lost."""
        if self._operator is not None:
            vars(self._operator).clear()  # its parts hold each other
            self._operator = None
        self.running = self.paused = False
        self._incarnation += 1
        self._in_flight = 0
        self._backlog = []
        for informer in self._informers.values():
            informer.stop()
        self._informers = {}
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None

    def stop(self, ended: Callable[[], None]) -> None:
        """It has nothing to put in order."""
        self.kill()
        ended()

    def pause(self) -> None:
        """Stop its execution, as SIGSTOP does: what arrives meanwhile waits."""
        self.paused = self._operator is not None

    def resume(self) -> None:
        """Let it run on, with whatever it believed when it was paused."""
        if not self.paused:
            return
        self.paused = False
        backlog, self._backlog = self._backlog, []
        for arrived in backlog:
            arrived()
        self._pump()

    @property
    def leads(self) -> bool:
        """True if it is up and believes that it leads; without election, every operator leads."""
        return self._operator is not None and self._operator.leads

    @property
    def only_polls(self) -> bool:
        """True if it has woken many times in a row with nothing to do."""
        return self._idle_wakes > FAST_WAKES and self._idle_revision == self._store.revision

    def is_idle(self) -> bool:
        """True if it neither waits for anything nor means to do anything later, but to poll."""
        operator = self._operator
        if operator is None:
            return True
        return self._awaits_nothing(operator) and (
            self.only_polls or operator.work_due_us() is None
        )

    def only_retries(self) -> bool:
        """True if it waits for nothing but the back-offs of reconciles that failed, if anything."""
        operator = self._operator
        return operator is None or (self._awaits_nothing(operator) and operator.only_retries)

    @property
    def wake(self) -> Timer | None:
        """The timer of its next wake."""
        return self._wake

    def _awaits_nothing(self, operator: Operator) -> bool:
        """True if nothing is on its way to it, and it is able to take what comes."""
        return (
            operator.is_synced
            and not self._in_flight
            and not self.paused
            and not any(informer.has_undelivered for informer in self._informers.values())
        )

    # Events.

    def on_watch_rule(self, rule: WatchRule, holds: bool) -> None:
        """A rule for watches came or went; those it matches act on it."""
        if isinstance(rule.effect, Freeze) and holds:
            self._frozen.append((rule, self._store.revision))
        elif isinstance(rule.effect, Freeze):
            self._frozen.remove(next(entry for entry in self._frozen if entry[0] == rule))
        for kind, informer in self._informers.items():
            if rule.matches(self.name, str(kind)):
                informer.on_rule(rule, holds)

    def frozen_at(self, kind: str) -> int | None:
        """The revision at which the watch cache of a kind hangs; None if it does not."""
        if not self._frozen:
            return None
        revisions = (at for rule, at in self._frozen if rule.matches(self.name, kind))
        return min(revisions, default=None)

    def receive(self, incarnation: int, act: Callable[[Operator, Micros], None]) -> None:
        """Something has arrived for an incarnation: act on it, or queue it while paused."""
        operator = self._operator
        if operator is None or incarnation != self._incarnation:
            return
        if self.paused:
            self._backlog.append(lambda: self.receive(incarnation, act))
            return
        act(operator, self._loop.now_us)
        self._pump()

    def _pump(self) -> None:
        operator = self._operator
        if operator is None or self.paused:
            return
        now_us = self._loop.now_us
        while (pending := operator.poll(now_us)) is not None:
            self._in_flight += 1
            way = WRITE_US if isinstance(pending.request, WRITES) else READ_US
            delay_us = drawn(way, self._latency)
            self._loop.call_later(delay_us, self._send, self._incarnation, pending)
        while operator.unwatched:
            self._watch(operator.unwatched.popleft(), drawn(READ_US, self._latency))
        while operator.crashes:
            self._on_crash(self.name, operator.crashes.popleft())
        wake_at_us = operator.wake_at_us()
        if wake_at_us is not None and wake_at_us <= now_us:
            wake_at_us = None  # all workers wait for replies; the next one polls again
        if self._wake is not None:
            if wake_at_us == self._wake.at_us and self._wake.callback is not None:
                return
            self._wake.cancel()
            self._wake = None
        if wake_at_us is not None:
            is_housekeeping = wake_at_us != operator.work_due_us()
            if self.only_polls:
                wake_at_us = max(wake_at_us, now_us + LEAST_POLL_US)
            self._wake = self._loop.call_at(
                wake_at_us, self._wake_up, self._incarnation, background=is_housekeeping
            )

    def _watch(self, kind: Kind, after_us: Micros) -> None:
        informer = self._informers[kind] = _Informer(self, kind, self._incarnation)
        self._loop.call_later(after_us, informer.list_and_watch)

    def _wake_up(self, incarnation: int) -> None:
        """A timer of the operator is due: polling it is all that it takes."""
        if self._idle_revision != self._store.revision:
            self._idle_revision = self._store.revision
            self._idle_wakes = 0
        self._idle_wakes += 1
        self.receive(incarnation, lambda _operator, _now_us: None)

    # Requests.

    def _send(self, incarnation: int, pending: Pending) -> None:
        """The request reaches the server, unless something lies between."""
        if incarnation != self._incarnation:
            return
        request = self._connection.as_served(pending.request)
        is_write = isinstance(request, WRITES)
        if is_write:
            self._idle_wakes = 0
            self._connection.pass_by(Place.BEFORE_COMMIT, self.name, request)
            if incarnation != self._incarnation:
                return
        effect = self._connection.rules.meets(self.name, request)
        reply: Any
        outcome: Happening | None = None
        delay_us = drawn(READ_US, self._latency)
        match effect:
            case Refuse():
                reply = ApiError(effect.code, effect.reason, effect.message)
            case NoAnswer(reached=reached, after_us=after_us):
                if reached:
                    self._connection.carry(self.name, request)
                reply = no_answer("the connection ended before an answer came")
                delay_us = after_us
            case _:
                reply = self._connection.carry(self.name, request)
                outcome = self._connection.take_outcome() if is_write else None
                if isinstance(effect, Slow):
                    delay_us += effect.by_us
        if incarnation == self._incarnation:  # else the commit set off a fault that ended it
            self._loop.call_later(delay_us, self._reply, incarnation, pending, reply, outcome)

    def _reply(
        self, incarnation: int, pending: Pending, reply: Any, outcome: Happening | None
    ) -> None:
        if outcome is not None and incarnation == self._incarnation:
            self._connection.tell(outcome._replace(place=Place.BEFORE_REPLY))

        def act(operator: Operator, now_us: Micros) -> None:
            self._in_flight -= 1
            operator.answer(pending.ticket, reply, now_us)
            if isinstance(reply, ApiError):
                reply.__traceback__ = None  # its frames hold the reply
            if outcome is not None:
                self._connection.tell(outcome._replace(place=Place.AFTER_REPLY))

        self.receive(incarnation, act)


class _Informer:
    """One kind's LIST and WATCH: events in order, each after a seeded lag."""

    def __init__(self, process: OperatorProcess, kind: Kind, incarnation: int) -> None:
        self._process = process
        self._kind = kind
        self._incarnation = incarnation
        self._loop = process._loop
        self._connection = process._connection
        self._lag: Callable[[], float] | None = None  # to seed one takes long, and few kinds change
        self._last_us: Micros = 0
        self._undelivered = 0
        self._watch = 0
        """Counts the watches: an event of one that has ended never arrives."""
        self._frozen: list[Change] = []
        self._unwatch: Callable[[], None] | None = None

    @property
    def has_undelivered(self) -> bool:
        return self._undelivered > 0

    def list_and_watch(self) -> None:
        """List everything and follow from there; an API that refuses is asked again."""
        if self._incarnation != self._process._incarnation or self._unwatch is not None:
            return
        request = List(self._kind, live=True)
        effect = self._connection.rules.meets(self._process.name, request)
        if isinstance(effect, Refuse | NoAnswer):
            self._loop.call_later(RELIST_RETRY_US, self.list_and_watch)
            return
        found = self._connection.carry(self._process.name, request)
        if isinstance(found, ApiError) and found.is_not_found:
            self._await_definition()
            return
        if not isinstance(found, ObjectList):  # it may not list this kind
            self._loop.call_later(RELIST_RETRY_US, self.list_and_watch)
            return
        items = found.items
        store, kind = self._process._store, str(self._kind)
        stale = self._process.frozen_at(kind)
        if stale is not None:  # a watch cache that hangs answers with what it knows
            items = tuple(store.of_kind_at(kind, "", stale).values())
            self._frozen = [c for c in store.changes[stale:] if c.key.kind == kind]
            self._undelivered += len(self._frozen)
        self._unwatch = store.watch(self._on_change, frozenset((kind,)))
        self._last_us = self._loop.now_us
        self._process.receive(
            self._incarnation,
            lambda operator, now_us: operator.replace(self._kind, items, now_us),
        )

    def _await_definition(self) -> None:
        """There are no objects of a kind that is not served; a definition may come at any time."""
        self._unwatch = self._process._store.watch(
            self._on_definition, frozenset((str(CUSTOM_RESOURCE_DEFINITION),))
        )
        self._process.receive(
            self._incarnation,
            lambda operator, now_us: operator.replace(self._kind, (), now_us),
        )

    def _on_definition(self, change: Change) -> None:
        del change
        self.stop()
        self._loop.call_later(RELIST_RETRY_US, self.list_and_watch)

    def stop(self) -> None:
        """The watch ends; what has not arrived never will."""
        if self._unwatch is not None:
            self._unwatch()
            self._unwatch = None
            self._watch += 1
            self._undelivered = 0
            self._frozen = []

    def on_rule(self, rule: WatchRule, holds: bool) -> None:
        """A watch rule came or went: break off now, or let out what was held back."""
        if isinstance(rule.effect, Break) and holds:
            self.stop()
            self._loop.call_later(rule.effect.gap_us, self.list_and_watch)
        elif isinstance(rule.effect, Freeze) and not holds and not self._is_frozen:
            frozen, self._frozen = self._frozen, []
            for change in frozen:
                self._arrive(self._watch, change)

    @property
    def _is_frozen(self) -> bool:
        return self._process.frozen_at(self._kind.group_kind) is not None

    def _on_change(self, change: Change) -> None:
        if self._lag is None:
            self._lag = self._loop.rng(f"lag/{self._process.stream}/{self._kind}").random
        lag_us = drawn(EVENT_US, self._lag)
        lag_us += self._connection.rules.watch_delay_us(self._process.name, self._kind.group_kind)
        due_us = max(self._last_us, self._loop.now_us + lag_us)
        self._last_us = due_us
        self._undelivered += 1
        self._loop.call_at(due_us, self._arrive, self._watch, change)

    def _arrive(self, watch: int, change: Change) -> None:
        if watch != self._watch:
            return
        if self._frozen or self._is_frozen:
            self._frozen.append(change)
            return
        self._undelivered -= 1
        self._connection.deliver(Place.BEFORE_DELIVERY, self._process.name, change)

        def deliver(operator: Operator, now_us: Micros) -> None:
            operator.deliver(self._kind, change.event, change.object, now_us)
            self._connection.deliver(Place.AFTER_DELIVERY, self._process.name, change)

        self._process.receive(self._incarnation, deliver)
