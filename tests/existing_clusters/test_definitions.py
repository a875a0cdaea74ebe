"""Definitions of custom resources: brought where they are missing, and taken away if unused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clusters.control_plane import ControlPlane, FakeNode, crds, nodes
from conformance.implementations.ours import implementation
from conformance.left_behind.clean import RUN_LABEL
from conformance.worlds.control_plane.plane_session import SHARED
from vocabulary.objects import name_of

from .command import NOTHING, USABLE, assay, run, standing, wait_until_known

pytestmark = pytest.mark.control_plane
NODES = ("n0", "n1")
APPWRAPPERS = "/apis/workload.codeflare.dev/v1beta2/namespaces/default/appwrappers"


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[ControlPlane]:
    """A cluster that knows no AppWrappers."""
    with ControlPlane(tmp_path / "cluster", SHARED) as plane:
        nodes.create(plane.api(), [FakeNode(name, labels={USABLE: "true"}) for name in NODES])
        wait_until_known(plane, NODES)
        yield plane


def test_what_is_missing_is_brought_and_taken_away_again_but_never_from_others(
    bare: ControlPlane, tmp_path: Path
) -> None:
    before = standing(bare)
    scenario = "appwrapper/deletion/appwrapper-is-deleted-while-running/foreground"
    said = run(bare.kubeconfig(), scenario, "--yes", "--out", str(tmp_path / "out"), code=None)
    assert "definitions of custom resources: appwrappers.workload.codeflare.dev" in said
    assert "1/1 runs: 1 passed" in said
    assert standing(bare) == before
    (crd,) = implementation("reference", "appwrapper").crds()
    crds.install(bare.api(), [crd])
    path = f"{crds.CRDS}/{name_of(crd)}"
    bare.api().patch(path, {"metadata": {"labels": {RUN_LABEL: "assay-killed"}}})
    theirs = {
        "apiVersion": "workload.codeflare.dev/v1beta2",
        "kind": "AppWrapper",
        "metadata": {"name": "theirs"},
        "spec": {"components": []},
    }
    bare.api().post(APPWRAPPERS, theirs)
    clean = ("clean", "--kubeconfig", str(bare.kubeconfig()), "--yes")
    assert NOTHING in assay(*clean)
    assert bare.api().exists(path)
    bare.api().delete(f"{APPWRAPPERS}/theirs")
    assert f"removed CustomResourceDefinition {name_of(crd)}" in assay(*clean)
    assert standing(bare) == before
