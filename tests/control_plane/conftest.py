"""One control plane for all tests of this folder, and a namespace for each of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from clusters.control_plane import (
    ControlPlane,
    FakeNode,
    Settings,
    crds,
    nodes,
)

from .namespace import Namespace

ZONES = ("a", "b", "c")

WIDGETS = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.tests.assay.dev}
spec:
  group: tests.assay.dev
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""


@pytest.fixture(scope="package")  # one that idles takes a fortieth of a processor
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with two nodes in each of three zones, and one custom resource."""
    folder = tmp_path_factory.mktemp("control-plane")
    control_plane = ControlPlane(folder, Settings(zones=ZONES))
    control_plane.start(crds.parse([WIDGETS]))
    try:
        wanted = [
            *(FakeNode(f"{zone}{index}", zone) for zone in ZONES for index in range(2)),
            FakeNode("gpu", "a", {"example.org/pool": "gpu"}, {"nvidia.com/gpu": "8"}),
        ]
        nodes.create(control_plane.api(), wanted)
        nodes.wait_ready(control_plane.api(), [node.name for node in wanted])
        yield control_plane
    finally:
        control_plane.stop()


_numbers = itertools.count()


@pytest.fixture
def namespace(plane: ControlPlane) -> Namespace:
    name = f"test-{next(_numbers)}"
    plane.api().post(
        "/api/v1/namespaces",
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
    )
    return Namespace(plane, name)
