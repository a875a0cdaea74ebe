"""Aggregated discovery: one document for the resources of all groups, for clients that ask for it.

A client names the form in `Accept`, and looks at the response's content type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from clusters.simulated.serve import events
from clusters.simulated.serve.discovery import (
    Remote,
    group_versions_in_order,
    subresources_in_order,
)
from clusters.simulated.serve.requests import Call
from clusters.simulated.strategy import Strategy
from clusters.simulated.subresources import SUBRESOURCES
from vocabulary.kinds import EVENT

_GROUP: Final = "apidiscovery.k8s.io"
_VERSION: Final = "v2"
FORM: Final = "APIGroupDiscoveryList"
_JSON: Final = ("application/json", "application/*", "*/*")
MEDIA_TYPE: Final = f"application/json;g={_GROUP};v={_VERSION};as={FORM}"


def is_wanted(call: Call) -> bool:
    """True if a request for `/api` or `/apis` accepts the aggregated form, in any place."""
    for clause in call.headers.get("Accept", "").split(","):
        media_type, *parameters = (part.strip() for part in clause.split(";"))
        given = dict(parameter.partition("=")[::2] for parameter in parameters)
        form = (given.get("g"), given.get("v"), given.get("as"))
        if media_type in _JSON and form == (_GROUP, _VERSION, FORM):
            return True
    return False


def document(strategies: Mapping[str, Strategy], remote: Remote, *, core: bool) -> dict[str, Any]:
    """`/api` if `core`, else `/apis`."""
    return {
        "kind": FORM,
        "apiVersion": f"{_GROUP}/{_VERSION}",
        "metadata": {},
        "items": [
            {
                "metadata": {"name": name} if name else {},
                "versions": [
                    {"version": version, "freshness": "Stale"}
                    if (name, version) in remote
                    else {
                        "version": version,
                        "resources": _resources(name, version, strategies),
                        "freshness": "Current",
                    }
                    for version in versions
                ],
            }
            for name, versions in group_versions_in_order(strategies, remote)
            if core == (not name)
        ],
    }


def _resources(
    group: str, version: str, strategies: Mapping[str, Strategy]
) -> list[dict[str, Any]]:
    served = [
        strategy
        for strategy in strategies.values()
        if strategy.kind.group == group and version in strategy.versions
    ]
    if (group, version) == (events.GROUP, events.VERSION):
        served.append(strategies[EVENT.group_kind])
    ordered = sorted(served, key=lambda strategy: strategy.kind.plural)
    return [_resource(group, version, strategy) for strategy in ordered]


def _resource(group: str, version: str, strategy: Strategy) -> dict[str, Any]:
    kind = strategy.kind
    # Of built-in kinds a real server tells group and version only where they are another's.
    named = ("", "") if strategy.is_built_in else (group, version)
    own = {"group": named[0], "version": named[1], "kind": kind.kind}
    resource: dict[str, Any] = {
        "resource": kind.plural,
        "responseKind": own,
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": strategy.singular,
        "verbs": list(strategy.verbs),
    }
    if strategy.short_names:
        resource["shortNames"] = list(strategy.short_names)
    if strategy.categories:
        resource["categories"] = list(strategy.categories)
    subresources = subresources_in_order(strategy, version)
    if subresources:
        resource["subresources"] = [_subresource(name, own) for name in subresources]
    return resource


def _subresource(name: str, own: Mapping[str, str]) -> dict[str, Any]:
    body = SUBRESOURCES[name]
    response = (
        {"group": body.group, "version": body.version, "kind": body.kind} if body.kind else own
    )
    return {"subresource": name, "responseKind": response, "verbs": list(body.verbs)}
