"""Plans name objects by the suites' kinds, which are registered as the suites are loaded."""

from __future__ import annotations

from conformance import suite

suite.load()
