"""Custom resources: schemas validate, prune and fill in; definitions come and go."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusters.simulated.custom_resources.flaws import ABSENT
from clusters.simulated.custom_resources.json_path import parse_json_path
from clusters.simulated.custom_resources.schema import compile_schema
from tests.simulated_api.cluster import (
    WIDGET,
    WIDGET_SCHEMA,
    Cluster,
    widget,
    widget_definition,
)
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION, Kind
from vocabulary.objects import Object, get_path
from vocabulary.requests import Create, Delete, Get, List, Patch, Update

UNCHECKED = "some validation rules were not checked because the object was invalid"


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        ({}, "spec.size", "Required value"),
        (
            {"size": "big"},
            "spec.size",
            'Invalid value: "string": spec.size in body must be of type integer: "string"',
        ),
        (
            {"size": 10},
            "spec.size",
            "Invalid value: 10: spec.size in body should be less than or equal to 9",
        ),
        (
            {"size": 0},
            "spec.size",
            "Invalid value: 0: spec.size in body should be greater than or equal to 1",
        ),
        (
            {"size": 1, "colour": "green"},
            "spec.colour",
            'Unsupported value: "green": supported values: "red", "blue"',
        ),
        (
            {"size": 1, "name": "a"},
            "spec.name",
            'Invalid value: "a": spec.name in body should be at least 2 chars long',
        ),
        ({"size": 1, "name": "abcdef"}, "spec.name", "Too long: may not be more than 5 bytes"),
        (
            {"size": 1, "name": "AB"},
            "spec.name",
            "Invalid value: \"AB\": spec.name in body should match '^[a-z]+$'",
        ),
        (
            {"size": 1, "port": True},
            "spec.port",
            'Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"',
        ),
        ({"size": 1, "parts": [{}]}, "spec.parts[0].name", "Required value"),
        (
            {"size": 1, "parts": [{"name": "a"}, {"name": "a"}]},
            "spec.parts[1]",
            'Duplicate value: {"name":"a"}',
        ),
        (
            {"size": 1, "parts": [{"name": n} for n in "abcd"]},
            "spec.parts",
            "Too many: 4: must have at most 3 items",
        ),
        (
            {"size": 1, "limits": {"a": "x"}},
            "spec.limits.a",
            'Invalid value: "string": spec.limits.a in body must be of type integer: "string"',
        ),
        ({"size": 1, "template": {"kind": "Pod"}}, "spec.template.apiVersion", "Required value"),
    ],
)
def test_what_breaks_the_schema_is_refused_in_the_words_of_a_real_server(
    widgets: Cluster, spec: dict[str, Any], field: str, message: str
) -> None:
    error = widgets.refused(Create(WIDGET, widget(spec=spec)))
    causes = error.to_status()["details"]["causes"]
    assert {"field": field, "message": message} in [
        {"field": cause["field"], "message": cause["message"]} for cause in causes
    ]
    assert error.message.startswith('Widget.test.assay.dev "w" is invalid: ')


def test_broken_structure_leaves_the_rules_unchecked_and_says_so(widgets: Cluster) -> None:
    error = widgets.refused(Create(WIDGET, widget(spec={})))
    assert UNCHECKED in error.to_status()["details"]["causes"][-1]["message"]


def test_unknown_fields_are_pruned_except_where_they_are_kept(widgets: Cluster) -> None:
    spec = {
        "size": 1,
        "unknown": 1,
        "raw": {"anything": {"goes": True}},
        "parts": [{"name": "a", "unknown": 1}],
    }
    created = widgets.create(widget(spec=spec, unknown=1), WIDGET)
    assert "unknown" not in created
    assert "unknown" not in created["spec"]
    assert created["spec"]["parts"] == [{"name": "a", "count": 1}]
    assert created["spec"]["raw"] == {"anything": {"goes": True}}


def test_defaults_are_filled_in_at_every_depth(widgets: Cluster) -> None:
    created = widgets.create(widget(), WIDGET)
    assert created["spec"]["colour"] == "red"
    assert created["spec"]["nested"] == {"deep": "value"}


def test_a_null_is_dropped_unless_the_field_may_be_null(widgets: Cluster) -> None:
    spec = {"size": 1, "colour": None, "note": None, "name": None}
    created = widgets.create(widget(spec=spec), WIDGET)
    assert created["spec"]["colour"] == "red"
    assert created["spec"]["note"] is None
    assert "name" not in created["spec"]


def test_the_status_is_checked_and_pruned_too(widgets: Cluster) -> None:
    widgets.create(widget(), WIDGET)
    patched = widgets.patch(WIDGET, "w", {"status": {"phase": "x", "odd": 1}}, "status")
    assert patched["status"] == {"phase": "x"}
    error = widgets.refused(
        Patch(WIDGET, "default", "w", {"status": {"phase": 1}}, subresource="status")
    )
    cause = error.to_status()["details"]["causes"][0]
    assert cause["field"] == "status.phase"
    assert "phase in body must be of type string" in cause["message"]


def test_a_field_that_cannot_change_cannot_change(widgets: Cluster) -> None:
    widgets.create(widget(spec={"size": 1, "fixed": "a"}), WIDGET)
    error = widgets.refused(Patch(WIDGET, "default", "w", {"spec": {"fixed": "b"}}))
    assert "spec.fixed: Invalid value" in error.message
    assert error.message.endswith("fixed cannot change")


def test_what_was_invalid_before_a_schema_got_stricter_may_stay_but_not_get_worse(
    widgets: Cluster,
) -> None:
    widgets.create(widget(spec={"size": 9, "name": "abcde"}), WIDGET)
    path = ("spec", "versions", 0, "schema", "openAPIV3Schema", "properties", "spec")
    stricter = {"op": "add", "path": f"/{'/'.join(map(str, path))}/properties/size/maximum"}
    body = [{**stricter, "value": 5}]
    definition = "widgets.test.assay.dev"
    widgets.user(Patch(CUSTOM_RESOURCE_DEFINITION, "", definition, body, "json"))
    widgets.patch(WIDGET, "w", {"spec": {"colour": "blue"}})
    error = widgets.refused(Patch(WIDGET, "default", "w", {"spec": {"size": 8}}))
    assert "should be less than or equal to 5" in error.message


class TestDefinitions:
    def test_a_kind_is_served_from_its_definition_on(self, cluster: Cluster) -> None:
        assert cluster.refused(Create(WIDGET, widget())).code == 404
        definition = cluster.install_widgets()
        assert {entry["type"] for entry in definition["status"]["conditions"]} == {
            "NamesAccepted",
            "Established",
        }
        assert definition["spec"]["names"]["singular"] == "widget"
        assert cluster.create(widget(), WIDGET)["metadata"]["uid"]

    def test_the_name_has_to_be_plural_and_group(self, cluster: Cluster) -> None:
        definition = widget_definition()
        definition["metadata"]["name"] = "other"
        error = cluster.refused(Create(CUSTOM_RESOURCE_DEFINITION, definition))
        assert 'must be spec.names.plural+"."+spec.group' in error.message

    def test_a_definition_without_a_schema_is_refused(self, cluster: Cluster) -> None:
        request = Create(CUSTOM_RESOURCE_DEFINITION, widget_definition(schema={}))
        error = cluster.refused(request)
        assert "spec.versions[0].schema.openAPIV3Schema: Required value" in error.message

    def test_the_scope_of_a_definition_cannot_change(self, widgets: Cluster) -> None:
        body = {"spec": {"scope": "Cluster"}}
        request = Patch(CUSTOM_RESOURCE_DEFINITION, "", "widgets.test.assay.dev", body)
        assert "spec.scope: Invalid value" in widgets.refused(request).message

    def test_a_deleted_definition_takes_its_objects_along(self, widgets: Cluster) -> None:
        widgets.create(widget("a"), WIDGET)
        widgets.create(widget("b"), WIDGET)
        widgets.user(Delete(CUSTOM_RESOURCE_DEFINITION, "", "widgets.test.assay.dev"))
        widgets.loop.run_for(1)
        assert widgets.get(CUSTOM_RESOURCE_DEFINITION, "widgets.test.assay.dev") is None
        assert widgets.get(WIDGET, "a") is None
        assert widgets.refused(List(WIDGET)).code == 404

    def test_a_finalizer_of_one_object_holds_up_the_whole_definition(
        self, widgets: Cluster
    ) -> None:
        held = widget("a")
        held["metadata"]["finalizers"] = ["x.y/hold"]
        widgets.create(held, WIDGET)
        widgets.user(Delete(CUSTOM_RESOURCE_DEFINITION, "", "widgets.test.assay.dev"))
        widgets.loop.run_for(1)
        assert widgets.get(CUSTOM_RESOURCE_DEFINITION, "widgets.test.assay.dev") is not None
        widgets.patch(WIDGET, "a", {"metadata": {"finalizers": None}})
        assert widgets.get(CUSTOM_RESOURCE_DEFINITION, "widgets.test.assay.dev") is None

    def test_an_object_is_shown_in_the_version_it_is_asked_for_in(self, cluster: Cluster) -> None:
        definition = widget_definition()
        (version,) = definition["spec"]["versions"]
        definition["spec"]["versions"].append({**version, "name": "v1alpha1", "storage": False})
        cluster.create(definition, CUSTOM_RESOURCE_DEFINITION)
        cluster.create(widget(), WIDGET)
        alpha = Kind(WIDGET.group, "v1alpha1", "Widget", "widgets")
        shown: Object = cluster.user(Get(alpha, "default", "w"))
        assert shown["apiVersion"] == "test.assay.dev/v1alpha1"
        patched: Object = cluster.user(Patch(alpha, "default", "w", {"spec": {"size": 2}}))
        assert patched["apiVersion"] == "test.assay.dev/v1alpha1"
        stored = cluster.get(WIDGET, "w")
        assert stored is not None
        assert stored["apiVersion"] == "test.assay.dev/v1"

    def test_a_schema_is_compiled_once_for_all_clusters(self) -> None:
        first, second = compile_schema(WIDGET_SCHEMA), compile_schema(dict(WIDGET_SCHEMA))
        assert first is second

    def test_an_object_of_another_kind_is_refused(self, widgets: Cluster) -> None:
        obj = {**widget(), "kind": "Gadget"}
        error = widgets.refused(Create(WIDGET, obj))
        assert 'kind: Invalid value: "Gadget": must be Widget' in error.message


def test_the_scale_of_a_custom_resource_is_where_its_definition_says(widgets: Cluster) -> None:
    widgets.create(widget(spec={"size": 1, "replicas": 2}), WIDGET)
    scale = widgets.api.scale(Get(WIDGET, "default", "w"))
    assert (scale["kind"], scale["spec"]) == ("Scale", {"replicas": 2})
    widgets.patch(WIDGET, "w", {"spec": {"replicas": 5}}, "scale")
    stored = widgets.get(WIDGET, "w")
    assert stored is not None
    assert stored["spec"]["replicas"] == 5


def test_an_update_replaces_the_spec_and_fills_in_its_defaults_again(widgets: Cluster) -> None:
    created = widgets.create(widget(spec={"size": 1, "colour": "blue"}), WIDGET)
    updated: Object = widgets.user(Update(WIDGET, {**created, "spec": {"size": 2}}))
    assert (updated["spec"]["size"], updated["spec"]["colour"]) == (2, "red")


class TestJsonPath:
    document: ClassVar[Any] = {
        "a": {"b.c": 1, "list": [{"n": 1, "ok": True}, {"n": 2, "ok": False}]},
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": "False"}],
    }

    @pytest.mark.parametrize(
        ("path", "found"),
        [
            (".a['b.c']", []),
            (r".a['b\.c']", [1]),
            (".a.list[-1:].n", [2]),
            (".a.list[0:2:2].n", [1]),
            (".a.list[1,0].n", [2, 1]),
            (".conditions['type','status']", []),
            (".conditions[0]['type','status']", ["Ready", "True"]),
            ("..n", [1, 2]),
            (".a.list[?(@.n>1)].n", [2]),
            (".a.list[?(@.n<=1)].n", [1]),
            (".conditions[?(@.other)]", []),
            (".a.list[7].n", []),
            ('.a.list[?(@.n=="1")].n', []),
            (r".a.b\.c", [1]),
            (".a.list[0].n", [1]),
            (".a.list[-1].n", [2]),
            (".a.list[*].n", [1, 2]),
            ('.conditions[?(@.type=="Ready")].status', ["True"]),
            (".a.list[?(@.ok==true)].n", [1]),
            (".a.list[?(@.n!=1)].n", [2]),
            (".missing.deep", []),
        ],
    )
    def test_a_path_finds_what_it_names(self, path: str, found: list[Any]) -> None:
        assert parse_json_path(path)(self.document) == found

    @pytest.mark.parametrize(
        ("path", "column"),
        [
            (".a[", 3),
            (".a[b]", 4),
            (".a[?(@.n)", 3),
            (".a[?(@.n=x)]", 9),
            (".a[?(@.n==  x )]", 13),
            (".a[?(  x ==1)]", 8),
            (".a[?(1==  @[)]", 12),
            (".a[?( @x y)]", 9),
            (".a[0,x]", 6),
            (".a b", 3),
        ],
    )
    def test_a_malformed_path_is_refused(self, path: str, column: int) -> None:
        with pytest.raises(ValueError, match=f"at column {column};"):
            parse_json_path(path)


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 12) | st.text("ab", max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "count", "x", "deep"]), inner, max_size=3)
    ),
    max_leaves=8,
)
_specs = st.dictionaries(
    st.sampled_from([*WIDGET_SCHEMA["properties"]["spec"]["properties"], "unknown"]),
    _values,
    max_size=5,
)
_compiled = compile_schema(WIDGET_SCHEMA)


@given(_specs)
def test_shaping_a_shaped_object_copies_nothing(spec: dict[str, Any]) -> None:
    shaped = _compiled.shape(widget(spec=spec), None)
    assert _compiled.shape(shaped, None) is shaped


@given(_specs)
def test_shaping_never_changes_what_it_is_given(spec: dict[str, Any]) -> None:
    obj = widget(spec=spec)
    before = repr(obj)
    _compiled.shape(obj, None)
    assert repr(obj) == before


@given(_specs)
def test_nothing_is_wrong_with_an_object_that_did_not_change(spec: dict[str, Any]) -> None:
    obj = widget(spec=spec)
    again = {**obj, "spec": dict(get_path(obj, "spec"))}
    assert list(_compiled.check(again, obj)) == []


@given(_specs, _specs)
def test_an_update_is_never_judged_harder_than_a_creation(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    created = set(_compiled.check(widget(spec=new), ABSENT))
    updated = {
        flaw
        for flaw in _compiled.check(widget(spec=new), widget(spec=old))
        if "fixed cannot change" not in flaw.body
    }
    assert updated <= created


def test_a_path_descends_to_any_depth() -> None:
    deep: Any = {"z": "found"}
    for _ in range(5000):
        deep = {"a": deep}
    assert parse_json_path("..z")(deep) == ["found"]
