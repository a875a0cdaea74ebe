"""Applied objects that do not fit the schema of a built-in kind, or that name another uid."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulated_api.cluster import NAMESPACE, Cluster, config_map, pod
from vocabulary.errors import ApiError
from vocabulary.kinds import CONFIG_MAP, LEASE, POD, Kind
from vocabulary.requests import Patch


def refused(cluster: Cluster, kind: Kind, body: dict[str, Any], name: str = "c") -> ApiError:
    return cluster.refused(Patch(kind, NAMESPACE, name, body, "apply", field_manager="test"))


def container(**fields: Any) -> dict[str, Any]:
    return pod("c", containers=[{"name": "m", "image": "i", **fields}])


@pytest.mark.parametrize(
    ("kind", "body", "flaws"),
    [
        (CONFIG_MAP, {**config_map(), "odd": 1}, ".odd: field not declared in schema"),
        (
            POD,
            container(odd=1),
            '.spec.containers[name="m"].odd: field not declared in schema',
        ),
        (
            POD,
            container(name={}),
            ".spec.containers[name={}].name: expected string, got "
            "&value.valueUnstructured{Value:map[string]interface {}{}}",
        ),
        (
            POD,
            container(stdin="yes", command="x"),
            'errors:\n  .spec.containers[name="m"].command: expected list, got &{x}\n'
            '  .spec.containers[name="m"].stdin: expected boolean, got &{yes}',
        ),
        (
            CONFIG_MAP,
            config_map(labels={"a": True}),
            ".metadata.labels.a: expected string, got &value.valueUnstructured{Value:true}",
        ),
        (CONFIG_MAP, config_map(labels=["a", 1]), ".metadata.labels: expected map, got &{[a 1]}"),
    ],
)
def test_what_does_not_fit_the_schema_is_no_typed_object(
    cluster: Cluster, kind: Kind, body: dict[str, Any], flaws: str
) -> None:
    error = refused(cluster, kind, body)
    assert error.code == 500
    assert error.message == (
        "failed to create typed patch object "
        f"(default/c; {kind.group}/{kind.version}, Kind={kind.kind}): {flaws}"
    )


def test_metadata_has_to_be_an_object(cluster: Cluster) -> None:
    error = refused(cluster, CONFIG_MAP, {**config_map(), "metadata": "x"})
    assert (error.code, error.message) == (
        500,
        "failed to create typed patch object (/; /v1, Kind=ConfigMap): "
        ".metadata: expected map, got &{x}",
    )


def test_times_are_not_typed(cluster: Cluster) -> None:
    """The schema of an apply takes any scalar; what converts the object to Go does not."""
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "c"},
        "spec": {"renewTime": 5},
    }
    error = refused(cluster, LEASE, lease)
    assert error.code == 500
    assert error.message.endswith(": json: cannot unmarshal number into Go value of type string")


def test_an_absent_object_has_no_uid(cluster: Cluster) -> None:
    error = refused(cluster, CONFIG_MAP, config_map(uid="x"))
    assert (error.code, error.reason) == (409, "Conflict")
    assert error.message == (
        'Operation cannot be fulfilled on configmaps "c": uid mismatch: the provided object '
        "specified uid x, and no existing object was found"
    )
    assert cluster.get(CONFIG_MAP, "c") is None
