"""Components are killed, paused and restarted one by one; the others continue."""

from __future__ import annotations

import http.client
import ssl

import pytest
import yaml

from clusters.behaviour import EXIT, READY_AFTER
from clusters.control_plane import ControlPlane, User, kwok, wait_until

from .namespace import LIMIT_SECONDS, Namespace

pytestmark = pytest.mark.control_plane


def condition_of(plane: ControlPlane, name: str) -> str:
    return next(status.condition for status in plane.status() if status.name == name)


@pytest.mark.parametrize(
    "component", ["kube-scheduler", "kube-controller-manager", kwok.component("a")]
)
def test_a_killed_component_works_again_after_its_restart(
    plane: ControlPlane, namespace: Namespace, component: str
) -> None:
    plane.kill(component)
    assert condition_of(plane, component) == "ended"
    jobs = f"/apis/batch/v1/namespaces/{namespace.name}/jobs"
    template = {
        "metadata": {"annotations": {EXIT: "0"}},
        "spec": {
            "restartPolicy": "Never",
            "containers": [{"name": "main", "image": "example.org/main"}],
            "nodeSelector": {"kubernetes.io/hostname": "a0"},
        },
    }
    namespace.api.post(
        jobs,
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "work"},
            "spec": {"template": template},
        },
    )
    plane.restart(component)
    assert condition_of(plane, component) == "ready"

    def is_complete() -> bool:
        status = namespace.api.get(f"{jobs}/work")["status"]
        return any(condition["type"] == "Complete" for condition in status.get("conditions", []))

    wait_until(is_complete, "the Job is complete", limit_seconds=LIMIT_SECONDS)


@pytest.mark.parametrize("component", ["kube-apiserver", "etcd"])
def test_an_outage_of_the_store_loses_no_object_and_no_write_of_a_kubelet(
    plane: ControlPlane, namespace: Namespace, component: str
) -> None:
    names = [f"pod-{number}" for number in range(20)]
    for number, name in enumerate(names):
        # Some of these become ready while nobody answers.
        namespace.pod(name, {READY_AFTER: f"{10 * number}ms"}, nodeName="a0")
    plane.pause(kwok.component("b"))
    try:
        plane.restart(component)
        assert condition_of(plane, kwok.component("b")) == "paused"
    finally:
        plane.resume(kwok.component("b"))
    for name in names:
        namespace.until_phase(name, "Running")


def test_a_paused_component_does_nothing_until_it_is_resumed(
    plane: ControlPlane, namespace: Namespace
) -> None:
    plane.pause("kube-scheduler")
    assert condition_of(plane, "kube-scheduler") == "paused"
    namespace.pod("waiting")
    namespace.pod("placed", nodeName="a0")
    namespace.until_phase("placed", "Running")
    assert "nodeName" not in namespace.get("waiting")["spec"]
    plane.resume("kube-scheduler")
    namespace.until_phase("waiting", "Running")


def test_an_unknown_component_is_named_with_those_that_exist(plane: ControlPlane) -> None:
    with pytest.raises(KeyError, match="kube-scheduler"):
        plane.kill("kube-proxy")


def test_a_minted_kubeconfig_carries_any_user_and_groups(plane: ControlPlane) -> None:
    path = plane.mint_kubeconfig(User("alice", ("team-red", "team-blue")))
    config = yaml.safe_load(path.read_text())
    credentials = config["users"][0]["user"]
    context = ssl.create_default_context(cafile=str(plane.ca))
    context.load_cert_chain(credentials["client-certificate"], credentials["client-key"])
    address = config["clusters"][0]["cluster"]["server"].removeprefix("https://")
    connection = http.client.HTTPSConnection(address, context=context)
    connection.request(
        "POST",
        "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        '{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}',
        {"Content-Type": "application/json"},
    )
    answer = yaml.safe_load(connection.getresponse().read())
    connection.close()
    assert answer["status"]["userInfo"]["username"] == "alice"
    assert {"team-red", "team-blue"} <= set(answer["status"]["userInfo"]["groups"])
