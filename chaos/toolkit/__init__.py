"""Assay's faults and claims as an extension of the Chaos Toolkit.

    $ chaos discover --no-install assay
    $ chaos run experiment.yaml          # on the cluster of a kubeconfig
    $ assay chaos experiment.yaml        # in the simulation, `pauses` in virtual time

What chaostoolkit-kubernetes lacks: exit codes and reasons, evictions, taints, propagation
policies and foreign finalizers, an operator that is killed and restarted, and every other
fault of a plan (`inject_fault`); each is undone by `revert_faults`. And as a steady state a
temporal claim (`claim_holds`), judged on all that happened since the experiment began, not
only on how things look at the end.

- `modules`, `actions`, `pod_actions`, `node_actions`, `probes`: the activities. Those that
  chaostoolkit-kubernetes also has take the same parameters.
- `stage`: what activities act on: a cluster, and the history of what happened there.
- `kubernetes_stage`, `kubernetes_ground`, `watch_recorder`: the cluster of a kubeconfig.
- `virtual`: the simulation, with the experiment's pauses as virtual time.
"""

from __future__ import annotations

from importlib import metadata

from chaoslib.discovery.discover import (
    discover_actions,
    discover_probes,
    initialize_discovery_result,
)
from chaoslib.types import DiscoveredActivities, Discovery

from chaos.toolkit.modules import ACTIONS, PROBES

__all__ = ["discover"]

EXTENSION = "assay"


def discover(discover_system: bool = True) -> Discovery:  # noqa: ARG001  # the toolkit's signature
    """The actions and probes of this extension."""
    found: Discovery = initialize_discovery_result(
        EXTENSION, metadata.version(EXTENSION), "kubernetes"
    )
    activities: list[DiscoveredActivities] = []
    for module in ACTIONS:
        activities += discover_actions(module)
    for module in PROBES:
        activities += discover_probes(module)
    found["activities"] = activities
    return found
