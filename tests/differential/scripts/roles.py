"""Roles and bindings as objects."""

from __future__ import annotations

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.manifests import role, role_binding, user_subject
from vocabulary.kinds import CLUSTER_ROLE, ROLE, ROLE_BINDING


@script("Roles and bindings get their defaults, and bindings keep their role.", ["7.3"])
def roles_and_bindings(c: Dialogue) -> None:
    c.create(role("a", ["get"], ["pods"]))
    c.create(
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "b"}}
    )
    subjects = [
        {"kind": "User", "name": "jane"},
        {"kind": "Group", "name": "them"},
        {"kind": "ServiceAccount", "name": "worker", "namespace": "x"},
    ]
    c.create(role_binding("a", "a", subjects))
    c.update(role_binding("a", "b", subjects))
    c.update(role_binding("a", "a", [user_subject("joe")]))
    c.table(ROLE)
    c.table(ROLE_BINDING)
    c.delete(ROLE, "a")


@script("Roles and bindings are validated.", ["7.3"])
def invalid_roles(c: Dialogue) -> None:
    c.create(role("a", [], ["pods"]))
    c.create(role("a", ["get"], []))
    c.create({**role("a", ["get"], ["pods"]), "rules": [{"verbs": ["get"], "resources": ["pods"]}]})
    paths = {"verbs": ["get"], "nonResourceURLs": ["/version"]}
    c.create({**role("a", ["get"], ["pods"]), "rules": [paths]})
    c.create(role("a/b", ["get"], ["pods"]))
    c.create(role("A:b", ["get"], ["pods"]))
    c.create(role_binding("a", "", [user_subject("jane")]))
    c.create(role_binding("a", "a", [{"kind": "Robot", "name": "r"}]))
    c.create(role_binding("a", "a", [{"kind": "User", "name": ""}]))
    c.create(role_binding("a", "a", [{"kind": "User", "name": "u", "apiGroup": "apps"}]))
    binding = role_binding("a", "a", [user_subject("jane")])
    c.create({**binding, "roleRef": {**binding["roleRef"], "kind": "Pod"}})
    c.create({**binding, "roleRef": {**binding["roleRef"], "apiGroup": "apps"}})


@script("A ClusterRole may cover paths, but not paths and resources in one rule.", ["7.3"])
def rules_for_paths(c: Dialogue) -> None:
    name = f"differential-{c.namespace}"
    both = {
        "verbs": ["get"],
        "nonResourceURLs": ["/version"],
        "resources": ["pods"],
        "apiGroups": [""],
    }
    body = {**role(name, ["get"], ["pods"]), "kind": "ClusterRole"}
    c.create({**body, "rules": [both]})
    c.create({**body, "rules": [{"verbs": ["get"], "nonResourceURLs": ["/version", "/x/*"]}]})
    c.delete(CLUSTER_ROLE, name)


@script("Every cluster has roles for administrators, editors and viewers from the start.", ["7.3"])
def bootstrap_roles(c: Dialogue) -> None:
    group = "/apis/rbac.authorization.k8s.io/v1"
    for name in ("cluster-admin", "admin", "edit", "view"):
        path = f"{group}/clusterroles/{name}"
        c.raw("GET", path, show=["kind", "metadata.name"], label=f"get {name}")
    binding = role_binding("viewer", "view", [user_subject("jane")])
    c.create({**binding, "roleRef": {**binding["roleRef"], "kind": "ClusterRole"}})
    c.settle(1)
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": "jane",
            "resourceAttributes": {"namespace": c.namespace, "verb": "list", "resource": "pods"},
        },
    }
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    c.raw("POST", path, review, show=["status.allowed"], label="access of a viewer")


@script("Nobody grants rights that they do not have.", ["7.3"])
def escalation(c: Dialogue) -> None:
    group = ["rbac.authorization.k8s.io"]
    writer = role("writer", ["create"], ["roles", "rolebindings"])
    c.create({**writer, "rules": [{**writer["rules"][0], "apiGroups": group}]}, show=["kind"])
    c.create(role_binding("writer", "writer", [user_subject("operator-1")]), show=["kind"])
    c.create(role("reader", ["get"], ["pods"]), show=["kind"])
    asked = {"namespace": c.namespace, "verb": "create", "resource": "roles", "group": group[0]}
    c.until_allowed("operator-1", asked)
    path = f"/apis/{group[0]}/v1/namespaces/{c.namespace}"
    shown = ["kind", "code", "reason"]
    for plural, body in (
        ("roles", role("own", ["get"], ["pods"])),
        ("rolebindings", role_binding("own", "reader", [user_subject("operator-1")])),
    ):
        c.raw("POST", f"{path}/{plural}", body, user="operator", show=shown, label=f"own {plural}")
