"""Requests that only programs in the simulation send: a client's are refused before."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from clusters.simulated.scale import scaled
from clusters.simulated.selection import candidates
from clusters.simulated.version_order import maturity
from clusters.simulated.watches import WatchRequest
from tests.simulated_api.cluster import NAMESPACE, WIDGET, Cluster, config_map, pod, widget
from vocabulary.kinds import CONFIG_MAP, POD, Kind
from vocabulary.objects import Object, name_of
from vocabulary.requests import Create, Delete, Get, List, Patch, Update


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": ""}, "the object provided is unrecognized (must be of type Widget): Object "),
        ({"apiVersion": "test.assay.dev/v9"}, "the API version in the data (test.assay.dev/v9) "),
        ({"apiVersion": "other/v1"}, "the API version in the data (other/v1) does not match the "),
    ],
)
def test_a_custom_resource_says_its_kind_and_version(
    widgets: Cluster, change: dict[str, Any], message: str
) -> None:
    error = widgets.refused(Create(WIDGET, {**widget(), **change}))
    assert (error.code, error.reason) == (400, "BadRequest")
    assert error.message.startswith(message)


def test_the_version_that_is_not_given_is_that_of_the_request(widgets: Cluster) -> None:
    body = widget()
    body.pop("apiVersion")
    assert widgets.create(body, WIDGET)["apiVersion"] == WIDGET.api_version


def test_a_version_that_is_not_served_names_those_that_are(widgets: Cluster) -> None:
    later = msgspec.structs.replace(WIDGET, version="v9")
    error = widgets.refused(Get(later, NAMESPACE, "w"))
    assert (error.code, error.reason) == (404, "NotFound")
    assert error.message.endswith("write apiVersion: test.assay.dev/v1")
    error = widgets.refused(Get(msgspec.structs.replace(POD, version="v9"), NAMESPACE, "p"))
    assert error.message == "the server could not find the requested resource"
    assert widgets.refused(Get(Kind("no", "v1", "No", "nos"), NAMESPACE, "p")).code == 404


def test_a_namespaced_object_needs_a_namespace(widgets: Cluster) -> None:
    body = config_map("a")
    body["metadata"].pop("namespace")
    error = widgets.refused(Create(CONFIG_MAP, body, ""))
    assert error.code in (400, 422)
    assert "namespace" in error.message


def test_a_scale_is_of_the_kind_scale(widgets: Cluster) -> None:
    made = widgets.create(pod("p"), POD)
    strategy = widgets.api.strategies["Deployment.apps"]
    deployment = {**made, "spec": {"replicas": 1}}
    assert scaled(deployment, {"spec": {"replicas": 3}}, strategy)["spec"]["replicas"] == 3
    assert scaled(deployment, {"kind": "Scale"}, strategy)["spec"]["replicas"] == 0
    changed = scaled(deployment, {"metadata": {"resourceVersion": "7"}}, strategy)
    assert changed["metadata"]["resourceVersion"] == "7"
    assert scaled(deployment, {}, strategy)["metadata"] == made["metadata"]
    for wrong in ({"kind": "Pod"}, {"spec": {"replicas": -1}}, {"spec": {"replicas": "1"}}):
        with pytest.raises(Exception, match=r"Scale"):
            scaled(deployment, wrong, strategy)


def test_objects_are_found_by_the_rarest_label_in_one_namespace_or_in_all() -> None:
    cluster = Cluster()
    for number, labels in enumerate(({"a": "1", "b": "1"}, {"a": "1"}, {"a": "1", "b": "2"})):
        cluster.create(config_map(f"c{number}", labels=labels), CONFIG_MAP)

    def found(selector: str, namespace: str = NAMESPACE) -> list[str]:
        chosen = candidates(cluster.store, str(CONFIG_MAP), namespace, selector)
        return sorted(map(name_of, chosen))

    assert found("a=1,b=1") == found("b==1, a=1") == found(" b = 1 ") == ["c0"]
    assert found("b=1", "") == ["c0"]
    assert found("b=1", "other") == []
    every = ["c0", "c1", "c2"]
    assert found("b!=1") == found("b in (1)") == found("!b") == found("b") == every


def test_a_watch_of_nothing_before_now_begins_now() -> None:
    cluster = Cluster()
    cluster.create(config_map("a"), CONFIG_MAP)

    def seen(**options: Any) -> list[tuple[str, str]]:
        events: list[tuple[str, str]] = []

        def deliver(event: str, obj: Object) -> None:
            events.append((event, obj["metadata"].get("name", "")))

        watch = cluster.api.watch(WatchRequest(CONFIG_MAP, NAMESPACE, **options), deliver)
        watch.start()
        body = {"metadata": {"labels": {"n": str(len(cluster.store.changes))}}}
        cluster.patch(CONFIG_MAP, "a", body)
        watch.stop()
        return events

    assert seen(initial_events=False) == [("MODIFIED", "a")]
    assert seen()[:2] == [("ADDED", "a"), ("MODIFIED", "a")]


def test_names_are_drawn_until_one_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster()
    stream = cluster.loop.rng("generateName")
    drawn = iter(["aaaaa", "aaaaa", "bbbbb", *["aaaaa"] * 20])
    monkeypatch.setattr(stream, "choices", lambda *_, k: next(drawn)[:k])
    body = config_map("a")

    def create() -> str:
        metadata = {"generateName": "x-", "namespace": NAMESPACE}
        return name_of(cluster.create({**body, "metadata": metadata}, CONFIG_MAP))

    assert [create(), create()] == ["x-aaaaa", "x-bbbbb"]
    metadata = {"generateName": "x-", "namespace": NAMESPACE}
    error = cluster.refused(Create(CONFIG_MAP, {**body, "metadata": metadata}))
    assert (error.code, error.reason) == (409, "AlreadyExists")
    assert len(list(drawn)) == 20 - 8


def test_versions_are_in_the_order_of_their_stability() -> None:
    names = ["bar", "v1", "foo", "v2alpha1", "v10", "v1beta2", "v2beta1", "v1beta10", "v2", "v1a"]
    assert sorted(names, key=maturity) == [
        "v10",
        "v2",
        "v1",
        "v2beta1",
        "v1beta10",
        "v1beta2",
        "v2alpha1",
        "bar",
        "foo",
        "v1a",
    ]


def test_a_write_that_changes_nothing_is_none(widgets: Cluster) -> None:
    made = widgets.create(widget(), WIDGET)
    revision = widgets.store.revision
    widgets.user(Update(WIDGET, made))
    widgets.user(Patch(WIDGET, NAMESPACE, "w", {}))
    assert widgets.store.revision == revision
    assert [each["metadata"]["name"] for each in widgets.user(List(WIDGET, NAMESPACE)).items] == [
        "w"
    ]
    widgets.user(Delete(WIDGET, NAMESPACE, "w"))
