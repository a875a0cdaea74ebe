"""The last look of an operator before a write: what came later, it cannot have seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vocabulary.clock import Micros

if TYPE_CHECKING:
    from conformance.suites.appwrapper.view.history import AppWrapperHistory


def last_look_us(history: AppWrapperHistory, actor: str, at_us: Micros) -> Micros:
    """The earliest time at which an operator may have looked last before a write at that time.

    That is one request before it, or earlier where answers came late, or where the process stood
    still in between. One that was killed and started again has looked since.
    """
    timing = history.operator.timing
    earliest_us = timing.requested_us(at_us)
    paused_us: Micros | None = None
    for entry in history.processes:
        if entry.process != actor or entry.t > at_us:
            continue
        if entry.change == "paused":
            paused_us = entry.t
        elif entry.change == "resumed" and paused_us is not None and entry.t >= earliest_us:
            earliest_us = min(earliest_us, timing.requested_us(paused_us))
    return earliest_us
