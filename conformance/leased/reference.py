"""The reference's shipped Deployment, fitted to one run: its namespace, configuration, account.

What an installation has for everybody is left out: webhooks, since the harness serves those of
each run, and replicas, since operators that faults are to tell apart are Deployments of their
own. How the program is started and probed, and what it may do to its node, stays as shipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import yaml

from conformance.implementations.under_test import DeployedPlace
from vocabulary.objects import Object

OPERATOR_LABEL: Final = "assay.dev/operator"
"""On the pods: the name of the Deployment that they are of."""
CERTIFICATE: Final = "certificate"
_LEFT_OUT: Final = ("--webhook-", "--leader-elect")
_AT_ONCE: Final = {"initialDelaySeconds": 0, "periodSeconds": 1}
"""Runs wait for their operator to be ready."""


def in_one_namespace(
    shipped: Object, place: DeployedPlace, arguments: Sequence[str]
) -> tuple[Object, ...]:
    """A ConfigMap and the Deployment that reads it, scaled to 0; `arguments` are added to its."""
    metadata = {"name": place.name, "namespace": place.home}
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": {"config.yaml": yaml.safe_dump(dict(place.config))},
    }
    labels = {OPERATOR_LABEL: place.name}
    template = shipped["spec"]["template"]
    spec = {
        **template["spec"],
        "serviceAccountName": place.account,
        "containers": [_container(template["spec"]["containers"][0], place, arguments)],
        "volumes": [
            {**volume, "configMap": {"name": place.name}} if "configMap" in volume else volume
            for volume in template["spec"]["volumes"]
            if volume["name"] != CERTIFICATE
        ],
    }
    deployment = {
        "apiVersion": shipped["apiVersion"],
        "kind": shipped["kind"],
        "metadata": metadata,
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
    return config, deployment


def _container(shipped: Object, place: DeployedPlace, arguments: Sequence[str]) -> dict[str, Any]:
    kept = [each for each in shipped["args"] if not each.startswith(_LEFT_OUT)]
    elects = ["--leader-elect", f"--lease-namespace={place.namespace}"] if place.elects else []
    own = [f"--namespace={place.namespace}", f"--identity={place.identity}"]
    return {
        **shipped,
        "image": place.image,
        "args": [*kept, *own, *elects, *arguments],
        "readinessProbe": {**shipped["readinessProbe"], **_AT_ONCE},
        "volumeMounts": [
            mount for mount in shipped["volumeMounts"] if mount["name"] != CERTIFICATE
        ],
    }
