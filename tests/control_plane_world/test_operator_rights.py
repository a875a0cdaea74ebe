"""The kinds that operators have to do with, as far as their permissions tell."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.implementations.ours import implementation
from conformance.implementations.under_test import UnderTest
from conformance.worlds.control_plane.operator_rights import may_have_to_do_with
from conformance.worlds.control_plane.world import ControlPlaneWorld
from vocabulary.objects import Object


def requesting(*resources: str, installed: Any = None) -> UnderTest:
    """An implementation that requests permissions on core resources, or none if none are given."""
    rules = [{"apiGroups": [""], "resources": list(resources), "verbs": ["get"]}]
    role: Object = {"kind": "ClusterRole", "rules": rules if resources else []}
    namespace: Object = {"kind": "Namespace"}
    found = SimpleNamespace(rbac=lambda: (namespace, role), installed=installed)
    return cast(UnderTest, found)


@pytest.mark.parametrize(
    ("kind", "asks", "expected"),
    [
        ("Pod", requesting("nodes", "pods/status"), True),
        ("Pod", requesting("nodes", "*"), True),
        ("Pod", requesting("nodes"), False),
        ("Pod", requesting(), True),
        ("Pod", requesting("nodes", installed=SimpleNamespace()), True),
        ("Boat.example.com", requesting("nodes"), True),
        ("Job.batch", implementation("reference", "appwrapper"), True),
        ("ResourceQuota", implementation("reference", "appwrapper"), False),
    ],
)
def test_an_operator_has_nothing_to_do_with_a_kind_only_if_it_surely_lacks_the_permissions(
    kind: str, asks: UnderTest, expected: bool
) -> None:
    assert may_have_to_do_with(kind, asks) is expected


def test_a_control_plane_knows_which_of_its_operators_a_fault_of_one_kind_may_hinder() -> None:
    groups = {
        role: SimpleNamespace(implementation=requesting(resource))
        for role, resource in (("mine", "pods"), ("yours", "nodes"))
    }
    world = cast(ControlPlaneWorld, SimpleNamespace(_of_role=groups))
    assert ControlPlaneWorld.concerned(world, "Pod") == ("mine",)
    assert ControlPlaneWorld.concerned(world, "Node") == ("yours",)
    assert ControlPlaneWorld.concerned(world, "Boat.example.com") == ("mine", "yours")
