"""When Ctrl-C takes effect."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_held_back(*others: signal.Signals) -> Iterator[None]:
    """A Ctrl-C within the block takes effect at its end, and so do other signals that are named.

    Processes started within it never hear of one: a terminal sends it to them too, and they
    inherit that it is blocked. Only the main thread is interrupted, so elsewhere this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    # Blocking is not enough here: the system gives the signal to any other thread, and Python
    # then interrupts the main one.
    held = (signal.SIGINT, *others)
    handlers = [signal.signal(each, lambda number, _: came.append(number)) for each in held]
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        for each, handler in zip(held, handlers, strict=True):
            signal.signal(each, handler)
        if came:
            signal.raise_signal(came[0])
