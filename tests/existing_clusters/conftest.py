"""An existing cluster: a control plane with nodes, used by its kubeconfig alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from clusters.control_plane import ControlPlane, FakeNode, User, nodes
from conformance.implementations.ours import implementation
from conformance.in_cluster.manifests import USERNAME
from conformance.scenarios import all_crds
from conformance.worlds.control_plane.plane_session import SHARED
from conformance.worlds.control_plane.session import installed_crds
from conformance.worlds.existing import rights

from .command import USABLE, wait_until_known

NODES = tuple(f"n{index}" for index in range(8))
KEPT = "kept"
"""A node that is not for runs."""
RBAC = "/apis/rbac.authorization.k8s.io/v1"

REFERENCE = {"appwrapper": implementation("reference", "appwrapper")}


@pytest.fixture(scope="package")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    crds = installed_crds(REFERENCE, all_crds())
    settings = replace(SHARED, audit_reads_of=(USERNAME,))
    with ControlPlane(tmp_path_factory.mktemp("cluster"), settings) as plane:
        plane.install_crds(crds)
        wanted = [FakeNode(name, labels={USABLE: "true"}) for name in NODES]
        nodes.create(plane.api(), [*wanted, FakeNode(KEPT)])
        wait_until_known(plane, [*NODES, KEPT])
        yield plane


@pytest.fixture(scope="package")
def guest(plane: ControlPlane) -> Path:
    """The kubeconfig of a user with exactly the permissions that Assay asks for."""
    lines = rights.rules(rights.required(REFERENCE, all_crds()))
    name = "assay-guest"
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": yaml.safe_load("\n".join(lines)),
    }
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io"}],
    }
    plane.api().post(f"{RBAC}/clusterroles", role)
    plane.api().post(f"{RBAC}/clusterrolebindings", binding)
    return plane.mint_kubeconfig(User(name))
