"""One watch through the proxy: line by line, delayed or broken off by chaos rules.

Two threads serve it: one reads the API server's events, the other forwards them. The second only
waits for notifications (a line, the end, a changed rule), since
a suite has hundreds of watches open, and polling would slow down all of them.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

GONE: Final = (
    b'{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure",'
    b'"reason":"Expired","code":410,"message":"too old resource version"}}\n'
)


class WatchRelay:
    """Lines from the API server, handed out as late as the rules in force want them."""

    def __init__(
        self,
        kind: str,
        response: http.client.HTTPResponse,
        connection: http.client.HTTPConnection,
        hold_back: Callable[[float], float | None],
    ) -> None:
        """`hold_back(arrived)` says how many seconds a line that arrived then must still wait.

        None means until a rule changes.
        """
        self.kind = kind
        self._response = response
        self._connection = connection
        self._socket = connection.sock
        self._hold_back = hold_back
        self._changed = threading.Condition()
        self._lines: deque[tuple[float, bytes]] = deque()
        self._has_ended = self._is_closed = False
        self._is_broken = False
        self._thread = threading.Thread(target=self._read, name=f"watch-{kind}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def next(self) -> bytes | None:
        """The next line as soon as it may pass; None at the end of the watch."""
        with self._changed:
            while True:
                if self._is_broken:
                    self._is_broken, self._has_ended = False, True
                    self._lines.clear()
                    return GONE
                if self._lines:
                    left = self._hold_back(self._lines[0][0])
                    if left is not None and left <= 0:
                        return self._lines.popleft()[1]
                    self._changed.wait(left)
                elif self._has_ended:
                    return None
                else:
                    self._changed.wait()

    def break_off(self) -> None:
        """End it with 410 Gone; what has not passed yet never will."""
        with self._changed:
            self._is_broken = True
            self._changed.notify_all()

    def rule_changed(self) -> None:
        """Ask anew how long lines must wait."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """End it at once, from either side."""
        with self._changed:
            self._is_closed = self._has_ended = True
            self._lines.clear()
            self._changed.notify_all()
        # Wakes the reader, which closing it does not; that it has ended already is as good.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _read(self) -> None:
        try:
            while line := self._response.readline():
                with self._changed:
                    if not self._is_closed:
                        self._lines.append((time.monotonic(), line))
                    self._changed.notify_all()
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            pass  # the stream was closed under us: it has ended, which is all there is to say
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()
        self._response.close()
        self._connection.close()
