"""The built-in kinds on which no controller of the simulation acts, and zeros in all others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from clusters.simulated.builtin.registry import built_in_strategies, further_strategies
from clusters.simulated.builtin.webhook_configurations import (
    MUTATING_CONFIGURATION,
    VALIDATING_CONFIGURATION,
    WebhookConfigurationStrategy,
)
from tests.differential.dialogue import Dialogue
from tests.differential.exchange import TABLE
from tests.differential.script import script
from vocabulary.kinds import Kind
from vocabulary.messages import entries_of, fields_of, tables

_FOLDER: Final = Path(__file__).parents[1]
_ZEROS: Final[Mapping[str, Any]] = {
    "string": "",
    "bool": False,
    "int32": 0,
    "int64": 0,
    "intorstring": 0,
}
_SECRET: Final = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}
KINDS: Final[Mapping[str, Kind]] = {
    strategy.kind.kind: strategy.kind
    for strategy in (
        *built_in_strategies().values(),
        *further_strategies(),
        WebhookConfigurationStrategy(MUTATING_CONFIGURATION),
        WebhookConfigurationStrategy(VALIDATING_CONFIGURATION),
    )
}
MERGE: Final = "application/merge-patch+json"
_STRATEGIC: Final = "application/strategic-merge-patch+json"
JSON: Final = "application/json-patch+json"
_APPLY: Final = "application/apply-patch+yaml"


def manifests(file: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((_FOLDER / file).read_text()))


def _path(c: Dialogue, obj: Mapping[str, Any], name: str = "", subresource: str = "") -> str:
    kind = KINDS[obj["kind"]]
    group, _, version = obj["apiVersion"].rpartition("/")
    of_version = Kind(group, version, kind.kind, kind.plural, kind.namespaced)
    return of_version.path(c.namespace if kind.namespaced else "", name, subresource)


def _create(
    c: Dialogue, obj: Mapping[str, Any], label: str, *, query: str = "", **how: Any
) -> None:
    """Nothing is stored, so that no controller of the real cluster acts on it."""
    c.raw("POST", f"{_path(c, obj)}?dryRun=All{query}", obj, label=f"{label} {obj['kind']}", **how)


@script("An object of each built-in kind gets its defaults and an empty status.", ["4.16"])
def every_kind_created(c: Dialogue) -> None:
    for obj in manifests("uncontrolled.yaml"):
        _create(c, obj, "create", headers=True)


@script("Each built-in kind has its columns.", ["4.16"])
def tables_of_every_kind(c: Dialogue) -> None:
    for obj in manifests("uncontrolled.yaml"):
        if obj["kind"] != "IPAddress":  # which has a cell more than columns
            _create(c, obj, "table of", query="&includeObject=None", accept=TABLE)


@script("A zero in a field that is no pointer is no value: it is defaulted.", ["4.16"])
def zeros(c: Dialogue) -> None:
    for obj in (*manifests("uncontrolled.yaml"), *manifests("zeros.yaml")):
        message = tables().kinds[obj["apiVersion"], obj["kind"]]
        _create(c, _with_zeros(obj, message, is_object=True), "zeros in", show=_parts(obj))


@script("A zero that a patch sets is no value either, and changes nothing.", ["4.16"])
def zeros_of_patches(c: Dialogue) -> None:
    objects = {obj["kind"]: obj for obj in manifests("zeros.yaml")}
    objects["Deployment"]["spec"]["replicas"] = 0
    of_pods = {"hostNetwork": False, "restartPolicy": ""}
    for obj, given in (
        (objects["Deployment"], {"spec": {"paused": False, "template": {"spec": of_pods}}}),
        (objects["Pod"], {"spec": {"hostPID": False, "nodeName": "", "restartPolicy": ""}}),
        (objects["Service"], {"spec": {"externalName": "", "publishNotReadyAddresses": False}}),
        (_SECRET, {"type": ""}),
    ):
        kind, show = obj["kind"], ["code", "message", "metadata.generation", *given]
        typed = {"apiVersion": obj["apiVersion"], "kind": kind}
        path = _path(c, obj, "a")
        c.raw("POST", _path(c, obj), obj, label=f"create {kind}", show=show)
        operations = [
            {"op": "add", "path": f"/{at}", "value": value} for at, value in _leaves(given)
        ]
        for how, body, query in (
            (MERGE, given, ""),
            (_STRATEGIC, given, ""),
            (JSON, operations, ""),
            (_APPLY, {**typed, **given}, "?fieldManager=m&force=true"),
        ):
            label = f"{how.partition('/')[2]} of {kind}"
            c.raw("PATCH", f"{path}{query}", body, content_type=how, label=label, show=show)
        new = {**merged(obj, given), "metadata": {"name": "b"}}
        path = f"{_path(c, obj, 'b')}?fieldManager=m&dryRun=All"
        label = f"apply a new {kind}"
        c.raw("PATCH", path, new, content_type=_APPLY, label=label, show=show)


def _leaves(part: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The values in a part of an object, each with its path as in a JSON pointer."""
    for name, value in part.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}/{at}", each) for at, each in _leaves(value))
        else:
            yield name, value


def merged(obj: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    found = {**obj, **given}
    for name in obj.keys() & given.keys():
        if isinstance(given[name], Mapping):
            found[name] = merged(obj[name], given[name])
    return found


@script("A strategic merge patch merges the lists that the Go types say, and no others.", ["4.16"])
def strategic_patches_of_every_kind(c: Dialogue) -> None:
    variables = [{"spec": {"variables": [{"name": name, "expression": "1"}]}} for name in "ab"]
    changes: Mapping[str, list[dict[str, Any]]] = {
        "CSINode": [
            {"spec": {"drivers": [{"name": f"{name}.tests.assay.dev", "nodeID": "n"}]}}
            for name in "bc"
        ],
        "ValidatingAdmissionPolicy": variables,
        "MutatingAdmissionPolicy": variables,
        "PodDisruptionBudget": [
            {"spec": {"selector": {"matchLabels": {name: "x"}}}} for name in "ab"
        ],
        "CertificateSigningRequest": [
            {"status": {"conditions": [{"type": name, "status": "True"}]}} for name in "ab"
        ],
        "ResourceClaim": [
            {"status": {"allocation": {}}},
            *(
                {"status": {"reservedFor": [{"resource": "pods", "name": name, "uid": name}]}}
                for name in "ab"
            ),
        ],
    }
    show = ["code", "message", "spec.drivers", "spec.variables", "spec.selector"]
    show += ["status.conditions.0.type", "status.conditions.1.type", "status.reservedFor"]
    for obj in manifests("uncontrolled.yaml"):
        kind = obj["kind"]
        if kind not in changes:
            continue
        name = obj["metadata"]["name"] = c.namespace
        c.raw("POST", _path(c, obj), obj, label=f"create {kind}", show=show[:5])
        for body in changes[kind]:
            subresource = "status" if "status" in body else ""
            path, shown = _path(c, obj, name, subresource), show if subresource else show[:5]
            c.raw("PATCH", path, body, content_type=_STRATEGIC, label=f"patch {kind}", show=shown)
        c.raw("DELETE", _path(c, obj, name), label=f"delete {kind}", show=["code"])


def _parts(obj: Mapping[str, Any]) -> list[str]:
    return [name for name in obj if name not in ("apiVersion", "kind", "metadata")]


def _with_zeros(part: Any, message: str, *, is_object: bool = False) -> Any:
    """The part with the zero of each optional field that has no value and is no pointer."""
    found = dict(part)
    for field in fields_of(message):
        if field.name in ("apiVersion", "kind", "metadata") and is_object:
            continue
        if field.name in part:
            found[field.name] = _zeros_within(part[field.name], field.type)
        elif field.type in _ZEROS and field.omits_empty and not field.is_pointer:
            found[field.name] = _ZEROS[field.type]
    return found


def _zeros_within(value: Any, type_: str) -> Any:
    entries = entries_of(type_)
    if entries and isinstance(value, list):
        return [_zeros_within(each, entries) for each in value]
    if entries and isinstance(value, dict):
        return {name: _zeros_within(each, entries) for name, each in value.items()}
    return _with_zeros(value, type_) if type_ in tables().messages else value


@script("The generation counts changes of the spec, where a kind has one.", ["4.16"])
def generations_of_every_kind(c: Dialogue) -> None:
    changes: Mapping[str, Any] = {
        "PodTemplate": {"template": {"spec": {"nodeName": "n9"}}},
        "ReplicationController": {"spec": {"minReadySeconds": 3}},
        "DaemonSet": {"spec": {"minReadySeconds": 3}},
        "CronJob": {"spec": {"suspend": True}},
        "HorizontalPodAutoscaler": {"spec": {"maxReplicas": 4}},
        "Ingress": {"spec": {"ingressClassName": "b"}},
        "NetworkPolicy": {"spec": {"policyTypes": ["Egress"]}},
        "PodDisruptionBudget": {"spec": {"minAvailable": "50%"}},
        "ResourceClaimTemplate": {"metadata": {"labels": {"a": "b"}}},
    }
    show = ["metadata.generation", "spec", "template"]
    for obj in manifests("uncontrolled.yaml"):
        kind, name = obj["kind"], obj["metadata"]["name"]
        if kind not in changes:
            continue
        c.raw("POST", _path(c, obj), obj, label=f"create {kind}", show=show)
        path = _path(c, obj, name)
        for label, body in (
            ("change", changes[kind]),
            ("label", {"metadata": {"labels": {"x": "y"}}}),
        ):
            c.raw("PATCH", path, body, content_type=MERGE, label=f"{label} {kind}", show=show)
        c.raw("DELETE", path, label=f"delete {kind}", show=["kind", "status", "spec"])


@script("An autoscaler is read and written in both versions.", ["4.16"])
def versions_of_autoscalers(c: Dialogue) -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}
    kind, versions = "HorizontalPodAutoscaler", ("v1", "v2")
    for name, version, spec in (
        ("old", "v1", {"targetCPUUtilizationPercentage": 40}),
        ("old-without", "v1", {"minReplicas": 2}),
        ("new", "v2", {}),
        ("behaves", "v2", {"behavior": {"scaleDown": {"selectPolicy": "Min"}}}),
    ):
        obj = {
            "apiVersion": f"autoscaling/{version}",
            "kind": kind,
            "metadata": {"name": name},
            "spec": {"maxReplicas": 3, "scaleTargetRef": target, **spec},
        }
        c.raw("POST", _path(c, obj), obj, label=f"create {name}", show=["apiVersion", "spec"])
        for other in versions:
            path = _path(c, {**obj, "apiVersion": f"autoscaling/{other}"}, name)
            show = ["apiVersion", "spec", "status.desiredReplicas"]
            c.raw("GET", path, label=f"{name} in {other}", show=show)
    v1, v2 = (
        _path(c, {**obj, "apiVersion": f"autoscaling/{each}"}, "behaves") for each in versions
    )
    read = c.raw("GET", v1, label="read in v1", show=["apiVersion", "spec"])
    changed = {**read.body, "spec": {**read.body["spec"], "maxReplicas": 4}}
    c.raw("PUT", v1, changed, label="change in v1", show=["apiVersion", "spec"])
    c.raw("GET", v2, label="the change in v2", show=["apiVersion", "spec"])


@script("What a DaemonSet counts its templates in is the server's alone.", ["4.16"])
def counted_templates(c: Dialogue) -> None:
    (obj,) = (each for each in manifests("uncontrolled.yaml") if each["kind"] == "DaemonSet")
    counted = "deprecated.daemonset.template.generation"
    show = ["metadata.annotations", "metadata.generation"]
    path = _path(c, obj, obj["metadata"]["name"])

    def told(count: str) -> dict[str, Any]:
        return {"metadata": {"annotations": {counted: count}}}

    for count in ("7", "abc", "", str(2**63)):
        metadata = {**obj["metadata"], "name": "other", **told(count)["metadata"]}
        new = {**obj, "metadata": metadata}
        c.raw("POST", f"{_path(c, obj)}?dryRun=All", new, label=f"create with {count}", show=show)
    c.raw("POST", _path(c, obj), obj, label="create", show=show)
    template = {"spec": {"template": {"spec": {"nodeName": "n9"}}}}
    for count in ("7", "abc", "", None):
        for at in ("", "/status"):
            for label, body in (
                ("count", told(count)),
                ("another template", {**template, **told(count)}),
            ):
                c.raw(
                    "PATCH",
                    f"{path}{at}",
                    body,
                    content_type=MERGE,
                    label=f"{label} {count!r} at {at}",
                    show=show,
                )
    changed = {"spec": {"template": {"spec": {"nodeName": "n8"}}}}
    c.raw("PATCH", path, changed, content_type=MERGE, label="change the template", show=show)
    c.raw("DELETE", path, label="delete", show=["kind", "status.desiredNumberScheduled"])


@script("An update without a spec is one with the zeros of a spec.", ["4.16"])
def updates_without_spec(c: Dialogue) -> None:
    for obj in manifests("uncontrolled.yaml"):
        if obj["kind"] not in ("NetworkPolicy", "PodDisruptionBudget"):
            continue  # a real server misses fields of the others
        kind, name = obj["kind"], obj["metadata"]["name"]
        answer = c.raw("POST", _path(c, obj), obj, label=f"create {kind}", show=["kind"])
        bare = {key: value for key, value in answer.body.items() if key != "spec"}
        path = f"{_path(c, obj, name)}?dryRun=All"
        show = ["spec", "metadata.generation"]
        if kind == "NetworkPolicy":  # a controller writes the other meanwhile
            c.raw("PUT", path, bare, label=f"put {kind} without", show=show)
        merged = {"spec": None}
        c.raw("PATCH", path, merged, content_type=MERGE, label=f"null of {kind}", show=show)
        removed = [{"op": "remove", "path": "/spec"}]
        how = "application/json-patch+json"
        c.raw("PATCH", path, removed, content_type=how, label=f"remove of {kind}", show=show)
        c.raw("DELETE", path.partition("?")[0], label=f"delete {kind}", show=["kind"])


@script("Selectors of labels are validated in every kind that has them.", ["4.16"])
def selectors_of_every_kind(c: Dialogue) -> None:
    bad = {"matchExpressions": [{"key": "a"}], "matchLabels": {"-": "b"}}
    for kind, spec in (
        ("NetworkPolicy", {"podSelector": bad}),
        ("NetworkPolicy", {"podSelector": {}, "ingress": [{"from": [{"podSelector": bad}]}]}),
        ("NetworkPolicy", {"podSelector": {}, "egress": [{"to": [{"namespaceSelector": bad}]}]}),
        ("PodDisruptionBudget", {"selector": bad}),
        ("ValidatingAdmissionPolicy", {"matchConstraints": {"objectSelector": bad}}),
        ("ValidatingAdmissionPolicyBinding", {"matchResources": {"namespaceSelector": bad}}),
    ):
        (obj,) = (each for each in manifests("uncontrolled.yaml") if each["kind"] == kind)
        inner = next(iter(spec))
        merged = spec[inner]
        if kind.startswith("Validating"):
            merged = {**obj["spec"].get(inner, {}), **spec[inner]}
        new = {**obj, "spec": {**obj["spec"], **spec, inner: merged}}
        _create(c, new, f"bad selectors in {inner} of")


@script(
    "A request for a certificate tells who made it, and is approved by a subresource.", ["4.16"]
)
def approvals(c: Dialogue) -> None:
    (obj,) = (
        each
        for each in manifests("uncontrolled.yaml")
        if each["kind"] == "CertificateSigningRequest"
    )
    obj["metadata"]["name"] = c.namespace
    forged = {"username": "somebody", "uid": "7", "groups": ["g"], "extra": {"a": ["b"]}}
    obj["spec"] |= forged
    answer = c.raw("POST", _path(c, obj), obj, label="create", show=["spec", "status"])
    path = _path(c, obj, c.namespace)
    changed = {**answer.body, "spec": {**answer.body["spec"], "usages": ["server auth"]}}
    c.raw("PUT", path, changed, label="change what is asked for", show=["spec.usages"])
    condition = {"type": "Approved", "status": "True", "reason": "Test", "message": "by a test"}
    approved = {**answer.body, "status": {"conditions": [condition]}}
    c.raw(
        "PUT",
        _path(c, obj, c.namespace, "approval"),
        approved,
        label="approve",
        show=["spec.username", "status.conditions.0.type", "status.conditions.0.reason"],
    )
    c.raw("DELETE", path, label="delete", show=["kind", "status"])


@script("A request for devices is for one, unless it says how many or all.", ["4.16"])
def devices_of_claims(c: Dialogue) -> None:
    for kind in ("ResourceClaim", "ResourceClaimTemplate"):
        (obj,) = (each for each in manifests("uncontrolled.yaml") if each["kind"] == kind)
        for given in (
            {},
            {"count": 3},
            {"allocationMode": "ExactCount"},
            {"allocationMode": "ExactCount", "count": 2},
            {"allocationMode": "All"},
            {"allocationMode": "All", "count": 0},
            {"allocationMode": "", "count": 0},
        ):
            exactly = {"deviceClassName": "a", **given}
            either = [{"name": "x", **exactly}, {"name": "y", "deviceClassName": "b"}]
            for asked in ({"exactly": exactly}, {"firstAvailable": either}):
                spec: dict[str, Any] = {"devices": {"requests": [{"name": "one", **asked}]}}
                new = {**obj, "spec": {"spec": spec} if kind.endswith("Template") else spec}
                _create(c, new, f"{next(iter(asked))} {given} of", show=["spec"])


@script(
    "Kinds differ in updates without a version or an object, and in responses to deletes.", ["4.16"]
)
def updates_of_every_kind(c: Dialogue) -> None:
    for obj in manifests("uncontrolled.yaml"):
        kind = obj["kind"]
        path = _path(c, obj, obj["metadata"]["name"])
        c.raw("PUT", f"{path}?dryRun=All", obj, label=f"put an absent {kind}", show=["kind"])
        if kind == "ServiceCIDR":
            continue  # Services of other scripts would get addresses out of it
        if not KINDS[kind].namespaced and kind != "IPAddress":
            obj["metadata"]["name"] = f"{c.namespace}.tests.assay.dev"
        path = _path(c, obj, obj["metadata"]["name"])
        c.raw("POST", _path(c, obj), obj, label=f"create {kind}", show=["kind"])
        c.raw("PUT", f"{path}?dryRun=All", obj, label=f"put {kind}", show=["kind"])
        c.raw("DELETE", f"{path}?dryRun=All", label=f"delete {kind} (dry run)", show=["kind"])
        c.raw("DELETE", path, label=f"delete {kind}", show=["kind"])


@script("Parts that few objects have get their defaults, too.", ["4.16"])
def defaults_of_parts(c: Dialogue) -> None:
    objects = {obj["kind"]: obj for obj in manifests("uncontrolled.yaml")}
    rules = [{"apiGroups": ["a.b"], "apiVersions": ["v1"], "resources": ["c"]}]
    excluded = [{**rules[0], "operations": ["CREATE"], "resourceNames": ["x"]}]
    volume = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}
    policies = [
        (f"{sort}AdmissionPolicy{part}", field, {**given, "excludeResourceRules": excluded})
        for sort in ("Validating", "Mutating")
        for part, field, given in (
            ("", "matchConstraints", objects[f"{sort}AdmissionPolicy"]["spec"]["matchConstraints"]),
            ("Binding", "matchResources", {"resourceRules": excluded}),
        )
    ]
    for kind, spec in (
        *((kind, {**objects[kind]["spec"], field: given}) for kind, field, given in policies),
        *(
            ("PersistentVolume", {**volume, **source})
            for source in (
                {"iscsi": {"targetPortal": "192.0.2.1", "iqn": "iqn.2015-02.a:b", "lun": 0}},
                {"iscsi": {"targetPortal": "a", "iqn": "iqn.2015-02.a:b", "lun": 1, "fsType": "x"}},
                {"nfs": {"server": "a", "path": "/b"}, "mountOptions": ["hard"]},
                {"csi": {"driver": "a.b", "volumeHandle": "c"}, "volumeMode": "Block"},
                {"hostPath": {"path": "/a", "type": "Directory"}, "storageClassName": "s"},
            )
        ),
        (
            "ReplicationController",
            {
                key: value
                for key, value in objects["ReplicationController"]["spec"].items()
                if key != "replicas"
            },
        ),
        ("ReplicationController", {**objects["ReplicationController"]["spec"], "replicas": None}),
        *(
            ("NetworkPolicy", {"podSelector": {}, **given})
            for given in (
                {"ingress": [{"ports": [{"port": 1}, {"port": "a", "protocol": "UDP"}, {}]}]},
                {"ingress": [{}], "egress": [{"ports": [{"port": 1, "endPort": 2}]}]},
                {"egress": []},
                {"policyTypes": ["Egress"], "ingress": [{}]},
            )
        ),
        ("IngressClass", {"controller": "a.b/c"}),
        ("IngressClass", {"controller": "a.b/c", "parameters": {"kind": "K", "name": "n"}}),
        ("FlowSchema", {"priorityLevelConfiguration": {"name": "n"}, "matchingPrecedence": 7}),
        *(
            ("PriorityLevelConfiguration", {"type": "Limited", "limited": {"limitResponse": given}})
            for given in (
                {"type": "Reject"},
                {"type": "Queue", "queuing": {"queues": 3, "handSize": 2}},
            )
        ),
        ("CSIDriver", {"attachRequired": False, "volumeLifecycleModes": ["Ephemeral"]}),
        ("CronJob", {**objects["CronJob"]["spec"], "suspend": True, "failedJobsHistoryLimit": 0}),
    ):
        _create(c, {**objects[kind], "spec": spec}, "create", show=["spec"])
    for given in ({"reclaimPolicy": "Retain"}, {"volumeBindingMode": "WaitForFirstConsumer"}):
        new = {**objects["StorageClass"], **given}
        _create(c, new, "create", show=["reclaimPolicy", "volumeBindingMode"])


def _changed(kind: str, **fields: Any) -> dict[str, Any]:
    (obj,) = (each for each in manifests("uncontrolled.yaml") if each["kind"] == kind)
    return {**obj, **fields, "spec": {**obj.get("spec", {}), **fields.get("spec", {})}}


@script("Columns show what few objects of a kind have.", ["4.16"])
def tables_of_parts(c: Dialogue) -> None:
    names = {
        "Object": {"describedObject": {"kind": "Service", "name": "s"}, "metric": {"name": "m"}},
        "External": {"metric": {"name": "m"}},
        "Pods": {"metric": {"name": "m"}},
        "Resource": {"name": "memory"},
        "ContainerResource": {"name": "cpu", "container": "main"},
    }

    def metric(type_: str, measure: str, value: Any) -> dict[str, Any]:
        kinds = {"value": "Value", "averageValue": "AverageValue"}
        target = {"type": kinds.get(measure, "Utilization"), measure: value}
        field = type_[:1].lower() + type_[1:]
        return {"type": type_, field: {**names[type_], "target": target}}

    metrics = [
        metric("Object", "value", "5"),
        metric("Object", "averageValue", "2"),
        metric("External", "averageValue", "500m"),
        metric("External", "value", "7"),
        metric("Pods", "averageValue", "3"),
        metric("Resource", "averageValue", "1Gi"),
        metric("Resource", "averageUtilization", 60),
        metric("ContainerResource", "averageUtilization", 50),
        metric("ContainerResource", "averageValue", "100m"),
    ]
    target = {"scaleTargetRef": {"kind": "Deployment", "name": "none", "apiVersion": "apps/v1"}}
    group = f"/apis/autoscaling/v2/namespaces/{c.namespace}/horizontalpodautoscalers"
    for number in range(len(metrics)):
        for name, chosen in ((f"one-{number}", metrics[number : number + 1]),):
            obj = {
                "apiVersion": "autoscaling/v2",
                "kind": "HorizontalPodAutoscaler",
                "metadata": {"name": name},
                "spec": {**target, "maxReplicas": 3, "metrics": chosen},
            }
            c.raw("POST", f"{group}?dryRun=All", obj, label=f"table of {name}", accept=TABLE)
            c.raw("POST", f"{group}?dryRun=All", obj, label=f"spec of {name}", show=["spec"])
    for count in (0, 2, 3):
        obj["spec"]["metrics"] = metrics[:count]
        c.raw("POST", f"{group}?dryRun=All", obj, label=f"table of {count}", accept=TABLE)
        v1 = {**obj, "apiVersion": "autoscaling/v1", "spec": {**target, "maxReplicas": 3}}
        v1["spec"]["targetCPUUtilizationPercentage"] = count or None
        at = group.replace("/v2/", "/v1/")
        c.raw("POST", f"{at}?dryRun=All", v1, label=f"v1 of {count}", show=["spec"])
    parameters = {"apiVersion": "v1", "kind": "ConfigMap"}
    for label, obj in (
        (
            "an address of a cluster",
            _changed("IPAddress", spec={"parentRef": {"resource": "nodes", "name": "n0"}}),
        ),
        (
            "an address of a group",
            _changed(
                "IPAddress", spec={"parentRef": {"group": "a.b", "resource": "Xs", "name": "c"}}
            ),
        ),
        (
            "tokens",
            _changed(
                "CSIDriver",
                spec={
                    "tokenRequests": [
                        {"audience": "a"},
                        {"audience": "b", "expirationSeconds": 600},
                    ],
                    "podInfoOnMount": True,
                    "storageCapacity": True,
                    "requiresRepublish": True,
                    "attachRequired": False,
                    "volumeLifecycleModes": ["Ephemeral", "Persistent"],
                },
            ),
        ),
        ("a parameter", _changed("ValidatingAdmissionPolicy", spec={"paramKind": parameters})),
        (
            "a parameter bound",
            _changed(
                "ValidatingAdmissionPolicyBinding",
                spec={"paramRef": {"name": "p", "parameterNotFoundAction": "Deny"}},
            ),
        ),
        (
            "a parameter of a namespace",
            _changed(
                "ValidatingAdmissionPolicyBinding",
                spec={
                    "paramRef": {"name": "p", "namespace": "n", "parameterNotFoundAction": "Deny"}
                },
            ),
        ),
        ("a time zone", _changed("CronJob", spec={"timeZone": "Etc/UTC", "suspend": True})),
        (
            "hosts",
            _changed(
                "Ingress",
                spec={
                    "tls": None,
                    "ingressClassName": None,
                    "rules": [{"host": f"{name}.example.org"} for name in "abcdef"],
                    "defaultBackend": {"service": {"name": "a", "port": {"name": "web"}}},
                },
            ),
        ),
    ):
        if obj["kind"] != "IPAddress":  # a real server has a cell for its age, but no column
            _create(c, obj, f"table: {label}", accept=TABLE)
        _create(c, obj, label, show=["spec"])
