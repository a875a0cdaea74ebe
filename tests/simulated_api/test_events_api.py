"""Events by `events.k8s.io/v1`: those of `v1` under other names."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.serve.server import ServedCluster
from tests.simulated_api.cluster import Cluster
from tests.simulated_api.served import ask
from tests.simulated_api.test_protobuf import envelope, field, send
from vocabulary.kinds import EVENT

EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
REGARDING = {"kind": "Job", "name": "j", "namespace": "default", "apiVersion": "batch/v1"}


def event(name: str = "e", **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": name},
        "eventTime": "2026-01-02T03:04:05.000006Z",
        "regarding": REGARDING,
        "reportingController": "c",
        "reportingInstance": "i",
        "action": "Reconciling",
        "reason": "Restarted",
        "note": "once",
        "type": "Normal",
        **fields,
    }


def test_an_event_is_the_same_by_both_apis(cluster: Cluster, served: ServedCluster) -> None:
    code, made = ask(served, EVENTS, "POST", event())
    assert code == 201
    assert (made["apiVersion"], made["regarding"], made["note"]) == (
        "events.k8s.io/v1",
        REGARDING,
        "once",
    )
    stored = cluster.get(EVENT, "e")
    assert (stored["apiVersion"], stored["involvedObject"], stored["message"]) == (
        "v1",
        REGARDING,
        "once",
    )
    assert stored["reportingComponent"] == "c"


def test_lists_and_watches_show_its_names(served: ServedCluster) -> None:
    ask(served, EVENTS, "POST", event("a"))
    ask(served, EVENTS, "POST", event("b", regarding={**REGARDING, "name": "k"}))
    _, listed = ask(served, f"{EVENTS}?fieldSelector=regarding.name%3Dk")
    assert listed["apiVersion"] == "events.k8s.io/v1"
    assert [item["note"] for item in listed["items"]] == ["once"]


def test_a_series_is_patched(served: ServedCluster) -> None:
    ask(served, EVENTS, "POST", event())
    series = {"series": {"count": 2, "lastObservedTime": "2026-01-02T03:05:05.000006Z"}}
    code, patched = ask(
        served, f"{EVENTS}/e", "PATCH", series, content_type="application/merge-patch+json"
    )
    assert code == 200
    assert patched["series"]["count"] == 2
    assert patched["regarding"] == REGARDING


def test_it_is_discovered(served: ServedCluster) -> None:
    _, groups = ask(served, "/apis")
    assert "events.k8s.io" in [group["name"] for group in groups["groups"]]
    _, resources = ask(served, "/apis/events.k8s.io/v1")
    assert [each["name"] for each in resources["resources"]] == ["events"]


def test_it_takes_protobuf(cluster: Cluster, served: ServedCluster) -> None:
    at = field(2, bytes([1 << 3, 1]))  # one second
    said = field(4, b"c") + field(5, b"i") + field(6, b"a") + field(7, b"r")
    about = field(8, field(2, b"default") + field(3, b"j"))
    raw = field(1, field(1, b"e")) + at + said + about + field(10, b"once") + field(11, b"Normal")
    code, made = send(served, EVENTS, envelope("events.k8s.io/v1", "Event", raw))
    assert (code, made.get("note")) == (201, "once")
    assert cluster.get(EVENT, "e")["involvedObject"] == {"name": "j", "namespace": "default"}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"series": "x"}, "string into Go struct field Event.series of type v1.EventSeries"),
        (
            {"series": {"count": "3"}},
            "string into Go struct field EventSeries.series.count of type int32",
        ),
        (
            {"series": {"count": 2.5}},
            "number 2.5 into Go struct field EventSeries.series.count of type int32",
        ),
        (
            {"deprecatedSource": "x"},
            "string into Go struct field Event.deprecatedSource of type v1.EventSource",
        ),
        (
            {"reportingController": 5},
            "number into Go struct field Event.reportingController of type string",
        ),
        ({"note": 5}, "number into Go struct field Event.note of type string"),
        (
            {"regarding": "x"},
            "string into Go struct field Event.regarding of type v1.ObjectReference",
        ),
        ({"metadata": "x"}, "string into Go struct field Event.metadata of type v1.ObjectMeta"),
        (
            {"metadata": {"name": "e", "labels": {"a": 1}}},
            "number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
    ],
)
def test_a_field_of_another_type_is_refused(
    served: ServedCluster, fields: dict[str, Any], told: str
) -> None:
    code, status = ask(served, EVENTS, "POST", event(**fields))
    assert code == 400
    assert status["message"] == (
        f'Event in version "v1" cannot be handled as a Event: json: cannot unmarshal {told}'
    )


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"message": 7}, "number into Go struct field Event.message of type string"),
        (
            {"reportingComponent": 5},
            "number into Go struct field Event.reportingComponent of type string",
        ),
        (
            {"involvedObject": "x"},
            "string into Go struct field Event.involvedObject of type v1.ObjectReference",
        ),
        (
            {"involvedObject": {"name": []}},
            "array into Go struct field ObjectReference.involvedObject.name of type string",
        ),
    ],
)
def test_so_is_one_of_the_older_api(
    served: ServedCluster, fields: dict[str, Any], told: str
) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e"},
        "involvedObject": REGARDING,
        "eventTime": "2026-01-02T03:04:05.000006Z",
        **fields,
    }
    code, status = ask(served, "/api/v1/namespaces/default/events", "POST", body)
    assert (code, status["message"].partition("unmarshal ")[2]) == (400, told)


def test_a_patch_may_not_change_a_type(served: ServedCluster) -> None:
    ask(served, EVENTS, "POST", event())
    code, status = ask(
        served,
        f"{EVENTS}/e",
        "PATCH",
        {"series": "x"},
        content_type="application/merge-patch+json",
    )
    assert code == 422
    assert "cannot unmarshal string into Go struct field Event.series" in status["message"]
