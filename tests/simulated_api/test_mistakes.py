"""A mistake in a simulated actor: the served cluster says so to everybody, and its clock does not
stand still in silence."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from clusters.simulated.cluster import SimulatedCluster
from clusters.simulated.controllers.base import Controller
from clusters.simulated.controllers.settings import Settings
from clusters.simulated.mistakes import SimulationError
from clusters.simulated.serve.server import ServedCluster, serve
from tests.simulated_api.served import TOKEN, ask
from vocabulary.clock import SECOND
from vocabulary.kinds import NAMESPACE, POD
from vocabulary.requests import Create, Delete

SETTINGS = Settings(endpoint_slices=True, every_kind=True, tells_uncontrolled=True)
CONTROLLERS = (*SimulatedCluster(1, settings=SETTINGS).controllers,)


def health(served: ServedCluster) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"{served.url}/healthz", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()


def fail(*_: Any) -> Any:
    raise ZeroDivisionError("planted")


def deployment(**spec: Any) -> dict[str, Any]:
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template, **spec},
    }


@pytest.fixture
def cluster() -> SimulatedCluster:
    return SimulatedCluster(1, nodes=1, settings=SETTINGS)


@pytest.fixture
def served(cluster: SimulatedCluster) -> Iterator[ServedCluster]:
    with serve(cluster, token=TOKEN, clock="advanced", tls=False) as running:
        yield running


@pytest.mark.parametrize("name", [*CONTROLLERS, "kubelet/n9"])
def test_every_actor_that_raises_fails_the_cluster_by_name(
    cluster: SimulatedCluster, served: ServedCluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    actor = cluster.controllers.get(name) or cluster.kubelets.add("n9")
    monkeypatch.setattr(actor, "sync", fail)
    actor.start()
    assert health(served) == (200, "ok")
    with served.lock:
        actor.enqueue(("default", "an-object"))
    status, body = ask(served, "/assay/clock", "POST", {"advance": "1s"})
    assert status == 500
    said = f"{name} at default/an-object: ZeroDivisionError: planted"
    assert said in body["message"]
    for path in ("/api/v1/pods", "/version", "/api/v1/pods?watch=true"):
        status, body = ask(served, path)
        assert status == 500
        assert said in body["message"]
    assert health(served)[0] == 500
    assert said in health(served)[1]


def test_a_clock_that_follows_the_wall_tells_of_a_mistake(
    cluster: SimulatedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster.controllers["job-controller"], "sync", fail)
    with serve(cluster, token=TOKEN, tls=False) as served:
        with served.lock:
            cluster.controllers["job-controller"].enqueue(("default", "j"))
        assert served.stopped.wait(timeout=60)
        assert "job-controller at default/j" in health(served)[1]


def test_who_hears_of_a_write_and_raises_fails_the_cluster_and_not_only_the_writer(
    cluster: SimulatedCluster, served: ServedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Controller, "enqueue", fail)
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    body["spec"] = {"containers": [{"name": "c", "image": "i"}]}
    status, answer = ask(served, "/api/v1/namespaces/default/pods", "POST", body)
    assert status == 500
    assert "Pod/default/p: ZeroDivisionError: planted" in answer["message"]
    assert health(served)[0] == 500


def test_timers_of_the_server_itself_are_actors_too(
    cluster: SimulatedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.loop.call_later(SECOND, fail, ("default", "web"))
    with pytest.raises(SimulationError, match="fail at default/web: ZeroDivisionError"):
        cluster.loop.run_for(2 * SECOND)


def test_a_deployment_with_a_duration_for_a_deadline_is_refused(served: ServedCluster) -> None:
    path = "/apis/apps/v1/namespaces/default/deployments"
    status, answer = ask(served, path, "POST", deployment(progressDeadlineSeconds="10m"))
    assert status == 400
    assert "cannot unmarshal string into Go struct field DeploymentSpec" in answer["message"]


@pytest.mark.parametrize("seconds", [10**15, 2**63 - 1])
def test_a_namespace_is_deleted_with_a_pod_that_may_take_millions_of_years(
    cluster: SimulatedCluster, seconds: int
) -> None:
    user = cluster.client("user")
    spec = {
        "terminationGracePeriodSeconds": seconds,
        "containers": [{"name": "c", "image": "i"}],
    }
    cluster.add_namespace("x")
    metadata = {"name": "p", "namespace": "x"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    user(Create(POD, pod, "x"))
    cluster.loop.run_for(5 * SECOND)
    user(Delete(NAMESPACE, "", "x"))
    cluster.loop.run_for(60 * SECOND)
    assert cluster.store.get(("Namespace", "", "x")) is None


def test_a_grace_period_beyond_64_bits_is_refused(served: ServedCluster) -> None:
    path = f"/api/v1/namespaces/default/pods/p?gracePeriodSeconds={10**20}"
    status, answer = ask(served, path, "DELETE")
    assert status == 400
    assert "must be an integer of 64 bits" in answer["message"]
