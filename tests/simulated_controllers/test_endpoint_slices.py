"""The EndpointSlice controller, as far as a control plane is not asked."""

from __future__ import annotations

from typing import Any

from clusters.simulated.controllers.settings import Settings
from tests.simulated_controllers.lab import DEFAULT, Lab
from vocabulary.kinds import ENDPOINT_SLICE, POD, SERVICE
from vocabulary.objects import name_of

SERVICE_A = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "a"},
    "spec": {"selector": {"app": "a"}, "ports": [{"port": 80}]},
}


def _pod(number: int) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"p{number}", "labels": {"app": "a"}},
        "spec": {"containers": [{"name": "main", "image": "example.org/main"}]},
    }


def _sizes(lab: Lab) -> list[int]:
    slices = lab.cluster.store.of_kind(str(ENDPOINT_SLICE), DEFAULT)
    return sorted(len(one["endpoints"] or ()) for one in slices)


def test_a_cluster_writes_no_slices_unless_it_is_told_to() -> None:
    lab = Lab()
    lab.create(SERVICE_A)
    lab.run(60)
    assert _sizes(lab) == []


def test_a_slice_has_at_most_100_endpoints_and_an_empty_one_goes() -> None:
    lab = Lab(settings=Settings(endpoint_slices=True))
    lab.create(SERVICE_A)
    for number in range(130):
        lab.create(_pod(number))
    lab.until(lambda: _sizes(lab) == [30, 100])
    kept = next(
        one
        for one in lab.cluster.store.of_kind(str(ENDPOINT_SLICE), DEFAULT)
        if len(one["endpoints"]) == 30
    )
    left = {endpoint["targetRef"]["name"] for endpoint in kept["endpoints"]}
    for pod in list(lab.cluster.store.of_kind(str(POD), DEFAULT)):
        if name_of(pod) not in left:
            lab.delete(POD, name_of(pod), grace_period_seconds=0)
    lab.until(lambda: _sizes(lab) == [30])
    lab.delete(SERVICE, "a")
    lab.until(lambda: _sizes(lab) == [])


def test_a_named_port_may_be_that_of_a_sidecar() -> None:
    lab = Lab(settings=Settings(endpoint_slices=True))
    spec = {**SERVICE_A["spec"], "ports": [{"port": 80, "targetPort": "web"}]}
    lab.create({**SERVICE_A, "spec": spec})
    ports = [{"name": "web", "containerPort": 8080}]
    for number, restart_policy in enumerate(({"restartPolicy": "Always"}, {})):
        pod = _pod(number)
        init = {"name": "init", "image": "example.org/init", "ports": ports, **restart_policy}
        lab.create({**pod, "spec": {**pod["spec"], "initContainers": [init]}})
    lab.until(lambda: _sizes(lab) == [1, 1])
    slices = lab.cluster.store.of_kind(str(ENDPOINT_SLICE), DEFAULT)
    found = {
        one["endpoints"][0]["targetRef"]["name"]: [port["port"] for port in one["ports"] or ()]
        for one in slices
    }
    assert found == {"p0": [8080], "p1": []}
