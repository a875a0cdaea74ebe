"""Virtual time: one heap of timers, and a clock that jumps from one to the next.

Everything that happens in a simulated run happens in a callback of this loop, so there is
exactly one order of events for a seed. Nothing sleeps and nothing reads a wall clock.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Collection
from typing import Any, Final, Protocol

from clusters.simulated.mistakes import SimulationError, mistake
from vocabulary.clock import SIMULATION_EPOCH_US, Micros

MAX_STEPS: Final = 5_000_000
"""More steps than any wait needs: a livelock ends here with a clear error, not with a hang."""


class LivelockError(SimulationError):
    """The loop took more steps than any wait needs; the message says what was running."""


class OutsideError(RuntimeError):
    """Something of a program beyond the loop, which a step passes on as it is."""


class Outside(Protocol):
    """Programs beyond the loop, whose time is its own."""

    def settle(self, deadline_us: Micros) -> None:
        """Wait until they have nothing left to do at the present time; they may set timers.

        Up to the deadline, and before the next timer, they may go on as long as nothing comes of
        it: they move the time, see `Loop.went_on`.
        """

    def moved(self, now_us: Micros) -> None:
        """Time has moved."""


class Timer:
    """A callback that is due at a point in time; `cancel` takes it back."""

    __slots__ = ("args", "at_us", "background", "callback")

    def __init__(
        self,
        at_us: Micros,
        callback: Callable[..., None] | None,
        args: tuple[Any, ...],
        background: bool,
    ) -> None:
        self.at_us = at_us
        self.callback = callback
        self.args = args
        self.background = background

    def cancel(self) -> None:
        """The callback will not run. A second cancel, or one after it ran, does nothing."""
        self.callback = None
        self.args = ()

    def run(self) -> None:
        """Run the callback now."""
        callback, args = self.callback, self.args
        self.cancel()
        if callback is not None:
            callback(*args)


class Loop:
    """The clock and the heap of one simulated run."""

    def __init__(self, seed: int, *, began_us: Micros = SIMULATION_EPOCH_US) -> None:
        self.seed = seed
        self.began_us = began_us
        self.now_us = began_us
        self.steps = 0
        self._last_step = MAX_STEPS
        """The number of the step at which the wait that is under way is given up."""
        self._heap: list[tuple[Micros, int, Timer]] = []
        """By time, and among equals by who was set first: order is total."""
        self._sequence = 0
        self._streams: dict[str, random.Random] = {}
        self.outside: Outside | None = None

    @property
    def elapsed_us(self) -> Micros:
        """Virtual time since the run began."""
        return self.now_us - self.began_us

    def rng(self, name: str) -> random.Random:
        """The random stream of that name: seeded by run and name, independent of the others.

        One stream per purpose keeps a change in one actor from reshuffling all the others.
        """
        stream = self._streams.get(name)
        if stream is None:
            stream = self._streams[name] = random.Random(f"{self.seed}/{name}")
        return stream

    def call_at(
        self, at_us: Micros, callback: Callable[..., None], *args: Any, background: bool = False
    ) -> Timer:
        """Run the callback at a point in time; at once (but not now) if that has passed.

        A `background` timer is periodic housekeeping (a resync, a lease renewal): it runs
        as any other, but a run that has only such timers left counts as stable.
        """
        return self._set(max(at_us, self.now_us), callback, args, background)

    def call_later(
        self, delay_us: Micros, callback: Callable[..., None], *args: Any, background: bool = False
    ) -> Timer:
        """Run the callback after a span of virtual time; at once (but not now) if it is none."""
        return self._set(self.now_us + max(delay_us, 0), callback, args, background)

    def _set(
        self, at_us: Micros, callback: Callable[..., None], args: tuple[Any, ...], background: bool
    ) -> Timer:
        self._sequence += 1
        timer = Timer(at_us, callback, args, background)
        heapq.heappush(self._heap, (at_us, self._sequence, timer))
        return timer

    def step(self, deadline_us: Micros) -> bool:
        """Run the next due callback; False (and no move) if none is due by the deadline."""
        if self.outside is not None:
            self.outside.settle(deadline_us)
        heap = self._heap
        while heap:
            at_us, _, timer = heap[0]
            callback = timer.callback
            if callback is None:
                heapq.heappop(heap)
                continue
            if at_us > deadline_us:
                return False
            heapq.heappop(heap)
            timer.callback = None
            self.now_us = at_us = max(at_us, self.now_us)
            if self.outside is not None:
                self.outside.moved(at_us)
            self.steps += 1
            if self.steps > self._last_step:
                raise LivelockError(
                    f"{MAX_STEPS} steps without an end at virtual second "
                    f"{self.elapsed_us / 1e6:.3f}; next was {callback!r}"
                )
            try:
                callback(*timer.args)
            except (SimulationError, OutsideError, MemoryError):
                raise
            except Exception as error:
                raise SimulationError(mistake(callback, timer.args, error)) from error
            return True
        return False

    def run_until(self, done: Callable[[], bool], deadline_us: Micros) -> bool:
        """Run callbacks until `done()`; False if the deadline comes first (the clock is there)."""
        self._last_step = self.steps + MAX_STEPS
        while not self._is_done(done, deadline_us):
            if not self.step(deadline_us):
                self._move_to(max(self.now_us, deadline_us))
                return self._is_done(done, self.now_us)
        return True

    def _is_done(self, done: Callable[[], bool], deadline_us: Micros) -> bool:
        """Ask once the programs outside have settled."""
        if self.outside is not None:
            self.outside.settle(deadline_us)
        return done()

    def run_for(self, span_us: Micros) -> None:
        """Let that much virtual time pass."""
        deadline_us = self.now_us + span_us
        self._last_step = self.steps + MAX_STEPS
        while self.step(deadline_us):
            pass
        self._move_to(max(self.now_us, deadline_us))

    def went_on(self, now_us: Micros) -> None:
        """Programs outside have moved time by themselves."""
        self.now_us = now_us

    def go_on(self, at_us: Micros) -> None:
        """Move time amid a step; what is due meanwhile runs after it, late."""
        self._move_to(max(at_us, self.now_us))

    def last_us_before_next(self, deadline_us: Micros) -> Micros:
        """The last moment at which no timer is due, if it is before the deadline."""
        heap = self._heap
        while heap and heap[0][2].callback is None:
            heapq.heappop(heap)
        return min(deadline_us, heap[0][0] - 1) if heap else deadline_us

    def _move_to(self, at_us: Micros) -> None:
        self.now_us = at_us
        if self.outside is not None:
            self.outside.moved(at_us)

    def is_quiet(
        self, until_us: Micros | None = None, apart_from: Collection[Timer | None] = ()
    ) -> bool:
        """True if no timer except housekeeping is due by a point in time, or at all without one.
        `apart_from` are timers that do not count.

        Asked after each step, and mostly answered by the first timer: heaps are nearly sorted.
        """
        return not any(
            timer.callback is not None
            and not timer.background
            and (until_us is None or at_us <= until_us)
            and timer not in apart_from
            for at_us, _, timer in self._heap
        )
