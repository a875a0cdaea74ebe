"""Admission webhooks: what is reviewed, what is sent, and what comes of the answers."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from clusters.simulated.builtin.webhook_configurations import VALIDATING_CONFIGURATION
from tests.differential.dialogue import Dialogue, Events
from tests.differential.plane import WIDGET
from tests.differential.script import script
from tests.differential.scripts.manifests import config_map, widget
from vocabulary.kinds import CONFIG_MAP, SECRET

MUTATING: Final = "MutatingWebhookConfiguration"
VALIDATING: Final = "ValidatingWebhookConfiguration"


OF_WIDGETS: Final = {"apiGroups": ["tests.assay.dev"], "apiVersions": ["*"]}
OF_NO_VERSION: Final = {"apiGroups": ["tests.assay.dev"], "apiVersions": ["v7"]}


def _rule(*operations: str, resources: Sequence[str] = ("configmaps",), **more: Any) -> Any:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], **more}
    if list(resources) in (["*"], ["*/*"]):
        rule["apiGroups"] = ["*"]
    return {"operations": list(operations), "resources": list(resources), **rule}


def _webhook(c: Dialogue, *rules: Any, **fields: Any) -> dict[str, Any]:
    """One for the script's own namespace, unless a selector is given."""
    own = {"matchLabels": {"kubernetes.io/metadata.name": c.namespace}}
    return {"name": "w.assay.dev", "rules": list(rules), "namespaceSelector": own, **fields}


def _allow(request: Mapping[str, Any]) -> dict[str, Any]:
    return {"allowed": True}


def _told(c: Dialogue, reviews: Events) -> None:
    """Write down which requests were reviewed, and forget them."""
    for request in reviews:
        told = f"{request['operation']} {request['resource']['resource']}"
        c.note(f"reviewed: {told} {request.get('name', '')}", request.get("subResource", ""))
    c.note("reviews", len(reviews))
    reviews.clear()


@script("A review tells the operation, the user, and the object before and after.", ["7.6"])
def reviews_of_writes(c: Dialogue) -> None:
    rule = _rule("CREATE", "UPDATE", "DELETE")
    with c.webhooks(VALIDATING, [_webhook(c, rule)], _allow) as reviews:
        c.create(config_map("a", {"k": "1"}), show=["metadata.name"])
        c.update(config_map("a", {"k": "2"}), show=["metadata.name"])
        c.patch(CONFIG_MAP, "a", {"data": {"k": "3"}}, show=["metadata.name"])
        c.delete(CONFIG_MAP, "a", show=["status"])
    for review in reviews:
        shown = {key: value for key, value in review.items() if key != "options"}
        c.note(f"review of {review['operation']}", shown)
        c.note("options", review["options"]["kind"])


@script("Only the operations of a rule are reviewed.", ["7.6"])
def operations_of_rules(c: Dialogue) -> None:
    for operations in (["CREATE"], ["UPDATE"], ["DELETE"], ["*"]):
        with c.webhooks(VALIDATING, [_webhook(c, _rule(*operations))], _allow) as reviews:
            c.create(config_map("a"), show=["metadata.name"])
            c.patch(CONFIG_MAP, "a", {"data": {"k": "1"}}, show=["data"])
            c.delete(CONFIG_MAP, "a", show=["status"])
        _told(c, reviews)


@script("A refused deletion changes nothing, and the answer says by whom and why.", ["7.6"])
def refused_deletions(c: Dialogue) -> None:
    status = {"message": "not now", "code": 409, "reason": "Conflict"}

    def refuse(request: Mapping[str, Any]) -> dict[str, Any]:
        if request["oldObject"]["metadata"]["name"] == "b":
            return {"allowed": True}
        return {"allowed": False, "status": status}

    c.create(config_map("a"), show=["metadata.name"])
    c.create(config_map("b"), show=["metadata.name"])
    c.create(config_map("held", finalizers=["tests.assay.dev/hold"]), show=["metadata.name"])
    with c.webhooks(VALIDATING, [_webhook(c, _rule("DELETE"))], refuse) as reviews:
        c.delete(CONFIG_MAP, "a")
        c.delete(CONFIG_MAP, "b", show=["status"])
        c.delete(CONFIG_MAP, "none")
        c.delete(CONFIG_MAP, "held")
        c.delete(CONFIG_MAP, "a", uid="00000000-0000-4000-8000-000000000000", show=["code"])
        c.delete(CONFIG_MAP, "a", dry_run=True)
        _told(c, reviews)
    c.list(CONFIG_MAP, fields="metadata.name!=kube-root-ca.crt", show=["metadata.name"])
    c.delete(CONFIG_MAP, "held", show=["metadata.finalizers"])
    with c.webhooks(VALIDATING, [_webhook(c, _rule("DELETE"))], refuse) as reviews:
        c.delete(CONFIG_MAP, "held")
        c.patch(CONFIG_MAP, "held", {"metadata": {"finalizers": None}}, show=["metadata.name"])
        _told(c, reviews)


@script("A write begins again if its object changed while a webhook reviewed it.", ["7.6"])
def changes_under_review(c: Dialogue) -> None:
    """The webhook writes itself, once for each operation, and its own write is reviewed as well."""
    rule = _rule("UPDATE", "DELETE")
    asked: list[str] = []

    def write_once(request: Mapping[str, Any]) -> dict[str, Any]:
        operation = str(request["operation"])
        if operation not in asked:
            asked.append(operation)
            c.patch(CONFIG_MAP, "a", {"data": {operation: "webhook"}}, show=["data"])
        return {"allowed": True}

    c.create(config_map("a"), show=["metadata.name"])
    with c.webhooks(VALIDATING, [_webhook(c, rule)], write_once) as reviews:
        c.patch(CONFIG_MAP, "a", {"data": {"user": "patch"}}, show=["data"])
        _told(c, reviews)
        asked.clear()
        asked.append("UPDATE")
        c.delete(CONFIG_MAP, "a", show=["status"])
        _told(c, reviews)


@script("A write that begins again too often is ended by the time that requests may take.", ["7.6"])
def changes_without_end_under_review(c: Dialogue) -> None:
    rule = _rule("UPDATE", "DELETE")
    path = CONFIG_MAP.path(c.namespace, "a")
    writing = [0]

    def write(request: Mapping[str, Any]) -> dict[str, Any]:
        if writing[-1] == 0:
            number = len(writing)
            writing.append(number)
            value = {"data": {"webhook": str(number)}}
            how = "application/merge-patch+json"
            c.consult("PATCH", path, value, content_type=how)
            writing.append(0)
        return {"allowed": True}

    c.create(config_map("a"), show=["metadata.name"])
    merge = "application/merge-patch+json"
    with c.webhooks(VALIDATING, [_webhook(c, rule)], write):
        target = f"{path}?timeout=3s"
        c.raw("PUT", target, config_map("a", {"user": "put"}), label="put")
        c.raw("PATCH", target, {"data": {"user": "patch"}}, content_type=merge, label="patch")
        body = config_map("a", {"user": "apply"})
        how = "application/apply-patch+yaml"
        c.raw("PATCH", f"{target}&fieldManager=one", body, content_type=how, label="apply")
        c.raw("DELETE", target, label="delete")
    c.raw("PUT", f"{path}?timeout=nonsense", config_map("a"), label="no duration")
    c.raw("PUT", f"{path}?timeout=-1s", config_map("a"), label="less than nothing")
    c.raw("PUT", f"{path}?timeout=0s", config_map("a"), label="nothing", show=["kind"])
    c.get(CONFIG_MAP, "a", show=["metadata.name"])


@script("Refusals without words, code or reason are worded by the server.", ["7.6"])
def words_of_refusals(c: Dialogue) -> None:
    answers: list[dict[str, Any]] = [
        {},
        {"message": "no"},
        {"reason": "BadRequest"},
        {"code": 422, "reason": "Invalid", "message": "wrong"},
        {"code": 200, "message": "odd"},
    ]

    def refuse(request: Mapping[str, Any]) -> dict[str, Any]:
        status = answers[int(request["name"])]
        return {"allowed": False, **({"status": status} if status else {})}

    with c.webhooks(VALIDATING, [_webhook(c, _rule("CREATE"))], refuse):
        for number in range(len(answers)):
            c.create(config_map(str(number)))


@script("A namespace selector looks at the labels of the object's namespace.", ["7.6"])
def namespace_selectors(c: Dialogue) -> None:
    label = c.namespace
    here = _webhook(c, _rule("CREATE"), namespaceSelector={"matchLabels": {label: "yes"}})
    with c.webhooks(VALIDATING, [here], _allow) as reviews:
        c.create(config_map("before"), show=["metadata.name"])
        _told(c, reviews)
        path = f"/api/v1/namespaces/{c.namespace}"
        patch = {"metadata": {"labels": {label: "yes"}}}
        c.raw("PATCH", path, patch, content_type="application/merge-patch+json", show=["kind"])
        c.settle(1)
        c.create(config_map("after"), show=["metadata.name"])
        c.raw(
            "POST",
            "/api/v1/namespaces/default/configmaps?dryRun=All",
            config_map(label),
            show=["kind"],
        )
        _told(c, reviews)


@script("Namespace selectors leave out no object without a namespace but namespaces.", ["7.6"])
def selectors_and_cluster_scope(c: Dialogue) -> None:
    label = c.namespace
    rules = [_rule("CREATE", resources=["namespaces", "nodes"])]
    own = {"matchLabels": {label: "yes"}}
    named = {"matchLabels": {"of": label}}
    webhook = _webhook(c, *rules, namespaceSelector=own, objectSelector=named)
    with c.webhooks(VALIDATING, [webhook], _allow) as reviews:
        for name, labels in (("a", {}), ("b", {label: "yes"})):
            metadata = {"name": f"{label}-{name}", "labels": {"of": label, **labels}}
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
            c.raw(
                "POST",
                "/api/v1/namespaces?dryRun=All",
                body,
                show=["kind"],
                label=f"namespace {name}",
            )
        node = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": label, "labels": {"of": label}},
        }
        c.raw("POST", "/api/v1/nodes?dryRun=All", node, show=["kind"])
        _told(c, reviews)


@script("An object selector looks at the object before and after.", ["7.6"])
def object_selectors(c: Dialogue) -> None:
    rule = _rule("CREATE", "UPDATE", "DELETE")
    webhook = _webhook(c, rule, objectSelector={"matchLabels": {"on": "yes"}})
    with c.webhooks(VALIDATING, [webhook], _allow) as reviews:
        c.create(config_map("a"), show=["metadata.name"])
        _told(c, reviews)
        for labels in ({"on": "yes"}, {"on": "no"}, {"other": "x"}):
            c.patch(CONFIG_MAP, "a", {"metadata": {"labels": labels}}, show=["metadata.labels"])
            _told(c, reviews)
        c.delete(CONFIG_MAP, "a", show=["status"])
        _told(c, reviews)


@script("Rules name resources, subresources, scopes and groups, or all of them.", ["7.6"])
def resources_of_rules(c: Dialogue) -> None:
    c.create(widget("w"), show=["metadata.name"])
    for label, rule in (
        ("all", _rule("*", resources=["*"], scope="Namespaced")),
        ("with subresources", _rule("*", resources=["*/*"], scope="Namespaced")),
        ("subresources", _rule("*", resources=["widgets/*"], **OF_WIDGETS)),
        ("status", _rule("*", resources=["*/status"], **OF_WIDGETS)),
        ("widgets", _rule("*", resources=["widgets"], **OF_WIDGETS)),
        ("of the cluster", _rule("*", resources=["widgets"], scope="Cluster", **OF_WIDGETS)),
        ("in namespaces", _rule("*", resources=["widgets"], scope="Namespaced", **OF_WIDGETS)),
        ("another version", _rule("*", resources=["widgets"], **OF_NO_VERSION)),
    ):
        with c.webhooks(VALIDATING, [_webhook(c, rule)], _allow) as reviews:
            c.create(config_map("a"), show=["metadata.name"])
            c.delete(CONFIG_MAP, "a", show=["status"])
            labels = {"metadata": {"labels": {"rule": label.replace(" ", "-")}}}
            c.patch(WIDGET, "w", labels, show=["metadata.labels"])
            status = {"status": {"phase": "Busy"}}
            c.patch(WIDGET, "w", status, subresource="status", show=["status"])
            odd = {"status": {"phase": "Odd"}}
            c.patch(WIDGET, "w", odd, subresource="status", show=["status"])
        _told(c, reviews)


@script("A patch of a mutating webhook is applied before validating ones look.", ["7.6"])
def mutating_and_validating(c: Dialogue) -> None:
    patch = [{"op": "add", "path": "/data", "value": {"from": "the webhook"}}]
    encoded = base64.b64encode(json.dumps(patch).encode()).decode()

    def mutate(request: Mapping[str, Any]) -> dict[str, Any]:
        return {"allowed": True, "patchType": "JSONPatch", "patch": encoded}

    webhook = _webhook(c, _rule("CREATE"))
    with (
        c.webhooks(MUTATING, [webhook], mutate) as first,
        c.webhooks(VALIDATING, [webhook], _allow) as second,
    ):
        c.create(config_map("a", {"k": "v"}))
        c.create(config_map("b"), dry_run=True)
        for reviews in (first, second):
            for review in reviews:
                c.note("data", review["object"].get("data"))
                c.note("dry run", review["dryRun"])


ZEROS: Mapping[str, Mapping[str, Any]] = {
    "deployments": {
        "/spec/replicas": 0,
        "/spec/minReadySeconds": 0,
        "/spec/paused": False,
        "/spec/revisionHistoryLimit": 0,
        "/spec/strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0}},
        "/spec/template/spec/restartPolicy": "",
        "/spec/template/spec/nodeName": "",
        "/spec/template/spec/hostNetwork": False,
        "/spec/template/spec/terminationGracePeriodSeconds": 0,
        "/spec/template/spec/tolerations": [],
        "/spec/template/spec/nodeSelector": {},
        "/spec/template/spec/containers/0/command": [],
        "/spec/template/spec/containers/0/imagePullPolicy": "",
        "/spec/template/spec/containers/0/stdin": False,
        "/spec/template/spec/containers/0/env": [{"name": "a", "value": ""}],
        "/spec/template/spec/containers/0/ports": [{"containerPort": 1, "hostPort": 0}],
    },
    "services": {
        "/spec/sessionAffinity": "",
        "/spec/ports": [{"name": "", "port": 1, "targetPort": 0, "nodePort": 0, "protocol": ""}],
        "/spec/publishNotReadyAddresses": False,
    },
    "configmaps": {"/data": {}, "/immutable": False},
}


@script("Zeros that a webhook's patch sets are kept where no value is another.", ["7.6"])
def zeros_of_webhooks(c: Dialogue) -> None:
    def mutate(request: Mapping[str, Any]) -> dict[str, Any]:
        zeros = ZEROS[request["resource"]["resource"]]
        patch = [{"op": "add", "path": path, "value": value} for path, value in zeros.items()]
        return {"allowed": True, "patchType": "JSONPatch", "patch": _encoded(patch)}

    labels = {"app": "a"}
    container = {"name": "c", "image": "i"}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a"},
        "spec": {
            "replicas": 2,
            "minReadySeconds": 3,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "a"},
        "spec": {"clusterIP": "None", "selector": labels, "ports": [{"port": 2}]},
    }
    rules = [_rule("CREATE", resources=list(ZEROS), apiGroups=["*"])]
    with c.webhooks(MUTATING, [_webhook(c, *rules)], mutate):
        c.create(deployment, dry_run=True, show=["spec"])
        c.create(service, dry_run=True, show=["spec"])
        c.create(config_map("a", {"k": "v"}), dry_run=True, show=["data", "immutable"])


@script("What a patch leaves out is defaulted before the next webhook sees it.", ["7.6"])
def defaults_between_webhooks(c: Dialogue) -> None:
    removed = [{"op": "remove", "path": "/spec/restartPolicy"}]

    def mutate(request: Mapping[str, Any]) -> dict[str, Any]:
        if "restartPolicy" in seen:
            return {"allowed": True}
        seen["restartPolicy"] = True
        return {"allowed": True, "patchType": "JSONPatch", "patch": _encoded(removed)}

    seen: dict[str, bool] = {}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"},
    }
    webhook = _webhook(c, _rule("CREATE", resources=["pods"]))
    twice = [webhook, {**webhook, "name": f"second.{webhook['name']}"}]
    with c.webhooks(MUTATING, twice, mutate) as reviews:
        c.create(pod, dry_run=True, show=["spec.restartPolicy"])
    c.note("restart policies", [review["object"]["spec"]["restartPolicy"] for review in reviews])


@script("The deletion of a collection is reviewed object by object.", ["7.6"])
def reviews_of_collections(c: Dialogue) -> None:
    for name in ("a", "b"):
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}
        c.create(body, show=["metadata.name"])
    rule = _rule("DELETE", resources=["secrets"])
    with c.webhooks(VALIDATING, [_webhook(c, rule)], _allow) as reviews:
        c.delete_collection(SECRET, show=["metadata.name"])
    deleted = sorted(review["oldObject"]["metadata"]["name"] for review in reviews)
    c.note("old objects", deleted)
    c.note("names", sorted(review.get("name", "") for review in reviews))
    c.note("objects", [review["object"] for review in reviews])


def _encoded(patch: Any) -> str:
    return base64.b64encode(json.dumps(patch).encode()).decode()


@script("An invalid response of a webhook fails the request, unless failures are ignored.", ["7.6"])
def invalid_responses(c: Dialogue) -> None:
    patch = {
        "patchType": "JSONPatch",
        "patch": _encoded([{"op": "add", "path": "/data", "value": {}}]),
    }
    missing = _encoded([{"op": "remove", "path": "/data/none"}])
    answers: dict[str, dict[str, Any]] = {
        "other-uid": {"uid": "other"},
        "other-version": {"review": {"apiVersion": "admission.k8s.io/v2"}},
        "other-kind": {"review": {"kind": "ConfigMap", "apiVersion": "v1"}},
        "no-kind": {"review": {"kind": "", "apiVersion": ""}},
        "no-response": {"review": {"response": None}},
        "patch-without-type": {"patch": patch["patch"]},
        "type-without-patch": {"patchType": "JSONPatch"},
        "empty-type": {**patch, "patchType": ""},
        "other-type": {**patch, "patchType": "Merge"},
        "patch-is-object": {**patch, "patch": _encoded({"data": {}})},
        "patch-is-text": {**patch, "patch": base64.b64encode(b"text").decode()},
        "empty-patch": {**patch, "patch": _encoded([])},
        "patch-does-not-apply": {**patch, "patch": missing},
        "good-patch": patch,
        "denied": {**patch, "patch": base64.b64encode(b"text").decode(), "allowed": False},
    }

    def answer(request: Mapping[str, Any]) -> dict[str, Any]:
        return {"allowed": True, **answers[request["name"]]}

    for policy in ("Fail", "Ignore"):
        webhook = _webhook(c, _rule("CREATE"), failurePolicy=policy)
        for kind in (MUTATING, VALIDATING):
            with c.webhooks(kind, [webhook], answer):
                for name in answers:
                    c.create(
                        config_map(name),
                        dry_run=True,
                        show=["kind", "code", "data", "message", "reason"],
                    )


@script("A patch of a deleted object fails the request.", ["7.6"])
def patches_of_deletions(c: Dialogue) -> None:
    patch = {"patchType": "JSONPatch", "patch": _encoded([{"op": "remove", "path": "/data"}])}
    c.create(config_map("a"), show=["metadata.name"])
    for failures in ("Fail", "Ignore"):
        webhook = _webhook(c, _rule("DELETE"), failurePolicy=failures)
        with c.webhooks(MUTATING, [webhook], lambda _: {"allowed": True, **patch}):
            c.delete(CONFIG_MAP, "a", dry_run=True)


@script("Configurations of webhooks are validated as they are registered.", ["7.3"])
def invalid_configurations(c: Dialogue) -> None:
    sound = {
        "name": "w.assay.dev",
        "clientConfig": {"url": "https://127.0.0.1:1"},
        "rules": [_rule("CREATE")],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": c.namespace}},
    }
    no_path = {"service": {"name": "a", "namespace": "b", "path": "x"}}
    for wrong in (
        {"name": "w"},
        {"sideEffects": None},
        {"sideEffects": "Some"},
        {"timeoutSeconds": 31},
        {"timeoutSeconds": 0},
        {"clientConfig": {}},
        {"clientConfig": {"url": "http://a"}},
        {"clientConfig": {"url": "https://u:p@a/x?y#z"}},
        {"clientConfig": no_path},
        {"clientConfig": {"service": {"name": "a", "namespace": "b", "path": "/x//y_z/"}}},
        {"clientConfig": {"service": {"name": "", "namespace": ""}}},
        {"admissionReviewVersions": []},
        {"admissionReviewVersions": ["v2"]},
        {"failurePolicy": "Never"},
        {"matchPolicy": "Any"},
        {"rules": [{}]},
        {"rules": {}},
        {"rules": [_rule("UPSERT")]},
        {"rules": [_rule("CREATE", "*")]},
        {"rules": [_rule("CREATE", resources=["*", "pods"])]},
        {"rules": [_rule("CREATE", resources=["*/*", "pods"])]},
        {"rules": [_rule("CREATE", resources=["pods/*", "pods/status"])]},
        {"rules": [_rule("CREATE", resources=["*/status", "pods/status"])]},
        {"rules": [_rule("CREATE", scope="All")]},
        {"matchConditions": [{"name": "", "expression": "true"}]},
        {"matchConditions": [{"name": "a", "expression": ""}]},
        {"matchConditions": [{"name": "a", "expression": "'text'"}]},
        {"matchConditions": [{"name": "a", "expression": "1"}]},
        {"matchConditions": [{"name": "a", "expression": "[true]"}]},
        {"matchConditions": [{"name": "a", "expression": "object."}]},
        *(
            {"matchConditions": [{"name": "a", "expression": expression}]}
            for expression in (
                "object",
                "object.spec.suspend",
                "request.uid == 'a'",
                "request.object.metadata.name == 'a'",
                "request.name == 1",
                "request.userInfo.groups == ''",
                "namespaceObject.metadata.uid == 'a'",
                "params.x == 1 || variables.y",
                "[object.kind, 1] == []",
                "request.dryRun && request.operation",
                "'%d'.format([request.name]) == ''",
            )
        ),
        {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Like"}]}},
    ):
        webhook = {key: value for key, value in {**sound, **wrong}.items() if value is not None}
        c.create(_configuration(c, webhook))
    for expression in (
        "request.userInfo.extra.all(k, k != 'a') && 'g' in request.userInfo.groups",
        "request.options.dryRun == 'All' || request.requestSubResource == 'status'",
        "has(namespaceObject.metadata.labels) && request.namespace.startsWith('kube-')",
        "object.metadata.?labels[?'a'].orValue('') == 'b' && oldObject == null",
    ):
        conditions = {"matchConditions": [{"name": "a", "expression": expression}]}
        c.create(_configuration(c, sound | conditions), dry_run=True, show=["metadata.name"])
    c.create(_configuration(c, sound, sound))
    c.create(_configuration(c, sound))
    c.table(VALIDATING_CONFIGURATION)
    c.delete(VALIDATING_CONFIGURATION, f"differential-{c.namespace}")


def _configuration(c: Dialogue, *webhooks: Any) -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": VALIDATING,
        "metadata": {"name": f"differential-{c.namespace}"},
        "webhooks": list(webhooks),
    }


@script("What a webhook answers is no review, or leaves no object.", ["7.6"])
def responses_without_objects(c: Dialogue) -> None:
    answers: dict[str, dict[str, Any]] = {
        "no-name": {"patch": _encoded([{"op": "remove", "path": "/metadata/name"}])},
        "odd-label": {
            "patch": _encoded([{"op": "add", "path": "/metadata/labels", "value": {"-": ""}}])
        },
        "warned": {"patch": _encoded([]), "warnings": ["first", "second"]},
    }

    def answer(request: Mapping[str, Any]) -> dict[str, Any]:
        return {"allowed": True, "patchType": "JSONPatch", **answers[request["name"]]}

    for policy in ("Fail", "Ignore"):
        webhook = _webhook(c, _rule("CREATE"), failurePolicy=policy)
        with c.webhooks(MUTATING, [webhook], answer):
            for name in answers:
                path = f"/api/v1/namespaces/{c.namespace}/configmaps?dryRun=All"
                c.raw("POST", path, config_map(name), label=f"{policy} {name}", show=["code"])


@script("A webhook reviews again what another changed, if it asks for that.", ["7.6"])
def reviewed_again(c: Dialogue) -> None:
    added = {"patchType": "JSONPatch"}

    def answer(request: Mapping[str, Any]) -> dict[str, Any]:
        data = request["object"].get("data") or {}
        value = {**data, f"n{len(data)}": request["operation"]}
        patch = [{"op": "add", "path": "/data", "value": value}]
        return {"allowed": True, **added, "patch": _encoded(patch)} if len(data) < 5 else _allow({})

    rule = _rule("CREATE", "UPDATE")
    never = _webhook(c, rule)
    asking = {**never, "name": "x.assay.dev", "reinvocationPolicy": "IfNeeded"}
    other = {**never, "name": "y.assay.dev", "reinvocationPolicy": "IfNeeded"}
    selecting = {
        **asking,
        "name": "z.assay.dev",
        "objectSelector": {"matchLabels": {"a": "b"}},
    }
    for number, webhooks in enumerate(
        ([never, asking], [asking, never], [asking, other, never], [selecting, asking, other])
    ):
        with c.webhooks(MUTATING, webhooks, answer) as reviews:
            c.create(config_map(f"a{number}"), show=["data"])
            c.create(config_map(f"b{number}", {"k": "1"}, labels={"a": "b"}), show=["data"])
        _told(c, reviews)


@script("A condition of a webhook that fails refuses, or is as if it were not met.", ["7.6"])
def failing_conditions(c: Dialogue) -> None:
    for policy in ("Fail", "Ignore"):
        for conditions in (
            {"fails": "object.data.none == ''"},
            {"fails": "object.data.none == ''", "false": "false"},
            {"true": "true", "fails": "object.data.none == ''", "also": "object.none.x == 1"},
            {"met": "request.operation == 'DELETE' || object.data.k == 'v'"},
            {"operation": "request.operation == 'DELETE' && oldObject.data.k == 'v'"},
            {"dry": "!request.dryRun"},
            {"user": "request.userInfo.username == ''"},
        ):
            webhook = _webhook(
                c,
                _rule("CREATE", "DELETE"),
                failurePolicy=policy,
                matchConditions=[
                    {"name": name, "expression": text} for name, text in conditions.items()
                ],
            )
            with c.webhooks(VALIDATING, [webhook], _allow) as reviews:
                c.create(config_map("a", {"k": "v"}), show=["metadata.name"])
                c.create(config_map("d", {"k": "w"}), dry_run=True, show=["metadata.name"])
                c.delete(CONFIG_MAP, "a", show=["status", "reason"])
                _told(c, reviews)
            c.delete(CONFIG_MAP, "a", show=["status", "reason"])


@script("Namespaces are selected by their own labels, or by those of the one they are in.", ["7.6"])
def reviews_of_namespaces(c: Dialogue) -> None:
    name = f"{c.namespace}-b"
    body = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {"team": c.namespace}},
    }
    rule = _rule("CREATE", "UPDATE", "DELETE", resources=["namespaces", "namespaces/finalize"])
    selector = {"matchLabels": {"team": c.namespace}}
    with c.webhooks(VALIDATING, [_webhook(c, rule, namespaceSelector=selector)], _allow) as reviews:
        c.raw("POST", "/api/v1/namespaces", body, label="create it", show=["spec"])
        merge = "application/merge-patch+json"
        patch = {"metadata": {"labels": {"a": "b"}}}
        c.raw("PATCH", f"/api/v1/namespaces/{name}", patch, content_type=merge, show=["spec"])
        for team in ("x", c.namespace):
            patch = {"metadata": {"labels": {"team": team}}}
            target = f"/api/v1/namespaces/{name}"
            c.raw("PATCH", target, patch, content_type=merge, label=team, show=["spec"])
        c.raw("DELETE", f"/api/v1/namespaces/{name}", show=["status.phase"])
        c.settle(1)
        shown = [each for each in reviews if each["operation"] != "DELETE"]
        _told(c, [each for each in shown if not each.get("subResource")])
        _told(c, [each for each in reviews if each["operation"] == "DELETE"][:1])
