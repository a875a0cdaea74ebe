"""Shared by scenarios of several subjects; nearly all of them have one AppWrapper, `a`."""

from __future__ import annotations

from typing import Final

from chaos.choice import NodeChoice, PodChoice
from conformance.world import World
from vocabulary.kinds import RESOURCE_QUOTA

FIRST_POD: Final = PodChoice(of="AppWrapper/a")
ITS_NODE: Final = NodeChoice(hosting=FIRST_POD)

NO_PODS: Final = "no-pods"

USERS_CONFIG: Final = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a-config"},
    "data": {"owner": "user"},
}
"""A user's replacement for a component of `mixed.yaml`."""


def refuse_pods(world: World) -> None:
    """Set a quota that rejects new pods from now on; existing ones stay."""
    world.create(
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": NO_PODS},
            "spec": {"hard": {"pods": "0"}},
        },
        actor="chaos",
    )


def allow_pods(world: World) -> None:
    """Delete the quota of `refuse_pods`."""
    world.delete(RESOURCE_QUOTA, NO_PODS, actor="chaos")
