"""The workload as it is run: in the namespace of each run."""

from __future__ import annotations

from typing import Any

from conformance.explore.workload import in_one_namespace


def manifest(kind: str, name: str, namespace: str = "", **fields: Any) -> dict[str, Any]:
    meta = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": "example.dev/v1", "kind": kind, "metadata": meta, **fields}


def test_the_only_namespace_is_that_of_the_run() -> None:
    """A second workload of the same names is put into another one, which a name would prevent."""
    workload = (
        manifest("Namespace", "team"),
        manifest("Site", "a", "team", spec={"secretRef": {"name": "s", "namespace": "team"}}),
        manifest("Secret", "s"),
    )
    assert in_one_namespace(workload) == (
        (
            manifest("Site", "a", spec={"secretRef": {"name": "s", "namespace": "default"}}),
            manifest("Secret", "s"),
        ),
        "team",
    )


def test_several_namespaces_stay_as_they_are() -> None:
    workload = (manifest("Site", "a", "team"), manifest("Site", "a", "other"))
    assert in_one_namespace(workload) == (workload, "")
    assert in_one_namespace(workload[:0]) == ((), "")
