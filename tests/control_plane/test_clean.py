"""`assay clean` with objects that cannot end by themselves: held, stuck, or with dead webhooks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chaos.faults import DeleteObject, Taint
from chaos.injector import Injector
from chaos.toolkit.kubernetes_ground import (
    DeployedOperator,
    KubernetesGround,
    OperatorDeployment,
)
from chaos.undo_journal import UndoJournal
from clusters.control_plane import ControlPlane, FakeNode, crds, nodes, users, wait_until
from conformance.leased.operator import Before, borrow
from conformance.left_behind import clean
from conformance.left_behind.clean import RUN_LABEL, NotCleanError, clean_cluster
from conformance.left_behind.scratch import Claim
from conformance.stored_objects.retrying_connection import RetryingConnection
from reference_controller.runtime.connection import Connection, connect
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.requests import Delete

from .namespace import Namespace

pytestmark = pytest.mark.control_plane

HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
NAMESPACES = "/api/v1/namespaces"
GADGETS = f"""
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gadgets.tests.assay.dev
  labels: {{{RUN_LABEL}: killed}}
spec:
  group: tests.assay.dev
  scope: Cluster
  names: {{kind: Gadget, plural: gadgets, singular: gadget, listKind: GadgetList}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {{type: object}}
"""
HELD = ["example.com/held"]
LIMIT_SECONDS = 30.0
NOTHING = "nothing of Assay is left there"


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
    found = clean_cluster(plane.kubeconfig(), remove=False).found
    assert f"Namespace {run}" in found
    assert f"Node {run}-n0" in found
    assert f"finalizer example.com/held of ConfigMap {run}/held" in found
    assert f"finalizer example.com/held of Widget {run}/unfinished" in found
    assert all(exists(plane, path) for path in paths_of(run)), "looking removes nothing"
    removed = clean_cluster(plane.kubeconfig(), remove=True).found
    assert removed == found
    assert not any(exists(plane, path) for path in paths_of(run))
    assert clean_cluster(plane.kubeconfig(), remove=True).found == []


def test_a_run_whose_process_is_alive_is_left_alone(plane: ControlPlane, run: str) -> None:
    kubeconfig, server = plane.kubeconfig(), plane.server
    for claim in (Claim(4711, run, ""), Claim(4711, "", server)):
        cleaned = clean_cluster(kubeconfig, remove=True, alive=[claim])
        assert cleaned == ([], [f"run {run}: its process 4711 is alive"])
    elsewhere = [Claim(4711, "run", "https://elsewhere:6443"), Claim(4711, "run-71", "")]
    cleaned = clean_cluster(kubeconfig, remove=True, alive=elsewhere)
    assert f"Namespace {run}" in cleaned.found
    assert cleaned.spared == []


def test_a_crd_stays_as_long_as_a_live_run_has_objects_of_it(plane: ControlPlane) -> None:
    api = plane.api(users.HARNESS)
    crds.install(api, crds.parse([GADGETS]))
    gadgets = "/apis/tests.assay.dev/v1/gadgets"
    gadget = named("tests.assay.dev/v1", "Gadget", "used", labels={RUN_LABEL: "alive"})

    def is_created() -> bool:
        try:
            api.post(gadgets, gadget)
        except ApiError as error:
            assert error.code == 429, error  # the storage of a new kind is being initialized
            return False
        return True

    wait_until(is_created, "a gadget is created", limit_seconds=LIMIT_SECONDS)
    alive = [Claim(4711, "alive", "")]
    cleaned = clean_cluster(plane.kubeconfig(), remove=True, alive=alive)
    assert cleaned == ([], ["run alive: its process 4711 is alive"])
    assert exists(plane, f"{gadgets}/used")
    cleaned = clean_cluster(plane.kubeconfig(), remove=True)
    assert cleaned.spared == []
    assert not exists(plane, f"{crds.CRDS}/gadgets.tests.assay.dev")


def test_an_object_that_was_created_anew_meanwhile_is_not_deleted(
    plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = plane.api(users.HARNESS)
    roles = f"{RBAC}/clusterroles"
    marked = {RUN_LABEL: "run-8"}
    api.post(roles, named("rbac.authorization.k8s.io/v1", "ClusterRole", "taken", labels=marked))
    handle = RetryingConnection.handle

    def create_anew_first(connection: RetryingConnection, request: Any) -> Any:
        if isinstance(request, Delete) and request.name == "taken":
            api.delete(f"{roles}/taken")
            api.post(roles, named("rbac.authorization.k8s.io/v1", "ClusterRole", "taken"))
        return handle(connection, request)

    monkeypatch.setattr(RetryingConnection, "handle", create_anew_first)
    assert clean_cluster(plane.kubeconfig(), remove=True).found == ["ClusterRole taken"]
    assert api.get(f"{roles}/taken")["metadata"].get("labels") is None
    api.delete(f"{roles}/taken")


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


def test_an_operator_that_a_killed_suite_has_borrowed_is_given_back(plane: ControlPlane) -> None:
    api = plane.api(users.HARNESS)
    home = "batch-system"
    api.post(NAMESPACES, named("v1", "Namespace", home))
    told = named("v1", "ConfigMap", "config", namespace=home)
    api.post(f"{NAMESPACES}/{home}/configmaps", {**told, "data": {"a": "of a run", "b": "kept"}})
    operator = named("apps/v1", "Deployment", "operator", namespace=home)
    labels = {"app": "operator"}
    operator["spec"] = {
        "replicas": 2,
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "c", "image": "none"}]},
        },
    }
    deployments = f"/apis/apps/v1/namespaces/{home}/deployments"
    api.post(deployments, operator)
    before = Before(
        deployment="operator", replicas=0, config_map="config", key="a", text="as installed"
    )
    client = connection(plane)
    borrow(client, home, before, {RUN_LABEL: "assay-1"})
    client.close()
    loan = f"loan of Deployment {home}/operator"
    assert clean_cluster(plane.kubeconfig(), remove=False).found == [loan]
    assert clean_cluster(plane.kubeconfig(), run_label="another", remove=True).found == []
    assert clean_cluster(plane.kubeconfig(), run_label="assay-1", remove=True).found == [loan]
    assert api.get(f"{deployments}/operator")["spec"]["replicas"] == 0
    data = api.get(f"{NAMESPACES}/{home}/configmaps/config")["data"]
    assert data == {"a": "as installed", "b": "kept"}
    assert clean_cluster(plane.kubeconfig(), remove=True).found == []


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
    assert f"Namespace {run}" in clean_cluster(plane.kubeconfig(), remove=False).found


def test_what_an_experiment_broke_is_mended_by_its_journal(
    plane: ControlPlane, namespace: Namespace, tmp_path: Path
) -> None:
    """A node outside of any run is tainted and a pod held there: no label leads to them."""
    journal = tmp_path / "undo.jsonl"
    namespace.pod("p")
    before = plane.api().get(f"{nodes.NODES}/b0")["spec"].get("taints")
    client = connection(plane)
    operator = DeployedOperator(client, OperatorDeployment("nowhere", "none"))
    ground = KubernetesGround(client, namespace.name, operator, seed=0)
    injector = Injector(ground, lambda *_: None, journal=UndoJournal(journal, namespace.name))
    injector.inject(Taint("b0", "example.com/broken", effect="NoSchedule"))
    injector.inject(DeleteObject("Pod", "p", finalizer=HELD[0]))
    assert plane.api().get(f"{nodes.NODES}/b0")["spec"]["taints"]
    assert HELD[0] in namespace.get("p")["metadata"]["finalizers"]

    def assay_clean(*options: str) -> list[str]:
        return assay("clean", "--undo-journal", str(journal), *options, plane=plane)

    shown = assay_clean()
    assert HELD[0] in namespace.get("p")["metadata"]["finalizers"], "looking mends nothing"
    mended = assay_clean("--yes")
    assert [line.replace("would undo", "to undo") for line in shown[:-1]] == mended
    assert len(mended) == 2
    assert plane.api().get(f"{nodes.NODES}/b0")["spec"].get("taints") == before
    wait_until(
        lambda: not exists(plane, f"{namespace.path}/pods/p"),
        "the pod is gone",
        limit_seconds=LIMIT_SECONDS,
    )
    assert assay_clean() == [NOTHING]


def test_the_command_shows_first_and_removes_when_told_to(plane: ControlPlane, run: str) -> None:
    def assay_clean(*options: str) -> list[str]:
        return assay("clean", "--run", run, *options, plane=plane)

    shown = assay_clean()
    assert f"would remove Namespace {run}" in shown
    assert shown[-1] == "remove it with: assay clean --yes"
    assert [line.replace("would remove", "removed") for line in shown[:-1]] == assay_clean("--yes")
    assert assay_clean() == [NOTHING]


def assay(*arguments: str, plane: ControlPlane) -> list[str]:
    """The command's output about that control plane; the command must succeed."""
    kubeconfig = ("--kubeconfig", str(plane.kubeconfig()))
    command = [sys.executable, "-m", "conformance.cli", *arguments, *kubeconfig]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout.splitlines()


def connection(plane: ControlPlane) -> Connection:
    kubeconfig = plane.kubeconfig(users.CHAOS)
    return connect(kubeconfig, None, user_agent="test", timeout_us=30 * SECOND, pool_size=2)
