"""Configurations of webhooks that are drawn at random, and the fields that their conditions know.

A generator with a seed draws them, so both sides get the same ones.
"""

from __future__ import annotations

import re
from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.exchange import Answer
from tests.differential.script import script
from vocabulary.kinds import Kind

_GROUP: Final = "admissionregistration.k8s.io"
_KINDS: Final = (
    Kind(_GROUP, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", False),
    Kind(_GROUP, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", False),
)
_RULE: Final = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["pods"],
    "operations": ["CREATE"],
}
_FIELDS: Final = (
    *("", ".uid", ".apiVersion", ".kind", ".metadata", ".object", ".name", ".namespace", ".odd"),
    *(f".{it}.{part}" for it in ("kind", "requestKind") for part in ("group", "version", "kind")),
    *(
        f".{it}.{part}"
        for it in ("resource", "requestResource")
        for part in ("group", "version", "resource", "kind")
    ),
    *(".subResource", ".requestSubResource", ".operation", ".dryRun", ".options", ".options.x"),
    *(
        ".userInfo",
        ".userInfo.username",
        ".userInfo.uid",
        ".userInfo.groups",
        ".userInfo.groups[0]",
    ),
    ".requestKind",
)
_OF_METADATA: Final = (
    *("name", "generateName", "namespace", "labels", "annotations", "UID", "uid", "odd"),
    *("creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation"),
    *("resourceVersion", "finalizers", "ownerReferences", "labels['a']", "finalizers[0]"),
    "annotations['a']",
)
_OF_CONDITIONS: Final = ("status", "type", "lastTransitionTime", "message", "reason", "odd")
_PATHS: Final = (
    *(f"request{it}" for it in _FIELDS),
    *(
        f"namespaceObject{it}"
        for it in ("", ".kind", ".apiVersion", ".metadata", ".spec", ".status")
    ),
    *(f"namespaceObject.metadata.{it}" for it in _OF_METADATA),
    *(f"namespaceObject.{it}" for it in ("spec.finalizers", "spec.odd", "status.phase", "odd")),
    *(f"namespaceObject.status.conditions[0].{it}" for it in _OF_CONDITIONS),
    *("object", "object.a.b", "oldObject", "oldObject.x", "variables", "params"),
)


def _webhook(**fields: Any) -> dict[str, Any]:
    told = {
        "name": "w.assay.dev",
        "clientConfig": {"url": "https://127.0.0.1:1"},
        "rules": [_RULE],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **fields,
    }
    return {name: value for name, value in told.items() if value is not None}


def _tried(c: Dialogue, kind: Kind, *webhooks: Any) -> Answer:
    obj = {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": f"drawn-{c.namespace}"},
        "webhooks": list(webhooks),
    }
    return c.consult("POST", f"{kind.path()}?dryRun=All", obj)


def _say(c: Dialogue, label: str, kind: Kind, *webhooks: Any) -> None:
    answer = _tried(c, kind, *webhooks)
    causes = answer.body.get("details", {}).get("causes") or ()
    told = [f"{it['field']}: {it['message']}" for it in causes]
    made = [
        {name: it.get(name) for name in ("failurePolicy", "matchPolicy", "timeoutSeconds", "rules")}
        for it in answer.body.get("webhooks") or ()
    ]
    c.note(label, [answer.code, told or made or answer.body.get("message")])


@script("Conditions of webhooks know the fields of requests, each with its type.", ["7.6"])
def fields_of_conditions(c: Dialogue) -> None:
    for path in _PATHS:
        # What is compared with a type of its own tells its type where that is wrong.
        condition = {"name": "a", "expression": f"{path} == duration('1s')"}
        answer = _tried(c, _KINDS[0], _webhook(matchConditions=[condition]))
        said = answer.body.get("message", "").partition("ERROR: ")[2].partition("\n")[0]
        c.note(path, [answer.code, _STRUCTURE.sub("", said)])


_STRUCTURE: Final = re.compile(r"\([A-Za-z0-9.]*(kubernetes|Type)[^,]*")
"""A type with fields, which has another name here."""


_NAMES: Final = ("w.assay.dev", "w", "w.assay", "W.assay.dev", "a.b.c", "", "-a.b.c", "v.assay.dev")
_RESOURCES: Final = (
    "pods",
    "*",
    "*/*",
    "pods/*",
    "*/status",
    "pods/status",
    "pods/log",
    "",
    "a/b/c",
)
_DRAWN: Final[dict[str, tuple[Any, ...]]] = {
    "sideEffects": ("None", "NoneOnDryRun", "Some", "Unknown", "Odd", None),
    "timeoutSeconds": (0, 1, 30, 31, -1),
    "failurePolicy": ("Fail", "Ignore", "Odd"),
    "matchPolicy": ("Exact", "Equivalent", "Odd"),
    "reinvocationPolicy": ("Never", "IfNeeded", "Odd"),
    "admissionReviewVersions": (
        [],
        ["v1"],
        ["v2"],
        ["v1", "v1"],
        ["v1beta1", "v2"],
        ["V1"],
        [""],
        None,
    ),
    "clientConfig": (
        *(
            {},
            {"url": "http://a"},
            {"url": "https://a"},
            {"url": ""},
            {"url": "https://"},
        ),
        *({"url": f"https://{it}"} for it in ("u@a", "a?b", "a#c", "a:80/x", "u:p@a/x?y#z", "a?")),
        *(
            {"service": {"name": "s", "namespace": "n", **it}}
            for it in (
                *({}, {"port": 0}, {"port": 65536}, {"port": 1}, {"path": "/x"}, {"path": "x"}),
                *(
                    {"path": "/x//y"},
                    {"path": "/x_y/"},
                    {"path": "//"},
                    {"path": "/"},
                    {"path": ""},
                ),
                *({"name": ""}, {"namespace": ""}, {"path": "/a/b.c/d"}, {"path": "/é"}),
            )
        ),
        {"url": "https://a", "service": {"name": "s", "namespace": "n"}},
    ),
    "namespaceSelector": (
        *({}, {"matchLabels": {"a": "b"}}, {"matchLabels": {"a b": "c d"}}),
        *({"matchExpressions": [{"key": "a", "operator": it}]} for it in ("In", "Exists", "Odd")),
        {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]},
    ),
    "objectSelector": ({"matchLabels": {"-": ""}}, {"matchLabels": {"a": "b"}}),
    "matchConditions": (
        [],
        [{"name": "a", "expression": "true"}, {"name": "a", "expression": "false"}],
        *([{"name": it, "expression": "true"}] for it in ("", "a/b", "a b", "A_b.c", "a/b/c", "-")),
        [{"name": "a", "expression": " "}],
        [{"name": "a", "expression": "request.name == 1"}, {"name": "b", "expression": "1"}],
    ),
}


@script("A webhook's configuration is validated whatever it combines.", ["7.6"])
def drawn_configurations(c: Dialogue) -> None:
    rng = c.random("configurations")
    for number in range(180):
        kind = rng.choice(_KINDS)
        webhooks = []
        for _ in range(rng.choice((1, 1, 1, 2))):
            names = rng.sample(sorted(_DRAWN), rng.randint(1, 3))
            if kind is _KINDS[0] and "reinvocationPolicy" in names:
                names.remove("reinvocationPolicy")
            fields = {name: rng.choice(_DRAWN[name]) for name in names}
            if rng.randrange(4) == 0:
                fields["name"] = rng.choice(_NAMES)
            if rng.randrange(3) == 0:
                rule: dict[str, Any] = {**_RULE}
                rule["resources"] = rng.sample(_RESOURCES, rng.randrange(4))
                rule["operations"] = rng.choice((["CREATE"], ["*"], ["*", "CREATE"], ["ODD"], []))
                rule["scope"] = rng.choice(("*", "Namespaced", "Cluster", "Odd"))
                rule["apiGroups"] = rng.choice(([""], ["*"], ["*", "apps"], []))
                rule["apiVersions"] = rng.choice((["v1"], ["*"], ["*", "v1"], [""], []))
                fields["rules"] = rng.choice(([rule], [rule, _RULE], []))
            webhooks.append(_webhook(**fields))
        _say(c, f"{kind} {number}", kind, *webhooks)
