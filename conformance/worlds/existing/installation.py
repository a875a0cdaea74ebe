"""An operator that is installed in the cluster, as the preflight finds it."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.implementations.under_test import Installed, InstalledDeployment, InstalledPods
from conformance.leased.deployments import listed_pods
from conformance.leased.operator import NOTE
from conformance.profiles.configuration import ConfigurationError
from conformance.stored_objects.lookup import Asked, stored
from conformance.suite import Settings
from vocabulary.kinds import CONFIG_MAP, DEPLOYMENT


def problems(connection: Asked, installed: Installed, settings: Settings) -> Iterator[str]:
    """Why it cannot be put under test, each with the next thing to do."""
    match installed:
        case InstalledDeployment():
            if stored(connection, DEPLOYMENT, installed.namespace, installed.name) is None:
                yield (
                    f"{installed} is not there; install the operator, or correct the profile's "
                    "deployment"
                )
            if installed.config_map:
                yield from _problems_of_configuration(connection, installed, settings)
        case InstalledPods():
            if not listed_pods(connection, installed.namespace, installed.selector):
                yield f"{installed}: there are none; start the operator, or correct pods.selector"


def _problems_of_configuration(
    connection: Asked, installed: InstalledDeployment, settings: Settings
) -> Iterator[str]:
    where = f"ConfigMap {installed.namespace}/{installed.config_map}"
    config = stored(connection, CONFIG_MAP, installed.namespace, installed.config_map)
    text = None if config is None else (config.get("data") or {}).get(installed.key)
    if config is None or text is None:
        yield f"{where} has no key {installed.key}; correct the profile's configuration.configMap"
    elif config.get("immutable"):
        yield f"{where} is immutable, so runs cannot configure the operator; make it anew without"
    else:
        try:
            installed.configured(text, settings.defaults)
        except ConfigurationError as error:
            yield f"{where}: what stands under {installed.key} {error}"


def in_words(installed: Installed) -> Iterator[str]:
    """The planned changes, in words."""
    match installed:
        case InstalledDeployment():
            yield (
                f"{installed}, the operator under test, which is stopped, started and killed: runs "
                "come one at a time"
            )
            if installed.config_map:
                yield (
                    f"  ConfigMap {installed.namespace}/{installed.config_map}: {installed.key} "
                    "gets the settings of each run"
                )
            yield (
                f"  at the end it is as it was, by the note in ConfigMap {NOTE}; until then it "
                "serves nobody else as it should"
            )
        case InstalledPods():
            yield (
                f"{installed}, the operator under test, which are killed, and brought back by "
                "whoever runs them: runs come one at a time"
            )
