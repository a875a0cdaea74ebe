"""Every built-in kind is served, is readable in protobuf, and tells if nothing acts on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from clusters.simulated.builtin.registry import further_kinds, uncontrolled_kinds
from clusters.simulated.cluster import SimulatedCluster
from clusters.simulated.controllers.settings import Settings
from clusters.simulated.serve.protobuf.decoding import decoded
from clusters.simulated.serve.server import ServedCluster, serve
from tests.differential.exchange import TABLE
from tests.simulated_api.served import TOKEN, ask
from tests.simulated_api.served_kinds import PAGE, render, served
from tests.simulated_api.test_protobuf import envelope
from vocabulary.clock import HOUR, SECOND
from vocabulary.history import Write
from vocabulary.kinds import EVENT, NAMESPACE, Kind
from vocabulary.messages import tables
from vocabulary.objects import Object, get_path
from vocabulary.requests import Create, Delete, List, Patch

MANIFESTS = Path(__file__).parents[1] / "differential" / "uncontrolled.yaml"
KINDS = {str(plain.kind): plain.kind for plain in further_kinds()}
NO_RESOURCES = {
    ("authentication.k8s.io/v1", "TokenRequest"),
    ("autoscaling/v1", "Scale"),
    ("policy/v1", "Eviction"),
    ("v1", "Binding"),
    ("v1", "DeleteOptions"),
}
"""Bodies of subresources, and of deletions."""
MERGE = "application/merge-patch+json"
NOT_SERVED = {("v1", "ComponentStatus")}
"""Deprecated; its objects are the health of components."""
ANOTHER_FORM = {("events.k8s.io/v1", "Event")}
"""Served in another way: `serve.events`."""
HELD = {"name": "a", "finalizers": ["tests.assay.dev/held"]}
IN_JSON_ONLY = ("apiextensions.k8s.io", "apiregistration.k8s.io")
"""Groups whose clients write JSON."""


def manifests() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(MANIFESTS.read_text()))


def kind_of(obj: Object) -> Kind:
    group = obj["apiVersion"].rpartition("/")[0]
    return KINDS[f"{obj['kind']}.{group}" if group else obj["kind"]]


@pytest.fixture
def cluster() -> SimulatedCluster:
    return SimulatedCluster(1, nodes=1, settings=Settings(every_kind=True, tells_uncontrolled=True))


@pytest.fixture
def running(cluster: SimulatedCluster) -> Iterator[ServedCluster]:
    with serve(cluster, token=TOKEN, clock="advanced", tls=False) as found:
        yield found


def test_every_kind_of_the_stable_api_is_served() -> None:
    """The table of messages has all of them: `ci/protobuf-messages` finds them in the API."""
    known = {
        (f"{strategy.kind.group}/{version}".lstrip("/"), strategy.kind.kind)
        for strategy in served()
        for version in strategy.versions
    }
    assert set(tables().kinds) - known == NO_RESOURCES | NOT_SERVED | ANOTHER_FORM


def test_every_served_kind_has_its_form_in_protobuf() -> None:
    for strategy in served():
        if strategy.kind.group in ("kubeflow.org", "ray.io", *IN_JSON_ONLY):
            continue
        for version in strategy.versions:
            api_version = f"{strategy.kind.group}/{version}".lstrip("/")
            body = envelope(api_version, strategy.kind.kind)
            assert decoded(body)["kind"] == strategy.kind.kind


def test_the_page_of_kinds_says_what_the_tables_say() -> None:
    assert PAGE.read_text() == render(), (
        "docs/served-kinds.md is not up to date: run `python -m tests.simulated_api.served_kinds`"
    )


def test_there_is_a_manifest_of_each_kind() -> None:
    assert {str(kind_of(obj)) for obj in manifests()} == KINDS.keys()


@pytest.mark.parametrize("obj", manifests(), ids=lambda obj: obj["kind"])
def test_an_object_lives_and_goes(cluster: SimulatedCluster, obj: dict[str, Any]) -> None:
    kind, user = kind_of(obj), cluster.client("user")
    namespace = "default" if kind.namespaced else ""
    name = obj["metadata"]["name"]
    before = {each["metadata"]["name"] for each in user(List(kind)).items}
    created = user(Create(kind, obj, namespace, name))
    cluster.loop.run_for(SECOND)
    labelled = user(Patch(kind, namespace, name, {"metadata": {"labels": {"a": "b"}}}))
    counted = {1} if cluster.api.strategies[str(kind)].has_generation else {None}
    assert {each["metadata"].get("generation") for each in (created, labelled)} == counted
    assert labelled["metadata"]["labels"]["a"] == "b"
    assert {each["metadata"]["name"] for each in user(List(kind)).items} == before | {name}
    user(Delete(kind, namespace, name))
    cluster.loop.run_for(SECOND)  # a ReplicationController first orphans its pods
    assert {each["metadata"]["name"] for each in user(List(kind)).items} == before


@pytest.mark.parametrize("obj", manifests(), ids=lambda obj: obj["kind"])
def test_an_update_without_what_an_object_says_is_answered_and_shown(
    running: ServedCluster, obj: dict[str, Any]
) -> None:
    """By a PUT, by patches, and by its status."""
    kind, name = kind_of(obj), obj["metadata"]["name"]
    one = kind.path("default" if kind.namespaced else "", name)
    code, created = ask(running, one.rpartition("/")[0], "POST", obj)
    assert code == 201, created
    said = [key for key in created if key not in ("apiVersion", "kind", "metadata")]
    bare = {key: created[key] for key in ("apiVersion", "kind", "metadata")}
    requests: list[tuple[str, Any]] = [("PUT", bare), ("PATCH", dict.fromkeys(said))]
    requests += [("PATCH", {key: {}}) for key in said if isinstance(created[key], dict)]
    for method, body in requests:
        for path in (one, f"{one}/status"):
            how = MERGE if method == "PATCH" else "application/json"
            code, answer = ask(running, path, method, body, content_type=how)
            assert code in (200, 404, 409, 422), answer
            code, table = ask(running, one, accept=TABLE)
            assert code == 200, table


@pytest.mark.parametrize("obj", manifests(), ids=lambda obj: obj["kind"])
def test_an_event_tells_that_nothing_acts_on_an_object(
    cluster: SimulatedCluster, obj: dict[str, Any]
) -> None:
    kind, user = kind_of(obj), cluster.client("user")
    user(Create(kind, obj, "default" if kind.namespaced else "", obj["metadata"]["name"]))
    cluster.loop.run_for(SECOND)
    told = [
        each
        for each in user(List(EVENT, "default")).items
        if each["involvedObject"]["kind"] == kind.kind and each["reason"] == "NoController"
    ]
    missing = uncontrolled_kinds().get(kind)
    assert [each["message"].partition(": ")[2] for each in told] == ([missing] if missing else [])


def test_a_restarted_teller_tells_nothing_twice(cluster: SimulatedCluster) -> None:
    (daemons,) = (obj for obj in manifests() if obj["kind"] == "DaemonSet")
    user = cluster.client("user")
    user(Create(kind_of(daemons), daemons, "default", "a"))
    cluster.loop.run_for(SECOND)
    before = user(List(EVENT, "default")).items
    cluster.processes.kill("uncontrolled-teller")
    cluster.processes.start("uncontrolled-teller")
    cluster.loop.run_for(SECOND)
    assert user(List(EVENT, "default")).items == before != ()


def told_by_teller(cluster: SimulatedCluster) -> list[tuple[int, str]]:
    return [
        (entry.code, entry.name)
        for entry in cluster.recorder.entries
        if isinstance(entry, Write) and entry.actor == "uncontrolled-teller"
    ]


def test_an_object_with_a_long_name_is_told_of(cluster: SimulatedCluster) -> None:
    (volume,) = (obj for obj in manifests() if obj["kind"] == "PersistentVolume")
    name = f"{'a' * 235}.{'b' * 14}"
    cluster.client("user")(
        Create(kind_of(volume), {**volume, "metadata": {"name": name}}, "", name)
    )
    cluster.loop.run_for(SECOND)
    ((code, told),) = told_by_teller(cluster)
    assert (code, len(told)) == (201, 252)


def test_a_namespace_that_ends_is_told_nothing_and_asked_once(cluster: SimulatedCluster) -> None:
    cluster.add_namespace("team")
    user = cluster.client("user")
    (daemons,) = (obj for obj in manifests() if obj["kind"] == "DaemonSet")
    user(Create(kind_of(daemons), {**daemons, "metadata": HELD}, "team", "a"))
    user(Delete(NAMESPACE, "", "team"))
    cluster.loop.run_for(HOUR)
    assert [code for code, _ in told_by_teller(cluster)] == [403]


def test_clusters_that_are_not_asked_serve_and_tell_nothing_of_it() -> None:
    cluster = SimulatedCluster(1, nodes=1)
    assert not KINDS.keys() & cluster.api.kinds.keys()
    assert not {"disruption-controller", "uncontrolled-teller"} & cluster.controllers.keys()


def test_a_namespace_that_is_deleted_takes_such_objects_along(cluster: SimulatedCluster) -> None:
    cluster.add_namespace("team")
    user = cluster.client("user")
    for obj in manifests():
        kind = kind_of(obj)
        if kind.namespaced:
            user(Create(kind, obj, "team", obj["metadata"]["name"]))
    user(Delete(NAMESPACE, "", "team"))
    cluster.loop.run_for(30 * SECOND)
    namespaced = [kind for kind in KINDS.values() if kind.namespaced]
    assert not [kind for kind in namespaced if user(List(kind, "team")).items]


@pytest.mark.parametrize("percentage", ["101%", f"{2**63}%", f"{'9' * 5000}%"])
def test_a_budget_of_more_than_all_pods_is_refused(running: ServedCluster, percentage: str) -> None:
    budget = {"metadata": {"name": "b"}, "spec": {"maxUnavailable": percentage}}
    path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    code, answer = ask(running, path, "POST", budget)
    assert code == 422
    assert answer["details"]["causes"][0]["field"] == "spec.maxUnavailable"


def test_a_port_of_zero_in_protobuf_is_the_service_port(running: ServedCluster) -> None:
    """A client that sends protobuf sends each field that is no pointer."""
    port = {"name": "", "protocol": "TCP", "port": 8265, "targetPort": 0, "nodePort": 0}
    body = {"metadata": {"name": "head"}, "spec": {"ports": [port], "type": ""}}
    path = "/api/v1/namespaces/default/services"
    code, service = ask(running, path, "POST", body)
    assert code == 201, service
    defaulted = {"protocol": "TCP", "port": 8265, "targetPort": 8265}
    assert get_path(service, "spec.ports") == [defaulted]
    again = {**service, "spec": {**service["spec"], "ports": [port]}}
    code, updated = ask(running, f"{path}/head", "PUT", again)
    assert code == 200, updated
    assert updated["metadata"]["resourceVersion"] == service["metadata"]["resourceVersion"]
