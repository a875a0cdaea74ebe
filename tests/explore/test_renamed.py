"""A second workload has other names, and nothing else of it differs."""

from __future__ import annotations

from typing import Any

from conformance.suites.operator.scenarios.steps import renamed


def manifest(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "example.dev/v1",
        "kind": "Site",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "image": "default",
            "siteRef": {"kind": "Site", "name": name, "namespace": "default"},
            "mounts": [name, "other"],
        },
    }


def test_only_names_of_objects_are_changed() -> None:
    assert renamed(manifest("default"), {"default", "Site"}, "n") == manifest("default-n")
