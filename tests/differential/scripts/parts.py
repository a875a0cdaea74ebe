"""Objects that lack one part each, or have it null or empty: how they are created and changed.

Each object is rich, so that most fields of its kind have their turn. An accepted object is noted
as a digest of its parts, since only its defaults are of interest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.exchange import Answer
from tests.differential.script import script
from tests.differential.scripts.every_kind import JSON, KINDS, MERGE, manifests
from tests.differential.scripts.manifests import Manifest, container
from vocabulary.canonical import digest

_ABSENT: Final = object()
_APP: Final = {"matchLabels": {"app": "a"}}
_EITHER: Final = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]}
_NEAR: Final = {
    "topologyKey": "zone",
    "labelSelector": _EITHER,
    "namespaces": ["a"],
    "namespaceSelector": _APP,
    "matchLabelKeys": ["version"],
}
_PLACED: Final = {
    "matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}],
    "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}],
}
_PROBE: Final = {"httpGet": {"port": 80, "path": "/"}, "periodSeconds": 3}
_POD: Final[Manifest] = {
    "schedulerName": "nobody",
    "automountServiceAccountToken": False,
    "restartPolicy": "Never",
    "terminationGracePeriodSeconds": 3,
    "activeDeadlineSeconds": 9,
    "dnsPolicy": "Default",
    "serviceAccountName": "default",
    "nodeSelector": {"a": "b"},
    "schedulingGates": [{"name": "a.b/c"}],
    "securityContext": {"runAsUser": 1, "supplementalGroups": [1], "sysctls": []},
    "tolerations": [
        {"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"},
        {"key": "c", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3},
    ],
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_PLACED]},
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 1, "preference": _PLACED}
            ],
        },
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [_NEAR],
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 1, "podAffinityTerm": _NEAR}
            ],
        },
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_NEAR]},
    },
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": _APP,
        }
    ],
    "volumes": [
        {"name": "c", "configMap": {"name": "c", "items": [{"key": "k", "path": "p"}]}},
        {"name": "s", "secret": {"secretName": "s", "defaultMode": 256}},
        {"name": "e", "emptyDir": {"sizeLimit": "1Gi"}},
    ],
    "initContainers": [container(resources={"requests": {"cpu": "1"}}) | {"name": "first"}],
    "containers": [
        container(
            command=["a"],
            args=["b"],
            ports=[{"name": "http", "containerPort": 80, "protocol": "TCP"}],
            env=[
                {"name": "A", "value": "b"},
                {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            ],
            envFrom=[{"prefix": "P", "configMapRef": {"name": "c"}}],
            resources={"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "1Gi"}},
            volumeMounts=[{"name": "c", "mountPath": "/c"}],
            livenessProbe=_PROBE,
            readinessProbe={"exec": {"command": ["a"]}},
            lifecycle={"preStop": {"exec": {"command": ["a"]}}},
            securityContext={"runAsUser": 1, "privileged": False},
            imagePullPolicy="Always",
            terminationMessagePolicy="File",
        )
    ],
}
_TEMPLATE: Final = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [container()]}}
_WEBHOOK: Final = {
    "name": "w.assay.dev",
    "clientConfig": {"service": {"name": "a", "namespace": "b", "path": "/c", "port": 443}},
    "rules": [
        {
            "operations": ["CREATE"],
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "resources": ["podtemplates"],
            "scope": "Namespaced",
        }
    ],
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
    "failurePolicy": "Ignore",
    "matchPolicy": "Exact",
    "timeoutSeconds": 3,
    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "none"}},
    "objectSelector": _EITHER,
    "matchConditions": [{"name": "a", "expression": "true"}],
}
_RBAC: Final = "rbac.authorization.k8s.io"
_RULES: Final = [
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": ["a"]}
]
_VERSION: Final = {
    "name": "v1",
    "served": True,
    "storage": True,
    "schema": {
        "openAPIV3Schema": {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "required": ["a"],
                    "properties": {
                        "a": {"type": "string", "maxLength": 3, "enum": ["x", "y"]},
                        "b": {"type": "array", "items": {"type": "integer", "minimum": 1}},
                        "c": {"type": "object", "additionalProperties": {"type": "string"}},
                        "d": {
                            "type": "array",
                            "x-kubernetes-list-type": "map",
                            "x-kubernetes-list-map-keys": ["k"],
                            "items": {
                                "type": "object",
                                "required": ["k"],
                                "properties": {"k": {"type": "string"}},
                            },
                        },
                        "e": {"type": "integer", "default": 1},
                    },
                    "x-kubernetes-validations": [
                        {"rule": "self.a != 'z'", "message": "m", "fieldPath": ".a"}
                    ],
                },
                "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
        }
    },
    "subresources": {
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.e",
            "statusReplicasPath": ".status.e",
            "labelSelectorPath": ".status.s",
        },
    },
    "additionalPrinterColumns": [{"name": "A", "type": "string", "jsonPath": ".spec.a"}],
}
_RICH: Final[tuple[Manifest, ...]] = (
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"labels": {"app": "a", "version": "1"}, "name": "a"},
        "spec": _POD,
    },
    {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "spec": {
            "suspend": True,
            "completionMode": "Indexed",
            "completions": 3,
            "parallelism": 2,
            "backoffLimitPerIndex": 1,
            "maxFailedIndexes": 2,
            "ttlSecondsAfterFinished": 9,
            "activeDeadlineSeconds": 99,
            "podReplacementPolicy": "Failed",
            "managedBy": "a.b/c",
            "podFailurePolicy": {
                "rules": [
                    {
                        "action": "FailIndex",
                        "onExitCodes": {
                            "containerName": "main",
                            "operator": "In",
                            "values": [1],
                        },
                    },
                    {
                        "action": "Ignore",
                        "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
                    },
                ]
            },
            "successPolicy": {"rules": [{"succeededIndexes": "0", "succeededCount": 1}]},
            "template": {"spec": {"restartPolicy": "Never", "containers": [container()]}},
        },
    },
    *(
        {
            "apiVersion": "apps/v1",
            "kind": kind,
            "spec": {"replicas": 0, "selector": _EITHER, "template": _TEMPLATE, **spec},
        }
        for kind, spec in (
            (
                "Deployment",
                {
                    "paused": True,
                    "strategy": {
                        "type": "RollingUpdate",
                        "rollingUpdate": {"maxSurge": 1, "maxUnavailable": "50%"},
                    },
                },
            ),
            ("ReplicaSet", {"minReadySeconds": 3}),
            (
                "StatefulSet",
                {
                    "serviceName": "s",
                    "podManagementPolicy": "Parallel",
                    "updateStrategy": {
                        "type": "RollingUpdate",
                        "rollingUpdate": {"partition": 1},
                    },
                    "ordinals": {"start": 1},
                    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"},
                },
            ),
        )
    ),
    {
        "apiVersion": "v1",
        "kind": "Service",
        "spec": {
            "type": "ClusterIP",
            "clusterIP": "None",
            "selector": {"app": "a"},
            "ports": [
                {"name": "a", "port": 80, "targetPort": "http", "protocol": "TCP"},
                {"name": "b", "port": 81, "targetPort": 8081},
            ],
            "publishNotReadyAddresses": True,
        },
    },
    *(
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": f"{kind}WebhookConfiguration",
            "webhooks": [{**_WEBHOOK, **more}],
        }
        for kind, more in (("Mutating", {"reinvocationPolicy": "IfNeeded"}), ("Validating", {}))
    ),
    {"apiVersion": f"{_RBAC}/v1", "kind": "Role", "rules": _RULES},
    {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRole",
        "rules": [*_RULES, {"nonResourceURLs": ["/x"], "verbs": ["get"]}],
        "aggregationRule": {"clusterRoleSelectors": [_EITHER]},
    },
    *(
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": kind,
            "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "view"},
            "subjects": [
                {"kind": "ServiceAccount", "name": "a", "namespace": "b"},
                {"kind": "User", "name": "u", "apiGroup": _RBAC},
            ],
        }
        for kind in ("RoleBinding", "ClusterRoleBinding")
    ),
    {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "spec": {
            "limits": [
                {
                    "type": "Container",
                    "max": {"cpu": "9"},
                    "min": {"cpu": "1m"},
                    "default": {"cpu": "2"},
                    "defaultRequest": {"cpu": "1"},
                    "maxLimitRequestRatio": {"cpu": "8"},
                },
                {"type": "Pod", "max": {"cpu": "9"}},
                {"type": "PersistentVolumeClaim", "min": {"storage": "1"}},
            ]
        },
    },
    {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "spec": {
            "hard": {"pods": "9"},
            "scopes": ["NotTerminating"],
            "scopeSelector": {
                "matchExpressions": [
                    {"scopeName": "PriorityClass", "operator": "In", "values": ["a"]}
                ]
            },
        },
    },
    {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "spec": {
            "minAvailable": "50%",
            "selector": _EITHER,
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    },
    {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "handler": "h",
        "overhead": {"podFixed": {"cpu": "1"}},
        "scheduling": {
            "nodeSelector": {"a": "b"},
            "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}],
        },
    },
    {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "addressType": "IPv4",
        "endpoints": [
            {
                "addresses": ["10.0.0.1"],
                "conditions": {"ready": True, "serving": True},
                "hostname": "h",
                "targetRef": {"kind": "Pod", "name": "p"},
                "zone": "z",
            }
        ],
        "ports": [{"name": "p", "port": 80, "protocol": "TCP", "appProtocol": "http"}],
    },
    {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": "parts.assay.dev",
            "scope": "Namespaced",
            "names": {
                "plural": "bolts",
                "singular": "bolt",
                "kind": "Bolt",
                "listKind": "BoltList",
                "shortNames": ["bo"],
                "categories": ["all"],
            },
            "versions": [_VERSION],
            "conversion": {"strategy": "None"},
            "preserveUnknownFields": False,
        },
    },
    {
        "apiVersion": "v1",
        "kind": "Event",
        "involvedObject": {"kind": "Pod", "name": "p", "apiVersion": "v1"},
        "reason": "R",
        "message": "m",
        "type": "Normal",
        "count": 1,
        "source": {"component": "c", "host": "h"},
        "firstTimestamp": "2020-01-01T00:00:00Z",
        "reportingComponent": "r",
    },
    {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "data": {"k": "dg=="},
        "stringData": {"l": "w"},
        "immutable": True,
    },
    {"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "v"}, "binaryData": {"l": "dg=="}},
    {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "secrets": [{"name": "s"}],
        "imagePullSecrets": [{"name": "i"}],
        "automountServiceAccountToken": False,
    },
)
_UID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UNCHECKED: Final = re.compile(
    r"Job spec\.completions"  # without which a real server ends the connection
    r"|CustomResourceDefinition spec(\.names.*|\.versions.*|\.conversion.*)?"
    r"|ResourceQuota spec\.scopeSelector\.matchExpressions\.0.*"
    r"|EndpointSlice (addressType|.*\.(hostname|appProtocol))"
    r"|NetworkPolicy .*\.port|Service spec\.clusterIP|ResourceQuota spec\.scopes.*"
    r"|Pod spec\.(containers|initContainers)\.0\."
    r"(env\.|envFrom\.|lifecycle\.|.*Probe|volumeMounts\.).*"
    r"|Pod spec\.(nodeSelector|affinity\.nodeAffinity).*"
    r"|Pod spec\.volumes\..\..*|Pod spec\.topologySpread.*\..*"
)
"""Parts that the simulation completes, but does not validate."""
_NOT_STORED: Final = ("CustomResourceDefinition", "PersistentVolume", "Service")
"""Controllers fill in parts of these, or give them addresses, which differ."""
_OTHERS: Final = ("NetworkPolicy", "ControllerRevision")


def _objects(c: Dialogue) -> Iterator[Manifest]:
    """Each rich object under a name that is the script's own."""
    others = [obj for obj in manifests("uncontrolled.yaml") if obj["kind"] in _OTHERS]
    for obj in (*_RICH, *others):
        name = obj.get("metadata", {}).get("name", "a")
        if not KINDS[obj["kind"]].namespaced and "metadata" not in obj:
            name = f"{c.namespace}-a"
        if obj["kind"] == "CustomResourceDefinition":
            name = "bolts.parts.assay.dev"
        found = {**obj, "metadata": {**obj.get("metadata", {}), "name": name}}
        if obj["kind"] == "Event":
            found["involvedObject"] = {**obj["involvedObject"], "namespace": c.namespace}
        yield found


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all parts of an object, its metadata aside."""
    entries: Any = ()
    if isinstance(value, Mapping):
        entries = value.items()
    elif isinstance(value, list):
        entries = enumerate(value)
    for step, each in entries:
        if path or step not in ("apiVersion", "kind", "metadata"):
            yield (*path, step)
            yield from _paths(each, (*path, step))


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def _changed(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    """The value with another one at a path, or without it."""
    step, *rest = path
    inner = _changed(value[step], tuple(rest), new) if rest else new
    if isinstance(value, list):
        place = int(step)
        return [*value[:place], *(() if inner is _ABSENT else (inner,)), *value[place + 1 :]]
    return {
        name: inner if name == step else each
        for name, each in value.items()
        if name != step or inner is not _ABSENT
    }


def _empty(value: Any) -> Any:
    """The empty value, or the zero, of a value's type."""
    return type(value)()


def outcome(answer: Answer) -> Any:
    """The refusal, or a digest of what would be stored."""
    if answer.code >= 300:
        return [answer.code, _UID.sub("<uid>", answer.body.get("message", ""))]
    left_out = ("metadata", "status", "kind", "apiVersion")
    told = {name: each for name, each in answer.body.items() if name not in left_out}
    return digest(_comparable(told))[:6]


def _comparable(value: Any) -> Any:
    """The value without uids, and without what is empty."""
    if isinstance(value, dict):
        found = {name: _comparable(each) for name, each in value.items()}
        return {name: each for name, each in found.items() if each not in (None, "", [], {})}
    if isinstance(value, list):
        return [_comparable(each) for each in value]
    return _UID.sub("<uid>", value) if isinstance(value, str) else value


def _cases(objects: Iterable[Manifest]) -> list[tuple[Manifest, tuple[str | int, ...], str]]:
    """Every object with each of its parts, and how the part is to change."""
    return [
        (obj, path, how)
        for obj in objects
        for path in _paths(obj)
        for how in ("absent", "null", "empty")
        if not _UNCHECKED.fullmatch(f"{obj['kind']} {'.'.join(map(str, path))}")
    ]


def _new(obj: Manifest, path: tuple[str | int, ...], how: str) -> Any:
    found = {"absent": _ABSENT, "null": None, "empty": _empty(_at(obj, path))}
    return _changed(obj, path, found[how])


@script("An object that lacks a part, or has it null or empty, is completed or refused.", ["4.16"])
def drawn_parts(c: Dialogue) -> None:
    rng = c.random("parts")
    for obj, at, how in rng.sample(_cases(_objects(c)), 320):
        kind = KINDS[obj["kind"]]
        path = f"{kind.path(c.namespace if kind.namespaced else '')}?dryRun=All"
        answer = c.consult("POST", path, _new(obj, at, how))
        c.note(f"{kind.kind} {'.'.join(map(str, at))} {how}", outcome(answer))


@script("A change that takes a part away is completed or refused.", ["4.16"])
def drawn_changes(c: Dialogue) -> None:
    rng = c.random("changes")
    for obj in _objects(c):
        kind = KINDS[obj["kind"]]
        if kind.kind in _NOT_STORED:
            continue
        collection = kind.path(c.namespace if kind.namespaced else "")
        path = f"{collection}/{obj['metadata']['name']}"
        c.note(f"create {kind.kind}", outcome(c.consult("POST", collection, obj)))
        cases = _cases([obj])
        for _, at, how in rng.sample(cases, min(9, len(cases))):
            top = at[0]
            if how == "absent":
                body = [{"op": "remove", "path": f"/{'/'.join(map(str, at))}"}]
                answer = c.consult("PATCH", f"{path}?dryRun=All", body, content_type=JSON)
            else:
                changed = _new({top: obj[top]}, at, how)
                answer = c.consult("PATCH", f"{path}?dryRun=All", changed, content_type=MERGE)
            c.note(f"{kind.kind} {'.'.join(map(str, at))} {how}", outcome(answer))
        c.consult("DELETE", path)
