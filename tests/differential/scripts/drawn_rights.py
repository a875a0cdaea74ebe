"""Roles that are drawn at random: which rights they give, and who may give them to others."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.manifests import Manifest, role, role_binding, user_subject
from vocabulary.kinds import ROLE, ROLE_BINDING

_RBAC: Final = "rbac.authorization.k8s.io"
_REVIEWS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_VERBS: Final = ("get", "list", "update", "delete", "*")
_GROUPS: Final = ("", "apps", "batch", "*")
_RESOURCES: Final = ("pods", "pods/log", "*/log", "pods/*", "jobs", "*")
_NAMES: Final = ("a", "b")


def _some(rng: random.Random, of: Sequence[str], most: int = 2) -> list[str]:
    return rng.sample(of, rng.randint(1, most))


def _rules(rng: random.Random) -> list[Manifest]:
    rules = []
    for _ in range(rng.randint(1, 2)):
        rule: Manifest = {
            "apiGroups": _some(rng, _GROUPS),
            "resources": _some(rng, _RESOURCES),
            "verbs": _some(rng, _VERBS),
        }
        if rng.randrange(3) == 0:
            rule["resourceNames"] = _some(rng, _NAMES)
        rules.append(rule)
    return rules


@script("A request is allowed if one rule of the user's roles covers all of it.", ["7.1", "7.3"])
def drawn_rights(c: Dialogue) -> None:
    rng = c.random("rights")
    users = [f"{name}-{c.namespace}" for name in ("ann", "bob", "eve")]
    for number in range(8):
        name = f"r{number}"
        c.consult("POST", ROLE.path(c.namespace), {**role(name, [], []), "rules": _rules(rng)})
        account = {"kind": "ServiceAccount", "name": "s", "namespace": c.namespace}
        group = {"kind": "Group", "apiGroup": _RBAC, "name": f"them-{c.namespace}"}
        subject = rng.choice((*map(user_subject, users), account, group))
        c.consult("POST", ROLE_BINDING.path(c.namespace), role_binding(name, name, [subject]))
    last = f"last-{c.namespace}"
    c.consult("POST", ROLE.path(c.namespace), role("last", ["get"], ["pods"]))
    binding = role_binding("last", "last", [user_subject(last)])
    c.consult("POST", ROLE_BINDING.path(c.namespace), binding)
    c.until_allowed(last, {"namespace": c.namespace, "verb": "get", "resource": "pods"})
    for _ in range(120):
        plural, _, subresource = rng.choice((*_RESOURCES[:2], "jobs", "secrets")).partition("/")
        attributes = {
            "namespace": rng.choice((c.namespace,) * 6 + ("", "default")),
            "verb": rng.choice((*_VERBS, "watch")),
            "group": rng.choice(_GROUPS),
            "resource": plural,
            "subresource": subresource,
            "name": rng.choice(("", "", *_NAMES)),
        }
        names = (*users, f"system:serviceaccount:{c.namespace}:s", "")
        spec: Any = {"user": rng.choice(names), "resourceAttributes": attributes}
        if not spec["user"]:
            spec["groups"] = [f"them-{c.namespace}"]
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": spec,
        }
        answer = c.consult("POST", _REVIEWS, review)
        c.note(f"{spec}", answer.body.get("status", answer.body.get("message")))


@script("A role is written only by those who have all rights that it gives.", ["7.3"])
def drawn_escalations(c: Dialogue) -> None:
    rng = c.random("escalations")
    plurals = ["roles", "rolebindings"]
    writer = role("writer", ["create", "update", "patch", "get"], plurals, group=_RBAC)
    held = [
        {"apiGroups": ["", "apps"], "resources": ["pods", "jobs"], "verbs": ["get", "list"]},
        {"apiGroups": ["batch"], "resources": ["*"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["*"], "resourceNames": ["a"]},
        {"apiGroups": ["*"], "resources": ["jobs"], "verbs": ["update"]},
        {"apiGroups": ["apps"], "resources": ["*/log"], "verbs": ["get", "delete"]},
    ]
    writer = {**writer, "rules": [*writer["rules"], *held]}
    c.consult("POST", ROLE.path(c.namespace), writer)
    binding = role_binding("writer", "writer", [user_subject("operator-1")])
    c.consult("POST", ROLE_BINDING.path(c.namespace), binding)
    asked = {"namespace": c.namespace, "verb": "patch", "resource": plurals[1], "group": _RBAC}
    c.until_allowed("operator-1", asked)
    for number in range(60):
        body = {**role(f"r{number}", [], []), "rules": _rules(rng)}
        path = f"{ROLE.path(c.namespace)}?dryRun=All"
        answer = c.consult("POST", path, body, user="operator")
        c.note(f"{body['rules']}", [answer.code, answer.body.get("message")])
