"""Signals to a program in lock-step.

A program that has been sent a signal may report that it is idle before it has noticed: the thread
that waits for signals is not the one that waits for pings.
"""

from __future__ import annotations

import time
from typing import Final

from clusters.go_time.work import sleeps

_LIMIT_SECONDS: Final = 60.0
"""Long enough for a program that is preempted after a second of its processor time, several times
in turn, on a busy machine: client-go's event watcher spins while its broadcaster is shut down."""
_POLL_SECONDS: Final = 0.0005
_MOST_POLL_SECONDS: Final = 0.05


def await_delivery(pid: int) -> None:
    """Wait until a program has handled all signals, and its threads sleep or it has ended.

    Raises TimeoutError if that takes more than some seconds.
    """
    began = time.monotonic()
    while not sleeps(pid):
        seconds = time.monotonic() - began
        if seconds > _LIMIT_SECONDS:
            raise TimeoutError(f"busy for {_LIMIT_SECONDS:g} s after a signal")
        time.sleep(min(max(_POLL_SECONDS, seconds / 10), _MOST_POLL_SECONDS))
