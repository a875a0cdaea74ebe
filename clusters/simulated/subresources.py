"""The subresources that kinds may have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from clusters.simulated.reading import method_not_allowed


class Subresource(NamedTuple):
    """Group, version and kind of its body ("" for the object's own), and its verbs."""

    group: str
    version: str
    kind: str
    verbs: tuple[str, ...]


SUBRESOURCES: Final[Mapping[str, Subresource]] = {
    "approval": Subresource("", "", "", ("get", "patch", "update")),
    "binding": Subresource("", "", "Binding", ("create",)),
    "eviction": Subresource("policy", "v1", "Eviction", ("create",)),
    "finalize": Subresource("", "", "", ("update",)),
    "log": Subresource("", "", "", ("get",)),
    "scale": Subresource("autoscaling", "v1", "Scale", ("get", "patch", "update")),
    "status": Subresource("", "", "", ("get", "patch", "update")),
    "token": Subresource("authentication.k8s.io", "v1", "TokenRequest", ("create",)),
}


def require_verb(subresource: str, verb: str) -> None:
    """Raise 405 if a subresource does not support the verb."""
    if verb not in SUBRESOURCES[subresource].verbs:
        raise method_not_allowed()
