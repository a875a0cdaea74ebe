"""An operator that is installed in the cluster, as the preflight finds it."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.borrowed_operator import NOTE
from conformance.parameters import DEFAULT_CONFIG
from conformance.profiles.configuration import ConfigurationError
from conformance.stored import Asked, stored
from conformance.under_test import Installed
from vocabulary.kinds import CONFIG_MAP, DEPLOYMENT


def problems(connection: Asked, installed: Installed) -> Iterator[str]:
    """Why it cannot be put under test, each with the next thing to do."""
    if stored(connection, DEPLOYMENT, installed.namespace, installed.name) is None:
        yield f"{installed} is not there; install the operator, or correct the profile's deployment"
    where = f"ConfigMap {installed.namespace}/{installed.config_map}"
    config = stored(connection, CONFIG_MAP, installed.namespace, installed.config_map)
    text = None if config is None else (config.get("data") or {}).get(installed.key)
    if config is None or text is None:
        yield f"{where} has no key {installed.key}; correct the profile's configuration.configMap"
    elif config.get("immutable"):
        yield f"{where} is immutable, so runs cannot configure the operator; make it anew without"
    else:
        try:
            installed.configured(text, DEFAULT_CONFIG)
        except ConfigurationError as error:
            yield f"{where}: what stands under {installed.key} {error}"


def in_words(installed: Installed) -> Iterator[str]:
    """What will be done to it."""
    yield (
        f"{installed}, the operator under test, which is stopped, started and killed: runs come "
        "one at a time"
    )
    yield (
        f"  ConfigMap {installed.namespace}/{installed.config_map}: {installed.key} gets the "
        "settings of each run"
    )
    yield (
        f"  at the end both are as they were, by the note in ConfigMap {NOTE}; until then it "
        "serves nobody else as it should"
    )
