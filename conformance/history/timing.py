"""How early and how late a conforming controller may act in this history.

Lower bounds are strict: nothing may happen before its time. Two things soften them, both
small. Times that come from the API are whole seconds, be it that the history has no others
or that the controller's own timers count from such. And a controller that times something
from its own doing stamps it a moment before the write is committed, so bounds that count
from one of its own writes are shorter by `stamp_us`.

Upper bounds are the deadline and what the controller needs to notice (detection latency,
poll interval, slack: facts of the header). The clock stands still while the controller could
not act, and after that it gets as long again: a client that backed off exponentially while
everything failed waits at most about as long as it had already waited, even for what became due
just before the end of that. What such a client is documented to wait, says `refusals`.

A process that starts when no other could act knows nothing from before: it stamps nothing
earlier than its start, and reads no state that is older than that and one latency, unless a
fault kept it from reading the current state.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from conformance.history.refusals import MAX_BACKOFF_US
from vocabulary.clock import MILLISECOND, SECOND, Micros
from vocabulary.history import Header, OperatorUnderTest

UNKNOWN_LATENCY_US: Final = {"virtual": 5 * SECOND, "wall": 65 * SECOND}
"""Where the header does not say: the released operator polls once a minute on real clusters."""
UNKNOWN_REQUEST_LATENCY_US: Final = 100 * MILLISECOND
BEFORE_ALL_US: Final = -(1 << 60)


class Outage(NamedTuple):
    """A span in which the controller could not act as it should; `end_us` None: indefinitely."""

    begin_us: Micros
    end_us: Micros | None
    because: str
    cost_us: Micros | None = None
    """The delay that it causes at most; None: as long as it lasts."""
    refuses_for_good: bool = False
    """True if it answers requests in a way after which trying again makes no sense."""
    backs_off: bool = False
    """True if requests fail meanwhile, so that a client waits longer and longer between them."""
    failures: int = 0
    """How many requests fail, where their number is limited."""
    waited_us: Micros = 0
    """How long a client may wait already between its requests when the first of these fails."""
    strikes_watches: bool = False
    """True if it strikes watches alone: requests are answered as ever."""


class Start(NamedTuple):
    """The start of a process when no other instance of the controller could act."""

    at_us: Micros
    reads_current: bool
    """True if no fault stood between it and the current state at that time."""


class Timing:
    """The bounds that hold in one history; all spans and times in µs."""

    __slots__ = ("latency_us", "outages", "slack_us", "stamp_us", "starts")

    def __init__(
        self,
        header: Header,
        operator: OperatorUnderTest,
        outages: Iterable[Outage],
        starts: Iterable[Start] = (),
    ) -> None:
        facts, slack_us = operator.facts, header.facts.slack_us
        polled_us = facts.polls_every_us if facts.untouched else facts.poll_us
        known = (facts.detection_latency_us, polled_us, slack_us)
        told = [span for span in known if span is not None]
        coarse_us = facts.clock_resolution_us or 0
        self.slack_us = max(coarse_us, 0 if header.capabilities.exact_times else SECOND)
        self.latency_us = (sum(told) if told else UNKNOWN_LATENCY_US[header.clock]) + self.slack_us
        request_us = facts.request_latency_us
        self.stamp_us = (
            max(
                UNKNOWN_REQUEST_LATENCY_US if request_us is None else request_us,
                slack_us or 0,
            )
            + self.slack_us
        )
        self.outages = tuple(outages)
        self.starts = tuple(starts)

    def due_us(self, since_us: Micros, within_us: Micros) -> Micros | None:
        """By when something must have happened that is due `within_us` after a time.

        None if the controller was kept from acting and the history does not show that it
        was ever able to act again.
        """
        due_us = since_us + within_us + self.latency_us
        for outage in self.outages:
            if outage.begin_us >= due_us:
                break
            if outage.end_us is not None and outage.end_us < since_us:
                continue
            if outage.cost_us is not None:
                lost_us, wait_us = outage.cost_us, outage.cost_us + outage.waited_us
            elif outage.end_us is None:
                return None
            else:
                lost_us = wait_us = outage.end_us - max(outage.begin_us, since_us)
                if outage.backs_off:
                    lasted_us = outage.end_us - outage.begin_us
                    wait_us = max(wait_us, min(lasted_us, MAX_BACKOFF_US))
            due_us += lost_us + wait_us + self.latency_us
        return due_us

    def seen_us(self, at_us: Micros) -> Micros:
        """The oldest state that a controller acting at this time may be acting on."""
        begun_us = (start.at_us for start in self.starts if start.reads_current)
        earliest_us = self._reach_back(at_us, self.latency_us)
        return max(earliest_us, _last(begun_us, at_us) - self.latency_us)

    def stamped_us(self, at_us: Micros) -> Micros:
        """The earliest time that a controller may have stamped a write committed at this time."""
        begun_us = (start.at_us for start in self.starts)
        return max(self._reach_back(at_us, self.stamp_us), _last(begun_us, at_us) - self.slack_us)

    def requested_us(self, at_us: Micros, *, live: bool = False) -> Micros:
        """The earliest time at which a request may have been served whose answer led to a write
        at this time: one request before it, or earlier where answers came late. Watches serve some
        requests, unless it is `live`."""
        earliest_us = at_us - self.stamp_us
        for outage in reversed(self.outages):
            is_then = outage.begin_us < at_us and (
                outage.end_us is None or outage.end_us > earliest_us
            )
            if is_then and outage.cost_us is not None and not (live and outage.strikes_watches):
                earliest_us -= outage.cost_us
        return earliest_us

    def hindered(self, begin_us: Micros, end_us: Micros) -> list[Outage]:
        """The outages that overlap a span."""
        return [
            outage
            for outage in self.outages
            if outage.begin_us <= end_us and (outage.end_us is None or outage.end_us >= begin_us)
        ]

    def _reach_back(self, at_us: Micros, by_us: Micros) -> Micros:
        earliest_us = at_us - by_us
        for outage in reversed(self.outages):
            if outage.begin_us < at_us and (outage.end_us is None or outage.end_us > earliest_us):
                if outage.cost_us is not None:
                    earliest_us -= outage.cost_us
                else:
                    earliest_us = min(earliest_us, outage.begin_us - by_us)
        return earliest_us


def _last(times_us: Iterable[Micros], until_us: Micros) -> Micros:
    """The last of these times that is not later than another; before all times if none is."""
    return max((time_us for time_us in times_us if time_us <= until_us), default=BEFORE_ALL_US)
