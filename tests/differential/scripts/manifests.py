"""The objects that scripts create, each as small as its API allows."""

from __future__ import annotations

from typing import Any

Manifest = dict[str, Any]
PAST = "2020-01-01T00:00:00Z"
"""Containers end at this time, so that back-off, which counts from their end, is over."""


def metadata(name: str, **fields: Any) -> Manifest:
    return {"name": name, **fields}


def config_map(name: str, data: dict[str, str] | None = None, **fields: Any) -> Manifest:
    obj: Manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(name, **fields)}
    if data is not None:
        obj["data"] = data
    return obj


def widget(name: str, size: str = "small", /, **spec: Any) -> Manifest:
    return {
        "apiVersion": "tests.assay.dev/v1",
        "kind": "Widget",
        "metadata": metadata(name),
        "spec": {"size": size, **spec},
    }


def gadget(name: str, **fields: Any) -> Manifest:
    return {
        "apiVersion": "tests.assay.dev/v1",
        "kind": "Gadget",
        "metadata": metadata(name, **fields),
        "spec": {"power": 1},
    }


def container(**fields: Any) -> Manifest:
    return {"name": "main", "image": "example.org/main", **fields}


def pod_spec(**fields: Any) -> Manifest:
    return {"containers": [container()], **fields}


def pod(name: str, behaviour: dict[str, str] | None = None, **spec: Any) -> Manifest:
    """`behaviour` has annotations without their prefix: exit, run_for, hold …"""
    obj: Manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata(name),
        "spec": pod_spec(**spec),
    }
    if behaviour:
        obj["metadata"]["annotations"] = as_annotations(behaviour)
    return obj


def unscheduled(name: str, **fields: Any) -> Manifest:
    """A pod that no scheduler and no kubelet touches."""
    obj = pod(name, schedulerName="nobody")
    obj["metadata"] |= fields
    return obj


def as_annotations(behaviour: dict[str, str]) -> dict[str, str]:
    return {f"assay.dev/{key.replace('_', '-')}": value for key, value in behaviour.items()}


def template(behaviour: dict[str, str] | None = None, **spec: Any) -> Manifest:
    obj: Manifest = {"spec": pod_spec(**spec)}
    if behaviour:
        obj["metadata"] = {"annotations": as_annotations(behaviour)}
    return obj


def job(name: str, behaviour: dict[str, str] | None = None, /, **spec: Any) -> Manifest:
    """A Job whose pods end as annotated; fields of the pod's spec go into `pod`."""
    pod_fields = {"restartPolicy": "Never", **spec.pop("pod", {})}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata(name),
        "spec": {**spec, "template": template(behaviour, **pod_fields)},
    }


def fails(code: int = 1, **behaviour: str) -> dict[str, str]:
    return {"exit": str(code), "finished_at": PAST, **behaviour}


SUCCEEDS = {"exit": "0", "finished_at": PAST}


def owner(kind: str, api_version: str, name: str, uid: str, **fields: Any) -> Manifest:
    return {"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, **fields}


_RBAC = "rbac.authorization.k8s.io"


def role(
    name: str, verbs: list[str], resources: list[str], *, group: str = "", names: Any = None
) -> Manifest:
    rule: Manifest = {"apiGroups": [group], "resources": resources, "verbs": verbs}
    if names is not None:
        rule["resourceNames"] = names
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "Role",
        "metadata": metadata(name),
        "rules": [rule],
    }


def role_binding(name: str, role: str, subjects: list[Manifest]) -> Manifest:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": metadata(name),
        "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": role},
        "subjects": subjects,
    }


def user_subject(name: str) -> Manifest:
    return {"apiGroup": _RBAC, "kind": "User", "name": name}
