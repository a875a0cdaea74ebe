"""Probes of AppWrappers for the Chaos Toolkit.

Annotations are evaluated here, since discovery shows parameter types only if they are.
"""
# ruff: noqa: ARG001  # signatures are chaostoolkit's

from chaoslib.types import Configuration, Secrets

from chaos.toolkit.probes import condition
from chaos.toolkit.stage import stage_of
from vocabulary.objects import get_path

__all__ = ["quota_reserved", "resources_deployed", "retry_count"]


def quota_reserved(
    name: str,
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> bool:
    """
    True if an AppWrapper holds its quota (condition QuotaReserved).
    """
    return condition(_named(name), "QuotaReserved", ns, configuration) == "True"


def resources_deployed(
    name: str,
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> bool:
    """
    True if resources of an AppWrapper may exist (condition ResourcesDeployed).
    """
    return condition(_named(name), "ResourcesDeployed", ns, configuration) == "True"


def retry_count(
    name: str,
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> int:
    """
    How often an AppWrapper was reset, as it counts itself.
    """
    found = stage_of(configuration, ns).named(_named(name))
    return int(get_path(found, "status.resettingCount", 0))


def _named(name: str) -> str:
    return f"AppWrapper/{name}"
