"""The basis of built-in controllers: a work queue, workers, and a life that chaos can end.

A controller is notified of changes, puts keys into its queue, and processes them one by one: the
same key never concurrently, and a key added while it is processed once more afterwards. Work is a
generator of requests, like an operator's reconcile. Between any two requests virtual time passes,
other actors may write, or the controller may be killed: this produces the races of a real cluster.
The first request is sent in the same instant as the reads that led to it; from the second on the
reads are stale.

`pause` is SIGSTOP: nothing happens, and work in progress continues afterwards with its old state.
`kill` loses the memory; `start` lists everything again, as a restarted process does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeAlias

from clusters.simulated.api_server import ApiServer
from clusters.simulated.controllers.informers import Informers
from clusters.simulated.controllers.settings import Settings
from clusters.simulated.latencies import drawn
from clusters.simulated.loop import Loop, Timer
from clusters.simulated.store import Change
from vocabulary.clock import MILLISECOND, SECOND, Micros
from vocabulary.errors import ApiError
from vocabulary.kinds import Kind
from vocabulary.requests import Request

Work: TypeAlias = Generator[Request, Any, Micros | None]
"""Yields requests, is sent answers, returns when to work on the key again, or None."""

_MAX_DOUBLINGS: Final = 40
"""Beyond this many failures in a row the delay is at its limit anyway."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The parts of the cluster that a controller uses."""

    loop: Loop
    api: ApiServer
    informers: Informers
    settings: Settings = field(default_factory=Settings)


class Controller(ABC):
    """One controller process: subclasses say what to listen to and how to work on a key."""

    name: str
    """The actor name, under which its requests are recorded."""

    queue_delay_us: ClassVar[Sequence[Micros]] = (1 * MILLISECOND, 20 * MILLISECOND)
    """From a key's arrival until a worker takes it: quantiles, of which two are bounds."""
    latency_us: ClassVar[Sequence[Micros]] = (500, 3 * MILLISECOND)
    """From one request's answer until the next request takes effect."""
    retry_us: ClassVar[tuple[Micros, Micros]] = (5 * MILLISECOND, 1_000 * SECOND)
    """Delay after the first failure in a row, doubled with each further one, and its limit."""

    def __init__(self, environment: Environment) -> None:
        self.loop = environment.loop
        self.api = environment.api
        self.informers = environment.informers
        self.settings = environment.settings
        self.running = False
        self.paused = False
        self._life = 0
        self._random: Callable[[], float] | None = None
        self._queued: set[Hashable] = set()
        self._working: set[Hashable] = set()
        self._again: set[Hashable] = set()
        self._timers: dict[Hashable, Timer] = {}
        self._wakes: dict[Hashable, Timer] = {}
        self._failures: dict[Hashable, int] = {}
        self._held: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self._unheard: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self.listen()

    # What a controller is.

    @abstractmethod
    def listen(self) -> None:
        """Subscribe with `on`; called once, when the cluster is put together."""

    @abstractmethod
    def sync(self, key: Any) -> Work:
        """Bring what a key stands for one step nearer to what it should be."""

    def everything(self) -> Iterable[Hashable]:
        """The keys to work on at start: what a first LIST would add to the queue."""
        return ()

    def forget(self) -> None:  # noqa: B027  (most controllers have nothing to forget)
        """Lose what is only in memory; called when the process dies."""

    # The life of the process.

    def start(self) -> None:
        """Begin, or begin anew after `kill`. Does nothing while it runs."""
        if self.running:
            return
        self.running = True
        self.paused = False
        for key in self.everything():
            self.enqueue(key)

    def kill(self) -> None:
        """End at once: queue, timers, half-done work and memory are gone."""
        self.running = self.paused = False
        self._life += 1
        for timer in (*self._timers.values(), *self._wakes.values()):
            timer.cancel()
        for bag in (self._queued, self._working, self._again):
            bag.clear()
        self._timers.clear()
        self._wakes.clear()
        self._failures.clear()
        self._held.clear()
        self._unheard.clear()
        self.forget()

    def stop(self, ended: Callable[[], None]) -> None:
        """It has nothing to put in order."""
        self.kill()
        ended()

    def pause(self) -> None:
        """Stand still, as after SIGSTOP: nothing is lost, nothing happens."""
        self.paused = self.running

    def resume(self) -> None:
        """Go on where `pause` stopped; what came in meanwhile is heard of in order.

        All of it here and now: a watch keeps its order, and what others or its own work change
        in this very instant comes after it.
        """
        if not self.paused:
            return
        self.paused = False
        unheard, self._unheard = self._unheard, []
        for callback, arguments in unheard:
            callback(*arguments)
        held, self._held = self._held, []
        for callback, arguments in held:
            self.loop.call_at(self.loop.now_us, callback, *arguments)

    # For subclasses: hearing, and queueing.

    def on(
        self, kind: Kind, handler: Callable[[Change], None], *, owner: Kind | None = None
    ) -> None:
        """Let the handler hear of every change of a kind while this process runs.

        With an `owner`, only of objects whose controller is of that kind, or was.
        """

        def deliver(change: Change) -> None:
            if self.running and not self.hears_later(handler, change):
                handler(change)

        self.informers.on(kind, deliver, owner=owner)

    def hears_later(self, handler: Callable[..., None], *arguments: Any) -> bool:
        """True if the process is paused; the handler is then called when it resumes."""
        if self.paused:
            self._unheard.append((handler, arguments))
        return self.paused

    def enqueue(self, key: Hashable, delay_us: Micros | None = None) -> None:
        """Work on the key soon; once, however often it is added before a worker takes it."""
        if not self.running or key in self._queued:
            return
        if key in self._working:
            self._again.add(key)
            return
        self._queued.add(key)
        wait_us = self._drawn(self.queue_delay_us) if delay_us is None else delay_us
        self.loop.call_later(wait_us, self._begin, key, self._life)

    def enqueue_at(self, key: Hashable, at_us: Micros) -> None:
        """Work on the key at a point in time; of several points the earliest counts."""
        if not self.running:
            return
        waiting = self._timers.get(key)
        if waiting is not None:
            if waiting.at_us <= at_us:
                return
            waiting.cancel()
        self._timers[key] = self.loop.call_at(at_us, self._due, key, self._life)

    def enqueue_after(self, key: Hashable, span_us: Micros) -> None:
        """Work on the key after a span; of several the earliest counts."""
        self.enqueue_at(key, self.loop.now_us + span_us)

    def drop(self, key: Hashable) -> None:
        """Forget when a key was to be worked on: what it stood for is gone."""
        for timers in (self._timers, self._wakes):
            timer = timers.pop(key, None)
            if timer is not None:
                timer.cancel()

    def draw(self, low_us: Micros, high_us: Micros) -> Micros:
        """A span between two bounds, from this controller's own random stream."""
        return self._drawn((low_us, high_us))

    # The workers.

    def _drawn(self, quantiles: Sequence[Micros]) -> Micros:
        random = self._random
        if random is None:
            random = self._random = self.loop.rng(self.name).random
        return drawn(quantiles, random)

    def _stands_still(self, life: int, callback: Callable[..., None], *arguments: Any) -> bool:
        """True if a callback must not run: its process has died, or is paused (then it waits)."""
        if life != self._life:
            return True
        if self.paused:
            self._held.append((callback, (*arguments, life)))
            return True
        return False

    def _due(self, key: Hashable, life: int) -> None:
        if self._stands_still(life, self._due, key):
            return
        self._timers.pop(key, None)
        self._work_now(key, life)

    def _wake(self, key: Hashable, life: int) -> None:
        if self._stands_still(life, self._wake, key):
            return
        self._wakes.pop(key, None)
        self._work_now(key, life)

    def _work_now(self, key: Hashable, life: int) -> None:
        if key in self._queued:
            return
        if key in self._working:
            self._again.add(key)
            return
        self._queued.add(key)
        self._begin(key, life)

    def _begin(self, key: Hashable, life: int) -> None:
        if self._stands_still(life, self._begin, key):
            return
        self._queued.discard(key)
        work = self.sync(key)
        self._working.add(key)
        self._advance(key, work, None, life)

    def _advance(self, key: Hashable, work: Work, request: Request | None, life: int) -> None:
        """Send a request, and wait with the next one that the work yields."""
        if self._stands_still(life, self._advance, key, work, request):
            return
        try:
            try:
                answer = None if request is None else self.api.handle(request, self.name)
            except ApiError as refused:
                following = work.throw(refused)
            else:
                following = work.send(answer)
        except StopIteration as done:
            self._finish(key, done.value)
        except ApiError as escaped:
            escaped.__traceback__ = None  # its frames may hold it
            self._fail(key)
        else:
            if request is None:
                self._advance(key, work, following, life)
            else:
                wait_us = self._drawn(self.latency_us)
                self.loop.call_later(wait_us, self._advance, key, work, following, life)

    def _finish(self, key: Hashable, wake_at_us: Micros | None) -> None:
        self._working.discard(key)
        self._failures.pop(key, None)
        if key in self._again:
            self._again.discard(key)
            self.enqueue(key)
        # What this work has found out about the time to come replaces what was known before.
        earlier = self._wakes.pop(key, None)
        if earlier is not None:
            earlier.cancel()
        if wake_at_us is not None:
            self._wakes[key] = self.loop.call_at(wake_at_us, self._wake, key, self._life)

    def _fail(self, key: Hashable) -> None:
        """The work gave up on a refused request: try the key again, later each time."""
        self._working.discard(key)
        self._again.discard(key)
        count = self._failures.get(key, 0)
        self._failures[key] = count + 1
        base_us, limit_us = self.retry_us
        self.enqueue_after(key, min(base_us << min(count, _MAX_DOUBLINGS), limit_us))
