"""The printed manifests on a cluster, and off it again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import yaml
from kubernetes import config, utils

from clusters.control_plane import ControlPlane, wait_until
from conformance.in_cluster.manifests import JOB, NAMESPACE

from .command import assay

WHOLE = {
    "ValidatingAdmissionPolicyBinding": "admissionregistration.k8s.io/v1/"
    "validatingadmissionpolicybindings",
    "ValidatingAdmissionPolicy": "admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "ClusterRoleBinding": "rbac.authorization.k8s.io/v1/clusterrolebindings",
    "ClusterRole": "rbac.authorization.k8s.io/v1/clusterroles",
}
"""Cluster-scoped collections, in the order of deletion."""


@contextmanager
def installed(plane: ControlPlane, *words: str) -> Iterator[list[dict[str, Any]]]:
    """Apply what `assay in-cluster manifests` prints for these arguments, as an administrator."""
    documents = list(yaml.safe_load_all(assay("in-cluster", "manifests", *words)))
    admin = config.new_client_from_config(str(plane.kubeconfig()))
    api = plane.api()
    try:
        for document in documents:
            utils.create_from_dict(admin, document, field_validation="Strict")
        yield documents
    finally:
        whole = [
            f"/apis/{path}/{document['metadata']['name']}"
            for kind, path in WHOLE.items()
            for document in documents
            if document["kind"] == kind
        ]
        jobs = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
        for path in (f"{jobs}/{JOB}", *whole, f"/api/v1/namespaces/{NAMESPACE}"):
            if api.exists(path):
                api.delete(path, {"propagationPolicy": "Background"})
        wait_until(
            lambda: not api.exists(f"/api/v1/namespaces/{NAMESPACE}"),
            "the namespace of the suite is gone",
            limit_seconds=60,
        )
