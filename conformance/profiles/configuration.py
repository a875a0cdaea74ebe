"""A run's configuration in the words of the implementation's own configuration file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.parameters import overlay
from conformance.profiles.placeholders import fill
from conformance.profiles.profile import Configuration
from vocabulary.durations import parse_duration

SPANS: Final = "faultTolerance"
"""The section of the suite's settings whose texts are durations."""
NANOSECONDS: Final = 1_000


def configuration(
    told: Configuration, settings: Mapping[str, Any], words: Mapping[str, str]
) -> dict[str, Any]:
    """The document to give to one operator process.

    `settings` is the run's configuration, shaped as `conformance.parameters.DEFAULT_CONFIG`;
    `words` are the placeholders of that process.
    """
    spelled: Mapping[str, Any] = dict(settings)
    if told.durations == "nanoseconds" and SPANS in settings:
        spans = {name: _nanoseconds(value) for name, value in settings[SPANS].items()}
        spelled = {**settings, SPANS: spans}
    for key in reversed(told.settings_under):
        spelled = {key: spelled}
    document: dict[str, Any] = fill(told.document, words)
    return overlay(document, spelled)


def _nanoseconds(value: Any) -> Any:
    return parse_duration(value) * NANOSECONDS if isinstance(value, str) else value
