"""The moments at which virtual time may move: every program has nothing left to do.

A program is awake from the moment at which something is written to it, or a timer of its is due,
until it reports that it is idle. All sockets of a run are read in one thread, between two steps of
the loop, so the order of events is that of virtual time.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from typing import Final, Protocol

from clusters.go_time.pacer import Pacer, TimePage
from clusters.simulated.loop import Loop, OutsideError
from conformance.worlds.simulated.operator_process import LEAST_POLL_US
from vocabulary.clock import SECOND, Micros

REPEAT_SECONDS: Final = 0.002
"""A program that was busy when it was pinged is pinged again after this time, and less often the
longer it is busy: looking for its work takes processor time of the harness, whose limit is low."""
MOST_REPEAT_SECONDS: Final = 0.1
BLOCKED_SECONDS: Final = 0.02
"""A goroutine that is in a system call for so long, in a program whose threads all sleep, waits for
something that may take virtual time, such as a lock on a file."""
LIMIT_SECONDS: Final = 30.0
"""A program that is busy for so long, while time stands still, never becomes idle."""

STRIDE_US: Final = 600 * SECOND
"""A program that moves time stops so often, while quiet is waited for."""

TICKS_US: Final = 60 * SECOND
"""The tickers of a program that only polls tick no more often than that. Its other timers, and with
them its time-outs and back-offs, are not concerned."""


class BusyError(OutsideError):
    """A program does not become idle; the message names it."""


class Paced(Protocol):
    """A program in lock-step."""

    @property
    def name(self) -> str: ...

    @property
    def pacer(self) -> Pacer: ...

    @property
    def fast_wakes_left(self) -> int:
        """How often its timers may wake it in a row before it counts as one that only polls."""

    @property
    def is_amid_request(self) -> bool:
        """True if part of a request of its has arrived: the rest follows once there is room."""

    def sleeps(self) -> bool:
        """True if none of its threads can run, and none of its processes is left."""

    def idle(self) -> None:
        """It has nothing left to do until its next timer."""

    def ended(self) -> None:
        """It has ended by itself."""


class Pacing:
    """Lock-step time of one run."""

    def __init__(self, loop: Loop) -> None:
        self.page = TimePage(loop.now_us)
        self.page.allow(loop.now_us, 0, LEAST_POLL_US, TICKS_US)
        self._loop = loop
        self._poll = select.epoll()
        self._readers: dict[int, Callable[[], None]] = {}
        self._joined: dict[Paced, None] = {}
        self._awake: dict[Paced, None] = {}
        self._again: set[Paced] = set()
        """Those that have something to do since they were asked, whatever they report."""
        self.pings = 0
        """How often a program was asked whether it is idle."""
        self.awaits_quiet = True
        """False while only time is waited for: programs stop less often then."""
        self.timers = 0
        """How often a timer of a program was due."""
        loop.outside = self

    def read(self, descriptor: int, reader: Callable[[], None]) -> None:
        """Call the reader whenever there is something to read."""
        self._readers[descriptor] = reader
        self._poll.register(descriptor, select.EPOLLIN)

    def forget(self, descriptor: int) -> None:
        """Read from there no longer; it must not be closed yet."""
        if self._readers.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def join(self, program: Paced) -> None:
        """A program has started: it is awake."""

        def receive() -> None:
            if not program.pacer.receive():
                program.ended()

        self._joined[program] = None
        self.read(program.pacer.fileno(), receive)
        self.wake(program)

    def rest(self, program: Paced) -> None:
        """A program was stopped: it is not waited for."""
        self._awake.pop(program, None)

    def leave(self, program: Paced) -> None:
        """A program has ended."""
        self.rest(program)
        self._joined.pop(program, None)

    def wake(self, program: Paced) -> None:
        """A program has something to do."""
        self._awake[program] = None

    def ask_again(self, program: Paced) -> None:
        """A program that is asked could not go on until now, and may have reported that."""
        self._again.add(program)

    def is_awake(self, program: Paced) -> bool:
        """True if it may have something to do at the present time."""
        return program in self._awake

    # What the loop asks.

    def settle(self, deadline_us: Micros) -> None:
        """Wait until no program has anything left to do before the next timer of the loop."""
        while self._awake:
            asked = tuple(self._awake)
            self._ask(asked, deadline_us)
            while self._again:
                # What it has sent since may be all that it had to do, and be answered now.
                again = tuple(each for each in self._awake if each in self._again)
                self._ask(again, self._loop.now_us)
            for each in asked:
                if each in self._awake and each.pacer.is_idle:
                    del self._awake[each]
                    each.idle()

    def moved(self, now_us: Micros) -> None:
        """Time has moved."""
        self.page.set(now_us)

    def close(self) -> None:
        self._loop.outside = None
        self._poll.close()
        self.page.close()

    # Inside.

    def _allow(self, deadline_us: Micros) -> None:
        """Only a program that is alone may move time: another one would not know of it."""
        until_us, fast_wakes = self._loop.now_us, 0
        if len(self._joined) == 1:
            if self.awaits_quiet:
                deadline_us = min(deadline_us, self._loop.now_us + STRIDE_US)
            until_us = self._loop.last_us_before_next(deadline_us)
            fast_wakes = next(iter(self._joined)).fast_wakes_left
        self.page.allow(until_us, fast_wakes, LEAST_POLL_US, TICKS_US)

    def _ask(self, asked: tuple[Paced, ...], until_us: Micros) -> None:
        """Have these report."""
        self._again.clear()
        self._allow(until_us)
        for each in asked:
            self._ping(each)
        self._await(asked)

    def _ping(self, program: Paced, *, again: bool = False, blocked: bool = False) -> None:
        self.pings += 1
        pacer = program.pacer
        if not pacer.ping(again=again) or (blocked and not pacer.count_out_system_calls()):
            program.ended()

    def _await(self, asked: tuple[Paced, ...]) -> None:
        """Read until all of these have reported, or ended."""
        began = time.monotonic()
        seconds = 0.0
        while True:
            busy = [it for it in asked if it in self._awake and not it.pacer.is_idle]
            if not busy:
                # What was written before the reports has arrived before them.
                self._read_all(0)
                busy = [it for it in asked if it in self._awake and it.is_amid_request]
            if not busy:
                return
            if not self._read_all(min(max(REPEAT_SECONDS, seconds / 10), MOST_REPEAT_SECONDS)):
                seconds = time.monotonic() - began
                if seconds > LIMIT_SECONDS:
                    names = ", ".join(each.name for each in busy)
                    raise BusyError(
                        f"{names}: busy for {LIMIT_SECONDS:g} s of processor time or of waiting, "
                        "while virtual time stands still; run it with --cluster control-plane"
                    )
                for each in busy:
                    blocked = seconds > BLOCKED_SECONDS and each.sleeps()
                    self._ping(each, again=True, blocked=blocked)

    def _read_all(self, timeout_seconds: float) -> bool:
        found = self._poll.poll(timeout_seconds)
        if found:
            self._loop.went_on(self.page.now_us)
        for descriptor, _ in sorted(found):
            reader = self._readers.get(descriptor)
            if reader is not None:  # else one before it has closed it
                reader()
        return bool(found)
