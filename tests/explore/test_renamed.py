"""A second workload has other names, and nothing else of it differs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from conformance.suites.operator.scenarios.steps import names_of_workload, renamed
from conformance.world import World
from vocabulary.history import Write


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


def added(actor: str, kind: str, name: str) -> Write:
    return Write(n=0, t=0, actor=actor, verb="create", kind=kind, name=name, event="ADDED")


def test_a_field_may_name_an_object_of_the_operator() -> None:
    """Two Certificates that share one Secret overwrite each other without end."""
    web = manifest("web")
    web["spec"] |= {"secretName": "web-tls", "serviceAccountName": "default"}
    world = SimpleNamespace(
        scenario=SimpleNamespace(manifests=[web]),
        history=lambda: (
            None,
            (
                added("service-account-controller", "ServiceAccount", "default"),
                added("user", "Site.example.dev", "web"),
                added("operator", "Secret", "web-tls"),
            ),
        ),
    )
    second = renamed(web, names_of_workload(cast("World", world)), "n")
    assert second["spec"]["secretName"] == "web-tls-n"
    assert second["spec"]["serviceAccountName"] == "default"
