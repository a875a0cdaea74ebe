"""Scope and versions of a kind come from its definition, whatever a suite says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chaos.faults.create_object import CreateObject
from chaos.faults.delete_object import DeleteObject
from clusters.simulated.access.rules import Rules
from conformance.handle import Handle
from conformance.implementations.ours import Implementation, implementation
from conformance.running.run_options import DEFAULT_SEED
from conformance.scenarios import SCENARIOS
from conformance.suites.kueue.handle import QueuedJobSet, QueuedPod, queue
from conformance.world import World
from conformance.worlds.simulated.world import SimulatedWorld, may_use_further_kinds
from vocabulary.errors import ApiError
from vocabulary.history import Mark, Write
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION, Kind
from vocabulary.objects import Object, meta, name_of
from vocabulary.requests import Create, Get

GROUP = "queues.assay.dev"
GUESSED = Kind(GROUP, "v1", "Quotum", "quotums")
"""Neither its plural nor its scope is what the convention says."""


class Quotum(Handle):
    kind = GUESSED


def definition(scope: str, *versions: str) -> Object:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    names = {"kind": "Quotum", "plural": "quota", "singular": "quotum"}
    served = [
        {"name": version, "served": True, "storage": version == versions[-1], "schema": schema}
        for version in versions
    ]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"quota.{GROUP}"},
        "spec": {"group": GROUP, "scope": scope, "names": names, "versions": served},
    }


def quotum(name: str, version: str = "v1") -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/{version}", "kind": "Quotum", "metadata": {"name": name}}


@pytest.fixture
def world() -> Iterator[SimulatedWorld]:
    scenario = SCENARIOS["jobset/success/success-before-a-restart"]
    role = {"jobset": implementation("reference", "jobset")}
    made = SimulatedWorld(scenario, role, DEFAULT_SEED, None)
    yield made
    made.close()


def serve(world: World, scope: str, *versions: str) -> None:
    crd = definition(scope, *versions)
    world.call(Create(CUSTOM_RESOURCE_DEFINITION, crd, "", name_of(crd)), "harness")


def test_a_cluster_scoped_kind_that_no_suite_registered_is_created_without_a_namespace(
    world: SimulatedWorld,
) -> None:
    serve(world, "Cluster", "v1")
    assert "namespace" not in meta(world.create(quotum("run-a")))
    assert world.get(GUESSED, "run-a") is not None
    assert [name_of(found) for found in world.list(GUESSED)] == ["run-a"]
    world.patch(GUESSED, "run-a", {"metadata": {"labels": {"a": "b"}}})
    world.delete(GUESSED, "run-a")
    assert world.get(GUESSED, "run-a") is None


def test_a_kind_that_is_registered_with_another_scope_is_taken_as_it_is_served(
    world: SimulatedWorld,
) -> None:
    serve(world, "Namespaced", "v1")
    world.create(quotum("a"))
    cluster_scoped = Kind(GROUP, "v1", "Quotum", "quota", namespaced=False)
    for kind in (GUESSED, cluster_scoped):
        assert meta(world.get(kind, "a") or {})["namespace"] == world.namespace


def test_faults_and_handles_find_it(world: SimulatedWorld) -> None:
    serve(world, "Cluster", "v1")
    handle = Quotum.submit(world, quotum("run-a"))
    assert name_of(handle.now) == "run-a"
    world.inject(CreateObject(quotum("run-b")))
    world.inject(DeleteObject(kind=f"{GROUP}/v1/Quotum", name="run-a"))
    assert [name_of(found) for found in world.list(GUESSED)] == ["run-b"]
    assert not handle.now


def test_two_versions_are_one_kind_in_the_history(world: SimulatedWorld) -> None:
    serve(world, "Cluster", "v1", "v2")
    world.create(quotum("run-a", "v1"))
    handle = Quotum.submit(world, quotum("run-b", "v2"))
    handle.patch({"metadata": {"labels": {"a": "b"}}})
    _, entries = world.history()
    written = [e for e in entries if isinstance(e, Write) and e.name in ("run-a", "run-b")]
    assert {(write.kind, write.namespace) for write in written} == {(f"Quotum.{GROUP}", "")}
    assert len(written) == 3


@pytest.mark.parametrize(
    "request_of",
    [
        lambda kind: Create(kind, quotum("a"), "default", "a"),
        lambda kind: Get(kind, "default", "a"),
    ],
)
def test_the_server_refuses_a_namespace_of_a_kind_that_has_none(
    world: SimulatedWorld, request_of: Callable[[Kind], Any]
) -> None:
    serve(world, "Cluster", "v1")
    with pytest.raises(ApiError) as refused:
        world.cluster.api.handle(request_of(GUESSED), "user")
    assert refused.value.code == 404
    assert refused.value.message == "the server could not find the requested resource"


def test_an_operator_runs_though_a_kind_of_its_is_not_served_and_finds_it_once_it_is() -> None:
    scenario = SCENARIOS["kueue/kinds/pod-is-never-ready"]
    world = SimulatedWorld(scenario, {"kueue": implementation("reference", "kueue")}, 7, None)
    queue(world)
    waits = QueuedPod.of(world, "a", "run 1m")
    world.until(waits.is_admitted())
    for crd in implementation("reference", "jobset").crds():
        world.call(Create(CUSTOM_RESOURCE_DEFINITION, crd, "", name_of(crd)), "harness")
    late = QueuedJobSet.of(world, "b", "run 1m")
    world.until(late.is_admitted())
    world.close()


PYTORCH_JOBS: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "pytorchjobs.kubeflow.org"},
    "spec": {
        **definition("Namespaced", "v1")["spec"],
        "group": "kubeflow.org",
        "names": {"kind": "PyTorchJob", "plural": "pytorchjobs"},
    },
}


def test_a_kind_that_an_operator_under_test_brings_has_no_controller_of_the_simulation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = Implementation.crds
    monkeypatch.setattr(Implementation, "crds", lambda self: (*own(self), PYTORCH_JOBS))
    role = {"jobset": implementation("reference", "jobset")}
    scenario = SCENARIOS["jobset/success/success-before-a-restart"]
    world = SimulatedWorld(scenario, role, DEFAULT_SEED, None)
    try:
        assert "pytorchjob-controller" not in world.cluster.controllers
        assert "raycluster-controller" in world.cluster.controllers
        marks = [entry.text for entry in world.recorder.entries if isinstance(entry, Mark)]
        assert marks[0] == (
            "pytorchjob-controller of the simulation is off: an operator under test has "
            "PyTorchJob.kubeflow.org"
        )
    finally:
        world.close()


def test_otherwise_it_has(world: SimulatedWorld) -> None:
    assert "pytorchjob-controller" in world.cluster.controllers


@pytest.mark.parametrize(
    ("group", "resource", "verbs", "may"),
    [
        ("networking.k8s.io", "ingresses", ["list"], True),
        ("networking.k8s.io", "ingresses", ["*"], True),
        ("networking.k8s.io", "ingresses/status", ["patch"], True),
        ("policy", "poddisruptionbudgets", ["update", "delete"], True),
        ("networking.k8s.io", "*", ["get"], True),
        ("*", "*", ["*"], True),
        ("example.org", "ingresses", ["*"], False),
        ("example.org", "*", ["*"], False),
        ("", "pods", ["*"], False),
    ],
)
def test_a_rule_for_one_of_them_has_the_further_kinds_served(
    group: str, resource: str, verbs: list[str], may: bool
) -> None:
    rule = {"apiGroups": [group], "resources": [resource], "verbs": verbs}
    assert may_use_further_kinds(Rules([rule])) is may
