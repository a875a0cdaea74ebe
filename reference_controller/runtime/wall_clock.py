"""The time of a real process, as a point in time that never jumps."""

from __future__ import annotations

import time

from vocabulary.clock import Micros

_BEGAN_US = time.time_ns() // 1_000
_BEGAN_MONOTONIC_NS = time.monotonic_ns()


def now_us() -> Micros:
    """Wall time at the start of this process plus what has passed since.

    A correction of the wall clock must neither end a grace period early nor let two leaders
    overlap, so only the starting point is read from it.
    """
    return _BEGAN_US + (time.monotonic_ns() - _BEGAN_MONOTONIC_NS) // 1_000
