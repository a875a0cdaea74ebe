"""Details that few requests depend on, each with the values at both sides of its bound."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.builtin.known_fields import drop_unknown
from clusters.simulated.builtin.pod_defaults import default_pod
from clusters.simulated.builtin.quantities import canonical_quantity
from clusters.simulated.custom_resources.rules.limits import Budget
from tests.simulated_api.cluster import Cluster
from vocabulary.kinds import CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, JOB, POD, SECRET
from vocabulary.objects import get_path
from vocabulary.requests import Update


@pytest.mark.parametrize(
    ("spelled", "stored"),
    [
        *((f"1000{unit}", f"1{larger}") for unit, larger in zip("kMGTP", "MGTPE", strict=True)),
        *((f"1024{unit}i", f"1{larger}i") for unit, larger in zip("KMGTP", "MGTPE", strict=True)),
        ("1000", "1k"),
        ("1000m", "1"),
        ("1023Ki", "1023Ki"),
        ("1001k", "1001k"),
    ],
)
def test_a_quantity_is_stored_with_the_largest_suffix(spelled: str, stored: str) -> None:
    assert canonical_quantity(spelled) == stored


@pytest.mark.parametrize(
    ("kind", "path", "value", "known"),
    [
        (POD, "spec.containers", [{"args": ["a", None]}], [{"args": ["a", ""]}]),
        (POD, "spec.securityContext", {"supplementalGroups": [None]}, {"supplementalGroups": [0]}),
        (POD, "spec.overhead", {"cpu": None}, {"cpu": "0"}),
        (SECRET, "data", {"k": None}, {"k": ""}),
        (
            JOB,
            "spec.podFailurePolicy",
            {"rules": [{"onExitCodes": {"values": [None], "odd": 1}}, None]},
            {"rules": [{"onExitCodes": {"values": [0]}}, {}]},
        ),
        *(
            (
                CUSTOM_RESOURCE_DEFINITION,
                "spec",
                {"versions": [{"schema": {"openAPIV3Schema": {name: given}}}]},
                {"versions": [{"schema": {"openAPIV3Schema": {name: left}}}]},
            )
            for name, given, left in (
                ("items", {"odd": 1, "type": "string"}, {"type": "string"}),
                ("items", [{"odd": 1}, {"type": "string"}], [{}, {"type": "string"}]),
                ("additionalProperties", {"odd": 1}, {}),
                ("additionalProperties", True, True),
                ("additionalItems", {"odd": 1}, {}),
                ("dependencies", {"a": {"odd": 1}, "b": ["c"]}, {"a": {}, "b": ["c"]}),
            )
        ),
    ],
)
def test_unknown_fields_go_and_nulls_in_lists_become_zeros(
    kind: Any, path: str, value: Any, known: Any
) -> None:
    obj: dict[str, Any] = {"metadata": {"name": "a"}}
    part = obj
    *steps, last = path.split(".")
    for step in steps:
        part = part.setdefault(step, {})
    part[last] = value
    drop_unknown(obj, kind)
    assert get_path(obj, path) == known


def test_what_a_pod_says_stays_beside_what_is_filled_in() -> None:
    source = {"fieldRef": {"fieldPath": "metadata.name"}, "odd": 1}
    variable = {"name": "A", "valueFrom": source}
    spec = default_pod(
        {
            "containers": [{"name": "m", "image": "x:1", "env": [variable], "resources": {}}],
            "volumes": [{"name": "empty"}, {"name": "c", "configMap": {"name": "c"}}, {"odd": {}}],
        }
    )
    (found,) = spec["containers"][0]["env"]
    reference = {"fieldPath": "metadata.name", "apiVersion": "v1"}
    assert found == {"name": "A", "valueFrom": {"fieldRef": reference, "odd": 1}}
    assert spec["volumes"][:2] == [
        {"name": "empty", "emptyDir": {}},
        {"name": "c", "configMap": {"name": "c", "defaultMode": 420}},
    ]


def test_immutable_data_may_be_labelled(cluster: Cluster) -> None:
    metadata = {"name": "c", "namespace": "default"}
    obj = {"metadata": metadata, "data": {"a": "b"}, "immutable": True}
    cluster.create(obj, CONFIG_MAP)
    cluster.patch(CONFIG_MAP, "c", {"metadata": {"labels": {"x": "y"}}})
    error = cluster.refused(Update(CONFIG_MAP, {**obj, "data": {"a": "c"}}))
    assert error.message.count("field is immutable when") == 1
    assert "data: Forbidden" in error.message


@pytest.mark.parametrize(
    ("cost", "shown"),
    [
        (10_000_001, "factor of 1.000000x"),
        (14_999_999, "factor of 1.500000x"),
        (15_000_000, "factor of 1.5x"),
        (1_000_000_000, "factor of 100.0x"),
        (1_000_000_001, "factor of more than 100x"),
    ],
)
def test_a_factor_beyond_the_budget_is_shown_more_or_less_exactly(cost: int, shown: str) -> None:
    (error,) = Budget().spend("path", "the rule", cost)
    assert shown in error.body


def test_what_costs_as_much_as_the_budget_is_allowed() -> None:
    assert Budget().spend("path", "the rule", 10_000_000) == []
