"""The Jobs that were created and that the cache may not show yet.

A pass that creates many Jobs ends before the last of them are in its cache, and the next one would
create those again. So each is expected to show for a moment; if it does not, for instance since it
was deleted while the informer listed anew, it is created again.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from reference_controller.jobset.names import PARTIAL_RESTARTS, RESTARTS
from vocabulary.clock import SECOND, Micros
from vocabulary.objects import labels_of
from vocabulary.requests import Create

BEHIND_US: Final = SECOND
"""How far a cache is believed to be behind."""
_MAX: Final = 50_000


def shown_by_us(now_us: Micros) -> Micros:
    """The time by which the cache shows what is created now, or never will."""
    return now_us + BEHIND_US


class Expectations:
    """The times at which Jobs were created. They may be forgotten."""

    def __init__(self) -> None:
        self._since_us: dict[Hashable, Micros] = {}

    def add(self, create: Create, now_us: Micros) -> None:
        if len(self._since_us) >= _MAX:
            self._since_us.clear()
        self._since_us[_attempt(create)] = now_us

    def holds(self, create: Create, now_us: Micros) -> bool:
        """True if that was created a moment ago."""
        key = _attempt(create)
        since_us = self._since_us.get(key)
        if since_us is None:
            return False
        if now_us < since_us + BEHIND_US:
            return True
        del self._since_us[key]
        return False


def _attempt(create: Create) -> Hashable:
    """A key of a creation; that of another attempt has another one."""
    marks = labels_of(create.object)
    return create.namespace, create.name, marks[RESTARTS], marks[PARTIAL_RESTARTS]
