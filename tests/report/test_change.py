"""An entry's change, in a few words; the difference of two snapshots, in full."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.history.object_diff import ABSENT, differences
from conformance.report.pages.change import Step, describe, with_previous
from vocabulary.history import Entry, Fault, Mark, OutgoingCall, Process, Write


def _write(**fields: Any) -> Write:
    base: dict[str, Any] = {"n": 0, "t": 0, "actor": "appwrapper", "verb": "update", "kind": "Pod"}
    return Write(**{**base, "name": "a", **fields})


def _pod(**status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a", "uid": "u"}, "spec": {}, "status": status}


def _conditions(**statuses: str) -> list[dict[str, str]]:
    return [
        {"type": type_, "status": status, "lastTransitionTime": "2026-01-01T00:00:00Z"}
        for type_, status in statuses.items()
    ]


@pytest.mark.parametrize(
    ("entry", "old", "words"),
    [
        (_write(verb="create", event="ADDED", object=_pod()), None, "created"),
        (
            _write(verb="delete", event="DELETED", options={"gracePeriodSeconds": 0}),
            _pod(),
            "gone (grace 0)",
        ),
        (_write(code=409, reason="Conflict"), None, "update refused: 409 Conflict"),
        (_write(code=0, subresource="status"), None, "update status: no answer"),
        (_write(), None, "update changed nothing"),
        (
            _write(event="MODIFIED", object=_pod(phase="Failed")),
            _pod(phase="Running"),
            "Running → Failed",
        ),
        (
            _write(event="MODIFIED", object=_pod(conditions=_conditions(Ready="False"))),
            _pod(conditions=_conditions(Ready="True")),
            "Ready True → False",
        ),
        (
            _write(event="MODIFIED", object=_pod(conditions=_conditions(Ready="True"))),
            _pod(),
            "Ready absent → True",
        ),
        (
            _write(
                event="MODIFIED",
                object={**_pod(), "spec": {"taints": [{"key": "k", "value": "v", "effect": "E"}]}},
            ),
            _pod(),
            "taint k=v:E added",
        ),
        (
            _write(
                event="MODIFIED",
                verb="delete",
                options={"gracePeriodSeconds": 30},
                object={**_pod(), "metadata": {"name": "a", "deletionTimestamp": "2026"}},
            ),
            _pod(),
            "deletion began (grace 30)",
        ),
        (
            _write(event="MODIFIED", object={**_pod(), "spec": {"suspend": True}}),
            {**_pod(), "spec": {"suspend": False}},
            "suspend false → true",
        ),
        (Process(n=0, t=0, process="appwrapper", change="killed"), None, "killed"),
        (
            OutgoingCall(
                n=0, t=0, process="ray", protocol="dns", to="a.default.svc", answer="no such host"
            ),
            None,
            "calls a.default.svc (dns): no such host",
        ),
        (Mark(n=0, t=0, mark="step", text="submitted"), None, "step: submitted"),
        (
            Fault(n=0, t=0, action="refused", fault={}, text="taint n0"),
            None,
            "refused: taint n0",
        ),
    ],
)
def test_an_entry_is_described_by_what_changed(
    entry: Entry, old: dict[str, Any] | None, words: str
) -> None:
    assert describe(Step(entry, old)).startswith(words)


def test_previous_snapshots_are_those_of_the_same_object_and_life() -> None:
    first, second = _pod(phase="Pending"), _pod(phase="Running")
    entries = [
        _write(n=0, event="ADDED", object=first),
        _write(n=1, name="b", event="ADDED", object=_pod()),
        _write(n=2, event="MODIFIED", object=second),
        _write(n=3, code=409),
        _write(n=4, event="DELETED", object=second),
        _write(n=5, event="ADDED", object=first),
    ]
    assert [step.old for step in with_previous(entries)] == [
        None,
        None,
        first,
        second,
        second,
        None,
    ]


def test_lists_are_compared_by_their_key_and_not_by_position() -> None:
    old = {"conditions": _conditions(A="True", B="True")}
    new = {"conditions": list(reversed(_conditions(A="True", B="False")))}
    assert differences(old, new) == [("conditions[B].status", "True", "False")]


def test_what_is_absent_on_one_side_is_told_part_by_part() -> None:
    assert differences({}, {"a": {"b": 1, "c": [1, 2]}}) == [
        ("a.b", ABSENT, 1),
        ("a.c", ABSENT, [1, 2]),
    ]


def test_keys_with_dots_are_quoted_in_paths() -> None:
    found = differences({}, {"metadata": {"labels": {"example.com/x": "1"}}})
    assert found == [('metadata.labels["example.com/x"]', ABSENT, "1")]


def test_resource_versions_are_not_told() -> None:
    assert (
        differences({"metadata": {"resourceVersion": "1"}}, {"metadata": {"resourceVersion": "2"}})
        == []
    )
