"""Virtual time for clients in real time.

Either it follows the wall clock, so that the cluster behaves as one that was just started, or it
stands still until advanced, so that a test in a shell can skip ten minutes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, Literal, TypeAlias

from clusters.simulated.loop import Loop
from clusters.simulated.serve.traffic import Traffic
from vocabulary.clock import HOUR, MILLISECOND, SECOND, Micros

ClockMode: TypeAlias = Literal["real", "advanced"]
TICK_US: Final = 20 * MILLISECOND
SLICE_US: Final = 60 * SECOND
MAX_ADVANCE_US: Final = 366 * 24 * HOUR
"""The limit for one request."""


class ServedClock:
    """Advances a loop's time, holding the lock that requests hold too."""

    def __init__(
        self,
        loop: Loop,
        lock: threading.RLock,
        mode: ClockMode,
        on_failure: Callable[[Exception], None] | None = None,
    ) -> None:
        self.mode: ClockMode = mode
        self._on_failure = on_failure
        self._loop = loop
        self._lock = lock
        # The other lock is given away while a callback's request is reviewed by a webhook.
        self._turn = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to follow the wall clock, if that is the mode."""
        if self.mode == "real":
            self._thread = threading.Thread(target=self._follow, name="clock", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stand still from now on."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def advance(self, span_us: Micros) -> Micros:
        """Advance virtual time by a span, and return the new time.

        The lock is released now and then, so that long spans do not block all other requests.
        """
        while span_us > SLICE_US:
            self._run_for(SLICE_US)
            span_us -= SLICE_US
        return self._run_for(span_us)

    def advance_in_step(
        self,
        span_us: Micros,
        traffic: Traffic,
        settle: Callable[[], None],
        is_over: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Advance virtual time by a span, or until `is_over`, in step with clients in real time.

        Time stands still at each change that a client watches, until `settle` has returned, and so
        it does at the end. True if it was over.
        """
        with self._lock:
            deadline_us = self._loop.now_us + span_us
        settle()
        while True:
            with self._turn, self._lock, self._failing():
                if is_over():
                    return True
                if self._loop.now_us >= deadline_us and not traffic.has_news:
                    return False
                until_us = min(deadline_us, self._loop.now_us + SLICE_US)
                self._loop.run_until(lambda: traffic.has_news or is_over(), until_us)
            if traffic.has_news:
                settle()

    def _run_for(self, span_us: Micros) -> Micros:
        with self._turn, self._lock, self._failing():
            self._loop.run_for(span_us)
            return self._loop.now_us

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if self._on_failure is not None:
                self._on_failure(error)
            raise

    def _follow(self) -> None:
        before_ns = time.monotonic_ns()
        with suppress(Exception):  # the cluster is served no longer
            while not self._stopped.wait(TICK_US / 1e6):
                now_ns = time.monotonic_ns()
                self.advance((now_ns - before_ns) // 1_000)
                before_ns = now_ns
