"""Manifests as kustomize renders them; another program stands in for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from conformance.explore.go_module import found_in
from conformance.explore.kustomized import kustomized
from tests.explore.test_go_module import module, write

__all__ = ["module"]

RENDERED = """\
apiVersion: v1
kind: Namespace
metadata: {name: op-system}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ops.example.com}
spec:
  conversion: {strategy: Webhook}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: op-manager}
"""


@pytest.fixture
def overlay(module: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module with an overlay, which neither kustomize nor kubectl can render yet."""
    write(module, {"config/default/kustomization.yaml": "resources: [../crd, ../rbac]\n"})
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return module


def install(module: Path, script: str) -> None:
    program = module.parent / "bin" / "kustomize"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_what_is_rendered_is_kept_beside_the_profile(overlay: Path) -> None:
    (overlay / "rendered.yaml").write_text(RENDERED)
    install(overlay, f'while IFS= read -r line; do echo "$line"; done < {overlay}/rendered.yaml')
    found = found_in(overlay, ".")
    assert found.profile["manifests"] == {
        "crds": ["./op.installed.yaml"],
        "rbac": ["./op.installed.yaml"],
    }
    assert "manifests: Rendered by kustomize build config/default" in found.said
    crd, role = yaml.safe_load_all(found.beside["op.installed.yaml"])
    assert role["metadata"]["name"] == "op-manager"
    assert "conversion" not in crd["spec"], "the API server has no reason to trust the operator"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("", "config/default is not rendered: neither kustomize nor kubectl is there"),
        (
            'echo "Error: accumulating resources" >&2; exit 1',
            "kustomize build config/default: Error: accumulating resources",
        ),
        ("echo 'kind: Namespace'", "Rendered by kustomize build config/default"),
    ],
)
def test_else_files_are_read(overlay: Path, script: str, said: str) -> None:
    if script:
        install(overlay, script)
    found = found_in(overlay, ".")
    assert found.profile["manifests"]["crds"] == ["config/crd/bases/*.yaml"]
    assert f"manifests: {said}" in found.said
    assert not found.beside


def test_a_module_without_an_overlay_is_not_rendered(module: Path) -> None:
    assert kustomized(module) is None
    assert not any(line.startswith("manifests:") for line in found_in(module, ".").said)


def test_an_overlay_that_never_ends_is_given_up(
    overlay: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.explore.kustomized._SECONDS", 0.2)
    install(overlay, f"exec {os.sep}bin{os.sep}sleep 60")
    found = kustomized(overlay)
    assert found is not None
    assert found.said == "kustomize build config/default: no end within 0.2 s"
