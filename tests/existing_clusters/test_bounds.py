"""An API server enforces the restrictions that roles cannot express, tried with the account."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import pytest

from clusters.control_plane import ControlPlane, wait_until
from clusters.control_plane.api import Api
from conformance.in_cluster.bounds import NAME
from conformance.in_cluster.manifests import ACCOUNT, NAMESPACE
from conformance.left_behind.clean import RUN_LABEL
from conformance.worlds.existing.well_known import CONFINING, ENFORCE
from vocabulary.errors import ApiError

from .conftest import KEPT, NODES
from .installed import installed

pytestmark = pytest.mark.control_plane
Write: TypeAlias = tuple[str, str, dict[str, Any] | None]
RUN = "assay-0123ab-0"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
POD = {
    "metadata": {"name": "p"},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
TAINT = {"spec": {"unschedulable": True}}


def namespace(name: str, **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels}}


def binding(**subject: str) -> dict[str, Any]:
    return {
        "metadata": {"name": "assay-escape"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "assay-suite",
        },
        "subjects": [subject],
    }


def webhook(name: str, group: str, **selector: Any) -> dict[str, Any]:
    rule = {
        "apiGroups": [group],
        "apiVersions": ["*"],
        "operations": ["CREATE"],
        "resources": ["*"],
    }
    hook = {
        "name": "mutating.assay.dev",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "namespaceSelector": selector,
        "rules": [rule],
    }
    return {"metadata": {"name": name}, "webhooks": [hook]}


REFUSED: dict[str, tuple[Write, str]] = {
    "a pod beside the controllers": (
        ("POST", "/api/v1/namespaces/kube-system/pods", POD),
        "writes only in namespaces whose names begin with assay-",
    ),
    "a pod beside the suite": (
        ("POST", f"/api/v1/namespaces/{NAMESPACE}/pods", POD),
        "writes only in namespaces whose names begin with assay-",
    ),
    "a token of a controller": (
        ("POST", "/api/v1/namespaces/kube-system/serviceaccounts/job-controller/token", {}),
        "writes only in namespaces whose names begin with assay-",
    ),
    "a namespace that is no run's": (
        ("POST", "/api/v1/namespaces", namespace("theirs", **{ENFORCE: CONFINING[0]})),
        "whose names begin with assay-",
    ),
    "a namespace for pods without confines": (
        ("POST", "/api/v1/namespaces", namespace("assay-free", **{ENFORCE: "privileged"})),
        f"a namespace needs the label {ENFORCE}",
    ),
    "the end of the suite's own namespace": (
        ("DELETE", f"/api/v1/namespaces/{NAMESPACE}", None),
        "whose names begin with assay-",
    ),
    "a role for everybody": (
        (
            "POST",
            f"{RBAC}/clusterrolebindings",
            binding(kind="Group", apiGroup="rbac.authorization.k8s.io", name="system:masters"),
        ),
        "bound only to service accounts in namespaces that begin with assay-",
    ),
    "a role for somebody's account": (
        (
            "POST",
            f"{RBAC}/clusterrolebindings",
            binding(kind="ServiceAccount", name="default", namespace="default"),
        ),
        "bound only to service accounts in namespaces that begin with assay-",
    ),
    "a role that becomes part of everybody's": (
        (
            "POST",
            f"{RBAC}/clusterroles",
            {
                "metadata": {
                    "name": "assay-share",
                    "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"},
                },
                "rules": [],
            },
        ),
        "no cluster role becomes part of those of others",
    ),
    "a webhook for everything": (
        ("POST", WEBHOOKS, webhook(f"mutating.appwrapper.{RUN}.assay.dev", "*")),
        "webhooks are called for what a suite defines, in the namespace of one run",
    ),
    "a webhook for all pods of a run": (
        (
            "POST",
            WEBHOOKS,
            webhook(
                f"mutating.appwrapper.{RUN}.assay.dev",
                "",
                matchLabels={"kubernetes.io/metadata.name": RUN},
            ),
        ),
        "webhooks are called for what a suite defines, in the namespace of one run",
    ),
    "a webhook of another name": (
        ("POST", WEBHOOKS, webhook("mutating.example.org", "workload.codeflare.dev")),
        "only webhook configurations that are named after a run",
    ),
    "a node that is not for runs": (
        ("PATCH", f"/api/v1/nodes/{KEPT}", TAINT),
        "nodes are changed only if label assay.dev/usable=true chooses them",
    ),
    "the status of such a node": (
        ("PATCH", f"/api/v1/nodes/{KEPT}/status", {"status": {"capacity": {"a.b/c": "1"}}}),
        "nodes are changed only if label assay.dev/usable=true chooses them",
    ),
    "a definition that no suite brings": (
        (
            "POST",
            DEFINITION,
            {
                "metadata": {"name": "things.example.org"},
                "spec": {
                    "group": "example.org",
                    "scope": "Namespaced",
                    "names": {"plural": "things", "kind": "Thing"},
                    "versions": [
                        {
                            "name": "v1",
                            "served": True,
                            "storage": True,
                            "schema": {"openAPIV3Schema": {"type": "object"}},
                        }
                    ],
                },
            },
        ),
        "only the definitions that a suite brings",
    ),
    "the end of a definition that was there": (
        ("DELETE", f"{DEFINITION}/appwrappers.workload.codeflare.dev", None),
        "they go only if it has brought them",
    ),
}


@pytest.fixture(scope="module")
def account(plane: ControlPlane) -> Iterator[Api]:
    """The suite's account, of manifests that an administrator has applied."""
    with installed(plane, "AW-005", "--pod-image", ""):
        path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{ACCOUNT}"
        api = as_account(plane, path)
        wait_until(
            lambda: "assay-bounds" in refusal(api, REFUSED["a pod beside the controllers"][0]),
            "the API server heeds the policy",
            limit_seconds=60,
        )
        yield api


def as_account(plane: ControlPlane, path: str) -> Api:
    return Api(plane.server, plane.ca, plane.api().post(f"{path}/token", {})["status"]["token"])


def refusal(api: Api, write: Write) -> str:
    """The API server's error for a dry run; empty if it is accepted."""
    method, path, body = write
    try:
        api.request(method, f"{path}?dryRun=All", body, **patched(method))
    except ApiError as error:
        assert error.code == 403 or error.reason == "Invalid", error
        return error.message
    return ""


def patched(method: str) -> dict[str, str]:
    return {"content_type": "application/merge-patch+json"} if method == "PATCH" else {}


@pytest.fixture
def run(plane: ControlPlane, account: Api) -> Iterator[str]:
    """The namespace of a run, as the suite's account makes it."""
    labels = {RUN_LABEL: RUN, ENFORCE: CONFINING[0]}
    account.post("/api/v1/namespaces", namespace(RUN, **labels))
    path = f"/api/v1/namespaces/{RUN}"
    wait_until(
        lambda: plane.api().exists(f"{path}/serviceaccounts/default"),
        "the namespace has its default service account",
        limit_seconds=60,
    )
    yield path
    account.delete(path)
    wait_until(lambda: not plane.api().exists(path), "it is gone", limit_seconds=60)


@pytest.mark.parametrize(("write", "because"), REFUSED.values(), ids=REFUSED)
def test_what_its_roles_would_let_it_do_to_others_is_refused(
    account: Api, write: Write, because: str
) -> None:
    said = refusal(account, write)
    assert NAME in said, said
    assert because in said


def test_what_a_run_needs_is_not_refused(account: Api, run: str) -> None:
    own = {"matchLabels": {"kubernetes.io/metadata.name": RUN}}
    appwrappers = "workload.codeflare.dev"
    needed: list[Write] = [
        ("POST", f"{run}/pods", POD),
        ("POST", WEBHOOKS, webhook(f"mutating.appwrapper.{RUN}.assay.dev", appwrappers, **own)),
        ("PATCH", f"/api/v1/nodes/{NODES[0]}", TAINT),
    ]
    assert [refusal(account, write) for write in needed] == ["", "", ""]


def test_a_pod_that_could_take_over_its_node_is_refused(account: Api, run: str) -> None:
    host = {"hostPID": True, "containers": [{"name": "c", "image": "i"}]}
    said = refusal(account, ("POST", f"{run}/pods", {**POD, "spec": host}))
    assert "violates PodSecurity" in said


def test_nothing_is_gained_by_acting_as_an_account_of_ones_own(
    plane: ControlPlane, account: Api, run: str
) -> None:
    account.post(f"{run}/serviceaccounts", {"metadata": {"name": "deputy"}})
    deputy = {"kind": "ServiceAccount", "name": "deputy", "namespace": RUN}
    account.post(f"{RBAC}/clusterrolebindings", binding(**deputy))
    try:
        token = account.post(f"{run}/serviceaccounts/deputy/token", {})["status"]["token"]
        acting = Api(plane.server, plane.ca, token)
        write = REFUSED["a pod beside the controllers"][0]
        wait_until(
            lambda: "cannot create resource" not in refusal(acting, write),
            "the deputy has the suite's rights",
            limit_seconds=60,
        )
        assert NAME in refusal(acting, write)
    finally:
        account.delete(f"{RBAC}/clusterrolebindings/assay-escape")
