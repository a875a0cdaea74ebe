"""Times as people read them in tables and on the axis: rounded, never more digits than help."""

from __future__ import annotations

from vocabulary.clock import HOUR, MILLISECOND, SECOND, Micros, format_seconds


def shown_time(at_us: Micros) -> str:
    """Seconds to the millisecond: `12.001s`; finer digits only where they are all there is."""
    if 0 < at_us < MILLISECOND:
        return format_seconds(at_us)
    return format_seconds(round(at_us / MILLISECOND) * MILLISECOND)


def axis_time(at_us: Micros) -> str:
    """A label of the axis: short, and still different from its neighbours after hours."""
    if at_us < 2 * HOUR:
        return shown_span(at_us)
    minutes, seconds = divmod(at_us // SECOND, 60)
    return f"{minutes // 60}h{minutes % 60:02}m{seconds:02}s"


def shown_span(span_us: Micros) -> str:
    """A span in three digits or so: `90s`, `1.2s`, `168h`, `0.4ms`."""
    if span_us >= 2 * HOUR:
        return f"{span_us / HOUR:.4g}h"
    if span_us >= SECOND:
        return f"{span_us / SECOND:.4g}s"
    return f"{span_us / MILLISECOND:.3g}ms"
