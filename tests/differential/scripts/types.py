"""Values that are not of their field's type, in the fields of built-in kinds: by each way to write
an object, what a server says of it.

Nothing is stored: all writes are dry runs, upon one object of each kind.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.manifests import Manifest, config_map, container, job, pod
from vocabulary import kinds
from vocabulary.kinds import Kind

_ABSENT: Final = object()
_LABELS: Final = {"app": "a"}
_TEMPLATE: Final[Manifest] = {
    "metadata": {"labels": _LABELS},
    "spec": {"containers": [container()]},
}
_SELECTOR: Final = {"matchLabels": _LABELS}
_OF_ALL: Final[tuple[tuple[str, Any], ...]] = (
    ("metadata.labels", []),
    ("metadata.labels", {"a": 1}),
    ("metadata.annotations", {"a": True}),
    ("metadata.finalizers", "x"),
    ("metadata.ownerReferences", [{"apiVersion": 1}]),
    ("metadata.creationTimestamp", 1),
    ("metadata.creationTimestamp", "nonsense"),
    ("metadata.deletionGracePeriodSeconds", "1"),
    ("metadata.uid", 1),
)
"""Tried with ConfigMaps, as all kinds share them."""

Cases = tuple[tuple[str, Any], ...]

_POD: Cases = (
    ("spec", []),
    ("spec.containers", {}),
    ("spec.containers", _ABSENT),
    ("spec.containers.0", "x"),
    ("spec.containers.0.name", 1),
    ("spec.containers.0.image", _ABSENT),
    ("spec.containers.0.command", "x"),
    ("spec.containers.0.args", [1]),
    ("spec.containers.0.ports", [{"containerPort": "80"}]),
    ("spec.containers.0.ports", [{"containerPort": 2**31}]),
    ("spec.containers.0.ports", [{"containerPort": 80, "protocol": "Nonsense"}]),
    ("spec.containers.0.env", [{"name": "a", "value": 1}]),
    ("spec.containers.0.resources", "x"),
    ("spec.containers.0.resources", {"limits": {"cpu": "1x"}}),
    ("spec.containers.0.resources", {"limits": {"cpu": True}}),
    ("spec.containers.0.resources", {"limits": {"cpu": [1]}}),
    ("spec.containers.0.resources", {"limits": {"cpu": ""}}),
    ("spec.containers.0.resources", {"limits": {"cpu": -1}}),
    ("spec.containers.0.imagePullPolicy", 1),
    ("spec.containers.0.imagePullPolicy", "Nonsense"),
    ("spec.containers.0.terminationMessagePolicy", "Nonsense"),
    ("spec.containers.0.securityContext", {"runAsUser": 1.5}),
    ("spec.containers.0.securityContext", {"privileged": "yes"}),
    ("spec.containers.0.livenessProbe", {"httpGet": {"port": True}}),
    ("spec.containers.0.livenessProbe", {"httpGet": {"port": 2**31}}),
    ("spec.restartPolicy", 1),
    ("spec.restartPolicy", "Nonsense"),
    ("spec.dnsPolicy", "Nonsense"),
    ("spec.terminationGracePeriodSeconds", "1"),
    ("spec.terminationGracePeriodSeconds", 2**63),
    ("spec.terminationGracePeriodSeconds", 1.5),
    ("spec.terminationGracePeriodSeconds", -1),
    ("spec.activeDeadlineSeconds", None),
    ("spec.hostNetwork", "true"),
    ("spec.nodeSelector", {"a": {}}),
    ("spec.tolerations", [{"operator": 1}]),
    ("spec.tolerations", [{"tolerationSeconds": "x"}]),
    ("spec.tolerations", [{"operator": "Nonsense"}]),
    ("spec.volumes", [{"name": "v", "emptyDir": {"sizeLimit": "1x"}}]),
    ("spec.volumes", [{"name": "v", "configMap": {"defaultMode": "0644"}}]),
    ("spec.affinity", {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}}),
    ("spec.priority", "x"),
    ("spec.overhead", "x"),
    ("spec.unknown", 1),
    ("spec.containers.0.unknown", {"a": 1}),
)
_JOB: Cases = (
    ("spec", _ABSENT),
    ("spec.template", []),
    ("spec.template", _ABSENT),
    ("spec.parallelism", "1"),
    ("spec.parallelism", 2**31),
    ("spec.parallelism", -1),
    ("spec.parallelism", 1.5),
    ("spec.parallelism", 1e3),
    ("spec.parallelism", True),
    ("spec.parallelism", None),
    ("spec.completions", [1]),
    ("spec.activeDeadlineSeconds", 2**63),
    ("spec.activeDeadlineSeconds", "x"),
    ("spec.completionMode", 1),
    ("spec.completionMode", "Nonsense"),
    ("spec.suspend", "true"),
    ("spec.suspend", 1),
    ("spec.podFailurePolicy", []),
    ("spec.podFailurePolicy", {"rules": {}}),
    ("spec.podFailurePolicy", {"rules": [{"action": 1}]}),
    ("spec.podFailurePolicy", {"rules": [{"action": "Ignore", "onExitCodes": {"values": ["1"]}}]}),
    ("spec.podReplacementPolicy", "Nonsense"),
    ("spec.selector", "x"),
    ("spec.selector", {"matchLabels": {"a": 1}}),
    ("spec.selector", {"matchExpressions": [{"key": "a", "operator": 1}]}),
    ("spec.template.spec.containers.0.image", 1),
    ("spec.template.spec.containers.0.unknown", 1),
    ("status.active", "1"),
    ("status.startTime", 1),
    ("status.startTime", "nonsense"),
    ("unknown", 1),
)
_WORKLOAD: Cases = (
    ("spec.replicas", "1"),
    ("spec.replicas", 2**31),
    ("spec.replicas", -1),
    ("spec.replicas", 1.5),
    ("spec.minReadySeconds", True),
    ("spec.selector", []),
    ("spec.selector", _ABSENT),
    ("spec.template.metadata.labels", {"app": 1}),
    ("spec.template.spec.containers", "x"),
    ("spec.unknown", 1),
)


def _named(kind: Kind, name: str, **fields: Any) -> Manifest:
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": name},
        **fields,
    }


def _custom_resource_definition(name: str) -> Manifest:
    plural = name.replace("-", "")
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"a": {"type": "string"}}}},
    }
    names = {"plural": plural, "kind": plural.capitalize()}
    return _named(
        kinds.CUSTOM_RESOURCE_DEFINITION,
        f"{plural}.types.assay.dev",
        spec={
            "group": "types.assay.dev",
            "scope": "Namespaced",
            "names": names,
            "versions": [version],
        },
    )


def _workload(kind: Kind, name: str, **spec: Any) -> Manifest:
    return _named(
        kind, name, spec={"replicas": 0, "selector": _SELECTOR, "template": _TEMPLATE, **spec}
    )


_SCHEMA: Final = "spec.versions.0.schema.openAPIV3Schema"
_TYPES: Final[Mapping[Kind, tuple[Any, Cases]]] = {
    kinds.CONFIG_MAP: (
        lambda name: config_map(name, {"k": "v"}),
        (
            *_OF_ALL,
            ("metadata", []),
            ("metadata.name", 1),
            ("metadata.unknown", 1),
            ("data", "x"),
            ("data", {"k": 1}),
            ("data", {"k": {"l": 1}}),
            ("data", {"k": None}),
            ("binaryData", {"k": 1}),
            ("binaryData", {"k": "%"}),
            ("immutable", "true"),
            ("immutable", None),
            ("unknown", {"a": 1}),
        ),
    ),
    kinds.SECRET: (
        lambda name: _named(kinds.SECRET, name, data={"k": "dg=="}),
        (
            ("data", []),
            ("data", {"k": 1}),
            ("data", {"k": "%"}),
            ("stringData", {"k": 1}),
            ("type", 1),
            ("immutable", 1),
            ("unknown", 1),
        ),
    ),
    kinds.POD: (lambda name: pod(name, schedulerName="nobody"), _POD),
    kinds.JOB: (lambda name: job(name, suspend=True), _JOB),
    kinds.DEPLOYMENT: (
        lambda name: _workload(kinds.DEPLOYMENT, name),
        (
            *_WORKLOAD,
            ("spec.strategy", "x"),
            ("spec.strategy", {"type": "Nonsense"}),
            ("spec.strategy", {"rollingUpdate": {"maxSurge": True}}),
            ("spec.strategy", {"rollingUpdate": {"maxSurge": "x"}}),
            ("spec.paused", "x"),
        ),
    ),
    kinds.REPLICA_SET: (lambda name: _workload(kinds.REPLICA_SET, name), _WORKLOAD),
    kinds.STATEFUL_SET: (
        lambda name: _workload(kinds.STATEFUL_SET, name, serviceName="s"),
        (
            *_WORKLOAD,
            ("spec.serviceName", 1),
            ("spec.podManagementPolicy", "Nonsense"),
            ("spec.volumeClaimTemplates", {}),
            ("spec.updateStrategy", {"rollingUpdate": {"partition": "x"}}),
        ),
    ),
    kinds.SERVICE: (
        lambda name: _named(
            kinds.SERVICE, name, spec={"ports": [{"port": 80}], "clusterIP": "None"}
        ),
        (
            ("spec.ports", {}),
            ("spec.ports.0.port", "80"),
            ("spec.ports.0.port", 2**31),
            ("spec.ports.0.port", 0),
            ("spec.ports.0.targetPort", True),
            ("spec.ports.0.targetPort", 1.5),
            ("spec.ports.0.protocol", "Nonsense"),
            ("spec.selector", {"a": 1}),
            ("spec.type", 1),
            ("spec.type", "Nonsense"),
            ("spec.publishNotReadyAddresses", "x"),
            ("spec.unknown", 1),
        ),
    ),
    kinds.SERVICE_ACCOUNT: (
        lambda name: _named(kinds.SERVICE_ACCOUNT, name),
        (
            ("secrets", {}),
            ("secrets", [{"name": 1}]),
            ("imagePullSecrets", ["x"]),
            ("automountServiceAccountToken", "x"),
            ("unknown", 1),
        ),
    ),
    kinds.PERSISTENT_VOLUME_CLAIM: (
        lambda name: _named(
            kinds.PERSISTENT_VOLUME_CLAIM,
            name,
            spec={
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        ),
        (
            ("spec.accessModes", "x"),
            ("spec.accessModes", [1]),
            ("spec.accessModes", ["Nonsense"]),
            ("spec.accessModes", _ABSENT),
            ("spec.resources.requests.storage", "1x"),
            ("spec.resources.requests.storage", True),
            ("spec.resources.requests.storage", 1.5),
            ("spec.storageClassName", 1),
            ("spec.volumeMode", "Nonsense"),
            ("spec.unknown", 1),
        ),
    ),
    kinds.RESOURCE_QUOTA: (
        lambda name: _named(kinds.RESOURCE_QUOTA, name, spec={"hard": {"pods": "1"}}),
        (
            ("spec", []),
            ("spec.hard", []),
            ("spec.hard.pods", "x"),
            ("spec.hard.pods", True),
            ("spec.hard.pods", {}),
            ("spec.hard.pods", -1),
            ("spec.scopes", "x"),
            ("spec.scopes", [1]),
            ("spec.scopeSelector", {"matchExpressions": [{"operator": 1}]}),
            ("spec.unknown", 1),
        ),
    ),
    kinds.LIMIT_RANGE: (
        lambda name: _named(
            kinds.LIMIT_RANGE, name, spec={"limits": [{"type": "Pod", "max": {"cpu": "1"}}]}
        ),
        (
            ("spec.limits", {}),
            ("spec.limits.0.type", 1),
            ("spec.limits.0.max", []),
            ("spec.limits.0.max.cpu", "x"),
            ("spec.limits.0.max.cpu", False),
            ("spec.limits.0.unknown", 1),
        ),
    ),
    kinds.CONTROLLER_REVISION: (
        lambda name: _named(kinds.CONTROLLER_REVISION, name, revision=1, data={"a": 1}),
        (("revision", "1"), ("revision", 2**63), ("revision", 1.5), ("unknown", 1)),
    ),
    kinds.LEASE: (
        lambda name: _named(kinds.LEASE, name, spec={"holderIdentity": "h"}),
        (
            ("spec", "x"),
            ("spec.holderIdentity", 1),
            ("spec.leaseDurationSeconds", "1"),
            ("spec.leaseDurationSeconds", 2**31),
            ("spec.leaseDurationSeconds", -1),
            ("spec.acquireTime", 1),
            ("spec.acquireTime", "nonsense"),
            ("spec.unknown", 1),
        ),
    ),
    kinds.EVENT: (
        lambda name: _named(
            kinds.EVENT, name, involvedObject={"namespace": name}, reason="r", message="m"
        ),
        (
            ("involvedObject", []),
            ("involvedObject.name", 1),
            ("count", "1"),
            ("count", 2**31),
            ("firstTimestamp", 1),
            ("series", []),
            ("type", 1),
            ("unknown", 1),
        ),
    ),
    kinds.PRIORITY_CLASS: (
        lambda name: _named(kinds.PRIORITY_CLASS, name, value=1),
        (
            ("value", "1"),
            ("value", 2**31),
            ("value", 1.5),
            ("globalDefault", "x"),
            ("preemptionPolicy", 1),
            ("preemptionPolicy", "Nonsense"),
            ("description", 1),
            ("unknown", 1),
        ),
    ),
    kinds.RUNTIME_CLASS: (
        lambda name: _named(kinds.RUNTIME_CLASS, name, handler="h"),
        (
            ("handler", 1),
            ("handler", _ABSENT),
            ("overhead", []),
            ("overhead", {"podFixed": {"cpu": "x"}}),
            ("scheduling", {"nodeSelector": {"a": 1}}),
            ("scheduling", {"tolerations": {}}),
            ("unknown", 1),
        ),
    ),
    kinds.ENDPOINT_SLICE: (
        lambda name: _named(
            kinds.ENDPOINT_SLICE,
            name,
            addressType="IPv4",
            endpoints=[{"addresses": ["10.0.0.1"]}],
            ports=[{"name": "p", "port": 80}],
        ),
        (
            ("addressType", 1),
            ("addressType", "Nonsense"),
            ("endpoints", {}),
            ("endpoints.0.addresses", "x"),
            ("endpoints.0.conditions", {"ready": "x"}),
            ("ports.0.port", "80"),
            ("ports.0.port", 2**31),
            ("unknown", 1),
        ),
    ),
    kinds.ROLE: (
        lambda name: _named(
            kinds.ROLE, name, rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
        ),
        (
            ("rules", {}),
            ("rules.0", "x"),
            ("rules.0.verbs", "get"),
            ("rules.0.verbs", [1]),
            ("rules.0.verbs", _ABSENT),
            ("rules.0.unknown", 1),
        ),
    ),
    kinds.ROLE_BINDING: (
        lambda name: _named(
            kinds.ROLE_BINDING,
            name,
            roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
            subjects=[{"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"}],
        ),
        (
            ("roleRef", "x"),
            ("roleRef.kind", 1),
            ("subjects", {}),
            ("subjects.0.name", 1),
            ("subjects.0.kind", "Nonsense"),
            ("unknown", 1),
        ),
    ),
    kinds.NAMESPACE: (
        lambda name: _named(kinds.NAMESPACE, f"{name}-2"),
        (
            ("spec", "x"),
            ("spec", {"finalizers": "x"}),
            ("metadata.labels", {"a": 1}),
            ("unknown", 1),
        ),
    ),
    kinds.NODE: (
        lambda name: _named(kinds.NODE, name, spec={"unschedulable": True}),
        (
            ("spec", []),
            ("spec.unschedulable", "x"),
            ("spec.taints", {}),
            ("spec.taints", [{"key": 1}]),
            ("spec.taints", [{"key": "k", "effect": "Nonsense"}]),
            ("status", {"capacity": {"cpu": "x"}}),
            ("status", {"conditions": {}}),
            ("spec.unknown", 1),
        ),
    ),
    kinds.CUSTOM_RESOURCE_DEFINITION: (
        _custom_resource_definition,
        (
            ("spec", []),
            ("spec", _ABSENT),
            ("spec.group", 1),
            ("spec.names", []),
            ("spec.names.plural", 1),
            ("spec.names.shortNames", "x"),
            ("spec.scope", 1),
            ("spec.scope", "Nonsense"),
            ("spec.versions", {}),
            ("spec.versions", "x"),
            ("spec.versions", [1]),
            ("spec.versions", _ABSENT),
            ("spec.versions.0.served", "true"),
            ("spec.versions.0.storage", 1),
            ("spec.versions.0.subresources", []),
            ("spec.versions.0.subresources", {"scale": "x"}),
            ("spec.versions.0.additionalPrinterColumns", [{"priority": "x"}]),
            ("spec.versions.0.schema", []),
            (_SCHEMA, "x"),
            (f"{_SCHEMA}.type", 1),
            (f"{_SCHEMA}.properties", []),
            (f"{_SCHEMA}.properties.a", "x"),
            (f"{_SCHEMA}.properties.a.maxLength", "x"),
            (f"{_SCHEMA}.properties.a.maximum", "x"),
            (f"{_SCHEMA}.properties.a.maximum", 1),
            (f"{_SCHEMA}.properties.a.maximum", 1.5),
            (f"{_SCHEMA}.properties.a.maximum", True),
            (f"{_SCHEMA}.properties.a.enum", "x"),
            (f"{_SCHEMA}.properties.a.pattern", 1),
            (f"{_SCHEMA}.required", "x"),
            (f"{_SCHEMA}.required", [1]),
            (f"{_SCHEMA}.additionalProperties", "x"),
            (f"{_SCHEMA}.items", "x"),
            (f"{_SCHEMA}.x-kubernetes-preserve-unknown-fields", "x"),
            (f"{_SCHEMA}.x-kubernetes-validations", [{"rule": 1}]),
            ("spec.conversion", []),
            ("spec.unknown", 1),
        ),
    ),
    kinds.API_SERVICE: (
        lambda name: _named(
            kinds.API_SERVICE,
            f"v1.{name}.assay.dev",
            spec={
                "group": f"{name}.assay.dev",
                "version": "v1",
                "groupPriorityMinimum": 1000,
                "versionPriority": 10,
                "insecureSkipTLSVerify": True,
                "service": {"namespace": "default", "name": "s"},
            },
        ),
        (
            ("spec", []),
            ("spec.group", 1),
            ("spec.groupPriorityMinimum", "x"),
            ("spec.versionPriority", 2**31),
            ("spec.insecureSkipTLSVerify", "x"),
            ("spec.service", "x"),
            ("spec.service.port", "x"),
            ("spec.caBundle", "%"),
            ("spec.unknown", 1),
        ),
    ),
}
_PATCHES: Final = ("json-patch+json", "merge-patch+json", "strategic-merge-patch+json")
_SHOWN: Final = ["message", "reason"]


def small_objects(name: str) -> dict[Kind, Manifest]:
    """An object of that name of each kind, as small as its API allows."""
    return {kind: make(name) for kind, (make, _) in _TYPES.items()}


def _register(kind: Kind) -> None:
    make, cases = _TYPES[kind]

    def steps(c: Dialogue) -> None:
        _play(c, kind, make(c.namespace), cases)

    steps.__name__ = f"types_of_{kind.plural}"
    script(f"Values of {kind} are of their field's type.", ["4.16"])(steps)


def _play(c: Dialogue, kind: Kind, base: Manifest, cases: Cases) -> None:
    collection = kind.path(c.namespace)
    one = f"{collection}/{base['metadata']['name']}"
    c.raw("POST", collection, base, label="create", show=["metadata.name"])
    for path, value in cases:
        names = tuple(int(name) if name.isdecimal() else name for name in path.split("."))
        wrong = _with(base, names, value)
        label = f"{path} {'absent' if value is _ABSENT else json.dumps(value)}"
        new = _renamed(wrong, f"new-{base['metadata']['name']}")
        for validation in ("Strict", "Ignore") if "unknown" in path else ("Ignore",):
            query = f"?dryRun=All&fieldValidation={validation}"
            said = f"{validation} {label}" if "unknown" in path else label
            c.raw("POST", f"{collection}{query}", new, label=f"POST {said}", show=_SHOWN)
            c.raw("PUT", f"{one}{query}", wrong, label=f"PUT {said}", show=_SHOWN)
            patches = (_json_patch(path, value), *(_pruned(wrong, names),) * 2)
            for how, patch in zip(_PATCHES, patches, strict=True):
                c.raw(
                    "PATCH",
                    f"{one}{query}",
                    patch,
                    content_type=f"application/{how}",
                    label=f"{how.removesuffix('+json')} {said}",
                    show=_SHOWN,
                )
            c.raw(
                "PATCH",
                f"{one}{query}&fieldManager=m&force=true",
                wrong,
                content_type="application/apply-patch+yaml",
                label=f"apply {said}",
                show=_SHOWN,
            )
    if not kind.namespaced:
        c.raw("DELETE", one, label="delete", show=["metadata.name"])


def _renamed(obj: Manifest, name: str) -> Manifest:
    """The object under another name, if its metadata and its name are well-formed."""
    metadata = obj["metadata"]
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        return obj
    return {**obj, "metadata": {**metadata, "name": name}}


def _with(base: Manifest, names: tuple[str | int, ...], value: Any) -> Manifest:
    """The object with one other value."""
    whole: Manifest = json.loads(json.dumps(base))
    obj: Any = whole
    for name in names[:-1]:
        obj = obj[name] if isinstance(name, int) else obj.setdefault(name, {})
    if value is _ABSENT:
        obj.pop(names[-1], None)
    else:
        obj[names[-1]] = value
    return whole


def _pruned(obj: Any, names: tuple[str | int, ...]) -> Any:
    """The part of an object that a merge patch needs: lists have to be whole."""
    if not names or not isinstance(obj, dict):
        return obj
    name, *rest = names
    return {name: _pruned(obj[name], tuple(rest)) if name in obj else None}


def _json_patch(path: str, value: Any) -> list[Manifest]:
    pointer = "/" + path.replace(".", "/")
    if value is _ABSENT:
        return [{"op": "remove", "path": pointer}]
    return [{"op": "add", "path": pointer, "value": value}]


for _kind in _TYPES:
    _register(_kind)
