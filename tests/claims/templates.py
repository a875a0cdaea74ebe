"""The AppWrappers of stories: component templates and resource requests of pods."""

from __future__ import annotations

from typing import Any

GPU_HEALTH = "autopilot.ibm.com/gpuhealth"


def pod(name: str, **spec: Any) -> dict[str, Any]:
    """A Pod template; `gpus=1` makes it ask for GPUs."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": _pod_spec(**spec),
    }


def job(name: str, pods: int = 1, **spec: Any) -> dict[str, Any]:
    """A Job template with that parallelism."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"parallelism": pods, "template": {"spec": _pod_spec(**spec)}},
    }


def stateful_set(name: str, pods: int = 1, **spec: Any) -> dict[str, Any]:
    """A StatefulSet template with so many replicas."""
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name},
        "spec": {"replicas": pods, "template": {"spec": _pod_spec(**spec)}},
    }


def config_map(name: str) -> dict[str, Any]:
    """A ConfigMap template: a component without pods."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": {"key": "value"},
    }


def _pod_spec(gpus: int | str = 0, **spec: Any) -> dict[str, Any]:
    resources = {"requests": {"nvidia.com/gpu": gpus}} if gpus != 0 else {}
    return {"containers": [{"name": "main", "image": "busybox", "resources": resources}], **spec}


def avoids(*values: str, key: str = GPU_HEALTH) -> dict[str, Any]:
    """The affinity that keeps a pod off nodes with these values."""
    expression = {"key": key, "operator": "NotIn", "values": list(values)}
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [expression]}]
            }
        }
    }
