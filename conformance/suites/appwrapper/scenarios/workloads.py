"""AppWrappers built from a few arguments, for scenarios that differ in one field of a manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vocabulary.objects import Object

CPU_REQUEST = {"requests": {"cpu": "100m"}}


def appwrapper(*templates: Object, name: str = "a") -> dict[str, Any]:
    """An AppWrapper with one component per template."""
    return {
        "apiVersion": "workload.codeflare.dev/v1beta2",
        "kind": "AppWrapper",
        "metadata": {"name": name},
        "spec": {"components": [{"template": dict(template)} for template in templates]},
    }


def container(
    resources: Mapping[str, Any] | None = None, name: str = "main", **fields: Any
) -> dict[str, Any]:
    """A container that requests a little CPU unless other resources are given."""
    return {"name": name, "image": "busybox", "resources": resources or CPU_REQUEST, **fields}


def pod_spec(resources: Mapping[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A pod spec with one container that is never restarted."""
    return {"restartPolicy": "Never", "containers": [container(resources)], **fields}


def job(spec: Mapping[str, Any], pod: Object | None = None, name: str = "a-job") -> dict[str, Any]:
    """A Job; `spec` holds its fields beside the pod template."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {**spec, "template": {"spec": pod or pod_spec()}},
    }


def deployment(
    spec: Mapping[str, Any], pod: Object | None = None, name: str = "a-deployment"
) -> dict[str, Any]:
    """A Deployment; `spec` holds its fields beside selector and pod template."""
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": pod or {"containers": [container()]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {**spec, "selector": {"matchLabels": labels}, "template": template},
    }


def stateful_set(
    spec: Mapping[str, Any], pod: Object | None = None, name: str = "a-set"
) -> dict[str, Any]:
    """A StatefulSet; `spec` holds its fields beside selector and pod template."""
    of_deployment = deployment(spec, pod, name)
    fields = {"serviceName": "a", "podManagementPolicy": "Parallel", **of_deployment["spec"]}
    return {**of_deployment, "kind": "StatefulSet", "spec": fields}


def bare_pod(pod: Object | None = None, **metadata: Any) -> dict[str, Any]:
    """A Pod, named `a-0` unless the metadata say otherwise."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata or {"name": "a-0"},
        "spec": pod or pod_spec(),
    }
