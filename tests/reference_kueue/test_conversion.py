"""v1beta1 and v1beta2: conversion loses nothing, and definitions have what it makes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.implementations.ours import implementation
from conformance.running.run_options import DEFAULT_SEED
from conformance.scenarios import SCENARIOS
from conformance.suites.kueue.handle import QueuedJob, queue
from conformance.suites.kueue.view.standing import QueueSpec
from conformance.worlds.simulated.world import SimulatedWorld
from reference_controller.kueue.conversion import converted
from reference_controller.kueue.names import GROUP, KINDS, WORKLOAD
from reference_controller.runtime import conversion_review
from vocabulary.errors import ApiError
from vocabulary.kinds import Kind
from vocabulary.objects import Object, get_path, name_of, with_path

from .made import IN_BOTH_VERSIONS

OLDER, NEWER = (f"{GROUP}/{version}" for version in ("v1beta1", "v1beta2"))
NAMES = [kind.kind for kind in KINDS]
CRDS = implementation("reference", "kueue").crds()
SCHEMAS = {
    (crd["spec"]["names"]["kind"], f"{GROUP}/{version['name']}"): version["schema"][
        "openAPIV3Schema"
    ]
    for crd in CRDS
    for version in crd["spec"]["versions"]
}


def values(schema: Object) -> st.SearchStrategy[Any]:
    """All that a schema allows, as far as conversion could tell it apart."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return st.dictionaries(st.sampled_from("ab"), st.text(max_size=2), max_size=2)
    if "properties" in schema:
        parts = {name: values(part) for name, part in schema["properties"].items()}
        return st.fixed_dictionaries({}, optional=parts)
    if "additionalProperties" in schema:
        return st.dictionaries(st.text(max_size=2), values(schema["additionalProperties"]))
    if schema.get("type") == "array":
        return st.lists(values(schema["items"]), max_size=2)
    if "type" not in schema:
        return st.integers(0, 9) | st.text(max_size=2)
    simple: dict[str, st.SearchStrategy[Any]] = {
        "string": st.text(max_size=2),
        "integer": st.integers(0, 9),
        "boolean": st.booleans(),
        "object": st.just({}),
    }
    return simple[schema["type"]]


def is_whole(obj: Object) -> bool:
    """False for a Workload with a part of a priority class, which API servers refuse."""
    reference = get_path(obj, "spec.priorityClassRef")
    if reference is not None:
        pair = (reference.get("group"), reference.get("kind"))
        return bool(reference.get("name")) and pair in (
            ("kueue.x-k8s.io", "WorkloadPriorityClass"),
            ("scheduling.k8s.io", "PriorityClass"),
        )
    spec = obj.get("spec") or {}
    return bool(spec.get("priorityClassName")) == bool(spec.get("priorityClassSource"))


def objects(kind: str, version: str) -> st.SearchStrategy[dict[str, Any]]:
    head = {"apiVersion": version, "kind": kind, "metadata": {"name": "a", "labels": {"b": "c"}}}
    return values(SCHEMAS[kind, version]).map(lambda found: {**found, **head}).filter(is_whole)


def unknown(obj: Any, schema: Object, path: str = "") -> list[str]:
    """The fields of an object that a schema does not have."""
    if isinstance(obj, list):
        return [each for item in obj for each in unknown(item, schema["items"], path)]
    is_open = "properties" not in schema or "x-kubernetes-preserve-unknown-fields" in schema
    if not isinstance(obj, Mapping) or is_open or path == ".metadata":
        return []
    return [
        each
        for name, value in obj.items()
        for each in (
            unknown(value, schema["properties"][name], f"{path}.{name}")
            if name in schema["properties"]
            else [f"{path}.{name}"]
        )
    ]


def same(older: Object) -> Object:
    """An object of v1beta1 with one of the values that mean the same, and no empty source."""
    for name, value in (("whenCanBorrow", "Borrow"), ("whenCanPreempt", "Preempt")):
        path = f"spec.flavorFungibility.{name}"
        if get_path(older, path) == "MayStopSearch":
            older = with_path(older, path, value)
    empty = ("priorityClassName", "priorityClassSource")
    if isinstance(older.get("spec"), Mapping):
        spec = {k: v for k, v in older["spec"].items() if v or k not in empty}
        older = {**older, "spec": spec}
    return older


@pytest.mark.parametrize("kind", NAMES)
@given(data=st.data())
def test_what_is_stored_as_v1beta1_comes_back_as_it_was(kind: str, data: st.DataObject) -> None:
    obj = data.draw(objects(kind, NEWER))
    stored = converted(obj, OLDER)
    assert unknown(stored, SCHEMAS[kind, OLDER]) == []
    assert converted(stored, NEWER) == obj


@pytest.mark.parametrize("kind", NAMES)
@given(data=st.data())
def test_what_is_read_as_v1beta2_and_written_back_means_the_same(
    kind: str, data: st.DataObject
) -> None:
    obj = data.draw(objects(kind, OLDER))
    read = converted(obj, NEWER)
    assert unknown(read, SCHEMAS[kind, NEWER]) == []
    assert same(converted(read, OLDER)) == same(obj)


@pytest.mark.parametrize("sample", IN_BOTH_VERSIONS)
def test_both_versions_of_an_object(sample: str) -> None:
    older, newer = IN_BOTH_VERSIONS[sample]
    assert converted(older, NEWER) == newer
    assert same(converted(newer, OLDER)) == older
    assert converted(newer, NEWER) == newer


def test_the_suite_reads_queues_of_both_versions_alike() -> None:
    older, newer = (vars(QueueSpec(each)) for each in IN_BOTH_VERSIONS["cohort"])
    assert older == newer
    assert older != vars(QueueSpec({"metadata": {"name": "a"}}))


@pytest.mark.parametrize(
    ("obj", "version", "message"),
    [
        (IN_BOTH_VERSIONS["cohort"][0], "kueue.x-k8s.io/v1", "is not served"),
        (IN_BOTH_VERSIONS["cohort"][0], "batch/v1beta2", "is not served"),
        (
            with_path(
                IN_BOTH_VERSIONS["PriorityClass"][1],
                "spec.priorityClassRef.group",
                "kueue.x-k8s.io",
            ),
            OLDER,
            "spec.priorityClassRef: PriorityClass of kueue.x-k8s.io",
        ),
    ],
)
def test_what_cannot_be_converted_is_a_failure_of_the_whole_review(
    obj: Object, version: str, message: str
) -> None:
    sound = IN_BOTH_VERSIONS["usage"][0]
    request = {"uid": "1", "desiredAPIVersion": version, "objects": [sound, obj]}
    body = json.dumps({"apiVersion": "apiextensions.k8s.io/v1", "request": request}).encode()
    answer = json.loads(conversion_review.review(body, converted))["response"]
    assert answer["uid"] == "1"
    assert answer["result"]["status"] == "Failure"
    assert message in answer["result"]["message"]
    assert "convertedObjects" not in answer


def test_defaults_rules_and_columns_are_those_of_the_version() -> None:
    (crd,) = (each for each in CRDS if each["spec"]["names"]["kind"] == "ClusterQueue")
    newer, older = crd["spec"]["versions"]
    assert (newer["storage"], older["storage"]) == (False, True)
    assert newer["additionalPrinterColumns"][0]["jsonPath"] == ".spec.cohortName"
    (rule,) = get_path(SCHEMAS["ClusterQueue", NEWER], "properties.spec.x-kubernetes-validations")
    assert "self.cohortName)" in rule["rule"]
    assert "self.cohort)" not in rule["rule"]
    flexible = get_path(
        SCHEMAS["ClusterQueue", NEWER], "properties.spec.properties.flavorFungibility.properties"
    )
    assert flexible["whenCanBorrow"] == {
        "type": "string",
        "enum": ["MayStopSearch", "TryNextFlavor"],
        "default": "MayStopSearch",
    }
    assert flexible["whenCanPreempt"]["default"] == "TryNextFlavor"


def test_a_workload_is_reviewed_in_whichever_version_it_is_written() -> None:
    scenario = SCENARIOS["kueue/kinds/pod-is-never-ready"]
    kueue = implementation("reference", "kueue")
    world = SimulatedWorld(scenario, {"kueue": kueue}, DEFAULT_SEED, None)
    queue(world)
    its = QueuedJob.of(world, "a", "run forever")
    world.until(its.is_ready())
    newer = Kind(WORKLOAD.group, "v1beta2", WORKLOAD.kind, WORKLOAD.plural)
    change = partial(world.patch, newer, name_of(its.workload))
    with pytest.raises(ApiError, match=r"spec\.queueName: cannot be changed"):
        change({"spec": {"queueName": "other"}})
    change({"spec": {"active": False}})
    world.until(its.has_released())
    world.close()


@pytest.mark.parametrize(
    ("kind", "spec", "field"),
    [
        ("ClusterQueue", {"flavorFungibility": {"whenCanBorrow": "Borrow"}}, "whenCanBorrow"),
        (
            "Workload",
            {"priorityClassRef": {"group": GROUP, "kind": "PriorityClass", "name": "a"}},
            "spec.priorityClassRef",
        ),
        ("Workload", {"priorityClassRef": {"group": GROUP}}, "spec.priorityClassRef.name"),
    ],
)
def test_v1beta2_refuses_what_it_does_not_have(kind: str, spec: Object, field: str) -> None:
    scenario = SCENARIOS["kueue/kinds/pod-is-never-ready"]
    kueue = implementation("reference", "kueue")
    world = SimulatedWorld(scenario, {"kueue": kueue}, DEFAULT_SEED, None)
    made = {"apiVersion": NEWER, "kind": kind, "metadata": {"name": "run-a"}, "spec": spec}
    with pytest.raises(ApiError, match="is invalid") as refused:
        world.create(made)
    assert field in refused.value.message
    world.close()
