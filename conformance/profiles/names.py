"""The profiles that come with installed suites: their names, without reading any."""

from __future__ import annotations

from pathlib import Path

from conformance import suite


def shipped() -> dict[str, Path]:
    """The files of the profiles that come with installed suites, by name."""
    return suite.profiles()
