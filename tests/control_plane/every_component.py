"""One component of every kind that the reference controller watches, small and valid."""

from __future__ import annotations

from typing import Any

FAILS = {"assay.dev/run-for": "300ms", "assay.dev/exit": "1"}


def every_component(name: str) -> list[dict[str, Any]]:
    """Templates for an AppWrapper of that name; the Pod asks for a GPU, and it fails."""
    labels = {"app": name}
    pod = _pod_spec()
    gpu = {"limits": {"nvidia.com/gpu": "1"}}
    failing = {**pod, "containers": [{**pod["containers"][0], "resources": gpu}]}
    serving = {"metadata": {"labels": labels}, "spec": {**pod, "restartPolicy": "Always"}}
    torch = {"replicas": 1, "template": {"spec": pod}}
    return [
        _object("v1", "Pod", name, {"spec": failing}, FAILS),
        _object("batch/v1", "Job", name, {"spec": {"template": {"spec": pod}}}),
        _object(
            "apps/v1",
            "Deployment",
            name,
            {"spec": {"selector": {"matchLabels": labels}, "template": serving}},
        ),
        _object(
            "apps/v1",
            "StatefulSet",
            name,
            {
                "spec": {
                    "serviceName": name,
                    "selector": {"matchLabels": labels},
                    "template": serving,
                }
            },
        ),
        _object(
            "kubeflow.org/v1",
            "PyTorchJob",
            name,
            {"spec": {"pytorchReplicaSpecs": {"Master": torch}}},
        ),
        _object("v1", "Service", name, {"spec": {"selector": labels, "ports": [{"port": 80}]}}),
        _object("v1", "ConfigMap", name, {"data": {"key": "value"}}),
        _object("v1", "Secret", name, {"stringData": {"key": "value"}}),
        _object("v1", "ServiceAccount", name, {}),
        _object(
            "v1",
            "PersistentVolumeClaim",
            name,
            {
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}},
                }
            },
        ),
    ]


def _pod_spec() -> dict[str, Any]:
    return {
        "restartPolicy": "Never",
        "containers": [{"name": "main", "image": "registry.example.org/main"}],
    }


def _object(
    api_version: str,
    kind: str,
    name: str,
    body: dict[str, Any],
    annotations: dict[str, str] | None = None,
) -> dict[str, Any]:
    metadata = {"name": name, "annotations": annotations or {}}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}
