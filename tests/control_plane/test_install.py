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
from kubernetes import client, config, utils

from conformance.suites.appwrapper.api import APPWRAPPER
from fixtures.control_plane import ControlPlane, FakeNode, Settings, audit, nodes, wait_until
from fixtures.control_plane.binaries import find
from fixtures.control_plane.users import User
from fixtures.crds import all_crds
from vocabulary.kinds import DEPLOYMENT, POD, REPLICA_SET

from .every_component import every_component
from .installation import (
    LIMIT_SECONDS,
    NAMESPACE,
    OPERATOR_USER,
    InstalledOperator,
    documents,
)
from .namespace import is_ready

pytestmark = pytest.mark.control_plane

ANN: Final = User("ann")
"""A user that may edit the namespace `team`, by the standard cluster role."""
TEAM: Final = "team"
RBAC: Final = "/apis/rbac.authorization.k8s.io/v1"
REGISTRATIONS: Final = "/apis/admissionregistration.k8s.io/v1"
ACCESS_REVIEWS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
ENFORCES_BLOCKING_OWNERS: Final = "--enable-admission-plugins=OwnerReferencesPermissionEnforcement"

NEVER_REQUESTED: Final = {
    # Asked for by that plugin when a component is created.
    ("workload.codeflare.dev", "appwrappers/finalizers"),
    # Kinds that are not served here.
    ("jobset.x-k8s.io", "jobsets"),
    ("ray.io", "rayclusters"),
    ("ray.io", "rayjobs"),
    ("scheduling.sigs.k8s.io", "podgroups"),
    ("scheduling.x-k8s.io", "podgroups"),
}
"""Resources of the roles that no request is about, and why."""
_REPLICA_SETS: Final = ("apps", "replicasets")


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A cluster on which the manifests have been applied by a user with the official client."""
    folder = tmp_path_factory.mktemp("installation")
    policy = folder / "policy.yaml"
    policy.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "audit.k8s.io/v1",
                "kind": "Policy",
                "rules": [{"level": "Metadata", "users": [OPERATOR_USER]}],
            }
        )
    )
    extra = (ENFORCES_BLOCKING_OWNERS, f"--audit-policy-file={policy}")
    settings = Settings(extra_arguments={"kube-apiserver": extra})
    control_plane = ControlPlane(folder / "plane", settings)
    control_plane.start(all_crds())
    try:
        api = control_plane.api()
        nodes.create(api, [FakeNode("n0"), FakeNode("n1", capacity={"nvidia.com/gpu": "8"})])
        nodes.wait_ready(api, ["n0", "n1"])
        admin = config.new_client_from_config(str(control_plane.kubeconfig()))
        for document in documents():
            utils.create_from_dict(admin, document, field_validation="Strict")
        api.post("/api/v1/namespaces", {"metadata": {"name": TEAM}})
        api.post(f"{RBAC}/namespaces/{TEAM}/rolebindings", _binding("edit", ANN))
        yield control_plane
    finally:
        control_plane.stop()


def _binding(role: str, user: User) -> dict[str, Any]:
    return {
        "metadata": {"name": f"{user.name}-{role}"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "User", "name": user.name, "apiGroup": "rbac.authorization.k8s.io"}],
    }


@pytest.fixture
def pod(plane: ControlPlane) -> dict[str, Any]:
    """A pod of the Deployment, once all of them run."""
    api = plane.api()
    deployment = DEPLOYMENT.path(NAMESPACE, "appwrapper-controller")
    wait_until(
        lambda: api.get(deployment)["status"].get("availableReplicas") == 2,
        "both replicas are available",
        limit_seconds=LIMIT_SECONDS,
    )
    found: dict[str, Any] = api.get(POD.path(NAMESPACE))["items"][0]
    return found


@pytest.fixture
def operator(
    plane: ControlPlane, pod: dict[str, Any], tmp_path: Path
) -> Iterator[InstalledOperator]:
    """The pod's container at work, and the webhooks' Service leading to it."""
    with InstalledOperator(plane, pod, tmp_path) as installed:
        _lead_here(plane, installed)
        yield installed


def _lead_here(plane: ControlPlane, operator: InstalledOperator) -> None:
    """Replace the Service's address, unreachable without kube-proxy, by a name.

    The API server goes on to demand a certificate for the Service's own name.
    """
    api = plane.api()
    name = "appwrapper-webhook"
    services = f"/api/v1/namespaces/{NAMESPACE}/services"
    api.delete(f"{services}/{name}")
    spec = {"type": "ExternalName", "externalName": "localhost", "ports": []}
    api.post(services, {"metadata": {"name": name}, "spec": spec})
    (shipped,) = (found for found in documents() if found["kind"] == "Service")
    (served,) = shipped["spec"]["ports"]
    port = operator.port(served["targetPort"])
    for plural in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"):
        (found,) = api.get(f"{REGISTRATIONS}/{plural}")["items"]
        for webhook in found["webhooks"]:
            webhook["clientConfig"]["service"]["port"] = port
        api.put(f"{REGISTRATIONS}/{plural}/{found['metadata']['name']}", found)
    probe = wrapper("probe", [every_component("probe")[0]])
    wait_until(
        lambda: refusal(plane, probe, dry_run="All") == "",
        "the API server calls the webhooks there",
        limit_seconds=LIMIT_SECONDS,
    )


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
    secret = plane.api().get(f"/api/v1/namespaces/{NAMESPACE}/secrets")["items"][0]
    file = tmp_path / "manifests.yaml"
    shipped = [found for found in documents() if found["kind"] not in _WITH_CERTIFICATE]
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
    labels = api.get(f"/api/v1/namespaces/{NAMESPACE}")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    pods = api.get(POD.path(NAMESPACE))["items"]
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
        lambda: bool(refused(plane)) or _used(plane) >= {(*_REPLICA_SETS, "delete")},
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
    spare = {right for right in rights(plane) - _used(plane) if right[:2] not in NEVER_REQUESTED}
    assert sorted(spare) == []


def _used(plane: ControlPlane) -> set[tuple[str, str, str]]:
    """The rights that it has made use of: group, resource, verb."""
    return {(*_resource(event["objectRef"]), event["verb"]) for event in requests(plane)}


def requests(plane: ControlPlane) -> list[dict[str, Any]]:
    """Every request of the service account that is about objects."""
    return [event for event in audit.read(plane.audit_log)[0] if "objectRef" in event]


def refused(plane: ControlPlane) -> list[str]:
    """Its requests without permission."""
    return [
        f"{event['verb']} {event['requestURI']}"
        for event in requests(plane)
        if event.get("responseStatus", {}).get("code") == 403
    ]


def _resource(reference: dict[str, str]) -> tuple[str, str]:
    """Group and resource as roles name them."""
    below = f"/{reference['subresource']}" if "subresource" in reference else ""
    return reference.get("apiGroup", ""), reference["resource"] + below


def rights(plane: ControlPlane) -> set[tuple[str, str, str]]:
    """Group, resource and verb of all that the service account's roles grant."""
    api = plane.api()
    found = set()
    for bindings in ("clusterrolebindings", "rolebindings"):
        for binding in api.get(f"{RBAC}/{bindings}")["items"]:
            names = [subject.get("name") for subject in binding.get("subjects", ())]
            if "appwrapper-controller" not in names:
                continue
            reference = binding["roleRef"]
            scope = "" if reference["kind"] == "ClusterRole" else f"/namespaces/{NAMESPACE}"
            plural = f"{reference['kind'].lower()}s"
            for rule in api.get(f"{RBAC}{scope}/{plural}/{reference['name']}")["rules"]:
                found |= {
                    (group, resource, verb)
                    for group in rule["apiGroups"]
                    for resource in rule["resources"]
                    for verb in rule["verbs"]
                }
    return found


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
        "user": OPERATOR_USER,
        "groups": [
            "system:serviceaccounts",
            f"system:serviceaccounts:{NAMESPACE}",
            "system:authenticated",
        ],
        "resourceAttributes": asked,
    }
    answer = plane.api().post(ACCESS_REVIEWS, {"spec": spec})
    assert answer["status"]["allowed"] is False
