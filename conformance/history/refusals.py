"""The cost of rejections for a client that backs off: the longest documented waits.

client-go's default rate limiter (`DefaultTypedControllerRateLimiter`) waits 5 ms after the first
failure of a key and twice as long after each additional one, up to 1,000 s; success resets them.
So a rejected client tries again, at the latest, after about as long as it has been rejected
already. Others wait for the same time after each rejection: one second is allowed for that.

All failures in a row count, whatever their reason: where rejections come on top of others, the
first of them is already followed by a longer wait.
"""

from __future__ import annotations

from typing import Final

from vocabulary.clock import MILLISECOND, SECOND, Micros

BACKOFF_US: Final = 5 * MILLISECOND
MAX_BACKOFF_US: Final = 1000 * SECOND
STEADY_BACKOFF_US: Final = 1 * SECOND


def refused_for_us(times: int, retry_after_us: Micros, wait_us: Micros = BACKOFF_US) -> Micros:
    """The longest time from the first to the last of so many refusals in a row, each of which
    asks the client to wait for so long; `wait_us` is its own wait after the first.

    After the last one the client waits as long once more: see `Timing.due_us`.
    """
    doublings = min(max(times - 1, 0), max((MAX_BACKOFF_US // wait_us).bit_length() - 1, 0))
    growing_us = wait_us * ((1 << doublings) - 1)
    growing_us += max(times - 1 - doublings, 0) * MAX_BACKOFF_US
    return max(times * STEADY_BACKOFF_US, growing_us) + times * retry_after_us


def longest_wait_us(refused_us: Micros) -> Micros:
    """The longest wait after the next failure of a client that has been failing for so long."""
    return min(2 * refused_us, MAX_BACKOFF_US)
