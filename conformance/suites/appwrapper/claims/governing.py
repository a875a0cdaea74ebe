"""The value of a parameter that governed an event: the effective one, or another.

An event that is too early or too late does not show its parameter: it may have been measured from
another moment. The parameter is wrong only if the event is as another value would have caused it,
and not as the effective value would have caused it from any other moment at which the controller
changed something.

The tolerance does not depend on the machine's speed: slack may excuse a controller, and
never accuse it.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.history import Moment
from conformance.norm import Fate, eventually, not_before
from conformance.norm.words import span
from conformance.suites.appwrapper.view import AppWrapperRun
from vocabulary.clock import SECOND, Micros

EARLY_US = SECOND
"""Times of the API are whole seconds: a timer that counts from one may be early by this."""
LATE_US = 5 * SECOND
"""An event caused by another value is within this of it, or does not show that value."""


@dataclass(frozen=True, slots=True)
class Elapsed:
    """An event a span after a moment; `happened` None: not before the history's end."""

    aw: AppWrapperRun
    since: Moment
    happened: Moment | None
    plus_us: Micros = 0
    """Additional waiting time besides the parameter's own."""
    steps: int = 2

    def fits(self, other_us: Micros, value_us: Micros) -> bool:
        """True if it came when another value would have had it, much rather than this value."""
        due_us = self.since.t + other_us + self.plus_us
        if self.happened is None:
            return other_us > value_us and due_us > self.aw.history.end.t
        half_us = abs(other_us - value_us) // 2
        late_us = self.happened.t - due_us
        return -min(EARLY_US, half_us) <= late_us <= min(LATE_US, half_us)

    def fits_from_elsewhere(self, value_us: Micros) -> bool:
        """True if the value explains it after all, counted from another change of the status.

        Or without what else is to be waited for: that is another matter than the value. From
        the last change of something that the status shows it may also have passed long
        before, while something else was waited for. No time at all explains nothing.
        """
        if not value_us:
            return False
        until = self.happened or self.aw.history.end
        changes = [change for change in self.aw.changes if change.at.n < until.n]
        spans_us = {value_us, value_us + self.plus_us}
        if any(self._fits_from(change.at, us) for change in changes for us in spans_us):
            return True
        latest = {name: change.at for change in changes for name in change.of}
        return self._is_early(value_us) and any(
            self._had_passed(since, us) for since in latest.values() for us in spans_us
        )

    def _is_early(self, value_us: Micros) -> bool:
        due_us = self.since.t + value_us + self.plus_us
        return self.happened is not None and self.happened.t < due_us

    def _fits_from(self, since: Moment, span_us: Micros) -> bool:
        """True if it came, or may still come, as soon as that span had passed, not before."""
        bound = eventually(
            self.aw,
            "it",
            since=since,
            within_us=span_us,
            happened=self.happened,
            steps=self.steps,
        )
        return bound.fate is not Fate.VIOLATED and self._had_passed(since, span_us)

    def _had_passed(self, since: Moment, span_us: Micros) -> bool:
        bound = not_before(self.aw, "it", since=since, at_least_us=span_us, happened=self.happened)
        return bound.fate is not Fate.VIOLATED

    @staticmethod
    def told(value: int) -> str:
        return span(value)


@dataclass(frozen=True, slots=True)
class Count:
    """How often an AppWrapper had been reset when it was reset again, or failed for good."""

    resets: int
    was_final: bool

    def fits(self, other: int, value: int) -> bool:  # noqa: ARG002  # as spans are asked
        """True if another limit would have allowed just that."""
        return self.resets == other if self.was_final else self.resets <= other

    def fits_from_elsewhere(self, value: int) -> bool:  # noqa: ARG002  # as spans are asked
        """A count begins nowhere else than with the AppWrapper."""
        return False

    @staticmethod
    def told(value: int) -> str:
        return f"{value} resets"
