"""Events by both of their APIs, and Leases: what is valid."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from vocabulary.kinds import EVENT, LEASE

_TIME = "2026-01-01T00:00:00.000000Z"
_LATER = "2026-01-01T00:00:01.000000Z"
_SAID: dict[str, Any] = {
    "eventTime": _TIME,
    "reportingInstance": "i-1",
    "action": "Do",
    "reason": "Done",
}


def _core(c: Dialogue, **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "namespace": c.namespace, "name": "p"},
        "type": "Normal",
        **fields,
    }


def _new(c: Dialogue, **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "e"},
        "regarding": {"kind": "Pod", "namespace": c.namespace, "name": "p"},
        "type": "Normal",
        "note": "n",
        "reportingController": "example.org/c",
        **_SAID,
        **fields,
    }


def _tried(c: Dialogue, path: str, bodies: dict[str, dict[str, Any]]) -> None:
    for label, body in bodies.items():
        target = f"{path}?dryRun=All"
        c.raw("POST", target, body, label=label, show=["metadata.name", "type", "note"])


@script(
    "An Event of v1 is about an object of its namespace, and complete if it has a time.", ["4.5"]
)
def events_of_v1(c: Dialogue) -> None:
    said = {**_SAID, "reportingComponent": "example.org/c"}
    pod = {"kind": "Pod", "name": "p"}
    path = EVENT.path(c.namespace)
    _tried(
        c,
        path,
        {
            "old": _core(c),
            "odd type": _core(c, type="Odd"),
            "no namespace": _core(c, involvedObject=pod),
            "another namespace": _core(c, involvedObject={**pod, "namespace": "default"}),
            "nothing said": _core(c, eventTime=_TIME),
            "all said": _core(c, **said),
            "all said, no namespace": _core(c, **said, involvedObject=pod),
            "all said, another": _core(c, **said, involvedObject={**pod, "namespace": "default"}),
            "odd component": _core(c, **{**said, "reportingComponent": "Odd Name!"}),
            "odd domain": _core(c, **{**said, "reportingComponent": "UPPER/c"}),
            "too long": _core(
                c,
                **{
                    **said,
                    "action": "a" * 129,
                    "reason": "r" * 129,
                    "reportingInstance": "i" * 129,
                },
                message="m" * 1025,
            ),
            "long, but old": _core(c, reason="r" * 500, message="m" * 5000),
            "one in a series": _core(c, **said, series={"count": 1}),
        },
    )
    c.create(_core(c, **said), show=["metadata.name"])
    c.update(_core(c, **said | {"reason": "Other"}), show=["reason"])
    c.update(_core(c, **said | {"reason": ""}), show=["reason"])
    c.patch(EVENT, "e", {"action": None}, show=["action"])
    c.patch(EVENT, "e", {"count": 3}, show=["count"])


@script("An Event of events.k8s.io/v1 is complete, and only its series changes.", ["4.5"])
def events_of_their_own_group(c: Dialogue) -> None:
    path = f"/apis/events.k8s.io/v1/namespaces/{c.namespace}/events"
    pod = {"kind": "Pod", "name": "p"}
    series = {"count": 2, "lastObservedTime": _LATER}
    _tried(
        c,
        path,
        {
            "good": _new(c),
            "no time": _new(c, eventTime=None),
            "odd type": _new(c, type="Odd"),
            "no type": _new(c, type=""),
            "no namespace": _new(c, regarding=pod),
            "another namespace": _new(c, regarding={**pod, "namespace": "default"}),
            "nothing said": _new(
                c, reportingController="", reportingInstance="", action="", reason=""
            ),
            "odd controller": _new(c, reportingController="a b"),
            "long note": _new(c, note="n" * 1025),
            "source": _new(c, deprecatedSource={"component": "c"}),
            "first": _new(c, deprecatedFirstTimestamp="2026-01-01T00:00:00Z"),
            "last": _new(c, deprecatedLastTimestamp="2026-01-01T00:00:00Z"),
            "count": _new(c, deprecatedCount=2),
            "series": _new(c, series=series),
            "one in a series": _new(c, series={**series, "count": 1}),
            "series without a time": _new(c, series={"count": 2}),
        },
    )
    c.raw("POST", path, _new(c), label="create", show=["metadata.name"])
    c.raw("PUT", f"{path}/e", _new(c, series=series), label="series", show=["series"])
    merge = "application/merge-patch+json"
    for label, patch in {
        "another series": {"series": {"count": 3}},
        "a short series": {"series": {"count": 1}},
        "note": {"note": "other"},
        "all": {"reason": "X", "action": "Y", "type": "Warning", "reportingInstance": "z"},
        "time": {"eventTime": _LATER},
        "labels": {"metadata": {"labels": {"a": "b"}}},
    }.items():
        show = ["series", "note", "metadata.labels"]
        c.raw("PATCH", f"{path}/e", patch, content_type=merge, label=label, show=show)


@script("A Lease's durations are positive, and its times have microseconds.", ["4.5"])
def leases(c: Dialogue) -> None:
    path = LEASE.path(c.namespace)

    def lease(**spec: Any) -> dict[str, Any]:
        return {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": "l"},
            "spec": spec,
        }

    for label, body in {
        "good": lease(holderIdentity="a", leaseDurationSeconds=1, renewTime=_TIME),
        "no duration": lease(leaseDurationSeconds=0),
        "negative": lease(leaseDurationSeconds=-1, leaseTransitions=-1),
        "no holder": lease(holderIdentity=""),
        "text": lease(leaseDurationSeconds="1"),
        "no time": lease(acquireTime="nonsense"),
        "whole seconds": lease(renewTime="2026-01-01T00:00:00Z"),
        "nanoseconds": lease(renewTime="2026-01-01T00:00:00.123456789Z"),
        "number": lease(renewTime=5),
        "nothing": {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": "l"},
        },
    }.items():
        c.raw("POST", f"{path}?dryRun=All", body, label=label, show=["spec"])
    c.create(lease(leaseDurationSeconds=1, leaseTransitions=0), show=["spec"])
    c.patch(LEASE, "l", {"spec": {"leaseDurationSeconds": 0}}, show=["spec"])
    c.patch(LEASE, "l", {"spec": {"leaseTransitions": -1}}, show=["spec"])
    c.patch(LEASE, "l", {"spec": {"renewTime": "nonsense"}}, show=["spec"])
    c.patch(LEASE, "l", {"spec": {"leaseDurationSeconds": None}}, show=["spec"])


@script("Times of an event are kept in UTC, those of its series too.", ["4.16"])
def times_of_events(c: Dialogue) -> None:
    path = f"/apis/events.k8s.io/v1/namespaces/{c.namespace}/events"
    sound = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "a", "namespace": c.namespace},
        "eventTime": "2024-01-01T01:00:00.500000+01:00",
        "reportingController": "tests.assay.dev/differential",
        "reportingInstance": "one",
        "action": "Do",
        "reason": "Done",
        "type": "Normal",
        "regarding": {"apiVersion": "v1", "kind": "Pod", "name": "a", "namespace": c.namespace},
    }
    for label, fields in {
        "sound": {},
        "a series": {
            "series": {"count": 2, "lastObservedTime": "2024-01-01T02:00:00.123456+02:00"}
        },
        "a series in UTC": {
            "series": {"count": 2, "lastObservedTime": "2024-01-01T02:00:00.123456Z"}
        },
        "a series of one": {
            "series": {"count": 1, "lastObservedTime": "2024-01-01T02:00:00.000000Z"}
        },
        "a series of none": {"series": {"count": 0}},
        "no time": {"eventTime": None},
        "a time with more": {"eventTime": "2024-01-01T00:00:00Zx"},
        "a time with a space": {"eventTime": "2024-01-01 00:00:00Z"},
        "a time of day 30": {"eventTime": "2024-02-30T00:00:00Z"},
        "a leap second": {"eventTime": "2024-01-01T23:59:60Z"},
        "nanoseconds": {"eventTime": "2024-01-01T00:00:00.123456789Z"},
        "an offset": {"eventTime": "2024-01-01T00:00:00.000001-25:00"},
        "a long reason": {"reason": "r" * 129},
        "a fitting reason": {"reason": "r" * 128},
        "a long action": {"action": "r" * 129},
        "a fitting action": {"action": "r" * 128},
        "a long note": {"note": "n" * 1025},
        "a fitting note": {"note": "n" * 1024},
        "a long instance": {"reportingInstance": "i" * 129},
        "a fitting instance": {"reportingInstance": "i" * 128},
        "an odd controller": {"reportingController": "-"},
        "no controller": {"reportingController": ""},
        "an odd type": {"type": "Odd"},
        "old fields": {"deprecatedCount": 1, "deprecatedSource": {"component": "x"}},
        "elsewhere": {"regarding": {"kind": "Pod", "name": "a", "namespace": "other"}},
    }.items():
        body = {key: value for key, value in {**sound, **fields}.items() if value is not None}
        show = [*(field for field in fields if "fitting" not in label), "eventTime"]
        c.raw("POST", f"{path}?dryRun=All", body, label=label, show=show)
