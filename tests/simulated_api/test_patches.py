"""Patch documents: the laws of the RFCs, and Kubernetes' own two kinds of patch."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusters.simulated.patches.json_patch import JsonPatchError, apply_json_patch
from clusters.simulated.patches.merge_patch import apply_merge_patch
from clusters.simulated.patches.strategic_merge_patch import (
    StrategicPatchError,
    apply_strategic_merge_patch,
)
from tests.simulated_api.cluster import WIDGET, Cluster, config_map, pod, widget
from vocabulary.kinds import CONFIG_MAP, POD
from vocabulary.objects import Object
from vocabulary.requests import Patch

_scalars = st.none() | st.booleans() | st.integers(-5, 5) | st.text("abc", max_size=3)
_keys = st.sampled_from(["a", "b", "c/d", "e~f"])
_json = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
    max_leaves=12,
)
_documents = st.dictionaries(_keys, _json, max_size=4)


def _without_nulls(value: Any, *, is_root: bool = True) -> Any:
    """The value without its nulls; those in lists' objects go as well, but in no list alone."""
    if isinstance(value, dict):
        items = value.items()
        return {key: _without_nulls(it, is_root=False) for key, it in items if it is not None}
    if isinstance(value, list) and not is_root:
        return [_without_nulls(it, is_root=False) for it in value]
    return value


class TestMergePatch:
    @given(_documents, _documents)
    def test_applying_a_patch_twice_is_applying_it_once(self, target: Any, patch: Any) -> None:
        once = apply_merge_patch(target, patch)
        assert apply_merge_patch(once, patch) == once

    @given(_documents)
    def test_an_empty_patch_changes_nothing(self, target: Any) -> None:
        assert apply_merge_patch(target, {}) == target

    @given(_documents)
    def test_a_patch_onto_nothing_is_the_patch_without_its_nulls(self, patch: Any) -> None:
        assert apply_merge_patch({}, patch) == _without_nulls(patch)

    @given(_documents, _documents)
    def test_neither_target_nor_patch_is_changed(self, target: Any, patch: Any) -> None:
        before = copy.deepcopy((target, patch))
        apply_merge_patch(target, patch)
        assert (target, patch) == before

    def test_the_example_of_the_rfc(self) -> None:
        target = {
            "title": "Goodbye!",
            "author": {"givenName": "John", "familyName": "Doe"},
            "tags": ["example", "sample"],
            "content": "This will be unchanged",
        }
        patch = {
            "title": "Hello!",
            "phoneNumber": "+01-123-456-7890",
            "author": {"familyName": None},
            "tags": ["example"],
        }
        assert apply_merge_patch(target, patch) == {
            "title": "Hello!",
            "author": {"givenName": "John"},
            "tags": ["example"],
            "content": "This will be unchanged",
            "phoneNumber": "+01-123-456-7890",
        }


class TestJsonPatch:
    @given(_documents, _keys, _json)
    def test_what_is_added_can_be_read_tested_and_removed(
        self, target: Any, key: str, value: Any
    ) -> None:
        pointer = "/" + key.replace("~", "~0").replace("/", "~1")
        added = apply_json_patch(target, [{"op": "add", "path": pointer, "value": value}])
        assert added[key] == value
        tested = [{"op": "test", "path": pointer, "value": value}]
        assert apply_json_patch(added, tested) == added
        removed = apply_json_patch(added, [{"op": "remove", "path": pointer}])
        assert removed == {name: child for name, child in target.items() if name != key}

    @given(st.lists(_scalars, max_size=5), st.integers(0, 5), _scalars)
    def test_a_list_takes_a_value_at_any_index_up_to_its_end(
        self, items: list[Any], index: int, value: Any
    ) -> None:
        operation = {"op": "add", "path": f"/list/{index}", "value": value}
        if index > len(items):
            with pytest.raises(JsonPatchError):
                apply_json_patch({"list": items}, [operation])
        else:
            expected = [*items[:index], value, *items[index:]]
            assert apply_json_patch({"list": items}, [operation]) == {"list": expected}

    @given(_documents, _json)
    def test_the_document_handed_in_is_not_changed(self, target: Any, value: Any) -> None:
        before = copy.deepcopy(target)
        apply_json_patch(target, [{"op": "add", "path": "/a", "value": value}])
        assert target == before

    @pytest.mark.parametrize(
        "operation",
        [
            {"op": "remove", "path": "/missing"},
            {"op": "add", "path": "/missing/deep", "value": 1},
            {"op": "test", "path": "/flag", "value": 1},
            {"op": "add", "path": "/list/01", "value": 1},
            {"op": "add", "path": "no-slash", "value": 1},
            {"op": "add", "path": "/x"},
            {"op": "shout", "path": "/x"},
            {"op": "move", "from": "/object", "path": "/object/inner"},
            {"op": "copy", "from": "/missing/deep", "path": "/x"},
        ],
    )
    def test_an_operation_that_cannot_be_done_fails(self, operation: dict[str, Any]) -> None:
        with pytest.raises(JsonPatchError):
            apply_json_patch({"flag": True, "list": [], "object": {}}, [operation])

    def test_to_replace_a_field_that_is_missing_adds_it(self) -> None:
        operation = {"op": "replace", "path": "/missing", "value": 1}
        assert apply_json_patch({}, [operation]) == {"missing": 1}

    def test_move_and_copy_carry_values_over(self) -> None:
        operations = [
            {"op": "copy", "from": "/a", "path": "/b"},
            {"op": "move", "from": "/a", "path": "/list/-"},
        ]
        assert apply_json_patch({"a": 1, "list": []}, operations) == {"b": 1, "list": [1]}

    def test_a_failed_test_is_refused_without_saying_why(self, cluster: Cluster) -> None:
        cluster.create(config_map(), CONFIG_MAP)
        body = [{"op": "test", "path": "/data/key", "value": "wrong"}]
        error = cluster.refused(Patch(CONFIG_MAP, "default", "c", body, "json"))
        assert error.code == 422
        assert error.message == "the server rejected our request due to an error in our request"


class TestStrategicMergePatch:
    containers: ClassVar[Object] = {
        "spec": {"containers": [{"name": "a", "image": "x", "tty": True}]}
    }

    def test_entries_of_a_keyed_list_merge_by_their_key(self) -> None:
        patch = {"spec": {"containers": [{"name": "a", "image": "y"}]}}
        merged = apply_strategic_merge_patch(self.containers, patch)
        assert merged["spec"]["containers"] == [{"name": "a", "image": "y", "tty": True}]

    def test_a_new_entry_comes_before_those_that_the_patch_does_not_name(self) -> None:
        patch = {"spec": {"containers": [{"name": "b", "image": "y"}]}}
        merged = apply_strategic_merge_patch(self.containers, patch)
        assert [entry["name"] for entry in merged["spec"]["containers"]] == ["b", "a"]

    def test_an_order_that_is_asked_for_is_kept(self) -> None:
        patch = {
            "spec": {
                "containers": [{"name": "b", "image": "y"}],
                "$setElementOrder/containers": [{"name": "a"}, {"name": "b"}],
            }
        }
        merged = apply_strategic_merge_patch(self.containers, patch)
        assert [entry["name"] for entry in merged["spec"]["containers"]] == ["a", "b"]

    def test_a_delete_directive_takes_an_entry_out(self) -> None:
        patch = {"spec": {"containers": [{"name": "a", "$patch": "delete"}]}}
        assert apply_strategic_merge_patch(self.containers, patch)["spec"]["containers"] == []

    def test_a_replace_directive_drops_what_was_there(self) -> None:
        patch = {"spec": {"$patch": "replace", "nodeName": "n"}}
        assert apply_strategic_merge_patch(self.containers, patch) == {"spec": {"nodeName": "n"}}

    def test_lists_without_a_key_are_replaced(self) -> None:
        merged = apply_strategic_merge_patch({"args": ["a"]}, {"args": ["b"]})
        assert merged == {"args": ["b"]}

    def test_finalizers_are_added_to(self) -> None:
        target = {"metadata": {"finalizers": ["x.y/a"]}}
        merged = apply_strategic_merge_patch(target, {"metadata": {"finalizers": ["x.y/b"]}})
        assert sorted(merged["metadata"]["finalizers"]) == ["x.y/a", "x.y/b"]

    def test_finalizers_are_taken_away_by_directive_only(self) -> None:
        target = {"metadata": {"finalizers": ["x.y/a", "x.y/b"]}}
        patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["x.y/a"]}}
        assert apply_strategic_merge_patch(target, patch)["metadata"]["finalizers"] == ["x.y/b"]

    def test_an_entry_without_its_key_is_refused(self) -> None:
        with pytest.raises(StrategicPatchError, match="merge key: name"):
            apply_strategic_merge_patch(self.containers, {"spec": {"containers": [{}]}})

    def test_conditions_of_a_status_merge_by_type(self, cluster: Cluster) -> None:
        cluster.create(pod(), POD)
        for type_ in ("Ready", "Initialized"):
            body = {"status": {"conditions": [{"type": type_, "status": "True"}]}}
            patched = cluster.patch(POD, "p", body, "status", patch_type="strategic")
        assert {entry["type"] for entry in patched["status"]["conditions"]} == {
            "Ready",
            "Initialized",
        }

    def test_custom_resources_do_not_take_it(self, widgets: Cluster) -> None:
        widgets.create(widget(), WIDGET)
        error = widgets.refused(Patch(WIDGET, "default", "w", {}, "strategic"))
        assert error.code == 415
        assert "strategic" not in error.message


class TestApply:
    def apply(self, cluster: Cluster, manager: str, data: dict[str, str], **how: Any) -> Object:
        body = {"apiVersion": "v1", "kind": "ConfigMap", "data": data}
        request = Patch(CONFIG_MAP, "default", "c", body, "apply", field_manager=manager, **how)
        applied: Object = cluster.user(request)
        return applied

    def test_it_creates_what_is_missing(self, cluster: Cluster) -> None:
        assert self.apply(cluster, "one", {"a": "1"})["metadata"]["uid"]
        assert cluster.events()[-1] == ("ADDED", "c")

    def test_what_a_manager_no_longer_wants_goes(self, cluster: Cluster) -> None:
        self.apply(cluster, "one", {"a": "1", "b": "2"})
        assert self.apply(cluster, "one", {"a": "1"})["data"] == {"a": "1"}

    def test_what_another_manager_wants_stays(self, cluster: Cluster) -> None:
        self.apply(cluster, "one", {"a": "1"})
        self.apply(cluster, "two", {"a": "1"})
        assert self.apply(cluster, "one", {})["data"] == {"a": "1"}

    def test_two_managers_that_disagree_are_in_conflict(self, cluster: Cluster) -> None:
        self.apply(cluster, "one", {"a": "1"})
        body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "2"}}
        request = Patch(CONFIG_MAP, "default", "c", body, "apply", field_manager="two")
        error = cluster.refused(request)
        assert error.message == 'Apply failed with 1 conflict: conflict with "one": .data.a'
        assert error.to_status()["details"]["causes"][0]["reason"] == "FieldManagerConflict"

    def test_force_takes_the_field_over(self, cluster: Cluster) -> None:
        self.apply(cluster, "one", {"a": "1", "b": "1"})
        assert self.apply(cluster, "two", {"a": "2"}, force=True)["data"]["a"] == "2"
        assert self.apply(cluster, "one", {"b": "1"})["data"] == {"a": "2", "b": "1"}

    def test_what_an_update_changes_is_no_longer_its_managers(self, cluster: Cluster) -> None:
        self.apply(cluster, "one", {"a": "1", "b": "1"})
        cluster.user(Patch(CONFIG_MAP, "default", "c", {"data": {"a": "2"}}, "merge"))
        assert self.apply(cluster, "one", {})["data"] == {"a": "2"}

    def test_spec_and_status_are_applied_independently_of_each_other(
        self, widgets: Cluster
    ) -> None:
        def apply(subresource: str, **parts: Any) -> Object:
            body = {"apiVersion": WIDGET.api_version, "kind": WIDGET.kind, **parts}
            request = Patch(WIDGET, "default", "w", body, "apply", subresource, field_manager="one")
            applied: Object = widgets.user(request)
            return applied

        apply("", spec={"size": 1, "note": "x"}, status={"phase": "ignored"})
        apply("status", spec={"size": 9}, status={"phase": "up", "replicas": 1})
        assert "note" not in apply("", spec={"size": 1})["spec"]
        assert apply("status", status={"phase": "up"})["status"] == {"phase": "up"}

    def test_it_needs_to_know_the_manager(self, cluster: Cluster) -> None:
        error = cluster.refused(Patch(CONFIG_MAP, "default", "c", {}, "apply"))
        assert "fieldManager: Required value: is required for apply patch" in error.message

    def test_entries_of_a_keyed_list_belong_to_whoever_applied_them(self, widgets: Cluster) -> None:
        def apply(manager: str, *parts: str) -> Object:
            body = widget(spec={"size": 1, "parts": [{"name": part} for part in parts]})
            request = Patch(WIDGET, "default", "w", body, "apply", field_manager=manager)
            applied: Object = widgets.user(request)
            return applied

        apply("one", "a")
        apply("two", "b")
        left = apply("one")
        assert [part["name"] for part in left["spec"]["parts"]] == ["b"]
