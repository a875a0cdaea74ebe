"""`assay clean` against what nobody is left to finish: held objects, stuck pods, dead webhooks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from conformance import clean
from conformance.clean import RUN_LABEL, NotCleanError, clean_cluster
from fixtures.control_plane import ControlPlane, FakeNode, nodes, users, wait_until
from vocabulary.errors import ApiError

pytestmark = pytest.mark.control_plane

HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
NAMESPACES = "/api/v1/namespaces"
HELD = ["example.com/held"]
LIMIT_SECONDS = 30.0


@pytest.fixture
def run(plane: ControlPlane) -> Iterator[str]:
    """The name of a run that left one of everything, and it is there."""
    leave(plane, "run-7")
    yield "run-7"
    clean_cluster(plane.kubeconfig(), remove=True)


def leave(plane: ControlPlane, run: str) -> None:
    api = plane.api(users.HARNESS)
    labels = {RUN_LABEL: run}
    api.post(NAMESPACES, named("v1", "Namespace", run, labels=labels))
    node = f"{run}-n0"
    nodes.create(api, [FakeNode(node, "a", labels)])
    nodes.wait_ready(api, [node])
    taint = {"key": "example.com/broken", "effect": "NoSchedule"}
    own = {"autopilot.ibm.com/gpuhealth": "EVICT"}
    api.patch(f"{nodes.NODES}/{node}", {"metadata": {"labels": own}, "spec": {"taints": [taint]}})
    held = named("v1", "ConfigMap", "held", namespace=run, finalizers=HELD)
    api.post(f"{NAMESPACES}/{run}/configmaps", held)
    api.post(
        f"/apis/tests.assay.dev/v1/namespaces/{run}/widgets",
        named("tests.assay.dev/v1", "Widget", "unfinished", namespace=run, finalizers=HELD),
    )
    pod = named("v1", "Pod", "stuck", namespace=run)
    pod["metadata"]["annotations"] = {"assay.dev/stuck-terminating": "true"}
    pod["spec"] = {"nodeName": node, "containers": [{"name": "c", "image": "none"}]}
    api.post(f"{NAMESPACES}/{run}/pods", pod)
    pods = f"{NAMESPACES}/{run}/pods/stuck"
    wait_until(
        lambda: api.get(pods)["status"]["phase"] == "Running",
        "the pod runs",
        limit_seconds=LIMIT_SECONDS,
    )
    role = named("rbac.authorization.k8s.io/v1", "ClusterRole", f"role-{run}", labels=labels)
    api.post(f"{RBAC}/clusterroles", role)
    binding = named(
        "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", f"role-{run}", labels=labels
    )
    binding["roleRef"] = {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": f"role-{run}",
    }
    api.post(f"{RBAC}/clusterrolebindings", binding)
    hook = named(
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        f"dead.{run}.assay.dev",
        labels=labels,
    )
    # Nobody answers there: as long as it is registered, nothing held can be let go.
    hook["webhooks"] = [
        {
            "name": f"dead.{run}.assay.dev",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
            "clientConfig": {"url": "https://127.0.0.1:1/validate"},
            "namespaceSelector": {"matchLabels": {RUN_LABEL: run}},
            "rules": [
                {
                    "apiGroups": ["*"],
                    "apiVersions": ["*"],
                    "operations": ["UPDATE"],
                    "resources": ["configmaps", "widgets"],
                }
            ],
        }
    ]
    api.post(HOOKS, hook)


def named(
    api_version: str, kind: str, name: str, namespace: str = "", **metadata: Any
) -> dict[str, Any]:
    where = {"namespace": namespace} if namespace else {}
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, **where, **metadata},
    }


def exists(plane: ControlPlane, path: str) -> bool:
    try:
        plane.api().get(path)
    except ApiError as error:
        assert error.is_not_found
        return False
    return True


def paths_of(run: str) -> tuple[str, ...]:
    return (
        f"{NAMESPACES}/{run}",
        f"{nodes.NODES}/{run}-n0",
        f"{RBAC}/clusterroles/role-{run}",
        f"{RBAC}/clusterrolebindings/role-{run}",
        f"{HOOKS}/dead.{run}.assay.dev",
    )


def test_everything_that_a_killed_run_left_is_found_and_removed(
    plane: ControlPlane, run: str
) -> None:
    found = clean_cluster(plane.kubeconfig(), remove=False)
    assert f"Namespace {run}" in found
    assert f"Node {run}-n0" in found
    assert f"finalizer example.com/held of ConfigMap {run}/held" in found
    assert f"finalizer example.com/held of Widget {run}/unfinished" in found
    assert all(exists(plane, path) for path in paths_of(run)), "looking removes nothing"
    removed = clean_cluster(plane.kubeconfig(), remove=True)
    assert removed == found
    assert not any(exists(plane, path) for path in paths_of(run))
    assert clean_cluster(plane.kubeconfig(), remove=True) == []


def test_what_is_not_of_a_run_is_left_alone(plane: ControlPlane, run: str) -> None:
    api = plane.api()
    api.post(NAMESPACES, named("v1", "Namespace", "somebody-elses"))
    kept = named("v1", "ConfigMap", "kept", namespace="somebody-elses", finalizers=HELD)
    api.post(f"{NAMESPACES}/somebody-elses/configmaps", kept)
    clean_cluster(plane.kubeconfig(), remove=True)
    kept = api.get(f"{NAMESPACES}/somebody-elses/configmaps/kept")
    assert kept["metadata"]["finalizers"] == HELD
    assert exists(plane, f"{nodes.NODES}/a0")


def test_one_run_can_be_cleaned_without_another(plane: ControlPlane, run: str) -> None:
    leave(plane, "run-8")
    clean_cluster(plane.kubeconfig(), run_label=run, remove=True)
    assert not any(exists(plane, path) for path in paths_of(run))
    assert all(exists(plane, path) for path in paths_of("run-8"))


def test_what_does_not_go_away_is_named(
    plane: ControlPlane, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clean, "GONE_SECONDS", 0.5)
    plane.pause("kube-controller-manager")
    try:
        with pytest.raises(NotCleanError, match=f"Namespace {run}: still there"):
            clean_cluster(plane.kubeconfig(), remove=True)
    finally:
        plane.resume("kube-controller-manager")
    assert f"Namespace {run}" in clean_cluster(plane.kubeconfig(), remove=False)


def test_the_command_shows_first_and_removes_when_told_to(plane: ControlPlane, run: str) -> None:
    def assay_clean(*options: str) -> list[str]:
        command = [sys.executable, "-m", "conformance.cli", "clean", *options]
        command += ["--kubeconfig", str(plane.kubeconfig()), "--run", run]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        return ended.stdout.splitlines()

    shown = assay_clean()
    assert f"would remove Namespace {run}" in shown
    assert shown[-1] == "remove it with: assay clean --yes"
    assert [line.replace("would remove", "removed") for line in shown[:-1]] == assay_clean("--yes")
    assert assay_clean() == ["nothing of Assay is left there"]
