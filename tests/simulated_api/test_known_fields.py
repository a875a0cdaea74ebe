"""Built-in kinds keep the fields that the API has, at any depth, and no others."""

from __future__ import annotations

from typing import Any

from clusters.simulated.builtin.known_fields import drop_unknown
from tests.simulated_api.cluster import Cluster, config_map, job
from vocabulary.kinds import CONFIG_MAP, JOB, PRIORITY_CLASS, STATEFUL_SET


def test_a_config_map_has_no_spec(cluster: Cluster) -> None:
    """A user may write a pod template into one; a real server drops it."""
    created = cluster.create({**config_map("c"), "spec": {"template": {}}}, CONFIG_MAP)
    assert "spec" not in created


def test_unknown_fields_of_parts_are_dropped(cluster: Cluster) -> None:
    container = {"name": "m", "image": "i", "gpus": 1, "resources": {"limits": {"a.b/c": "1"}}}
    spec = {"containers": [container], "restartPolicy": "Never"}
    template = {"metadata": {"owner": "x"}, "spec": spec}
    created = cluster.create(job(template=template, retries=3), JOB)
    assert "retries" not in created["spec"]
    (kept,) = created["spec"]["template"]["spec"]["containers"]
    assert "gpus" not in kept
    assert kept["resources"]["limits"] == {"a.b/c": "1"}
    assert "owner" not in created["spec"]["template"]["metadata"]


def test_a_patch_adds_no_unknown_field(cluster: Cluster) -> None:
    before = cluster.create(config_map("c"), CONFIG_MAP)
    after = cluster.patch(CONFIG_MAP, "c", {"unknown": 1})
    assert after == before


def test_an_object_within_another_says_its_kind() -> None:
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "v"}}
    stateful_set: dict[str, Any] = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "spec": {"volumeClaimTemplates": [claim], "template": {"kind": "Pod"}},
    }
    drop_unknown(stateful_set, STATEFUL_SET)
    assert stateful_set["spec"] == {"volumeClaimTemplates": [claim], "template": {}}


def test_what_has_only_known_fields_stays_the_same_object() -> None:
    obj = job()
    spec, metadata = obj["spec"], obj["metadata"]
    drop_unknown(obj, JOB)
    assert obj["spec"] is spec
    assert obj["metadata"] is metadata


def test_what_the_old_object_had_is_not_looked_at_again() -> None:
    spec = {"unknown": 1}
    obj: dict[str, Any] = {"spec": spec, "status": {"unknown": 1, "active": 1}}
    drop_unknown(obj, JOB, {"spec": spec, "status": {}})
    assert obj == {"spec": spec, "status": {"active": 1}}


def test_values_of_the_wrong_type_are_left_to_other_checks() -> None:
    obj: dict[str, Any] = {"spec": {"template": "none", "podFailurePolicy": {"rules": {"a": 1}}}}
    drop_unknown(obj, JOB)
    assert obj == {"spec": {"template": "none", "podFailurePolicy": {"rules": {"a": 1}}}}
    drop_unknown(obj, PRIORITY_CLASS)
    assert obj == {}


def test_a_field_that_is_null_is_absent(cluster: Cluster) -> None:
    """Clients in Go write `creationTimestamp: null` into templates, and webhooks answer with it."""
    metadata = {"creationTimestamp": None, "labels": {"a": "b"}}
    spec = {"containers": [{"name": "m", "image": "i", "command": None}], "restartPolicy": "Never"}
    created = cluster.create(job(template={"metadata": metadata, "spec": spec}), JOB)
    template = created["spec"]["template"]
    assert "creationTimestamp" not in template["metadata"]
    assert "command" not in template["spec"]["containers"][0]
