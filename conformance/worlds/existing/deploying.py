"""Puts operators under test into a cluster, on nodes that no run borrows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from conformance.implementations.under_test import DeployedPlace, UnderTest
from conformance.left_behind.clean import RUN_LABEL
from conformance.stored_objects.retrying_connection import RetryingConnection
from conformance.worlds.existing.well_known import CONTROL_PLANE
from vocabulary.objects import Object, meta
from vocabulary.requests import create

HOSTNAME: Final = "kubernetes.io/hostname"
TOLERATED: Final = ({"key": CONTROL_PLANE, "operator": "Exists", "effect": "NoSchedule"},)
"""Nodes that are left may be those of the control plane. Other taints are heeded, and cordons."""


def deploy(
    connection: RetryingConnection,
    implementation: UnderTest,
    place: DeployedPlace,
    borrowed: Sequence[str],
) -> Object:
    """Create what runs one operator; its Deployment, scaled to 0.

    It keeps off the nodes that faults may strike. Raises NotDeployableError.
    """
    *needed, deployment = implementation.deployed(place)
    stored: Object = {}
    for obj in (*needed, _beside(deployment, borrowed)):
        labels = {**(meta(obj).get("labels") or {}), RUN_LABEL: place.home}
        stored = {**obj, "metadata": {**meta(obj), "labels": labels}}
        connection.handle(create(stored))
    return stored


def _beside(deployment: Object, borrowed: Sequence[str]) -> dict[str, Any]:
    elsewhere = {"key": HOSTNAME, "operator": "NotIn", "values": list(borrowed)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [elsewhere]}]}
    template = deployment["spec"]["template"]
    spec = {
        **template["spec"],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}},
        "tolerations": list(TOLERATED),
    }
    changed = {**deployment["spec"], "template": {**template, "spec": spec}}
    return {**deployment, "spec": changed}
