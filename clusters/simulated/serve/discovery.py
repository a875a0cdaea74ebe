"""Discovery: the documents about served APIs, which clients read first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from clusters.simulated.aggregation import priority_of
from clusters.simulated.serve import events
from clusters.simulated.strategy import Strategy
from clusters.simulated.subresources import SUBRESOURCES
from clusters.simulated.version_order import maturity
from vocabulary.kinds import EVENT

Remote: TypeAlias = Mapping[tuple[str, str], int]
"""Groups and versions of other servers, with the priorities of their groups."""

KUBERNETES_VERSION: Final = "v1.36.0"
"""The version whose behaviour is simulated."""


def version() -> dict[str, Any]:
    """`/version`."""
    major, minor, _ = KUBERNETES_VERSION.removeprefix("v").split(".")
    return {
        "major": major,
        "minor": minor,
        "gitVersion": f"{KUBERNETES_VERSION}+assay",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": "",
    }


def core_versions(address: str) -> dict[str, Any]:
    """`/api`."""
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def groups(strategies: Mapping[str, Strategy], remote: Remote) -> dict[str, Any]:
    """`/apis`."""
    return {
        "kind": "APIGroupList",
        "apiVersion": "v1",
        "groups": [
            _group(name, versions)
            for name, versions in group_versions_in_order(strategies, remote)
            if name
        ],
    }


def group(name: str, strategies: Mapping[str, Strategy], remote: Remote) -> dict[str, Any] | None:
    """`/apis/<group>`; None if nothing of the group is served."""
    for candidate, versions in group_versions_in_order(strategies, remote):
        if candidate == name != "":
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, versions)}
    return None


def resources(
    group_name: str, version_name: str, strategies: Mapping[str, Strategy]
) -> dict[str, Any] | None:
    """`/api/v1` and `/apis/<group>/<version>`; None if nothing of it is served."""
    served: list[dict[str, Any]] = []
    for strategy in sorted(strategies.values(), key=lambda strategy: strategy.kind.plural):
        if strategy.kind.group == group_name and version_name in strategy.versions:
            served += _resources(strategy, version_name)
    if (group_name, version_name) == (events.GROUP, events.VERSION):
        served += _resources(strategies[EVENT.group_kind], version_name)
    if not served:
        return None
    group_version = f"{group_name}/{version_name}" if group_name else version_name
    listed: dict[str, Any] = {"kind": "APIResourceList"}
    if group_name:
        listed["apiVersion"] = "v1"
    return {**listed, "groupVersion": group_version, "resources": served}


def group_versions(strategies: Mapping[str, Strategy]) -> list[tuple[str, str]]:
    """Return all served pairs of group and version."""
    pairs = [
        (strategy.kind.group, name)
        for strategy in strategies.values()
        for name in strategy.versions
    ]
    return sorted(set(pairs))


def subresources_in_order(strategy: Strategy, version_name: str) -> list[str]:
    """By name; custom resources have the status first."""
    return sorted(
        strategy.subresources_in(version_name),
        key=lambda name: (name != "status" and not strategy.is_built_in, name),
    )


def _resources(strategy: Strategy, version_name: str) -> list[dict[str, Any]]:
    kind = strategy.kind
    resource: dict[str, Any] = {
        "name": kind.plural,
        "singularName": strategy.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": list(strategy.verbs),
    }
    if strategy.short_names:
        resource["shortNames"] = list(strategy.short_names)
    if strategy.categories:
        resource["categories"] = list(strategy.categories)
    served = [resource]
    for name in subresources_in_order(strategy, version_name):
        body_group, body_version, body_kind, verbs = SUBRESOURCES[name]
        subresource: dict[str, Any] = {
            "name": f"{kind.plural}/{name}",
            "singularName": "",
            "namespaced": kind.namespaced,
        }
        if body_group:
            subresource |= {"group": body_group, "version": body_version}
        subresource |= {"kind": body_kind or kind.kind, "verbs": list(verbs)}
        served.append(subresource)
    return served


def group_versions_in_order(
    strategies: Mapping[str, Strategy], remote: Remote
) -> list[tuple[str, list[str]]]:
    """All groups with their versions, in the order in which clients prefer them."""
    by_group: dict[str, list[str]] = {events.GROUP: [events.VERSION]}
    priorities: dict[str, int] = {}
    for name, version_name in group_versions(strategies):
        by_group.setdefault(name, []).append(version_name)
    for (name, version_name), priority in remote.items():
        if name not in by_group:
            priorities[name] = priority
        by_group.setdefault(name, []).append(version_name)
    return [
        (name, sorted(by_group[name], key=maturity))
        for name in sorted(
            by_group, key=lambda name: (-priorities.get(name, priority_of(name)), name)
        )
    ]


def _group(name: str, versions: list[str]) -> dict[str, Any]:
    entries = [
        {"groupVersion": f"{name}/{version_name}", "version": version_name}
        for version_name in versions
    ]
    return {"name": name, "versions": entries, "preferredVersion": entries[0]}
