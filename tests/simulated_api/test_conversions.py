"""Conversions of custom resources where the webhook cannot be reached, and in watches."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clusters.simulated.watches import EventType, WatchRequest
from tests.simulated_api.cluster import Cluster
from vocabulary.errors import ApiError
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION, Kind
from vocabulary.objects import Object
from vocabulary.requests import Create, Get

NEW = Kind("tests.assay.dev", "v2", "Plank", "planks")
STORED = Kind("tests.assay.dev", "v1", "Plank", "planks")
SCHEMA = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "planks.tests.assay.dev"},
    "spec": {
        "group": "tests.assay.dev",
        "scope": "Namespaced",
        "names": {"kind": "Plank", "plural": "planks"},
        "conversion": {
            "strategy": "Webhook",
            "webhook": {
                "clientConfig": {"service": {"name": "s", "namespace": "n", "path": "/convert"}},
                "conversionReviewVersions": ["v1"],
            },
        },
        "versions": [
            {
                "name": name,
                "served": True,
                "storage": name == "v1",
                "schema": {"openAPIV3Schema": SCHEMA},
            }
            for name in ("v1", "v2")
        ],
    },
}


@pytest.fixture
def planks() -> Cluster:
    cluster = Cluster()
    name = "planks.tests.assay.dev"
    cluster.api.handle(Create(CUSTOM_RESOURCE_DEFINITION, DEFINITION, "", name), "harness")
    body = {"apiVersion": STORED.api_version, "kind": "Plank", "metadata": {"name": "a"}}
    cluster.api.handle(Create(STORED, body, "default", "a"), "user")
    return cluster


def _convert(definition: Object, review: bytes) -> bytes:
    request = json.loads(review)["request"]
    assert definition["metadata"]["name"] == "planks.tests.assay.dev"
    wanted = request["desiredAPIVersion"]
    objects = [{**obj, "apiVersion": wanted, "seen": True} for obj in request["objects"]]
    result = {"status": "Success"}
    return json.dumps({"response": {"result": result, "convertedObjects": objects}}).encode()


def test_nobody_converts_unless_the_webhook_is_served(planks: Cluster) -> None:
    assert planks.get(STORED, "a") is not None
    with pytest.raises(ApiError, match="no conversion webhook is reached") as refused:
        planks.api.handle(Get(NEW, "default", "a"), "user")
    assert refused.value.code == 500
    planks.api.conversion = _convert
    assert planks.api.handle(Get(NEW, "default", "a"), "user")["seen"]


def test_a_watch_ends_where_an_event_cannot_be_converted(planks: Cluster) -> None:
    events: list[tuple[EventType, Object]] = []
    watch = planks.api.watch(
        WatchRequest(NEW, "default", resource_version=str(planks.api.store.revision)),
        lambda event, obj: events.append((event, obj)),
    )
    watch.start()
    planks.api.conversion = _convert
    for name in ("b", "c", "d"):
        body = {"apiVersion": STORED.api_version, "kind": "Plank", "metadata": {"name": name}}
        planks.api.handle(Create(STORED, body, "default", name), "user")
        if name == "b":

            def refuse(definition: Object, review: bytes) -> bytes:
                raise ConnectionRefusedError("connection refused")

            planks.api.conversion = refuse
    assert [event for event, _ in events] == ["ADDED", "ERROR"]
    assert events[0][1]["apiVersion"] == NEW.api_version
    assert "connection refused" in events[1][1]["message"]
