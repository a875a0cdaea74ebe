"""The AppWrapper reference as a real process, with no more rights than its manifests give it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clusters.control_plane import ControlPlane, users
from conformance.suites.appwrapper.api import APPWRAPPER
from vocabulary.errors import ApiError
from vocabulary.kinds import JOB, POD
from vocabulary.objects import condition_status, get_path
from vocabulary.safe_yaml import load_all_yaml

from .child_process import ChildProcess, eventually
from .conftest import MANIFESTS, grant

pytestmark = pytest.mark.control_plane

OPERATOR = users.OPERATORS[2]
CONFIG = """
faultTolerance:
  admissionGracePeriod: 30s
  warmupGracePeriod: 60s
  failureGracePeriod: 1s
  resetPause: 1s
  retryLimit: 1
  deletionGracePeriod: 10s
"""


def wrapper(name: str, component: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": APPWRAPPER.api_version,
        "kind": APPWRAPPER.kind,
        "metadata": {"name": name},
        "spec": {"components": [{"template": component}]},
    }


class Workloads:
    """The AppWrappers of one namespace, as their user sees them."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self._api = plane.api(users.SCENARIO_USER)
        self._namespace = namespace

    def submit(self, name: str, **behaviour: str) -> None:
        """One Job of one pod; `behaviour` is annotations for its fake kubelet."""
        annotations = {f"assay.dev/{key.replace('_', '-')}": v for key, v in behaviour.items()}
        pod = {
            "metadata": {"annotations": annotations},
            "spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "main", "image": "example.org/main"}],
            },
        }
        job = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": f"{name}-job"},
            "spec": {"backoffLimit": 0, "template": pod},
        }
        self._api.post(APPWRAPPER.path(self._namespace), wrapper(name, job))

    def get(self, name: str) -> dict[str, Any]:
        return self._api.get(APPWRAPPER.path(self._namespace, name))

    def delete(self, name: str) -> None:
        self._api.delete(APPWRAPPER.path(self._namespace, name))

    def is_gone(self, name: str) -> bool:
        return not self._api.exists(APPWRAPPER.path(self._namespace, name))

    def is_in(self, name: str, phase: str) -> bool:
        return get_path(self.get(name), "status.phase") == phase

    def resources(self) -> list[dict[str, Any]]:
        return [
            obj for kind in (JOB, POD) for obj in self._api.get(kind.path(self._namespace))["items"]
        ]


@pytest.fixture(scope="module")
def rights(plane: ControlPlane) -> None:
    """Every rule that the manifests give to the operator's service account, and no other."""
    documents = load_all_yaml((MANIFESTS / "rbac.yaml").read_bytes(), "rbac.yaml")
    granted = [
        (doc["roleRef"]["kind"], doc["roleRef"]["name"])
        for doc in documents
        if doc["kind"] in ("ClusterRoleBinding", "RoleBinding")
    ]
    roles = [doc for doc in documents if (doc["kind"], doc["metadata"]["name"]) in granted]
    grant(plane, OPERATOR.name, [rule for role in roles for rule in role["rules"]])


@pytest.fixture
def workloads(plane: ControlPlane, namespace: str) -> Workloads:
    return Workloads(plane, namespace)


@pytest.fixture
def start(
    plane: ControlPlane, namespace: str, rights: None, tmp_path: Path
) -> Iterator[Callable[..., ChildProcess]]:
    """Starts reference operators for the test's own namespace; none outlives the test."""
    config = tmp_path / "config.yaml"
    config.write_text(CONFIG)
    started: list[ChildProcess] = []

    def start(**options: Any) -> ChildProcess:
        given = {
            "kubeconfig": str(plane.kubeconfig(OPERATOR)),
            "namespace": namespace,
            "config_file": str(config),
            "health_port": 0,
            "metrics_port": 0,
            **options,
        }
        log = tmp_path / f"operator-{len(started)}.log"
        started.append(ChildProcess("run_reference.py", given, log))
        return started[-1]

    yield start
    for operator in started:
        operator.kill()


def phases(operator: ChildProcess, name: str) -> list[str]:
    """The phases that the operator saw the AppWrapper enter."""
    lines = operator.log("phase")
    return [line["phase"] for line in lines if line["key"].endswith(f"/{name}")]


def troubles(operator: ChildProcess) -> list[dict[str, Any]]:
    """Logged errors, except for custom kinds that this cluster does not serve."""
    return [
        line
        for line in operator.log()
        if line["level"] in ("warning", "error") and not line["message"].startswith("not served")
    ]


def test_a_job_that_succeeds_takes_its_appwrapper_through_the_phases(
    workloads: Workloads, start: Callable[..., ChildProcess]
) -> None:
    operator = start()
    operator.wait_ready()
    workloads.submit("good", run_for="200ms", exit="0")
    eventually(lambda: workloads.is_in("good", "Succeeded"))
    aw = workloads.get("good")
    assert condition_status(aw, "QuotaReserved") == "False"
    assert condition_status(aw, "ResourcesDeployed") == "True"
    eventually(lambda: "Succeeded" in phases(operator, "good"))
    assert phases(operator, "good") == ["Suspended", "Resuming", "Running", "Succeeded"]
    metrics = operator.page("/metrics")[1]
    assert 'appwrapper_component_created_total{kind="Job.batch"} 1.0' in metrics
    workloads.delete("good")
    eventually(lambda: workloads.is_gone("good"))
    assert workloads.resources() == []
    assert troubles(operator) == []
    assert operator.terminate() == 0


def test_a_job_that_always_fails_is_reset_once_and_then_fails_and_is_cleaned_up(
    workloads: Workloads, start: Callable[..., ChildProcess]
) -> None:
    operator = start()
    operator.wait_ready()
    workloads.submit("bad", run_for="100ms", exit="1")
    eventually(lambda: condition_status(workloads.get("bad"), "ResourcesDeployed") == "True")
    eventually(
        lambda: (
            workloads.is_in("bad", "Failed")
            and condition_status(workloads.get("bad"), "ResourcesDeployed") == "False"
        )
    )
    assert get_path(workloads.get("bad"), "status.resettingCount") == 1
    assert condition_status(workloads.get("bad"), "QuotaReserved") == "False"
    assert workloads.resources() == []
    attempt = ["Resuming", "Running"]
    eventually(lambda: "Failed" in phases(operator, "bad"))
    assert phases(operator, "bad") == ["Suspended", *attempt, "Resetting", *attempt, "Failed"]
    assert troubles(operator) == []


def test_an_outage_of_the_api_server_neither_ends_the_operator_nor_the_workload(
    plane: ControlPlane, workloads: Workloads, start: Callable[..., ChildProcess]
) -> None:
    operator = start(leader_elect=True, lease_namespace="default")
    operator.wait_ready()
    workloads.submit("good", run_for="4s", exit="0")
    eventually(lambda: condition_status(workloads.get("good"), "PodsReady") == "True")
    plane.kill("kube-apiserver")
    plane.restart("kube-apiserver")
    eventually(lambda: workloads.is_in("good", "Succeeded"))
    assert get_path(workloads.get("good"), "status.resettingCount") is None
    not_served = [line["kind"] for line in operator.log() if "not served" in line["message"]]
    assert not_served == ["PyTorchJob.kubeflow.org"], "a server that starts denied a kind it has"
    assert operator.terminate() == 0


def test_its_webhooks_fill_in_who_submitted_and_refuse_what_he_may_not_create(
    plane: ControlPlane,
    namespace: str,
    workloads: Workloads,
    start: Callable[..., ChildProcess],
) -> None:
    pair = plane.webhook_pair
    operator = start(
        webhook_port=0, webhook_certificate=str(pair.certificate), webhook_key=str(pair.key)
    )
    operator.wait_ready()
    port = next(line["port"] for line in operator.log("listening") if "/mutate" in line["pages"])
    admin = plane.api()
    webhook = {
        "name": "appwrapper.example.com",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "rules": [
            {
                "operations": ["CREATE", "UPDATE"],
                "apiGroups": [APPWRAPPER.group],
                "apiVersions": [APPWRAPPER.version],
                "resources": [APPWRAPPER.plural],
            }
        ],
    }
    ca = base64.b64encode(plane.ca.read_bytes()).decode()
    group = "/apis/admissionregistration.k8s.io/v1"
    paths = {
        page: f"{group}/{kind}webhookconfigurations"
        for page, kind in (("mutate", "mutating"), ("validate", "validating"))
    }
    for page, path in paths.items():
        reached = {"url": f"https://127.0.0.1:{port}/{page}", "caBundle": ca}
        webhooks = [{**webhook, "clientConfig": reached}]
        admin.post(path, {"metadata": {"name": namespace}, "webhooks": webhooks})
    poor = plane.api(users.OPERATORS[3])  # may create AppWrappers, but no Jobs
    own = {"apiGroups": [APPWRAPPER.group], "resources": [APPWRAPPER.plural], "verbs": ["create"]}
    grant(plane, users.OPERATORS[3].name, [own])
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.com/main"}]}
    job = {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"spec": pod}}}
    aw = wrapper("poor", job)
    try:

        def refusal() -> str:
            try:
                poor.post(APPWRAPPER.path(namespace) + "?dryRun=All", aw)
            except ApiError as error:
                return error.message
            return ""

        assert "may not create a Job" in eventually(refusal)  # it takes a moment to apply
        workloads.submit("rich", exit="0")
        label = "workload.codeflare.dev/user"
        assert workloads.get("rich")["metadata"]["labels"][label] == users.SCENARIO_USER.name
        eventually(lambda: workloads.is_in("rich", "Succeeded"))
    finally:
        for path in paths.values():
            admin.delete(f"{path}/{namespace}")
