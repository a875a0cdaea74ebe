"""Reviews of tokens, users and rights, and tokens of service accounts."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.manifests import (
    config_map,
    pod,
    role,
    role_binding,
    unscheduled,
    user_subject,
)
from vocabulary.kinds import POD, SERVICE_ACCOUNT

AUTHENTICATION = "/apis/authentication.k8s.io/v1"
AUTHORIZATION = "/apis/authorization.k8s.io/v1"
USER = {"kind": "User", "name": "jane"}


def _review(kind: str, **spec: Any) -> dict[str, Any]:
    group = "authentication" if kind in ("TokenReview", "SelfSubjectReview") else "authorization"
    return {"apiVersion": f"{group}.k8s.io/v1", "kind": kind, "spec": spec}


def _access(c: Dialogue, label: str, kind: str = "SubjectAccessReview", **spec: Any) -> None:
    path = f"{AUTHORIZATION}/{kind.lower()}s"
    c.raw("POST", path, _review(kind, **spec), label=label)


def _pods(namespace: str, verb: str = "get", **more: Any) -> dict[str, Any]:
    return {"namespace": namespace, "verb": verb, "resource": "pods", "version": "v1", **more}


@script(
    "A user's rights are those of the roles bound to it, in the namespace of the binding.", ["7.1"]
)
def subject_access(c: Dialogue) -> None:
    c.create(role("reader", ["get", "list"], ["pods", "pods/log"]))
    c.create(role_binding("reader", "reader", [user_subject(f"jane-{c.namespace}")]))
    jane = f"jane-{c.namespace}"
    c.until_allowed(jane, _pods(c.namespace))
    for verb in ("get", "list", "watch", "*"):
        attributes = _pods(c.namespace, verb)
        _access(c, f"jane {verb}", user=jane, resourceAttributes=attributes)
    _access(c, "logs", user=jane, resourceAttributes=_pods(c.namespace, subresource="log"))
    _access(c, "status", user=jane, resourceAttributes=_pods(c.namespace, subresource="status"))
    _access(c, "elsewhere", user=jane, resourceAttributes=_pods("default"))
    _access(c, "everywhere", user=jane, resourceAttributes=_pods(""))
    _access(c, "another group", user=jane, resourceAttributes=_pods(c.namespace, group="apps"))
    _access(c, "another user", user="joe", resourceAttributes=_pods(c.namespace))
    _access(c, "as one of a group", groups=[jane], resourceAttributes=_pods(c.namespace))


@script("Rights to objects of some names do not cover lists or other names.", ["7.1", "7.3"])
def rights_by_name(c: Dialogue) -> None:
    jane = f"jane-{c.namespace}"
    c.create(role("named", ["get", "list", "create"], ["pods"], names=["a", "b"]))
    c.create(role_binding("named", "named", [user_subject(jane)]))
    c.until_allowed(jane, _pods(c.namespace, name="a"))
    for name in ("a", "b", "c", ""):
        attributes = _pods(c.namespace, name=name)
        _access(c, f"get {name or 'any'}", user=jane, resourceAttributes=attributes)
    _access(c, "list", user=jane, resourceAttributes=_pods(c.namespace, "list"))
    _access(c, "list a", user=jane, resourceAttributes=_pods(c.namespace, "list", name="a"))


@script(
    "Asterisks in rules stand for all groups, resources, subresources or verbs.", ["7.1", "7.3"]
)
def rights_with_asterisks(c: Dialogue) -> None:
    jane = f"jane-{c.namespace}"
    c.create(role("verbs", ["*"], ["pods"]))
    c.create(role("subresources", ["get"], ["*/scale"], group="apps"))
    c.create(role("groups", ["list"], ["jobs"], group="*"))
    for name in ("verbs", "subresources", "groups"):
        c.create(role_binding(name, name, [user_subject(jane)]))
    c.until_allowed(jane, _pods(c.namespace, "list", resource="jobs"))
    c.until_allowed(jane, _pods(c.namespace))
    cases = (
        ("bind", "", "pods", ""),
        ("get", "", "pods", "log"),
        ("get", "apps", "deployments", "scale"),
        ("get", "apps", "deployments", ""),
        ("get", "batch", "jobs", "scale"),
        ("list", "batch", "jobs", ""),
        ("list", "example.org", "jobs", ""),
    )
    for verb, group, resource, subresource in cases:
        attributes = _pods(
            c.namespace, verb, group=group, resource=resource, subresource=subresource
        )
        label = f"{verb} {resource}.{group}/{subresource}"
        _access(c, label, user=jane, resourceAttributes=attributes)


@script("Masters may do everything, other groups what is bound to them.", ["7.1", "7.3"])
def access_of_groups(c: Dialogue) -> None:
    masters, everybody = ["system:masters"], ["system:authenticated"]
    _access(c, "masters", user="a", groups=masters, resourceAttributes=_pods(c.namespace, "x"))
    _access(c, "others", user="a", groups=everybody, resourceAttributes=_pods(c.namespace))
    for path, verb in (("/version", "get"), ("/apis/batch", "get"), ("/metrics", "get")):
        asked = {"path": path, "verb": verb}
        _access(c, f"{verb} {path}", user="a", groups=everybody, nonResourceAttributes=asked)
    _access(
        c,
        "post",
        user="a",
        groups=everybody,
        nonResourceAttributes={"path": "/version", "verb": "post"},
    )
    _access(c, "nobody", user="a", nonResourceAttributes={"path": "/version", "verb": "get"})
    own = {
        "group": "authorization.k8s.io",
        "resource": "selfsubjectaccessreviews",
        "verb": "create",
    }
    _access(c, "own reviews", user="a", groups=everybody, resourceAttributes=own)


@script("A binding to a role that does not exist gives no right, and tells so.", ["7.1", "7.3"])
def missing_role(c: Dialogue) -> None:
    jane = f"jane-{c.namespace}"
    c.create(role("later", ["get"], ["pods"]))
    c.create(role_binding("later", "later", [user_subject(jane)]))
    c.create(role_binding("never", "never", [user_subject(jane)]))
    c.until_allowed(jane, _pods(c.namespace))
    c.settle(1)
    _access(c, "allowed by another role", user=jane, resourceAttributes=_pods(c.namespace))
    _access(c, "missing", user=jane, resourceAttributes=_pods(c.namespace, "delete"))


@script(
    "Reviews of access that ask for nothing, for two things or for nobody are invalid.", ["7.1"]
)
def invalid_access_reviews(c: Dialogue) -> None:
    path = {"path": "/version", "verb": "get"}
    _access(c, "nothing", user="a")
    _access(c, "both", user="a", resourceAttributes=_pods("x"), nonResourceAttributes=path)
    _access(c, "nobody", resourceAttributes=_pods("x"))
    _access(c, "all of it")
    body = _review("SubjectAccessReview", user="a", resourceAttributes=_pods("x"))
    target = f"{AUTHORIZATION}/subjectaccessreviews"
    c.raw("POST", target, {**body, "kind": "Pod"}, label="another kind")
    c.raw("GET", target)
    c.raw("GET", f"{target}/a")
    c.raw("DELETE", f"{target}/a")
    c.raw("PUT", f"{target}/a", body)


@script("Attributes of a review that are empty are not shown.", ["7.1"])
def empty_attributes(c: Dialogue) -> None:
    named = _pods(c.namespace, name="", subresource="", group="")
    _access(c, "a resource", user="a", resourceAttributes=named)
    _access(c, "a path", user="a", nonResourceAttributes={"path": "/version", "verb": ""})
    _access(c, "nothing", user="a", resourceAttributes={})


@script("A local review is about its namespace only.", ["7.1"])
def local_access(c: Dialogue) -> None:
    target = f"{AUTHORIZATION}/namespaces/{c.namespace}/localsubjectaccessreviews"
    for label, attributes in (
        ("in it", {"resourceAttributes": _pods(c.namespace)}),
        ("elsewhere", {"resourceAttributes": _pods("default")}),
        ("a path", {"nonResourceAttributes": {"path": "/version", "verb": "get"}}),
    ):
        body = _review("LocalSubjectAccessReview", user="joe", **attributes)
        body["metadata"] = {"namespace": c.namespace}
        c.raw("POST", target, body, label=label)


@script("Clients learn who they are and what they may do.", ["7.1"])
def reviews_of_oneself(c: Dialogue) -> None:
    who = _review("SelfSubjectReview")
    for user in ("user", "operator"):
        c.raw("POST", f"{AUTHENTICATION}/selfsubjectreviews", who, label=f"{user} is", user=user)
        for verb in ("get", "delete"):
            body = _review("SelfSubjectAccessReview", resourceAttributes=_pods(c.namespace, verb))
            path = f"{AUTHORIZATION}/selfsubjectaccessreviews"
            c.raw("POST", path, body, label=f"{user} may {verb}", user=user)


@script("A review of rules lists the rules of all roles that a client is bound to.", ["7.1", "7.3"])
def rules_of_oneself(c: Dialogue) -> None:
    c.create(role("reader", ["get", "list"], ["pods"]))
    c.create(role("named", ["update"], ["configmaps"], names=["a"]))
    c.create(role_binding("reader", "reader", [user_subject("operator-1")]))
    c.create(role_binding("named", "named", [user_subject("operator-1")]))
    c.until_allowed("operator-1", _pods(c.namespace))
    path = f"{AUTHORIZATION}/selfsubjectrulesreviews"
    c.settle(1)
    for user in ("user", "operator"):
        body = _review("SelfSubjectRulesReview", namespace=c.namespace)
        status = c.consult("POST", path, body, user=user).body["status"]
        for field in ("resourceRules", "nonResourceRules"):
            rules = [str(sorted(rule.items())) for rule in status[field]]
            c.note(f"{field} of {user}", sorted(rules))
        c.note(f"incomplete for {user}", status["incomplete"])
    c.raw("POST", path, _review("SelfSubjectRulesReview"), label="no namespace")


@script("A token that is no token is not authenticated.", ["7.1"])
def unknown_tokens(c: Dialogue) -> None:
    path = f"{AUTHENTICATION}/tokenreviews"
    c.raw("POST", path, _review("TokenReview", token="unknown"), label="unknown")
    c.raw("POST", path, _review("TokenReview", token="a.b.c"), label="three parts")
    c.raw("POST", path, _review("TokenReview"), label="none")
    c.raw("POST", path, {**_review("TokenReview", token="a"), "metadata": {"name": "n"}})
    c.raw("GET", path)
    c.raw("GET", "/api/v1/pods", token="unknown", label="a request with it")


def _account(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}


def _token(c: Dialogue, label: str, name: str = "worker", show: Any = None, **spec: Any) -> str:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    path = SERVICE_ACCOUNT.path(c.namespace, name, "token")
    shown = ["kind", "apiVersion", "metadata", "spec"] if show is None else show
    answer = c.raw("POST", path, body, label=label, show=shown)
    return str((answer.body.get("status") or {}).get("token", "")) if answer.code < 300 else ""


def _recognized(c: Dialogue, label: str, token: str, **spec: Any) -> None:
    body = _review("TokenReview", token=token, **spec)
    answer = c.consult("POST", f"{AUTHENTICATION}/tokenreviews", body)
    status = answer.body.get("status")
    if not isinstance(status, dict):
        c.note(f"{label}: refused", answer.body.get("message"))
        return
    extra = status["user"].get("extra", {})
    user = {key: value for key, value in status["user"].items() if key not in ("uid", "extra")}
    c.note(f"{label}: user", user)
    c.note(f"{label}: extra", sorted(extra))
    c.note(f"{label}: audiences", status.get("audiences"))
    c.note(f"{label}: authenticated", status.get("authenticated"))


@script("A service account's token is recognized for its audiences.", ["7.1", "7.2"])
def service_account_tokens(c: Dialogue) -> None:
    c.create(_account("worker"), show=["metadata.name"])
    token = _token(c, "ask for one")
    c.note("three parts", token.count("."))
    _recognized(c, "default", token)
    _recognized(c, "for the server", token, audiences=["https://kubernetes.default.svc", "b"])
    _recognized(c, "for another", token, audiences=["b"])
    other = _token(c, "for others", audiences=["a", "b"], expirationSeconds=7200)
    _recognized(c, "default for others", other)
    _recognized(c, "for one of others", other, audiences=["b", "c"])
    _recognized(c, "spoilt", token[:-4] + "AAAA")


@script("A token request is checked.", ["7.2"])
def invalid_token_requests(c: Dialogue) -> None:
    c.create(_account("worker"), show=["metadata.name"])
    _token(c, "too short", expirationSeconds=10)
    _token(c, "too long", expirationSeconds=1 << 33)
    _token(c, "nobody's", name="nobody")
    _token(
        c, "bound to a kind", boundObjectRef={"kind": "ConfigMap", "apiVersion": "v1", "name": "a"}
    )
    _token(c, "bound to no pod", boundObjectRef={"kind": "Pod", "apiVersion": "v1", "name": "a"})
    c.raw("GET", SERVICE_ACCOUNT.path(c.namespace, "worker", "token"))


@script("A token bound to a pod ends with it.", ["7.2"])
def bound_tokens(c: Dialogue) -> None:
    c.create(_account("worker"), show=["metadata.name"])
    c.create(pod("a", schedulerName="none", serviceAccountName="worker"), show=["metadata.name"])
    c.create(unscheduled("b"), show=["metadata.name"])
    _token(c, "to another's", boundObjectRef={"kind": "Pod", "apiVersion": "v1", "name": "b"})
    reference = {"kind": "Pod", "apiVersion": "v1", "name": "a"}
    token = _token(c, "bound", boundObjectRef=reference)
    _recognized(c, "bound", token)
    c.delete(POD, "a", grace_seconds=0, show=["metadata.name"])
    c.until_gone(POD, "a")
    c.settle(11)  # a server remembers for ten seconds that a token was valid
    _recognized(c, "after the pod", token)


@script("A token ends with its service account.", ["7.2"])
def tokens_of_deleted_accounts(c: Dialogue) -> None:
    c.create(_account("worker"), show=["metadata.name"])
    token = _token(c, "ask for one")
    c.raw("GET", f"/api/v1/namespaces/{c.namespace}/pods", token=token, label="list pods")
    c.delete(SERVICE_ACCOUNT, "worker", show=["metadata.name"])
    c.until_gone(SERVICE_ACCOUNT, "worker")
    c.settle(11)
    c.raw("GET", f"/api/v1/namespaces/{c.namespace}/pods", token=token, label="after the account")


@script("A service account has the rights that are bound to it or to its groups.", ["7.2", "7.3"])
def rights_of_service_accounts(c: Dialogue) -> None:
    c.create(_account("worker"), show=["metadata.name"])
    token = _token(c, "ask for one")
    path = f"/api/v1/namespaces/{c.namespace}/configmaps"
    c.raw("POST", path, config_map("a"), token=token, label="create without rights")
    c.create(role("writer", ["create", "get"], ["configmaps"]))
    account = {"kind": "ServiceAccount", "name": "worker", "namespace": c.namespace}
    c.create(role_binding("writer", "writer", [account]))
    name = f"system:serviceaccount:{c.namespace}:worker"
    asked = {"namespace": c.namespace, "verb": "get", "resource": "configmaps"}
    c.until_allowed(name, asked)
    c.raw(
        "POST",
        path,
        config_map("a"),
        token=token,
        label="create with rights",
        show=["metadata.name"],
    )
    c.raw("GET", f"{path}/a", token=token, label="get", show=["metadata.name"])
    c.raw("DELETE", f"{path}/a", token=token, label="delete")
    c.raw("GET", path, token=token, label="list")
    body = _review("SelfSubjectReview")
    answer = c.raw(
        "POST",
        f"{AUTHENTICATION}/selfsubjectreviews",
        body,
        token=token,
        label="who am I",
        show=["kind", "status.userInfo.username", "status.userInfo.groups"],
    )
    c.note("extra", sorted(answer.body["status"]["userInfo"]["extra"]))


@script("Requests without a right are refused, each with what is missing.", ["7.3"])
def forbidden_requests(c: Dialogue) -> None:
    c.create(config_map("a"), show=["metadata.name"])
    core, jobs = (
        f"/api/v1/namespaces/{c.namespace}",
        f"/apis/batch/v1/namespaces/{c.namespace}/jobs",
    )
    for method, target, body in (
        ("GET", f"{core}/configmaps/a", None),
        ("GET", f"{core}/configmaps", None),
        ("GET", f"{core}/configmaps?watch=true", None),
        ("POST", f"{core}/configmaps", config_map("b")),
        ("PUT", f"{core}/configmaps/a", config_map("a")),
        ("DELETE", f"{core}/configmaps/a", None),
        ("DELETE", f"{core}/configmaps", None),
        ("GET", "/api/v1/configmaps", None),
        ("GET", "/api/v1/nodes", None),
        ("GET", f"/api/v1/namespaces/{c.namespace}", None),
        ("GET", f"{core}/pods/a/status", None),
        ("GET", f"{jobs}?fieldSelector=metadata.name%3Dx", None),
        ("GET", f"{core}/configmaps/none", None),
        ("POST", f"{core}/configmaps", b"{"),
        ("PUT", f"{core}/configmaps/none", b"{"),
        ("DELETE", f"{core}/configmaps/a", b"{"),
    ):
        c.raw(method, target, body, user="operator")
    patch = {"metadata": {"labels": {"a": "b"}}}
    c.raw(
        "PATCH",
        f"{core}/configmaps/a",
        patch,
        content_type="application/merge-patch+json",
        user="operator",
    )


@script(
    "A group's rights are its users', and a review of rules tells which were not found.", ["7.1"]
)
def rights_of_groups(c: Dialogue) -> None:
    group = f"team-{c.namespace}"
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": group}
    c.create(role("reader", ["get"], ["pods"]), show=["kind"])
    c.create(role_binding("reader", "reader", [subject]), show=["subjects"])
    c.create(role_binding("missing", "missing", [user_subject("operator-1")]), show=["roleRef"])

    def allowed() -> bool:
        asked = _review("SubjectAccessReview", user="joe", groups=[group])
        asked["spec"]["resourceAttributes"] = _pods(c.namespace)
        path = f"{AUTHORIZATION}/subjectaccessreviews"
        return bool(c.consult("POST", path, asked).body["status"]["allowed"])

    c.until_true("the group has got the right", allowed)
    for label, groups in (("one of it", ["x", group]), ("another", ["x"])):
        attributes = _pods(c.namespace)
        _access(c, label, user="joe", groups=groups, resourceAttributes=attributes)
    _access(c, "extra", user="joe", uid="u", extra={"a": ["b"]}, resourceAttributes=_pods("x"))
    body = _review("SelfSubjectRulesReview", namespace=c.namespace)
    path = f"{AUTHORIZATION}/selfsubjectrulesreviews"
    status = c.consult("POST", path, body, user="operator").body["status"]
    c.note("what was not found", status.get("evaluationError"))
    for label, metadata in (
        ("named", {"name": "a"}),
        ("labelled", {"labels": {"a": "b"}}),
        ("of a time", {"creationTimestamp": "2024-01-01T00:00:00Z"}),
        ("of a generated name", {"generateName": "a-"}),
    ):
        for kind in ("SubjectAccessReview", "SelfSubjectReview"):
            spec = {"user": "a", "resourceAttributes": _pods("x")}
            asked = _review(kind, **(spec if kind.startswith("Subject") else {}))
            where = AUTHORIZATION if kind.startswith("Subject") else AUTHENTICATION
            target = f"{where}/{kind.lower()}s"
            show = ["metadata", "spec.user"]
            c.raw(
                "POST", target, {**asked, "metadata": metadata}, label=f"{label} {kind}", show=show
            )


@script("A token is bound to an object that is as the request says.", ["7.2"])
def bound_to_objects(c: Dialogue) -> None:
    c.create(_account("worker"), show=["metadata.name"])
    made = c.create(
        pod("a", schedulerName="none", serviceAccountName="worker"), show=["metadata.name"]
    )
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    c.create(secret, show=["metadata.name"])
    reference = {"kind": "Pod", "apiVersion": "v1", "name": "a"}
    for label, bound in (
        ("its uid", {**reference, "uid": made.uid}),
        ("another uid", {**reference, "uid": "01234567-89ab-4def-8123-456789abcdef"}),
        ("another version", {**reference, "apiVersion": "apps/v1"}),
        ("a Secret", {**reference, "kind": "Secret", "name": "s"}),
        ("no Secret", {**reference, "kind": "Secret", "name": "t"}),
    ):
        token = _token(c, label, boundObjectRef=bound, show=["spec.audiences"])
        if token:
            _recognized(c, label, token)
    for seconds in (599, 600, 2**32, 2**32 + 1, 3600, 3607):
        _token(c, f"for {seconds} s", expirationSeconds=seconds, show=["spec.expirationSeconds"])
    _token(c, "no audiences", audiences=[], show=["spec"])
    for label, token in (
        ("no base64", "a.!.c"),
        ("no JSON", "eyJhbGciOiJSUzI1NiJ9.YQ.YQ"),
        ("no claims", "eyJhbGciOiJSUzI1NiJ9.e30.YQ"),
        ("two parts", "a.b"),
    ):
        path = f"/api/v1/namespaces/{c.namespace}/pods"
        c.raw("GET", path, token=token, label=f"a request with {label}")
