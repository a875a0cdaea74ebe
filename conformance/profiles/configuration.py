"""A run's configuration in the words of the implementation's own configuration file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import yaml

from conformance.parameters import overlay
from conformance.profiles.placeholders import fill
from conformance.profiles.profile import Configuration
from vocabulary.durations import parse_duration

SPANS: Final = "faultTolerance"
"""The section of the suite's settings whose texts are durations."""
NANOSECONDS: Final = 1_000


class ConfigurationError(ValueError):
    """What an installed operator reads is nothing that settings can be laid into."""


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


def reconfigured(told: Configuration, standing: str, settings: Mapping[str, Any]) -> str:
    """The document that an installed operator reads, as YAML, with those settings laid into it;
    what it says otherwise it goes on saying. ConfigurationError for one that is no mapping."""
    try:
        document = yaml.safe_load(standing) or {}
    except yaml.YAMLError as error:
        raise ConfigurationError(f"is not YAML: {error}") from error
    if not isinstance(document, Mapping):
        raise ConfigurationError("is no mapping, into which settings could be laid")
    return yaml.safe_dump(overlay(document, configuration(told, settings, {})))


def _nanoseconds(value: Any) -> Any:
    return parse_duration(value) * NANOSECONDS if isinstance(value, str) else value
