"""Points in time and spans of time, as whole microseconds.

Virtual time must be exact: a timer set for `start + 90 s` has to fire at that instant and
not a rounding error before it. Whole numbers give that, floats do not. A point in time
counts microseconds since the Unix epoch, a span counts microseconds; names end in `_us`.

The API's own timestamps are coarser: `metav1.Time` has whole seconds, `metav1.MicroTime`
has microseconds. `to_rfc3339` truncates, as the API server does.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final, TypeAlias

Micros: TypeAlias = int

MILLISECOND: Final = 1_000
SECOND: Final = 1_000_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR

SIMULATION_EPOCH_US: Final = 1_767_225_600 * SECOND
"""The start of every simulated run, 2026-01-01T00:00:00Z; fixed, so that bytes repeat."""

_UNIX_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def seconds(count: float) -> Micros:
    """A span of `count` seconds in microseconds, rounded to the nearest one."""
    return round(count * SECOND)


def to_rfc3339(at_us: Micros) -> str:
    """A point in time as `metav1.Time` prints it: whole seconds, `Z`."""
    return f"{_whole_second(at_us // SECOND)}Z"


def to_rfc3339_micro(at_us: Micros) -> str:
    """A point in time as `metav1.MicroTime` prints it: six decimals, `Z`."""
    return f"{_whole_second(at_us // SECOND)}.{at_us % SECOND:06d}Z"


@lru_cache(maxsize=4096)
def _whole_second(since_epoch: int) -> str:
    # Cached: formatting is slow, and many entries share one second.
    return f"{_UNIX_EPOCH + timedelta(seconds=since_epoch):%Y-%m-%dT%H:%M:%S}"


@lru_cache(maxsize=4096)
def parse_rfc3339(text: str) -> Micros:
    """Parse an API timestamp. Raises ValueError if it is malformed."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"timestamp {text!r} has no time zone; write it with a trailing Z")
    return (moment - _UNIX_EPOCH) // timedelta(microseconds=1)


def format_seconds(span_us: Micros) -> str:
    """Format a span for readers: `12.001s`, `90s`, `0s`."""
    whole, rest = divmod(abs(span_us), SECOND)
    sign = "-" if span_us < 0 else ""
    return f"{sign}{whole}s" if not rest else f"{sign}{whole}.{rest:06d}".rstrip("0") + "s"
