"""Server-side apply, and patches of unknown types."""

from __future__ import annotations

from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.plane import WIDGET
from tests.differential.script import script
from tests.differential.scripts.manifests import config_map, widget
from vocabulary.kinds import CONFIG_MAP, DEPLOYMENT

APPLY: Final = "application/apply-patch+yaml"


def _apply(c: Dialogue, path: str, body: Any, label: str, by: str = "one", **more: Any) -> None:
    force = "&force=true" if more.pop("force", False) else ""
    target = f"{path}?fieldManager={by}{force}"
    c.raw("PATCH", target, body, content_type=APPLY, label=label, **more)


@script("Applying creates an object, changes it, and removes what is no longer applied.", ["4.16"])
def apply_life(c: Dialogue) -> None:
    path = CONFIG_MAP.path(c.namespace, "a")
    _apply(c, path, config_map("a", {"k": "1", "l": "1"}), "create")
    _apply(c, path, config_map("a", {"k": "2", "l": "1"}), "change")
    _apply(c, path, config_map("a", {"k": "2", "l": "1"}), "again")
    _apply(c, path, config_map("a", {"k": "2"}), "remove")
    _apply(c, path, config_map("a", labels={"x": "y"}), "remove all data")
    _apply(c, WIDGET.path(c.namespace, "w"), widget("w", "large"), "create a custom resource")
    _apply(c, WIDGET.path(c.namespace, "w"), widget("w", "small"), "change it")


@script("What another manager applied conflicts, unless it is the same or forced.", ["4.16"])
def apply_conflicts(c: Dialogue) -> None:
    path = CONFIG_MAP.path(c.namespace, "a")
    _apply(c, path, config_map("a", {"k": "1"}), "create")
    _apply(c, path, config_map("a", {"k": "1"}), "the same by another", "two")
    _apply(c, path, config_map("a", {"k": "2"}), "another value by another", "two")
    _apply(c, path, config_map("a", {"k": "2"}), "forced", "two", force=True)
    _apply(c, path, config_map("a", {"k": "1"}), "back by the first")
    _apply(c, path, config_map("a", {"l": "1"}), "leave it to the other")
    c.get(CONFIG_MAP, "a")


@script("Applying needs a manager, the kind and the name of the object.", ["4.16"])
def invalid_applies(c: Dialogue) -> None:
    path = CONFIG_MAP.path(c.namespace, "a")
    c.raw("PATCH", path, config_map("a"), content_type=APPLY, label="no manager")
    _apply(c, path, {"metadata": {"name": "a"}}, "no kind")
    _apply(
        c, path, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}, "another kind"
    )
    _apply(c, path, config_map("b"), "another name")
    _apply(
        c, path, {**config_map("a"), "metadata": {"name": "a", "managedFields": [{}]}}, "managed"
    )
    _apply(c, f"{WIDGET.path(c.namespace, 'none')}/status", widget("none"), "status of nothing")


@script("Lists with keys are merged entry by entry when they are applied.", ["4.16"])
def apply_lists(c: Dialogue) -> None:
    path = DEPLOYMENT.path(c.namespace, "d")

    def deployment(*names: str, **fields: Any) -> dict[str, Any]:
        containers = [{"name": name, "image": f"example.org/{name}", **fields} for name in names]
        labels = {"app": "d"}
        return {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "d"},
            "spec": {
                "replicas": 0,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
            },
        }

    shown = ["spec.template.spec.containers", "spec.replicas"]
    _apply(c, path, deployment("a"), "create", show=shown)
    partial = deployment("b")
    del partial["spec"]["replicas"]
    _apply(c, path, partial, "another container by another", "two", show=shown)
    _apply(c, path, deployment("a", env=[{"name": "E", "value": "1"}]), "a variable", show=shown)
    _apply(c, path, deployment("a"), "without it", show=shown)


def note_managers(c: Dialogue, path: str) -> None:
    """Write down who manages the fields of an object, but not since when.

    What controllers write comes at any time."""
    managed = c.consult("GET", path).body["metadata"].get("managedFields") or []
    told = [
        {key: value for key, value in one.items() if key != "time"}
        for one in managed
        if one["manager"] != "kube-controller-manager"
    ]
    told.sort(key=lambda one: (one["manager"], one["operation"], one.get("subresource", "")))
    c.note(f"managers of {path.rpartition('/')[2]}", told)


@script(
    "Who creates or updates an object manages its fields, until another changes them.", ["4.16"]
)
def managers_of_updates(c: Dialogue) -> None:
    path = CONFIG_MAP.path(c.namespace, "a")
    c.create(config_map("a", {"k": "1", "l": "1"}, labels={"x": "y"}))
    note_managers(c, path)
    _apply(c, path, config_map("a", {"k": "2"}), "another value")
    _apply(c, path, config_map("a", {"k": "1"}), "the same value")
    note_managers(c, path)
    c.raw("PUT", f"{path}?fieldManager=two", config_map("a", {"k": "1", "l": "2"}), label="put")
    note_managers(c, path)
    merge = "application/merge-patch+json"
    target = f"{path}?fieldManager=three"
    c.raw("PATCH", target, {"data": {"m": "1"}}, content_type=merge, label="patch")
    # Of several managers a real server names any first.
    _apply(c, path, config_map("a", {"l": "3"}), "contested")
    _apply(c, path, config_map("a", {"l": "3", "m": "3"}), "forced", force=True)
    note_managers(c, path)
    c.raw("PATCH", target, {"data": {"l": None}}, content_type=merge, label="removed")
    note_managers(c, path)
    _apply(c, path, config_map("a", {"m": "3"}), "no longer said")
    c.raw("PUT", f"{path}?fieldManager={'x' * 129}", config_map("a"), label="a long name")
    _apply(c, path, config_map("a"), "a long name", "x" * 129)
    c.raw("PATCH", f"{path}?force=true", {}, content_type=merge, label="a patch with force")


@script("Each subresource has managers of its own.", ["4.16"])
def managers_of_subresources(c: Dialogue) -> None:
    path = WIDGET.path(c.namespace, "w")
    parts = [{"name": "a", "weight": 1}, {"name": "b", "weight": 2}]
    c.create(widget("w", tags=["s", "t"], parts=parts))
    status = {"status": {"phase": "Ready"}}
    c.patch(WIDGET, "w", status, subresource="status", show=["status"])
    scale = {"spec": {"replicas": 3}}
    c.patch(WIDGET, "w", scale, subresource="scale", show=["spec"])
    note_managers(c, path)
    other = {**widget("w"), "status": {"phase": "Lost"}}
    del other["spec"]
    _apply(c, f"{path}/status", other, "status")
    _apply(c, path, widget("w", replicas=2), "scale")
    applied = widget("w", "large", replicas=3, tags=["t", "u"], parts=[{"name": "b", "weight": 3}])
    _apply(c, path, applied, "spec")
    _apply(c, path, applied, "spec, forced", force=True)
    odd = {**applied, "spec": {**applied["spec"], "odd": 1}}
    _apply(c, path, odd, "a field that the schema lacks")
    note_managers(c, path)


@script("Fields of workloads have managers, by entry of their lists.", ["4.16"])
def managers_of_workloads(c: Dialogue) -> None:
    path = DEPLOYMENT.path(c.namespace, "d")
    labels = {"app": "d"}
    variables = [{"name": "E", "value": "1"}, {"name": "F", "value": "1"}]
    port = {"containerPort": 80}
    limits = {"limits": {"cpu": "1"}}
    one = {"name": "a", "image": "example.org/a", "env": variables, "ports": [port]}
    body: dict[str, Any] = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "finalizers": ["example.org/a"]},
        "spec": {
            "replicas": 0,
            "paused": True,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{**one, "resources": limits}]},
            },
        },
    }
    c.create(body, show=["metadata.name"])
    note_managers(c, path)
    containers = [{"name": "a", "image": "example.org/b", "env": [{"name": "E", "value": "2"}]}]
    template = {"spec": {"containers": containers}}
    partial = {**body, "spec": {"template": template}, "metadata": {"name": "d"}}
    _apply(c, path, partial, "container", show=["spec.template.spec.containers"])
    other = {**body, "metadata": {"name": "d", "finalizers": ["example.org/b"]}}
    other["spec"] = {"replicas": 0}
    _apply(c, path, other, "finalizer", show=["metadata.finalizers"])
    note_managers(c, path)
    none = {"metadata": {"finalizers": None}}
    c.patch(DEPLOYMENT, "d", none, show=["metadata.finalizers"])


@script("Patches of unknown types are refused, with those that the kind takes.", ["4.16"])
def unknown_patch_types(c: Dialogue) -> None:
    c.create(config_map("a"), show=["metadata.name"])
    c.create(widget("w"), show=["metadata.name"])
    for path in (CONFIG_MAP.path(c.namespace, "a"), WIDGET.path(c.namespace, "w")):
        for content_type in (
            "application/json",
            "application/yaml",
            "text/plain",
            "application/strategic-merge-patch+json",
            "application/merge-patch+json; charset=utf-8",
        ):
            c.raw("PATCH", path, {}, content_type=content_type, label=f"{content_type} {path[-1]}")


@script("Lists of built-in kinds are applied by the keys that their types have.", ["4.16"])
def keys_of_lists(c: Dialogue) -> None:
    image = {"name": "main", "image": "example.org/main"}
    spread = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"a": "b"}},
    }
    pods = f"/api/v1/namespaces/{c.namespace}/pods"
    services = f"/api/v1/namespaces/{c.namespace}/services"
    jobs = f"/apis/batch/v1/namespaces/{c.namespace}/jobs"
    accounts = f"/api/v1/namespaces/{c.namespace}/serviceaccounts"
    slices = f"/apis/discovery.k8s.io/v1/namespaces/{c.namespace}/endpointslices"
    roles = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{c.namespace}/roles"

    def obj(version: str, kind: str, **fields: Any) -> dict[str, Any]:
        return {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, **fields}

    pod_spec = {
        "schedulerName": "nobody",
        "containers": [
            {
                **image,
                "ports": [
                    {"containerPort": 80},
                    {"containerPort": 80, "protocol": "UDP"},
                    {"containerPort": 81, "protocol": "TCP", "name": "b"},
                ],
                "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                "volumeMounts": [
                    {"name": "v", "mountPath": "/a"},
                    {"name": "v", "mountPath": "/b"},
                ],
                "envFrom": [{"configMapRef": {"name": "x"}}],
                "command": ["a", "b"],
                "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
            }
        ],
        "initContainers": [{**image, "name": "first"}],
        "volumes": [{"name": "v", "emptyDir": {}}],
        "topologySpreadConstraints": [spread, {**spread, "whenUnsatisfiable": "ScheduleAnyway"}],
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "imagePullSecrets": [{"name": "s"}],
        "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["h"]}],
        "schedulingGates": [{"name": "example.org/g"}],
        "readinessGates": [{"conditionType": "example.org/r"}],
        "nodeSelector": {"a": "b"},
        "securityContext": {"supplementalGroups": [1]},
        "dnsConfig": {"nameservers": ["10.0.0.1"], "options": [{"name": "o", "value": "1"}]},
    }
    rule = {"action": "Ignore", "onPodConditions": [{"type": "A", "status": "True"}]}
    job_spec = {
        "suspend": True,
        "podFailurePolicy": {"rules": [rule]},
        "template": {"spec": {"restartPolicy": "Never", "containers": [image]}},
    }
    whole = (
        (pods, obj("v1", "Pod", spec=pod_spec)),
        (
            services,
            obj(
                "v1",
                "Service",
                spec={
                    "ports": [
                        {"name": "a", "port": 80},
                        {"name": "b", "port": 80, "protocol": "UDP"},
                    ],
                    "externalIPs": ["192.0.2.1"],
                    "selector": {"a": "b"},
                },
            ),
        ),
        (jobs, obj("batch/v1", "Job", spec=job_spec)),
        (
            accounts,
            obj(
                "v1",
                "ServiceAccount",
                secrets=[{"name": "x"}, {"name": "y"}],
                imagePullSecrets=[{"name": "x"}],
            ),
        ),
        (
            slices,
            obj(
                "discovery.k8s.io/v1",
                "EndpointSlice",
                addressType="IPv4",
                endpoints=[{"addresses": ["10.0.0.1"]}],
                ports=[{"name": "a", "port": 1}],
            ),
        ),
        (
            roles,
            obj(
                "rbac.authorization.k8s.io/v1",
                "Role",
                rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
            ),
        ),
    )
    for path, body in whole:
        for manager in ("one", "two"):
            label = f"{manager} applies a {body['kind']}"
            _apply(c, f"{path}/a", body, label, manager, show=["metadata.name"])
            note_managers(c, f"{path}/a")
    fewer = obj("v1", "Service", spec={"ports": [{"name": "a", "port": 80}]})
    less = obj("v1", "ServiceAccount", secrets=[{"name": "y"}])
    for path, body in ((services, fewer), (accounts, less)):
        for manager in ("one", "two"):
            label = f"{manager} applies less of a {body['kind']}"
            _apply(c, f"{path}/a", body, label, manager, show=["spec.ports", "secrets"])
            note_managers(c, f"{path}/a")
