"""Roles and bindings as objects."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.manifests import role, role_binding, user_subject
from vocabulary.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING

_GROUP = "rbac.authorization.k8s.io"


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
    plurals = ["roles", "rolebindings"]
    writer = role("writer", ["create", "update", "patch"], plurals, group=group[0])
    own = role("own", ["get"], ["configmaps"])["rules"]
    paths = f"differential-{c.namespace}"
    c.create({**writer, "rules": [*writer["rules"], *own]}, show=["kind"])
    c.create(role_binding("writer", "writer", [user_subject("operator-1")]), show=["kind"])
    c.create(role("reader", ["get"], ["pods"]), show=["kind"])
    everything = {"verbs": ["get"], "nonResourceURLs": ["/x"]}
    c.create({**role(paths, [], []), "kind": "ClusterRole", "rules": [everything]}, show=["kind"])
    c.create(role("held", ["get"], ["configmaps"]), show=["kind"])
    asked = {"namespace": c.namespace, "verb": "patch", "resource": plurals[1], "group": group[0]}
    c.until_allowed("operator-1", asked)
    path = f"/apis/{group[0]}/v1/namespaces/{c.namespace}"

    def write(method: str, target: str, body: Any, label: str, content_type: str = "") -> None:
        sort = content_type or "application/json"
        c.raw(
            method,
            f"{path}/{target}",
            body,
            content_type=sort,
            user="operator",
            show=["kind"],
            label=label,
        )

    def binding(name: str, of: str, kind: str = "Role") -> Any:
        made = role_binding(name, of, [user_subject("operator-1")])
        return {**made, "roleRef": {**made["roleRef"], "kind": kind}}

    write("POST", "roles", role("own", ["get"], ["pods"]), "own roles")
    write("POST", "rolebindings", binding("own", "reader"), "own rolebindings")
    write("POST", "roles", role("fits", ["get"], ["configmaps"]), "a role of what is held")
    named = role("named", ["get"], ["configmaps"], names=["a"])
    write("POST", "roles", named, "a role of less than is held")
    wide = role("wide", ["get", "list", "watch"], ["configmaps", "pods/log"])
    more = role("more", ["get", "update"], ["configmaps"], names=["a", "b"])["rules"]
    write("POST", "roles", {**wide, "rules": [*wide["rules"], *more]}, "a role of much")
    write("POST", "roles", role("all", ["*"], ["*"], group="*"), "a role of everything")
    write("POST", "roles", role("invalid", [], ["pods"]), "a role of no verb")
    generated = role("x", ["get"], ["pods"])
    generated["metadata"] = {"generateName": "made-"}
    write("POST", "roles", generated, "a role without a name")
    write("PUT", "roles/fits", role("fits", ["get", "list"], ["configmaps"]), "more rights")
    merge = "application/merge-patch+json"
    labels = {"metadata": {"labels": {"a": "b"}}}
    finalizers = {"metadata": {"finalizers": ["a.b/c"]}}
    write("PATCH", "roles/fits", labels, "a label of a role that is held", merge)
    write("PATCH", "roles/reader", labels, "a label of a role that is not held", merge)
    write("PATCH", "roles/reader", finalizers, "a finalizer of a role that is not held", merge)
    write("PATCH", "roles/reader", {"metadata": {"finalizers": None}}, "and away with it", merge)
    write("POST", "rolebindings", binding("held", "held"), "a binding of what is held")
    write("POST", "rolebindings", binding("none", "missing"), "a binding of no role")
    write("POST", "rolebindings", binding("paths", paths, "ClusterRole"), "a binding of paths")
    write("POST", "rolebindings", binding("odd", "reader", "Pod"), "a binding of a pod")
    write("PATCH", "rolebindings/held", {"subjects": None}, "no subjects", merge)
    c.delete(CLUSTER_ROLE, paths, show=["kind"])


@script("A path is covered by itself, and by a beginning with an asterisk.", ["7.3"])
def covered_paths(c: Dialogue) -> None:
    name = f"differential-{c.namespace}"
    user = f"jane-{c.namespace}"
    writes = {"verbs": ["create"], "apiGroups": [_GROUP], "resources": ["clusterroles"]}
    held = {"verbs": ["get"], "nonResourceURLs": ["/a/*", "/b"]}
    cluster_role = {**role(name, [], []), "kind": "ClusterRole"}
    c.create({**cluster_role, "rules": [held, writes]}, show=["kind"])
    binding = role_binding(name, name, [user_subject(user)])
    reference = {**binding["roleRef"], "kind": "ClusterRole"}
    c.create({**binding, "kind": "ClusterRoleBinding", "roleRef": reference}, show=["kind"])
    c.until_allowed(user, {"verb": "create", "group": _GROUP, "resource": "clusterroles"})
    path = f"/apis/{_GROUP}/v1/clusterroles?dryRun=All"
    for asked in ("/a/x", "/a/", "/a", "/a/x/*", "/b", "/b/", "/bc", "/b*", "/*", "*"):
        rules = [{"verbs": ["get"], "nonResourceURLs": [asked]}]
        body = {**cluster_role, "metadata": {"name": f"{name}-x"}, "rules": rules}
        as_jane = [("Impersonate-User", user)]
        c.raw("POST", path, body, sent=as_jane, show=["kind", "message"], label=asked)
    c.delete(CLUSTER_ROLE_BINDING, name, show=["kind"])
    c.delete(CLUSTER_ROLE, name, show=["kind"])


@script("The verbs escalate and bind allow to grant what one does not have.", ["7.3"])
def rights_to_escalate(c: Dialogue) -> None:
    group = "rbac.authorization.k8s.io"
    jane = f"jane-{c.namespace}"
    rules = [
        role("", ["create", "update"], ["roles", "rolebindings"], group=group)["rules"][0],
        role("", ["escalate"], ["roles"], group=group, names=["a"])["rules"][0],
        role("", ["bind"], ["roles"], group=group, names=["b"])["rules"][0],
    ]
    c.create({**role("writer", [], []), "rules": rules}, show=["kind"])
    c.create(role_binding("writer", "writer", [user_subject(jane)]), show=["kind"])
    asked = {"namespace": c.namespace, "verb": "bind", "resource": "roles", "group": group}
    c.until_allowed(jane, {**asked, "name": "b"})
    path = f"/apis/{group}/v1/namespaces/{c.namespace}"
    sent = [("Impersonate-User", jane)]
    for name in "abc":
        c.create(role(name, ["get"], ["pods"]), show=["kind"])
        body = role_binding(name, name, [user_subject(jane)])
        c.raw("POST", f"{path}/rolebindings", body, sent=sent, show=["kind"], label=f"bind {name}")
    for name in "abc":
        body = role(name, ["get", "list"], ["pods"])
        c.raw("PUT", f"{path}/roles/{name}", body, sent=sent, show=["kind"], label=f"widen {name}")
    new = role("a", ["get"], ["secrets"])
    c.delete(ROLE, "a", show=["kind"])
    c.raw("POST", f"{path}/roles", new, sent=sent, show=["kind"], label="create a")


@script("Only those who may do everything write roles that collect the rules of others.", ["7.3"])
def aggregation_needs_everything(c: Dialogue) -> None:
    user, name = f"jane-{c.namespace}", f"differential-{c.namespace}"
    resources = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
    paths = {"verbs": ["*"], "nonResourceURLs": ["*"]}
    writes = {"verbs": ["create"], "apiGroups": [_GROUP], "resources": ["clusterroles"]}
    cluster_role = {**role(name, [], []), "kind": "ClusterRole"}
    selectors = {"clusterRoleSelectors": [{"matchLabels": {"tests.assay.dev/none": "x"}}]}
    binding = role_binding(name, name, [user_subject(user)])
    reference = {**binding["roleRef"], "kind": "ClusterRole"}
    path = f"/apis/{_GROUP}/v1/clusterroles"
    c.create({**binding, "kind": "ClusterRoleBinding", "roleRef": reference}, show=["kind"])
    for label, held in (
        ("one kind", [writes]),
        ("all paths", [writes, paths]),
        ("all but paths", [resources]),
        ("everything", [resources, paths]),
    ):
        c.create({**cluster_role, "rules": held}, show=["kind"])
        wanted = {"verb": "create", "group": _GROUP, "resource": "clusterroles"}
        c.until_allowed(user, wanted)
        for rule in ({}, {"clusterRoleSelectors": []}, selectors):
            new = {
                **cluster_role,
                "metadata": {"name": f"{name}-x"},
                "rules": [],
                "aggregationRule": rule,
            }
            c.raw(
                "POST",
                f"{path}?dryRun=All",
                new,
                sent=[("Impersonate-User", user)],
                show=["kind", "aggregationRule"],
                label=f"{len(rule)} rules, held: {label}",
            )
        c.delete(CLUSTER_ROLE, name, show=["kind"])
        c.settle(0.5)  # until the server has noticed
    for selector in (
        {},
        {"matchLabels": {"-": "x"}},
        {"matchLabels": {"a": "-"}},
        {"matchExpressions": [{"key": "a", "operator": "Between"}]},
        {"matchExpressions": [{"key": "a", "operator": "In"}]},
    ):
        rule = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}, selector]}
        new = {**cluster_role, "rules": [{"verbs": []}], "aggregationRule": rule}
        c.raw("POST", f"{path}?dryRun=All", new, label=f"an invalid role with {selector}")
    c.delete(CLUSTER_ROLE_BINDING, name, show=["kind"])
