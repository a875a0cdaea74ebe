"""Masks hide what is volatile, and keep what is not."""

from __future__ import annotations

from typing import Any

from tests.differential.compare import differences
from tests.differential.dialogue import shown
from tests.differential.masks import masked
from tests.differential.transcript import Transcript

ONE = "11111111-2222-3333-4444-555555555555"
TWO = "66666666-2222-3333-4444-555555555555"


def step(body: dict[str, Any], show: list[str] | None = None) -> dict[str, Any]:
    return {"step": "get", "code": 200, "body": body, "show": show or []}


def obj(uid: str, version: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"uid": uid, "resourceVersion": version, **more}}


def test_a_uid_keeps_its_identity() -> None:
    first, second, third = (
        entry["body"]["metadata"]["uid"]
        for entry in masked([step(obj(ONE, "1")), step(obj(TWO, "2")), step(obj(ONE, "3"))], shown)
    )
    assert (first, second, third) == ("<uid 1>", "<uid 2>", "<uid 1>")


def test_versions_are_ranked_object_by_object_in_the_order_of_numbers() -> None:
    steps = [step(obj(ONE, "9")), step(obj(ONE, "10")), step(obj(TWO, "5")), step(obj(ONE, "9"))]
    versions = [entry["body"]["metadata"]["resourceVersion"] for entry in masked(steps, shown)]
    assert versions == ["<version 1>", "<version 2>", "<version 1>", "<version 1>"]


def test_versions_that_are_not_shown_do_not_count() -> None:
    steps = [step(obj(ONE, "1"), ["metadata.uid"]), step(obj(ONE, "7"))]
    assert masked(steps, shown)[1]["body"]["metadata"]["resourceVersion"] == "<version 1>"


def test_the_end_of_a_generated_name_is_masked_wherever_it_stands() -> None:
    pod = {"metadata": {"generateName": "a-", "name": "a-x7f2k"}, "message": "pod a-x7f2k is gone"}
    body = masked([step(pod)], shown)[0]["body"]
    assert body["metadata"]["name"] == "a-<suffix>"
    assert body["message"] == "pod a-<suffix> is gone"


def test_a_list_keeps_its_order_unless_names_are_generated() -> None:
    plain = {"items": [{"metadata": {"name": "b"}}, {"metadata": {"name": "a"}}]}
    assert masked([step(plain)], shown)[0]["body"] == plain
    random = [
        {"metadata": {"generateName": "x-", "name": f"x-{end}"}, "n": n}
        for n, end in ((2, "bbbbb"), (1, "ccccc"))
    ]
    items = masked([step({"items": random}, ["n"])], shown)[0]["body"]["items"]
    assert items == [{"n": 1}, {"n": 2}]


def test_a_time_is_masked_and_its_absence_is_not() -> None:
    body = masked([step({"at": "2024-01-01T00:00:00Z", "then": None})], shown)[0]["body"]
    assert body == {"at": "<time>", "then": None}


def test_a_difference_names_its_field_and_both_values() -> None:
    real = Transcript("x", [{"step": "get", "code": 200, "body": {"a": [1, {"b": True}]}}])
    other = Transcript("x", [{"step": "get", "code": 200, "body": {"a": [1, {"b": 1}]}}])
    assert [(one.path, one.real, one.simulated) for one in differences(real, other)] == [
        ("body.a.1.b", True, 1)
    ]


def test_a_transcript_that_ends_early_differs_there() -> None:
    real = Transcript("x", [{"step": "one"}, {"step": "two"}])
    assert [one.number for one in differences(real, Transcript("x", [{"step": "one"}]))] == [2]
