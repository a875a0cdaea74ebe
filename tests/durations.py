"""Durations of tests in earlier runs, kept in pytest's cache by this plugin."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import pytest

KEY: Final = "assay/seconds"
LONG_SECONDS: Final = 5.0
"""The duration from which a test is started early, whether it waits or works."""
USUAL_SECONDS: Final = 10.0
"""The assumed duration of an unmeasured test on a real control plane."""


class Durations:
    """Test durations, including set-up, by name; a partial run keeps those of other tests."""

    def __init__(self, config: pytest.Config) -> None:
        # None with -p no:cacheprovider. With xdist the workers tell the controller, which writes.
        self._cache: pytest.Cache | None = getattr(config, "cache", None)
        self._is_worker = hasattr(config, "workerinput")
        self._known: dict[str, float] = {} if self._cache is None else self._cache.get(KEY, {})
        self._of_this_run: defaultdict[str, float] = defaultdict(float)

    def seconds(self, item: pytest.Item) -> float:
        """The test's expected duration; 0 if it is short."""
        known = self._known.get(item.nodeid)
        if item.get_closest_marker("control_plane") is not None:
            return USUAL_SECONDS if known is None else known
        return known if known is not None and known >= LONG_SECONDS else 0.0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._of_this_run[report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        if self._cache is not None and not self._is_worker and self._of_this_run:
            # Read again: another session may have ended meanwhile.
            self._cache.set(KEY, self._cache.get(KEY, {}) | self._of_this_run)
