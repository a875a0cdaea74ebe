"""Requests of one user in another's name."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.manifests import config_map, role
from vocabulary.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING

ONESELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
RIGHTS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
SHOWN = ["status.userInfo"]
JANE = ("Impersonate-User", "jane")


def _review(kind: str, group: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"{group}.k8s.io/v1", "kind": kind, "spec": spec}


def _who(c: Dialogue, label: str, *sent: tuple[str, str], token: str = "") -> None:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    c.raw("POST", ONESELF, body, sent=sent, token=token, label=f"who is {label}", show=SHOWN)


@script("An administrator acts as any user, who then has its own rights only.", ["7.9"])
def impersonated_users(c: Dialogue) -> None:
    groups = [("Impersonate-Group", "a"), ("Impersonate-Group", "b")]
    account = ("Impersonate-User", f"system:serviceaccount:{c.namespace}:worker")
    anonymous = ("Impersonate-User", "system:anonymous")
    _who(c, "jane", JANE)
    _who(c, "jane of two groups", JANE, *groups)
    _who(c, "jane among all", JANE, ("Impersonate-Group", "system:authenticated"))
    _who(c, "jane the stranger", JANE, ("Impersonate-Group", "system:unauthenticated"))
    _who(c, "jane the administrator", JANE, ("Impersonate-Group", "system:masters"))
    _who(c, "a service account", account)
    _who(c, "a service account of other groups", account, *groups)
    _who(c, "no service account", ("Impersonate-User", "system:serviceaccount:default:"))
    _who(c, "nobody", ("Impersonate-User", ""))
    _who(c, "anonymous", anonymous)
    extra = [
        ("Impersonate-Extra-Acme.com%2fProject", "p"),
        ("impersonate-extra-scopes", "one"),
        ("Impersonate-Extra-Scopes", "two"),
    ]
    _who(c, "jane with all the rest", JANE, ("Impersonate-Uid", "u"), *extra)
    maps = f"/api/v1/namespaces/{c.namespace}/configmaps"
    c.raw("GET", maps, sent=[JANE], label="configmaps of jane")
    c.raw("POST", maps, config_map("a"), sent=[JANE], label="jane's configmap")
    masters = [JANE, ("Impersonate-Group", "system:masters")]
    c.raw("POST", maps, config_map("a"), sent=masters, label="an administrator's", show=["data"])
    attributes = {"namespace": c.namespace, "verb": "get", "resource": "pods"}
    asked = _review("SelfSubjectAccessReview", "authorization", resourceAttributes=attributes)
    for label, sent in (("jane", [JANE]), ("an administrator", masters), ("nobody", [anonymous])):
        c.raw("POST", RIGHTS, asked, sent=sent, label=f"rights of {label}", show=["status"])
    c.raw("GET", "/api", sent=[anonymous], label="groups for anonymous")
    c.raw("GET", "/nothing", sent=[JANE], label="nothing for jane")


@script("Who impersonates has to name a user.", ["7.9"])
def impersonated_nobody(c: Dialogue) -> None:
    _who(c, "of a group", ("Impersonate-Group", "a"), ("Impersonate-Group", 'b"'))
    _who(c, "of a uid", ("Impersonate-Uid", "u"))
    _who(c, "of a scope", ("Impersonate-Extra-Scopes", "s"), ("Impersonate-Extra-B", "t"))


def _token(c: Dialogue, rules: list[dict[str, Any]]) -> str:
    """The token of a service account with these rights in the whole cluster."""
    name = f"differential-{c.namespace}"
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "worker"}}
    c.create(account, show=["kind"])
    subject = {"kind": "ServiceAccount", "name": "worker", "namespace": c.namespace}
    c.create({**role(name, [], []), "kind": "ClusterRole", "rules": rules}, show=["kind"])
    c.create(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": name,
            },
            "subjects": [subject],
        },
        show=["kind"],
    )
    user = f"system:serviceaccount:{c.namespace}:worker"
    last = rules[-1]
    names = last.get("resourceNames", [""])
    resource, _, subresource = last["resources"][-1].partition("/")
    asked = {"verb": last["verbs"][-1], "group": last["apiGroups"][-1], "name": names[-1]}
    c.until_allowed(user, {**asked, "resource": resource, "subresource": subresource})
    path = f"/api/v1/namespaces/{c.namespace}/serviceaccounts/worker/token"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
    return str(c.consult("POST", path, body).body["status"]["token"])


def _end(c: Dialogue) -> None:
    c.delete(CLUSTER_ROLE_BINDING, f"differential-{c.namespace}", show=["kind"])
    c.delete(CLUSTER_ROLE, f"differential-{c.namespace}", show=["kind"])


def _rule(
    verb: str, resources: list[str], *names: str, group: str = "authentication.k8s.io"
) -> dict[str, Any]:
    rule = {"apiGroups": [group], "resources": resources, "verbs": [verb]}
    return {**rule, "resourceNames": list(names)} if names else rule


@script("To impersonate takes the right to the user, each group, extra value and uid.", ["7.9"])
def rights_to_impersonate(c: Dialogue) -> None:
    rules = [
        _rule("impersonate", ["users"], "jane", group=""),
        _rule("impersonate", ["groups"], "a", "b", group=""),
        _rule("impersonate", ["serviceaccounts"], "other", group=""),
        _rule("impersonate", ["uids"], "u"),
        _rule("impersonate", ["userextras/scopes"], "one"),
    ]
    token = _token(c, rules)
    _who(c, "joe, not yet", ("Impersonate-User", "joe"), token=token)
    _who(c, "jane", JANE, token=token)
    _who(c, "joe", ("Impersonate-User", "joe"), token=token)
    _who(c, "jane of a", JANE, ("Impersonate-Group", "a"), token=token)
    _who(c, "jane of c", JANE, ("Impersonate-Group", "a"), ("Impersonate-Group", "c"), token=token)
    _who(c, "jane as master", JANE, ("Impersonate-Group", "system:masters"), token=token)
    _who(c, "jane with a uid", JANE, ("Impersonate-Uid", "u"), token=token)
    _who(c, "jane with another uid", JANE, ("Impersonate-Uid", "v"), token=token)
    _who(c, "jane with a scope", JANE, ("Impersonate-Extra-Scopes", "one"), token=token)
    _who(c, "jane with another scope", JANE, ("Impersonate-Extra-Scopes", "two"), token=token)
    account = f"system:serviceaccount:{c.namespace}:"
    _who(c, "a service account", ("Impersonate-User", f"{account}other"), token=token)
    _who(c, "another service account", ("Impersonate-User", f"{account}third"), token=token)
    maps = f"/api/v1/namespaces/{c.namespace}/configmaps"
    c.raw("GET", maps, sent=[JANE], token=token, label="configmaps of jane")
    _end(c)


@script("A user may impersonate for some requests only, and nobody of all rights.", ["7.9"])
def constrained_impersonation(c: Dialogue) -> None:
    on = "impersonate-on:user-info"
    rules = [
        _rule(f"{on}:create", ["selfsubjectreviews"]),
        _rule(f"{on}:list", ["configmaps"], group=""),
        _rule("impersonate-on:arbitrary-node:create", ["selfsubjectreviews"]),
        _rule("impersonate-on:serviceaccount:create", ["selfsubjectreviews"]),
        _rule("impersonate:arbitrary-node", ["nodes"], "n0"),
        _rule("impersonate:serviceaccount", ["serviceaccounts"], "other"),
        _rule("impersonate:user-info", ["userextras/*"], "*"),
        _rule("impersonate:user-info", ["groups"], "*", "a"),
        _rule("impersonate:user-info", ["users"], "jane"),
    ]
    token = _token(c, rules)
    maps = f"/api/v1/namespaces/{c.namespace}/configmaps"
    c.raw("GET", f"{maps}/a", sent=[JANE], token=token, label="one configmap of jane")
    c.raw("GET", "/version", sent=[JANE], token=token, label="the version for jane")
    _who(c, "jane as master", JANE, ("Impersonate-Group", "system:masters"), token=token)
    _who(c, "jane of no group", JANE, ("Impersonate-Group", ""), token=token)
    _who(c, "jane with a scope", JANE, ("Impersonate-Extra-Scopes", "one"), token=token)
    odd = "Impersonate-Extra-Acme.com%2f%20"
    _who(c, "jane with an odd key", JANE, (odd, "one"), token=token)
    _who(c, "jane with no value", JANE, ("Impersonate-Extra-Acme.com%2fa", ""), token=token)
    many = [("Impersonate-Group", name) for name in "bcdefg"]
    _who(c, "jane of three groups", JANE, *many[:3], token=token)
    node = ("Impersonate-User", "system:node:n0")
    _who(c, "another node", ("Impersonate-User", "system:node:n1"), token=token)
    _who(c, "a node", node, token=token)
    account = f"system:serviceaccount:{c.namespace}:"
    _who(c, "a service account", ("Impersonate-User", f"{account}other"), token=token)
    _who(c, "jane", JANE, token=token)
    _who(c, "jane of many groups", JANE, *many, token=token)
    _who(c, "a node of a group", node, many[0], token=token)
    c.raw("GET", maps, sent=[JANE], token=token, label="configmaps of jane")
    _end(c)


@script("Extra values and nodes that may not be impersonated are refused in words.", ["7.9"])
def odd_impersonation(c: Dialogue) -> None:
    on = "impersonate-on:user-info"
    rules = [
        _rule(f"{on}:create", ["selfsubjectreviews"]),
        _rule("impersonate-on:associated-node:create", ["selfsubjectreviews"]),
        _rule("impersonate-on:arbitrary-node:create", ["selfsubjectreviews"]),
        _rule("impersonate:associated-node", ["nodes"], "*"),
        _rule("impersonate:user-info", ["userextras/*"], "*"),
        _rule("impersonate:user-info", ["uids"], "u"),
        _rule("impersonate:user-info", ["users"], "jane"),
    ]
    token = _token(c, rules)
    for label, key, value in (
        ("an empty key", "Impersonate-Extra-", "one"),
        ("a key of capitals", "Impersonate-Extra-Acme.com%2f%41", "one"),
        ("a host of capitals", "Impersonate-Extra-%41cme.com%2fa", "one"),
        ("a key of one part", "Impersonate-Extra-Acme", "one"),
        ("a key of no path", "Impersonate-Extra-Acme.com%2f", "one"),
        ("a key of no host", "Impersonate-Extra-%2fa", "one"),
        ("a longer key", "Impersonate-Extra-Acme.com%2fa%2fb", "one"),
        ("a malformed key", "Impersonate-Extra-Acme.com%2", "one"),
        ("a fine key", "Impersonate-Extra-Acme.com%2fa", "one"),
    ):
        _who(c, label, JANE, (key, value), token=token)
    _who(c, "a node", ("Impersonate-User", "system:node:n0"), token=token)
    _who(c, "a node of no name", ("Impersonate-User", "system:node:"), token=token)
    _who(c, "jane with a uid", JANE, ("Impersonate-Uid", "u"), token=token)
    _who(c, "jane with another uid", JANE, ("Impersonate-Uid", "v"), token=token)
    _who(c, "joe", ("Impersonate-User", "joe"), token=token)
    _end(c)


@script("The pods of a service account's node may act as that node.", ["7.9"])
def own_node_impersonation(c: Dialogue) -> None:
    rules = [
        _rule("impersonate-on:associated-node:create", ["selfsubjectreviews"]),
        _rule("impersonate:associated-node", ["nodes"], "*", group="authentication.k8s.io"),
    ]
    token = _token(c, rules)
    _who(c, "a node without a pod", ("Impersonate-User", "system:node:n0"), token=token)
    bound = {"containers": [{"name": "main", "image": "example.org/main"}], "nodeName": "n0"}
    spec = {**bound, "serviceAccountName": "worker"}
    c.create(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec},
        show=["spec.nodeName"],
    )
    reference = {"kind": "Pod", "apiVersion": "v1", "name": "a"}
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"boundObjectRef": reference},
    }
    path = f"/api/v1/namespaces/{c.namespace}/serviceaccounts/worker/token"
    of_pod = str(c.consult("POST", path, body).body["status"]["token"])
    _who(c, "its own node", ("Impersonate-User", "system:node:n0"), token=of_pod)
    _who(c, "its own node again", ("Impersonate-User", "system:node:n0"), token=of_pod)
    _who(c, "another node", ("Impersonate-User", "system:node:n1"), token=of_pod)
    _end(c)
