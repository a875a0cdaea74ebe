"""The Kueue controller's manifests on a real API server: at work, and with no right to spare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from clusters.control_plane import ControlPlane, wait_until
from reference_controller import programs
from reference_controller.kueue.names import (
    APP_WRAPPER,
    CLUSTER_QUEUE,
    JOB_SET,
    LOCAL_QUEUE,
    PRIORITY,
    PRIORITY_CLASS,
    QUEUE,
    RESOURCE_FLAVOR,
    WORKLOAD,
)
from vocabulary import kinds
from vocabulary.errors import ApiError
from vocabulary.kinds import JOB, POD, PYTORCH_JOB, RAY_CLUSTER, RAY_JOB, STATEFUL_SET, Kind
from vocabulary.objects import condition_status, name_of, owner_references

from .installation import LIMIT_SECONDS, Installation, InstalledOperator, refused, used

pytestmark = pytest.mark.control_plane

HERE: Final = Installation("kueue")
TEAM: Final = "team"
NEVER_REQUESTED: Final = {
    # Asked for where blocking owner references need a right.
    *((kind.group, f"{kind.plural}/finalizers", "update") for kind in (JOB, JOB_SET, APP_WRAPPER)),
    ("", "pods/finalizers", "update"),
    ("kubeflow.org", "pytorchjobs/finalizers", "update"),
    *(("ray.io", f"{kind.plural}/finalizers", "update") for kind in (RAY_CLUSTER, RAY_JOB)),
    # Neither PyTorchJobs nor the kinds of Ray are served here.
    *(
        (kind.group, kind.plural, verb)
        for kind in (PYTORCH_JOB, RAY_CLUSTER, RAY_JOB)
        for verb in ("get", "list", "patch", "watch")
    ),
    # Read once more where a cache seems to be behind.
    ("", "namespaces", "get"),
    (WORKLOAD.group, WORKLOAD.plural, "get"),
    ("apps", "statefulsets", "get"),
}
POD_SPEC: Final = {
    "restartPolicy": "Never",
    "containers": [
        {"name": "main", "image": "i", "resources": {"requests": {"cpu": "1"}}},
    ],
}


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    others = [programs.load(name).manifests for name in ("jobset", "appwrapper")]
    crds = [crd for each in others for crd in each.objects(*each.crds)]
    with HERE.on_a_plane(tmp_path_factory.mktemp("installation"), crds) as control_plane:
        api = control_plane.api()
        api.post("/api/v1/namespaces", {"metadata": {"name": TEAM}})
        api.post(RESOURCE_FLAVOR.path(), typed(RESOURCE_FLAVOR, {"metadata": {"name": "default"}}))
        quota = [{"name": "cpu", "nominalQuota": 9}]
        group = {
            "coveredResources": ["cpu"],
            "flavors": [{"name": "default", "resources": quota}],
        }
        spec = {"namespaceSelector": {}, "resourceGroups": [group]}
        for kind, of in ((CLUSTER_QUEUE, spec), (LOCAL_QUEUE, {"clusterQueue": "main"})):
            api.post(kind.path(TEAM), typed(kind, {"metadata": {"name": "main"}, "spec": of}))
        yield control_plane


@pytest.fixture
def operator(plane: ControlPlane, tmp_path: Path) -> Iterator[InstalledOperator]:
    """The container of a pod of the Deployment, and the webhooks' Service leading to it."""
    pod = HERE.running_pod(plane)
    with InstalledOperator(HERE, plane, pod, tmp_path) as installed:
        probe, converted = queued("probe"), {"metadata": {"name": "probe"}, "spec": {}}
        HERE.lead_here(
            plane,
            installed,
            lambda: (
                refusal(plane, JOB, probe, "?dryRun=All") == ""
                and refusal(plane, in_v1beta2(LOCAL_QUEUE), converted, "?dryRun=All") == ""
            ),
        )
        yield installed


def typed(kind: Kind, obj: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": kind.api_version, "kind": kind.kind, **obj}


def in_v1beta2(kind: Kind) -> Kind:
    return Kind(kind.group, "v1beta2", kind.kind, kind.plural, kind.namespaced)


def queued(name: str, spec: dict[str, Any] | None = None, queue: str = "main") -> dict[str, Any]:
    """A Job, or another object with that spec, in a queue."""
    labels = {"labels": {QUEUE: queue}} if queue else {}
    default = {"backoffLimit": 0, "template": {"spec": POD_SPEC}}
    return {"metadata": {"name": name, **labels}, "spec": default if spec is None else spec}


def refusal(plane: ControlPlane, kind: Kind, obj: dict[str, Any], query: str = "") -> str:
    """Submit an object; return the API server's error message, or ""."""
    try:
        plane.api().post(kind.path(TEAM) + query, typed(kind, obj))
    except ApiError as error:
        return str(error)
    return ""


def test_while_nobody_answers_the_webhooks_only_what_names_a_queue_is_refused(
    plane: ControlPlane,
) -> None:
    """KQ-049."""
    HERE.running_pod(plane)
    for kind, spec in ((JOB, None), (POD, POD_SPEC)):
        assert refusal(plane, kind, queued("free", spec, queue=""), "?dryRun=All") == ""
        assert "failed calling webhook" in refusal(plane, kind, queued("unchecked", spec))


def test_the_service_account_needs_every_right_it_has_and_is_refused_nothing(
    plane: ControlPlane, operator: InstalledOperator
) -> None:
    """Jobs of several kinds are admitted, deactivated and deleted; a queue is of v1beta2."""
    api = plane.api()
    newer = {"metadata": {"name": "newer"}, "spec": {"clusterQueue": "main"}}
    api.post(in_v1beta2(LOCAL_QUEUE).path(TEAM), typed(in_v1beta2(LOCAL_QUEUE), newer))

    def until(is_so: Callable[[], bool], what: str) -> None:
        wait_until(lambda: bool(refused(plane)) or is_so(), what, limit_seconds=LIMIT_SECONDS)
        assert refused(plane) == []

    def workload(owner: str) -> dict[str, Any]:
        for found in api.get(WORKLOAD.path(TEAM))["items"]:
            names = {each["name"] for each in owner_references(found)}
            if owner in names:
                return dict(found)
        return {}

    def is_admitted(owner: str) -> bool:
        return condition_status(workload(owner), "Admitted") == "True"

    def deactivate(owner: str) -> None:
        api.patch(WORKLOAD.path(TEAM, name_of(workload(owner))), {"spec": {"active": False}})

    for kind in (PRIORITY_CLASS, kinds.PRIORITY_CLASS):
        api.post(kind.path(), {**typed(kind, {"metadata": {"name": "high"}}), "value": 5})
    job_template = {"spec": {"template": {"spec": POD_SPEC}}}
    urgent = queued("job", queue="newer")
    urgent["metadata"]["labels"][PRIORITY] = "high"
    assert refusal(plane, JOB, urgent) == ""
    assert refusal(plane, POD, queued("pod", {**POD_SPEC, "priorityClassName": "high"})) == ""
    replicated = [{"name": "a", "replicas": 1, "template": job_template}]
    assert refusal(plane, JOB_SET, queued("set", {"replicatedJobs": replicated})) == ""
    wrapped = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "w"}, **job_template}
    spec = {"components": [{"template": wrapped}]}
    assert refusal(plane, APP_WRAPPER, queued("wrapper", spec)) == ""
    record = {
        "name": "w",
        "kind": "Job",
        "apiVersion": "batch/v1",
        "podSets": [{"path": "template.spec.template", "replicas": 1}],
    }
    status = {"status": {"phase": "Suspended", "componentStatus": [record]}}
    api.patch(APP_WRAPPER.path(TEAM, "wrapper", "status"), status)
    server = {
        "serviceName": "server",
        "replicas": 1,
        "selector": {"matchLabels": {"app": "server"}},
        "template": {
            "metadata": {"labels": {"app": "server"}},
            "spec": {**POD_SPEC, "restartPolicy": "Always"},
        },
    }
    assert refusal(plane, STATEFUL_SET, queued("server", server)) == ""
    for owner in ("job", "pod", "set", "wrapper", "server"):
        until(lambda owner=owner: is_admitted(owner), f"{owner} is admitted")  # type: ignore[misc]
    until(lambda: api.get(JOB.path(TEAM, "job"))["spec"]["suspend"] is False, "the Job runs")
    for path in (JOB_SET.path(TEAM, "set"), APP_WRAPPER.path(TEAM, "wrapper")):
        until(lambda path=path: not api.get(path)["spec"]["suspend"], f"{path} runs")  # type: ignore[misc]
    until(lambda: not api.get(POD.path(TEAM, "pod"))["spec"].get("schedulingGates"), "it is open")
    converted = api.get(in_v1beta2(WORKLOAD).path(TEAM, name_of(workload("job"))))
    assert converted["spec"]["priorityClassRef"]["name"] == "high"
    used_of = api.get(in_v1beta2(CLUSTER_QUEUE).path("", "main"))["status"]["flavorsUsage"]
    assert used_of[0]["resources"][0]["total"] == "5"
    deactivate("job")
    until(lambda: api.get(JOB.path(TEAM, "job"))["spec"]["suspend"], "the Job is suspended")
    until(
        lambda: condition_status(workload("job"), "QuotaReserved") == "False",
        "its quota is given back",
    )
    deactivate("pod")
    until(lambda: not api.exists(POD.path(TEAM, "pod")), "the pod is gone")
    api.delete(CLUSTER_QUEUE.path("", "main"))
    for kind, name in ((JOB, "job"), (JOB_SET, "set"), (APP_WRAPPER, "wrapper")):
        api.delete(kind.path(TEAM, name), {"propagationPolicy": "Background"})
    api.delete(STATEFUL_SET.path(TEAM, "server"), {"propagationPolicy": "Background"})
    until(lambda: not api.get(WORKLOAD.path(TEAM))["items"], "no Workload is left")
    until(lambda: not api.exists(CLUSTER_QUEUE.path("", "main")), "the queue is gone")
    assert operator.probe("livenessProbe") == 200
    until(
        lambda: HERE.rights(plane) - used(plane) <= NEVER_REQUESTED,
        "all rights are used, the Lease's renewal too",
    )
