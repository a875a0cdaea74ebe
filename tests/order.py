"""The order of tests: long ones first, in even shares.

pytest-xdist (`--dist worksteal`) cuts the collected tests, in their order, into as many shares of
equal number as there are workers. An idle worker takes over the second half of what the one
with the most tests left has. So each share has to begin with a part of what takes long: otherwise
one worker has all of it, and others get to the last of it when nothing else is left.

Tests that take long keep their order among themselves, so that those which share a control plane
mostly stay with one worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def in_shares(tests: Sequence[T], seconds: Callable[[T], float], shares: int) -> list[T]:
    """The order of tests for so many workers.

    `seconds` says how long a test takes; 0: not long enough to care.
    """
    long = [test for test in tests if seconds(test)]
    short = iter([test for test in tests if not seconds(test)])
    stretches = evenly(long, seconds, shares)
    found: list[T] = []
    for number, size in enumerate(sizes(len(tests), shares)):
        stretch = stretches[number] if number < len(stretches) else []
        found += stretch
        found += islice(short, max(0, size - len(stretch)))
    return [*found, *short]


def sizes(tests: int, shares: int) -> Iterator[int]:
    """The number of tests that each worker gets at the beginning, as xdist computes it."""
    for remaining in range(shares, 0, -1):
        size = tests // remaining
        yield size
        tests -= size


def evenly(tests: Sequence[T], seconds: Callable[[T], float], number: int) -> list[list[T]]:
    """The tests in at most so many stretches, the longest of which is as short as can be."""
    too_short, enough = 0.0, sum(map(seconds, tests))
    while enough - too_short > 0.1:
        limit = (too_short + enough) / 2
        if len(_stretches(tests, seconds, limit)) <= number:
            enough = limit
        else:
            too_short = limit
    return _stretches(tests, seconds, enough)


def _stretches(tests: Sequence[T], seconds: Callable[[T], float], limit: float) -> list[list[T]]:
    """Stretches within a limit of seconds; a test that takes longer has one of its own."""
    found: list[list[T]] = []
    sum_of_last = 0.0
    for test in tests:
        if not found or sum_of_last + seconds(test) > limit:
            found.append([])
            sum_of_last = 0.0
        found[-1].append(test)
        sum_of_last += seconds(test)
    return found
