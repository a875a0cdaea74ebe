"""Go durations, as `time.ParseDuration` reads them; annotations hold these.

Go counts nanoseconds in an int64; values that overflow it are errors there and here.
Assay counts microseconds and truncates finer values.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Final

from vocabulary.clock import HOUR, SECOND, Micros

_UNIT_NANOSECONDS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,  # U+00B5, micro sign
    "μs": 1_000,  # U+03BC, Greek mu
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PART: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")
_INT64_MAX: Final = 2**63 - 1


@lru_cache(maxsize=4096)
def parse_duration(text: str) -> Micros:
    """Parse a Go duration string, for example `1m30s`, `1.5h`, `-2s`, `0`.

    Raises ValueError for everything Go refuses: no unit, blanks, `3d`, exponents, overflow.
    """
    rest, negative = text, False
    if rest[:1] in ("+", "-"):
        negative, rest = rest[0] == "-", rest[1:]
    if rest == "0":
        return 0
    if not rest:
        raise _malformed(text)
    total_ns = 0
    while rest:
        part = _PART.match(rest)
        if part is None or not (part[1] or part[2]):
            raise _malformed(text)
        unit_ns = _UNIT_NANOSECONDS[part[3]]
        total_ns += int(part[1] or "0") * unit_ns
        if part[2]:
            total_ns += int(Fraction(int(part[2]), 10 ** len(part[2])) * unit_ns)
        if total_ns > _INT64_MAX:
            raise _malformed(text)
        rest = rest[part.end() :]
    return -(total_ns // 1_000) if negative else total_ns // 1_000


_DAYS: Final = re.compile(r"([0-9]{1,9})d")


def parse_span(text: str) -> Micros:
    """Parse a span that people type: a Go duration, which may begin with whole days: `7d`, `1d12h`.

    Raises ValueError, also for a negative one.
    """
    days = _DAYS.match(text)
    rest = text[days.end() :] if days else text
    if rest[:1] in ("+", "-"):
        raise ValueError(
            f"{text!r} is not a span; time only goes forward, for example by 7d or 90s"
        )
    try:
        span_us = parse_duration(rest) if rest or not days else 0
    except ValueError:
        raise ValueError(
            f"{text!r} is not a span; use numbers with units, for example 7d, 90s or 1m30s"
        ) from None
    return span_us + (int(days[1]) * 24 * HOUR if days else 0)


def format_duration(span_us: Micros) -> str:
    """Format a span as a Go duration string: `90s`, `1.5s`. Inverse of `parse_duration`."""
    whole, rest_us = divmod(abs(span_us), SECOND)
    fraction = f".{rest_us:06d}".rstrip("0") if rest_us else ""
    return f"{'-' if span_us < 0 else ''}{whole}{fraction}s"


def _malformed(text: str) -> ValueError:
    return ValueError(
        f"{text!r} is not a Go duration; use numbers with units, for example 90s or 1m30s"
    )
