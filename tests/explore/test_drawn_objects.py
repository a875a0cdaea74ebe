"""Objects drawn from a CRD's schema."""

from __future__ import annotations

from typing import Any

from conformance.explore.drawn_objects import drawn_objects, schemas_of

SPEC: dict[str, Any] = {
    "type": "object",
    "required": ["mode"],
    "properties": {
        "mode": {"type": "string", "enum": ["Fast", "Safe"]},
        "size": {"type": "integer", "minimum": 1, "maximum": 5000000},
        "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 10},
        "parts": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["on"],
                "properties": {"on": {"type": "boolean"}},
            },
        },
    },
}
SCHEMA = {"type": "object", "properties": {"spec": SPEC, "status": {"type": "object"}}}
THING = {
    "apiVersion": "example.dev/v1",
    "kind": "Thing",
    "metadata": {"name": "a"},
    "spec": {"mode": "Fast", "parts": [{"on": True}]},
}


def drawn(seed: str = "1") -> dict[str, Any]:
    return {
        each.text: each.object["spec"]
        for each in drawn_objects(THING, SCHEMA, seed)
        if "spec" in each.object
    }


def test_values_are_those_at_the_edges_that_the_schema_allows() -> None:
    found = drawn()
    assert found['spec.mode = "Safe"'] == {**THING["spec"], "mode": "Safe"}
    assert found["spec.size = 1"]["size"] == 1
    assert found['spec.name = "x"']["name"] == "x"
    assert found["spec.parts[0].on = false"]["parts"] == [{"on": False}]
    assert found["spec.parts = []"]["parts"] == []
    assert "parts" not in found["spec.parts left out"]
    texts = "\n".join(found)
    assert "spec.mode left out" not in texts, "it is required"
    assert "5000000" not in texts, "a run would take too long"
    assert 'spec.name = ""' not in texts, "the pattern forbids it"
    assert "status" not in texts


def test_equal_seeds_draw_equal_objects_in_equal_order() -> None:
    assert list(drawn("7")) == list(drawn("7"))
    assert list(drawn("7")) != list(drawn("8"))


def test_schemas_are_found_by_the_version_and_kind_of_a_manifest() -> None:
    versions = [{"name": "v1", "schema": {"openAPIV3Schema": SCHEMA}}, {"name": "v2"}]
    crd = {"spec": {"group": "example.dev", "names": {"kind": "Thing"}, "versions": versions}}
    assert schemas_of((crd,)) == {
        ("example.dev/v1", "Thing"): SCHEMA,
        ("example.dev/v2", "Thing"): {},
    }
