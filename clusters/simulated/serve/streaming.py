"""A watch over HTTP: one JSON object per line, for as long as the client listens."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from clusters.simulated.serve.traffic import Traffic
from clusters.simulated.watches import EventType, Watch
from vocabulary.objects import Object

BOOKMARK_SECONDS: Final = 60.0
DEFAULT_TIMEOUT_SECONDS: Final = 1800.0
DELIVERY_SECONDS: Final = 0.01
"""A response waits for the events of its write no longer than that."""
AT_ONCE: Final = 64
"""So many events that wait are sent at once where time is real."""

_encode: Final = msgspec.json.Encoder().encode
Render = Callable[[EventType, Object], Any]


class Stream:
    """The events of one watch, in order, queued between the producing and the writing thread."""

    def __init__(self, traffic: Traffic) -> None:
        self._events: queue.SimpleQueue[tuple[EventType, Object] | None] = queue.SimpleQueue()
        self._traffic = traffic
        # Each of these is counted by one thread alone.
        self._queued = 0
        self._written = 0

    def deliver(self, event: EventType, obj: Object) -> None:
        """Queue an event; the watch calls this from within the change."""
        self._queued += 1
        self._traffic.queued()
        self._events.put((event, obj))

    def forget(self) -> None:
        """The watch has ended: what is still queued is not written."""
        self._traffic.written(self._queued - self._written)

    def end(self) -> None:
        """Let the lines end."""
        self._events.put(None)

    def lines(
        self,
        watch: Watch,
        render: Render,
        *,
        lock: threading.RLock,
        stopped: threading.Event,
        timeout_seconds: float,
        bookmarks: bool,
        most: int = 1,
    ) -> Iterator[bytes]:
        """Yield lines until the timeout, an error event, or `end`; up to `most` of them as one, if
        they wait already."""
        began = time.monotonic()
        bookmarked = began
        while not stopped.is_set():
            now = time.monotonic()
            if now - began >= timeout_seconds:
                return
            if bookmarks and now - bookmarked >= BOOKMARK_SECONDS:
                bookmarked = now
                with lock:
                    watch.bookmark()
            due = min(
                began + timeout_seconds, (bookmarked if bookmarks else now) + BOOKMARK_SECONDS
            )
            try:
                found = self._events.get(timeout=due - now)
            except queue.Empty:
                continue
            lines: list[bytes] = []
            taken = 0
            while found is not None:
                event, obj = found
                taken += 1
                if event != "BOOKMARK" or bookmarks:
                    lines.append(_encode({"type": event, "object": render(event, obj)}) + b"\n")
                if event == "ERROR" or taken == most or self._events.empty():
                    break
                found = self._events.get()  # this thread alone takes any
            if lines:
                yield b"".join(lines)
            self._written += taken
            self._traffic.written(taken)
            if found is None or found[0] == "ERROR":
                return
