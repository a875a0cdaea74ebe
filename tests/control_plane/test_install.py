"""The install manifests on a real API server: accepted, at work, and with no right to spare.

RBAC is on, and so is the admission plugin by which blocking owner references need a right. The
audit log holds every request of the installed service account, reads included.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from kubernetes import client, config

from clusters.control_plane import ControlPlane, wait_until
from clusters.control_plane.binaries import find
from clusters.control_plane.users import User
from clusters.crds import all_crds
from conformance.suites.appwrapper.api import APPWRAPPER
from vocabulary.kinds import POD, REPLICA_SET

from .every_component import every_component
from .installation import (
    LIMIT_SECONDS,
    RBAC,
    Installation,
    InstalledOperator,
    refused,
    used,
)
from .namespace import is_ready

pytestmark = pytest.mark.control_plane

ANN: Final = User("ann")
"""A user that may edit the namespace `team`, by the standard cluster role."""
TEAM: Final = "team"
HERE: Final = Installation("appwrapper")
ACCESS_REVIEWS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

NEVER_REQUESTED: Final = {
    # Asked for by that plugin when a component is created.
    ("workload.codeflare.dev", "appwrappers/finalizers"),
    # Kinds that are not served here.
    ("jobset.x-k8s.io", "jobsets"),
    ("ray.io", "rayclusters"),
    ("ray.io", "rayjobs"),
    # Of an operator that has a slack queue.
    ("kueue.x-k8s.io", "clusterqueues"),
    ("scheduling.sigs.k8s.io", "podgroups"),
    ("scheduling.x-k8s.io", "podgroups"),
}
"""Resources of the roles that no request is about, and why."""
_REPLICA_SETS: Final = ("apps", "replicasets")


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A cluster on which the manifests have been applied by a user with the official client."""
    folder = tmp_path_factory.mktemp("installation")
    with HERE.on_a_plane(folder, all_crds()) as control_plane:
        api = control_plane.api()
        api.post("/api/v1/namespaces", {"metadata": {"name": TEAM}})
        api.post(f"{RBAC}/namespaces/{TEAM}/rolebindings", _binding("edit", ANN))
        yield control_plane


def _binding(role: str, user: User) -> dict[str, Any]:
    return {
        "metadata": {"name": f"{user.name}-{role}"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "User", "name": user.name, "apiGroup": "rbac.authorization.k8s.io"}],
    }


@pytest.fixture
def pod(plane: ControlPlane) -> dict[str, Any]:
    return HERE.running_pod(plane)


@pytest.fixture
def operator(
    plane: ControlPlane, pod: dict[str, Any], tmp_path: Path
) -> Iterator[InstalledOperator]:
    """The pod's container at work, and the webhooks' Service leading to it."""
    probe = wrapper("probe", [every_component("probe")[0]])
    with InstalledOperator(HERE, plane, pod, tmp_path) as installed:
        HERE.lead_here(plane, installed, lambda: refusal(plane, probe, dry_run="All") == "")
        yield installed


def wrapper(name: str, components: list[dict[str, Any]], **annotations: str) -> dict[str, Any]:
    """An AppWrapper; the annotations are those below workload.codeflare.dev.appwrapper/."""
    prefix = "workload.codeflare.dev.appwrapper/"
    return {
        "apiVersion": APPWRAPPER.api_version,
        "kind": APPWRAPPER.kind,
        "metadata": {
            "name": name,
            "annotations": {f"{prefix}{key}": value for key, value in annotations.items()},
        },
        "spec": {"components": [{"template": component} for component in components]},
    }


def refusal(plane: ControlPlane, aw: dict[str, Any], user: User = ANN, **query: str) -> str:
    """Submit an AppWrapper; return the API server's error message, or ""."""
    speaker = config.new_client_from_config(str(plane.mint_kubeconfig(user)))
    try:
        client.CustomObjectsApi(speaker).create_namespaced_custom_object(
            APPWRAPPER.group, APPWRAPPER.version, TEAM, APPWRAPPER.plural, aw, **query
        )
    except client.ApiException as error:
        return str(error.body)
    return ""


def test_kubectl_accepts_every_document_and_finds_nothing_to_change(
    plane: ControlPlane, tmp_path: Path
) -> None:
    kubectl = find("kubectl")
    if kubectl is None:
        pytest.skip("kubectl is not found; run `assay cluster build`, or put it in the PATH")
    secret = plane.api().get(f"/api/v1/namespaces/{HERE.namespace}/secrets")["items"][0]
    file = tmp_path / "manifests.yaml"
    shipped = [found for found in HERE.documents() if found["kind"] not in _WITH_CERTIFICATE]
    file.write_text(yaml.safe_dump_all(shipped))
    assert secret["type"] == "kubernetes.io/tls"
    before = generations(plane, shipped)
    done = subprocess.run(
        [
            *(kubectl.path, f"--kubeconfig={plane.kubeconfig()}", "apply", "--server-side"),
            *("--validate=strict", "-f", file),
        ],
        capture_output=True,
        text=True,
        check=False,
        env={"HOME": str(tmp_path)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == len(shipped)
    assert generations(plane, shipped) == before


_WITH_CERTIFICATE: Final = (
    "Secret",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
)
"""They differ with each installation, and the webhooks lead here while an operator runs."""


def generations(plane: ControlPlane, found: list[dict[str, Any]]) -> dict[str, Any]:
    """The generations of all objects that have one."""
    api = plane.api()
    paths = {
        "Deployment": "/apis/apps/v1/namespaces/{namespace}/deployments/{name}",
        "CustomResourceDefinition": (
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"
        ),
    }
    return {
        path: api.get(path)["metadata"]["generation"]
        for document in found
        if document["kind"] in paths
        for path in [
            paths[document["kind"]].format(
                name=document["metadata"]["name"], namespace=document["metadata"].get("namespace")
            )
        ]
    }


def test_the_deployments_pods_pass_the_restricted_standard_and_are_bound_and_run(
    plane: ControlPlane, pod: dict[str, Any]
) -> None:
    api = plane.api()
    labels = api.get(f"/api/v1/namespaces/{HERE.namespace}")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    pods = api.get(POD.path(HERE.namespace))["items"]
    assert len(pods) == 2
    for found in pods:
        assert found["spec"]["nodeName"] in ("n0", "n1")
        assert found["status"]["phase"] == "Running"
        assert is_ready(found)


def test_while_nobody_answers_the_webhooks_no_appwrapper_is_stored(plane: ControlPlane) -> None:
    answer = refusal(plane, wrapper("unchecked", [every_component("unchecked")[0]]))
    assert "failed calling webhook" in answer


def test_the_container_answers_its_probes_and_ends_when_it_is_told_to(
    operator: InstalledOperator,
) -> None:
    assert operator.probe("livenessProbe") == 200
    assert operator.probe("readinessProbe") == 200
    assert operator.terminate() == 0


def test_whoever_may_edit_a_namespace_may_submit_there_but_only_what_he_may_create_himself(
    plane: ControlPlane, operator: InstalledOperator
) -> None:
    (job,) = (found for found in every_component("mine") if found["kind"] == "Job")
    assert refusal(plane, wrapper("mine", [job])) == ""
    stored = plane.api().get(APPWRAPPER.path(TEAM, "mine"))
    assert stored["metadata"]["labels"]["workload.codeflare.dev/user"] == ANN.name
    (torch,) = (found for found in every_component("other") if found["kind"] == "PyTorchJob")
    assert "may not create a PyTorchJob" in refusal(plane, wrapper("other", [torch]))
    assert "has 0 podSets" in refusal(plane, wrapper("empty", []))


def test_the_service_account_needs_every_right_it_has_and_is_refused_nothing(
    plane: ControlPlane, operator: InstalledOperator
) -> None:
    """A workload of every kind of component fails, is retried, fails for good and is deleted.

    Something holds a ReplicaSet as it is deleted, until the controller has tried force.
    """
    api = plane.api()
    replica_sets = REPLICA_SET.path(TEAM)
    submitted = wrapper(
        "everything",
        every_component("everything"),
        failureGracePeriodDuration="0s",
        retryPausePeriodDuration="0s",
        retryLimit="1",
        deletionOnFailureGracePeriodDuration="0s",
        forcefulDeletionGracePeriodDuration="1s",
    )
    api.post(APPWRAPPER.path(TEAM), submitted)
    wait_until(
        lambda: bool(api.get(replica_sets)["items"]),
        "its Deployment has a ReplicaSet",
        limit_seconds=LIMIT_SECONDS,
    )
    (held,) = (found["metadata"]["name"] for found in api.get(replica_sets)["items"])
    held = REPLICA_SET.path(TEAM, held)
    api.patch(held, {"metadata": {"finalizers": ["example.com/hold"]}})
    wait_until(
        lambda: bool(refused(plane)) or used(plane) >= {(*_REPLICA_SETS, "delete")},
        "force is tried",
        limit_seconds=LIMIT_SECONDS,
    )
    api.patch(held, {"metadata": {"finalizers": None}})
    path = APPWRAPPER.path(TEAM, "everything")

    def is_over() -> bool:
        status = api.get(path).get("status", {})
        deployed = [c for c in status.get("conditions", ()) if c["type"] == "ResourcesDeployed"]
        return status.get("phase") == "Failed" and deployed[0]["status"] == "False"

    wait_until(
        lambda: bool(refused(plane)) or is_over(),
        "it has failed and is cleaned up",
        limit_seconds=LIMIT_SECONDS,
    )
    api.delete(path)
    wait_until(
        lambda: bool(refused(plane)) or not api.exists(path),
        "it is deleted",
        limit_seconds=LIMIT_SECONDS,
    )
    assert refused(plane) == []
    spare = {
        right for right in HERE.rights(plane) - used(plane) if right[:2] not in NEVER_REQUESTED
    }
    assert sorted(spare) == []


@pytest.mark.parametrize(
    ("verb", "group", "resource", "namespace"),
    [
        ("update", "", "secrets", TEAM),
        ("patch", "", "pods", TEAM),
        ("create", "", "pods/exec", TEAM),
        ("create", "", "pods/eviction", TEAM),
        ("get", "", "pods/log", TEAM),
        ("create", "", "serviceaccounts/token", TEAM),
        ("impersonate", "", "serviceaccounts", TEAM),
        ("patch", "", "nodes", ""),
        ("delete", "", "nodes", ""),
        ("create", "", "namespaces", ""),
        ("list", "", "events", TEAM),
        ("list", "", "persistentvolumes", ""),
        ("delete", "workload.codeflare.dev", "appwrappers", TEAM),
        ("update", "workload.codeflare.dev", "appwrappers", TEAM),
        ("get", "coordination.k8s.io", "leases", TEAM),
        ("create", "rbac.authorization.k8s.io", "clusterrolebindings", ""),
        ("get", "apiextensions.k8s.io", "customresourcedefinitions", ""),
        ("patch", "admissionregistration.k8s.io", "mutatingwebhookconfigurations", ""),
    ],
)
def test_beyond_its_work_the_service_account_may_do_nothing(
    plane: ControlPlane, verb: str, group: str, resource: str, namespace: str
) -> None:
    name, _, subresource = resource.partition("/")
    asked = {
        "verb": verb,
        "group": group,
        "resource": name,
        "subresource": subresource,
        "namespace": namespace,
    }
    spec = {
        "user": HERE.user,
        "groups": [
            "system:serviceaccounts",
            f"system:serviceaccounts:{HERE.namespace}",
            "system:authenticated",
        ],
        "resourceAttributes": asked,
    }
    answer = plane.api().post(ACCESS_REVIEWS, {"spec": spec})
    assert answer["status"]["allowed"] is False
