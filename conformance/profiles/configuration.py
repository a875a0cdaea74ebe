"""A run's configuration in the words of the implementation's own configuration file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from conformance.profiles.placeholders import fill
from conformance.profiles.profile import Configuration
from conformance.suite import Settings
from vocabulary.durations import parse_duration
from vocabulary.safe_yaml import YamlError, load_yaml

NANOSECONDS: Final = 1_000


class ConfigurationError(ValueError):
    """An installed operator's configuration cannot be merged with settings."""


def configuration(
    told: Configuration, known: Settings, config: Mapping[str, Any], words: Mapping[str, str]
) -> dict[str, Any]:
    """The document to give to one operator process.

    `known` are the settings of its suite, and `config` is what the run configures of these; of
    what is not there, the operator's own defaults decide. `words` are the placeholders of that
    process.
    """
    spelled: Mapping[str, Any] = dict(config)
    if told.durations == "nanoseconds" and known.spans in config:
        spans = {name: _nanoseconds(value) for name, value in config[known.spans].items()}
        spelled = {**config, known.spans: spans}
    document: dict[str, Any] = fill(told.document, words)
    return known.overlay(document, _at(told.settings_under, spelled))


def reconfigured(
    told: Configuration, known: Settings, standing: str, config: Mapping[str, Any]
) -> str:
    """The document that an installed operator reads, as YAML, with that configuration laid into it.

    Other settings of the suite's are taken out of it, so that the operator's defaults decide; what
    it says otherwise it goes on saying. ConfigurationError for one that is no mapping."""
    try:
        document = load_yaml(standing, "text") or {}
    except YamlError as error:
        raise ConfigurationError(f"cannot be read: {error}") from error
    if not isinstance(document, Mapping):
        raise ConfigurationError("is no mapping, into which settings could be laid")
    left = _without(document, _at(told.settings_under, known.defaults))
    return yaml.safe_dump(known.overlay(left, configuration(told, known, config, {})))


def settings_in(told: Configuration, known: Settings) -> list[str]:
    """The settings of the suite that the profile's own document says, as paths with dots."""
    return list(_named(told.document, _at(told.settings_under, known.defaults), ""))


def _at(keys: tuple[str, ...], settings: Mapping[str, Any]) -> Mapping[str, Any]:
    for key in reversed(keys):
        settings = {key: settings}
    return settings


def _without(document: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The document without those settings, and without sections that had nothing else."""
    left: dict[str, Any] = {}
    for key, value in document.items():
        if key not in settings:
            left[key] = value
        elif (
            isinstance(value, Mapping)
            and isinstance(settings[key], Mapping)
            and (rest := _without(value, settings[key]))
        ):
            left[key] = rest
    return left


def _named(document: Mapping[str, Any], settings: Mapping[str, Any], path: str) -> Iterator[str]:
    for key in document.keys() & settings.keys():
        value, known = document[key], settings[key]
        if isinstance(value, Mapping) and isinstance(known, Mapping):
            yield from _named(value, known, f"{path}{key}.")
        else:
            yield f"{path}{key}"


def _nanoseconds(value: Any) -> Any:
    return parse_duration(value) * NANOSECONDS if isinstance(value, str) else value
