"""The toy operator as a real process against a real API server, in fair weather and foul."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from clusters.control_plane import Api, ControlPlane, audit, users
from vocabulary.errors import ApiError

from .child_process import ChildProcess, eventually
from .conftest import TOY_RULES, grant
from .toy import SOURCE_LABEL

pytestmark = pytest.mark.control_plane

StartToy = Callable[..., ChildProcess]


class Maps:
    """The ConfigMaps of one namespace, as their user sees them."""

    def __init__(self, api: Api, namespace: str) -> None:
        self._api = api
        self._path = f"/api/v1/namespaces/{namespace}/configmaps"

    def create(self, name: str, value: str) -> None:
        metadata = {"name": name, "labels": {SOURCE_LABEL: "yes"}}
        self._api.post(self._path, {"metadata": metadata, "data": {"value": value}})

    def change(self, name: str, value: str) -> None:
        self._api.patch(f"{self._path}/{name}", {"data": {"value": value}})

    def delete(self, name: str) -> None:
        self._api.delete(f"{self._path}/{name}")

    def value(self, name: str) -> str | None:
        try:
            return str(self._api.get(f"{self._path}/{name}")["data"]["value"])
        except ApiError as error:
            if error.is_not_found:
                return None
            raise


@pytest.fixture
def maps(plane: ControlPlane, namespace: str) -> Maps:
    return Maps(plane.api(users.SCENARIO_USER), namespace)


def test_it_keeps_the_cluster_as_desired_and_ends_in_good_order(
    plane: ControlPlane, namespace: str, maps: Maps, start_toy: StartToy
) -> None:
    maps.create("early", "1")
    toy = start_toy()
    toy.wait_ready()
    maps.create("late", "2")
    eventually(lambda: maps.value("early-copy") == "1" and maps.value("late-copy") == "2")
    maps.change("late", "3")
    eventually(lambda: maps.value("late-copy") == "3")
    maps.delete("late-copy")
    eventually(lambda: maps.value("late-copy") == "3")
    assert toy.page("/healthz") == (200, "ok")
    host = urlsplit(plane.server).netloc
    posts = f'rest_client_requests_total{{code="201",host="{host}",method="POST"}} 3.0'
    # An object can be seen before its creator has the response.
    eventually(lambda: posts in toy.page("/metrics")[1])
    metrics = toy.page("/metrics")[1]
    assert 'controller_runtime_reconcile_total{controller="toy",result="success"}' in metrics
    assert "caches_synced 1.0" in metrics
    assert toy.terminate() == 0
    assert toy.log("stopped")[0]["complete"] is True
    events, _ = audit.read(plane.audit_log)
    writes = [
        event
        for event in events
        if event["verb"] in ("create", "update")
        and event["user"]["username"] == users.OPERATORS[0].name
        and event["objectRef"]["namespace"] == namespace
    ]
    assert [event["verb"] for event in writes] == ["create", "create", "update", "create"]
    assert {event["userAgent"] for event in writes} == {"assay-reference-controller"}


def test_two_controllers_of_one_process_share_a_watch_and_are_counted_apart(
    maps: Maps, start_toy: StartToy
) -> None:
    maps.create("a", "1")
    toy = start_toy(suffixes=["-twin"], workers=2)
    toy.wait_ready()
    eventually(lambda: maps.value("a-copy") == maps.value("a-twin") == "1")
    maps.change("a", "2")
    eventually(lambda: maps.value("a-copy") == maps.value("a-twin") == "2")
    assert [line["kind"] for line in toy.log("listed")] == ["ConfigMap"]
    metrics = toy.page("/metrics")[1]
    for name in ("toy", "-twin"):
        assert f'controller_runtime_reconcile_total{{controller="{name}",result=' in metrics
        assert f'workqueue_depth{{name="{name}"}}' in metrics
    assert toy.terminate() == 0


def test_after_a_kill_its_successor_catches_up(maps: Maps, start_toy: StartToy) -> None:
    toy = start_toy()
    toy.wait_ready()
    for number in range(20):
        maps.create(f"source-{number}", "1")
    eventually(lambda: maps.value("source-0-copy"))
    toy.kill()
    maps.change("source-0", "2")
    start_toy()
    eventually(lambda: maps.value("source-0-copy") == "2")
    eventually(lambda: all(maps.value(f"source-{n}-copy") for n in range(20)))


def test_it_outlives_an_api_server_that_is_away_and_then_catches_up(
    plane: ControlPlane, maps: Maps, start_toy: StartToy
) -> None:
    toy = start_toy()
    toy.wait_ready()
    plane.kill("kube-apiserver")
    eventually(lambda: len(toy.log("cannot list or watch; trying again")) >= 3)
    assert toy.page("/healthz") == (200, "ok")
    plane.restart("kube-apiserver")
    maps.create("a", "1")
    eventually(lambda: maps.value("a-copy") == "1")
    assert toy.terminate() == 0


def test_it_stops_at_once_while_the_api_server_hangs(
    plane: ControlPlane, start_toy: StartToy
) -> None:
    toy = start_toy(request_timeout_us=2_000_000)
    toy.wait_ready()
    plane.pause("kube-apiserver")
    try:
        assert toy.terminate() == 0
    finally:
        plane.resume("kube-apiserver")


def test_without_rights_it_waits_unready_until_it_gets_them(
    plane: ControlPlane, maps: Maps, start_toy: StartToy
) -> None:
    maps.create("a", "1")
    toy = start_toy(user=1)
    refusals = eventually(lambda: toy.log("cannot list or watch; trying again"))
    assert users.OPERATORS[1].name in refusals[0]["error"]
    assert toy.page("/readyz") == (503, "not listed yet: ConfigMap\n")
    assert toy.page("/healthz") == (200, "ok")
    grant(plane, users.OPERATORS[1].name, TOY_RULES)
    eventually(lambda: maps.value("a-copy") == "1")
    assert toy.page("/readyz") == (200, "ok")


LEASE = {
    "leader_elect": True,
    "lease_duration_us": 3_000_000,
    "renew_deadline_us": 2_000_000,
    "retry_period_us": 300_000,
}


def test_of_two_replicas_one_leads_and_the_other_takes_over_when_it_ends(
    namespace: str, maps: Maps, start_toy: StartToy
) -> None:
    first = start_toy(**LEASE, lease_namespace=namespace)
    eventually(lambda: first.log("leading"))
    second = start_toy(**LEASE, lease_namespace=namespace)
    second.wait_ready()
    maps.create("a", "1")
    eventually(lambda: maps.value("a-copy") == "1")
    assert not second.log("leading")
    assert first.terminate() == 0
    eventually(lambda: second.log("leading"))
    maps.create("b", "1")
    eventually(lambda: maps.value("b-copy") == "1")

    third = start_toy(**LEASE, lease_namespace=namespace)
    third.wait_ready()
    second.kill()
    eventually(lambda: third.log("leading"), 10.0)
    maps.change("b", "2")
    eventually(lambda: maps.value("b-copy") == "2")


def test_a_leader_without_its_api_server_follows_and_leads_again_when_it_is_back(
    plane: ControlPlane, namespace: str, maps: Maps, start_toy: StartToy
) -> None:
    toy = start_toy(**LEASE, lease_namespace=namespace)
    eventually(lambda: toy.log("leading"))
    plane.kill("kube-apiserver")
    eventually(lambda: toy.log("not leading any more"))
    plane.restart("kube-apiserver")
    maps.create("a", "1")
    eventually(lambda: maps.value("a-copy") == "1")
    assert len(toy.log("leading")) == 2
