"""The Jobs that were created and that the cache may not show yet.

A pass that creates many Jobs ends before the last of them are in its cache, and the next one would
create those again. So each is expected to show for a moment; if it does not, for instance since it
was deleted while the informer listed anew, it is created again.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from vocabulary.clock import SECOND, Micros

BEHIND_US: Final = SECOND
"""How far a cache is believed to be behind."""
_MAX: Final = 50_000


class Expectations:
    """The times of creations, by what was created. They may be forgotten."""

    def __init__(self) -> None:
        self._since_us: dict[Hashable, Micros] = {}

    def add(self, key: Hashable, now_us: Micros) -> None:
        if len(self._since_us) >= _MAX:
            self._since_us.clear()
        self._since_us[key] = now_us

    def holds(self, key: Hashable, now_us: Micros) -> bool:
        """True if that was created a moment ago."""
        since_us = self._since_us.get(key)
        if since_us is None:
            return False
        if now_us < since_us + BEHIND_US:
            return True
        del self._since_us[key]
        return False
