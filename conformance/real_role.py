"""The one role whose operators real clusters run so far, and its settings."""

from __future__ import annotations

from typing import Final

from conformance.suite import Settings
from conformance.suite import load as suites

REAL_ROLE: Final = "appwrapper"


def real_settings() -> Settings:
    """The settings of that role's suite."""
    return suites()[REAL_ROLE].settings
