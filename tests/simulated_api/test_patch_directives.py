"""JSON patches and strategic merge patches, operation by operation."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.patches.json_patch import (
    MAX_OPERATIONS,
    JsonPatchError,
    apply_json_patch,
)
from clusters.simulated.patches.merge_patch import apply_merge_patch
from clusters.simulated.patches.strategic_merge_patch import (
    StrategicPatchError,
    apply_strategic_merge_patch,
    merge_key,
)

NESTED = {"list": [{"a": 1}, {"a": 2}], "flag": True, "object": {"x/y": 1, "m~n": 2}}


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "replace", "path": "/list/1", "value": 0}, {"list": [{"a": 1}, 0]}),
        ({"op": "replace", "path": "/list/0/a", "value": 0}, {"list": [{"a": 0}, {"a": 2}]}),
        ({"op": "add", "path": "/list/2", "value": 0}, {"list": [{"a": 1}, {"a": 2}, 0]}),
        ({"op": "add", "path": "/list/0", "value": 0}, {"list": [0, {"a": 1}, {"a": 2}]}),
        ({"op": "remove", "path": "/list/1"}, {"list": [{"a": 1}]}),
        ({"op": "copy", "from": "/list/1/a", "path": "/list/0/a"}, {"list": [{"a": 2}] * 2}),
        ({"op": "add", "path": "/object/x~1y", "value": 3}, {"object": {"x/y": 3, "m~n": 2}}),
        ({"op": "remove", "path": "/object/m~0n"}, {"object": {"x/y": 1}}),
        ({"op": "test", "path": "/list/1", "value": {"a": 2}}, {}),
        ({"op": "test", "path": "/list", "value": [{"a": 1}, {"a": 2}]}, {}),
        ({"op": "test", "path": "/absent", "value": None}, {}),
    ],
)
def test_a_json_patch_reaches_into_lists_and_escaped_names(
    operation: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert apply_json_patch(NESTED, [operation]) == {**NESTED, **expected}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "add", "value": 1},
        {"op": "copy", "path": "/x"},
        {"op": "move", "from": "/flag", "path": "/list/3"},
        {"op": "remove", "path": ""},
        {"op": "replace", "path": "/list/2", "value": 1},
        {"op": "add", "path": "/list/3", "value": 1},
        {"op": "remove", "path": "/list/-"},
        {"op": "add", "path": "/absent/x", "value": 1},
        {"op": "add", "path": "/flag/x", "value": 1},
        {"op": "test", "path": "/flag/x", "value": 1},
        {"op": "test", "path": "/absent/x", "value": None},
        {"op": "test", "path": "/list", "value": [{"a": 1}]},
        {"op": "test", "path": "/list/0", "value": {"a": 1, "b": 2}},
        {"op": "test", "path": "/flag", "value": 1},
        {"op": "move", "from": "/object", "path": "/object/inner"},
    ],
)
def test_a_json_patch_that_leads_nowhere_fails(operation: dict[str, Any]) -> None:
    with pytest.raises(JsonPatchError):
        apply_json_patch(NESTED, [operation])


def test_a_json_patch_may_move_a_value_to_where_it_is() -> None:
    operation = {"op": "move", "from": "/flag", "path": "/flag"}
    assert apply_json_patch(NESTED, [operation]) == NESTED


def test_a_json_patch_has_ten_thousand_operations_at_most() -> None:
    one = {"op": "test", "path": "/flag", "value": True}
    assert apply_json_patch(NESTED, [one] * MAX_OPERATIONS) == NESTED
    with pytest.raises(JsonPatchError, match="got 10001"):
        apply_json_patch(NESTED, [one] * (MAX_OPERATIONS + 1))


def test_a_json_patch_leaves_what_it_is_given_as_it_is() -> None:
    before = repr(NESTED)
    apply_json_patch(NESTED, [{"op": "replace", "path": "/list/0/a", "value": 9}])
    assert repr(NESTED) == before


def test_a_merge_patch_replaces_whatever_is_no_object() -> None:
    assert apply_merge_patch({"a": {"b": 1}}, {"a": [1]}) == {"a": [1]}
    assert apply_merge_patch({"a": [1]}, {"a": {"b": {"c": None}}}) == {"a": {"b": {}}}
    assert apply_merge_patch({"a": 1}, {"b": 2, "a": None, "c": None}) == {"b": 2}
    assert apply_merge_patch({"a": 1}, "text") == "text"


def containers(*names: str) -> dict[str, Any]:
    return {"containers": [{"name": name, "image": "x"} for name in names]}


def names(merged: dict[str, Any], field: str = "containers") -> list[str]:
    return [entry["name"] for entry in merged[field]]


def test_a_replace_directive_in_a_list_replaces_the_list() -> None:
    patch = {"containers": [{"$patch": "replace"}, {"name": "b"}]}
    assert apply_strategic_merge_patch(containers("a"), patch) == {"containers": [{"name": "b"}]}


def test_a_delete_directive_leaves_an_empty_object() -> None:
    target = {"securityContext": {"runAsUser": 1}, "x": 1}
    patch = {"securityContext": {"$patch": "delete"}}
    assert apply_strategic_merge_patch(target, patch) == {"securityContext": {}, "x": 1}


def test_a_directive_that_nobody_knows_is_refused() -> None:
    with pytest.raises(StrategicPatchError, match="unknown"):
        apply_strategic_merge_patch({}, {"spec": {"$patch": "shout"}})


def test_retained_keys_drop_the_others() -> None:
    target = {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}
    patch = {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}
    assert apply_strategic_merge_patch(target, patch) == {"strategy": {"type": "Recreate"}}


def test_null_takes_a_field_away_and_is_nothing_where_there_is_none() -> None:
    assert apply_strategic_merge_patch({"a": 1, "b": 2}, {"a": None, "c": None}) == {"b": 2}


def test_an_object_replaces_what_was_none() -> None:
    assert apply_strategic_merge_patch({"a": 1}, {"a": {"b": 2}}) == {"a": {"b": 2}}


def test_an_order_may_be_all_that_a_patch_asks_for() -> None:
    patch = {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}
    merged = apply_strategic_merge_patch(containers("a", "b"), patch)
    assert merged == containers("b", "a")


def test_what_a_patch_does_not_name_stays_before_what_it_preceded() -> None:
    patch = {"containers": [{"name": "c"}, {"name": "new"}]}
    merged = apply_strategic_merge_patch(containers("a", "b", "c", "d"), patch)
    assert names(merged) == ["a", "b", "c", "new", "d"]


def test_an_entry_that_is_deleted_need_not_be_there() -> None:
    patch = {"containers": [{"name": "b", "$patch": "delete"}]}
    assert names(apply_strategic_merge_patch(containers("a"), patch)) == ["a"]


def test_there_is_nothing_to_delete_from_a_list_that_is_missing() -> None:
    patch = {"$deleteFromPrimitiveList/finalizers": ["x"]}
    assert apply_strategic_merge_patch({"a": 1}, patch) == {"a": 1}


@pytest.mark.parametrize(
    ("field", "parent", "key"),
    [
        ("ports", "spec", "port"),
        ("ports", "containers", "containerPort"),
        ("ports", "", None),
        ("volumeMounts", "", "mountPath"),
        ("ownerReferences", "metadata", "uid"),
        ("hostAliases", "spec", "ip"),
        ("conditions", "status", "type"),
        ("args", "", None),
        ("tolerations", "spec", None),
    ],
)
def test_lists_merge_by_the_keys_that_their_types_have(
    field: str, parent: str, key: str | None
) -> None:
    assert merge_key(field, parent, "") == key
