"""Deleting: policies become finalizers, finalizers and grace hold, preconditions guard."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulated_api.cluster import Cluster, config_map, job, pod
from vocabulary.clock import SECOND, to_rfc3339
from vocabulary.kinds import CONFIG_MAP, JOB, NAMESPACE, POD
from vocabulary.objects import Object
from vocabulary.requests import Create, Delete, DeleteCollection, Update


def test_an_object_that_nothing_holds_is_removed_at_once(cluster: Cluster) -> None:
    cluster.create(config_map(), CONFIG_MAP)
    since = cluster.store.revision
    cluster.delete(CONFIG_MAP, "c")
    assert cluster.events(since) == [("DELETED", "c")]
    assert cluster.refused(Delete(CONFIG_MAP, "default", "c")).is_not_found


def test_a_finalizer_keeps_a_deleted_object_and_marks_it_terminating(cluster: Cluster) -> None:
    cluster.create(config_map(finalizers=["x.y/hold"]), CONFIG_MAP)
    cluster.loop.run_for(5 * SECOND)
    deleted = cluster.delete(CONFIG_MAP, "c")
    assert deleted["metadata"]["deletionTimestamp"] == to_rfc3339(cluster.loop.now_us)
    assert deleted["metadata"]["deletionGracePeriodSeconds"] == 0
    assert cluster.get(CONFIG_MAP, "c") == deleted


def test_deleting_a_terminating_object_again_changes_nothing(cluster: Cluster) -> None:
    cluster.create(config_map(finalizers=["x.y/hold"]), CONFIG_MAP)
    first = cluster.delete(CONFIG_MAP, "c")
    cluster.loop.run_for(5 * SECOND)
    assert cluster.delete(CONFIG_MAP, "c") == first


def test_the_last_finalizer_to_go_takes_the_object_with_it(cluster: Cluster) -> None:
    cluster.create(config_map(finalizers=["x.y/hold"]), CONFIG_MAP)
    cluster.delete(CONFIG_MAP, "c")
    answer = cluster.patch(CONFIG_MAP, "c", {"metadata": {"finalizers": None}})
    assert "finalizers" not in answer["metadata"]
    assert cluster.get(CONFIG_MAP, "c") is None


def test_the_deleted_event_still_shows_the_finalizer_that_was_taken_away(cluster: Cluster) -> None:
    cluster.create(config_map(), CONFIG_MAP)
    cluster.delete(CONFIG_MAP, "c", propagation_policy="Foreground")
    cluster.patch(CONFIG_MAP, "c", {"metadata": {"finalizers": []}})
    last = cluster.store.changes[-1]
    assert last.event == "DELETED"
    assert last.object["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert "deletionTimestamp" in last.object["metadata"]


@pytest.mark.parametrize(
    ("policy", "finalizers"),
    [("Foreground", ["foregroundDeletion"]), ("Orphan", ["orphan"]), ("Background", None)],
)
def test_a_propagation_policy_becomes_a_finalizer(
    cluster: Cluster, policy: Any, finalizers: list[str] | None
) -> None:
    cluster.create(config_map(), CONFIG_MAP)
    deleted = cluster.delete(CONFIG_MAP, "c", propagation_policy=policy)
    assert deleted["metadata"].get("finalizers") == finalizers
    assert (cluster.get(CONFIG_MAP, "c") is None) is (finalizers is None)


def test_a_background_deletion_ends_a_foreground_deletion_at_once(cluster: Cluster) -> None:
    cluster.create(config_map(), CONFIG_MAP)
    cluster.delete(CONFIG_MAP, "c", propagation_policy="Foreground")
    cluster.delete(CONFIG_MAP, "c", propagation_policy="Background")
    assert cluster.get(CONFIG_MAP, "c") is None


def test_without_a_policy_the_finalizer_that_is_there_decides(cluster: Cluster) -> None:
    cluster.create(config_map(finalizers=["foregroundDeletion"]), CONFIG_MAP)
    deleted = cluster.delete(CONFIG_MAP, "c")
    assert deleted["metadata"]["finalizers"] == ["foregroundDeletion"]


def test_a_foreground_deletion_keeps_foreign_finalizers_and_adds_its_own_last(
    cluster: Cluster,
) -> None:
    cluster.create(config_map(finalizers=["orphan", "x.y/hold"]), CONFIG_MAP)
    deleted = cluster.delete(CONFIG_MAP, "c", propagation_policy="Foreground")
    assert deleted["metadata"]["finalizers"] == ["x.y/hold", "foregroundDeletion"]


def test_a_job_orphans_its_pods_unless_told_otherwise(cluster: Cluster) -> None:
    cluster.create(job(), JOB)
    assert cluster.delete(JOB, "j")["metadata"]["finalizers"] == ["orphan"]


def test_an_unknown_policy_is_refused_with_what_is_supported(cluster: Cluster) -> None:
    cluster.create(config_map(), CONFIG_MAP)
    request = Delete(CONFIG_MAP, "default", "c", propagation_policy="Sideways")  # type: ignore[arg-type]
    error = cluster.refused(request)
    assert error.code == 422
    assert 'supported values: "Foreground", "Background", "Orphan", "nil"' in error.message


def test_a_deletion_of_another_uid_is_a_conflict(cluster: Cluster) -> None:
    cluster.create(config_map(), CONFIG_MAP)
    error = cluster.refused(Delete(CONFIG_MAP, "default", "c", uid="other"))
    assert error.is_conflict
    assert "the UID in the precondition (other) does not match the UID in record" in error.message


def test_a_deletion_of_an_older_version_is_a_conflict(cluster: Cluster) -> None:
    created = cluster.create(config_map(), CONFIG_MAP)
    cluster.patch(CONFIG_MAP, "c", {"data": {"key": "other"}})
    stale = created["metadata"]["resourceVersion"]
    error = cluster.refused(Delete(CONFIG_MAP, "default", "c", resource_version=stale))
    assert error.is_conflict
    assert cluster.get(CONFIG_MAP, "c") is not None


def test_a_terminating_name_cannot_be_taken(cluster: Cluster) -> None:
    cluster.create(config_map(finalizers=["x.y/hold"]), CONFIG_MAP)
    cluster.delete(CONFIG_MAP, "c")
    error = cluster.refused(Create(CONFIG_MAP, config_map()))
    assert error.is_already_exists
    assert error.message == 'object is being deleted: configmaps "c" already exists'


def test_no_finalizer_can_be_added_once_deletion_has_begun(cluster: Cluster) -> None:
    cluster.create(config_map(finalizers=["x.y/hold"]), CONFIG_MAP)
    terminating = cluster.delete(CONFIG_MAP, "c")
    metadata = {**terminating["metadata"], "finalizers": ["x.y/hold", "x.y/more"]}
    error = cluster.refused(Update(CONFIG_MAP, {**terminating, "metadata": metadata}))
    assert error.is_invalid
    assert 'found new finalizers []string{"x.y/more"}' in error.message


def test_a_deletion_timestamp_cannot_be_taken_back(cluster: Cluster) -> None:
    cluster.create(config_map(finalizers=["x.y/hold"]), CONFIG_MAP)
    cluster.delete(CONFIG_MAP, "c")
    patched = cluster.patch(CONFIG_MAP, "c", {"metadata": {"deletionTimestamp": None}})
    assert "deletionTimestamp" in patched["metadata"]


def test_a_dry_run_deletes_nothing(cluster: Cluster) -> None:
    before = cluster.create(config_map(), CONFIG_MAP)
    cluster.delete(CONFIG_MAP, "c", dry_run=True)
    assert cluster.get(CONFIG_MAP, "c") == before


def test_deletecollection_deletes_what_the_selectors_choose_and_records_each(
    cluster: Cluster,
) -> None:
    for name, team in (("a", "x"), ("b", "y"), ("c", "x")):
        cluster.create(config_map(name, labels={"team": team}), CONFIG_MAP)
    cluster.user(DeleteCollection(CONFIG_MAP, "default", "team=x"))
    assert cluster.names(CONFIG_MAP) == ["b"]
    recorded = [
        entry.name
        for entry in cluster.recorder.entries
        if entry.verb == "deletecollection"  # type: ignore[union-attr]
    ]
    assert recorded == ["a", "c"]


class TestPods:
    @staticmethod
    def bound(cluster: Cluster, **spec: Any) -> Object:
        return cluster.create(pod(nodeName="n0", **spec), POD)

    def test_a_bound_pod_is_given_its_own_grace_period(self, cluster: Cluster) -> None:
        self.bound(cluster, terminationGracePeriodSeconds=45)
        deleted = cluster.delete(POD, "p")
        assert deleted["metadata"]["deletionGracePeriodSeconds"] == 45
        due = to_rfc3339(cluster.loop.now_us + 45 * SECOND)
        assert deleted["metadata"]["deletionTimestamp"] == due
        assert deleted["metadata"]["generation"] == 2

    def test_an_unbound_pod_goes_at_once_but_says_so_first(self, cluster: Cluster) -> None:
        cluster.create(pod(), POD)
        since = cluster.store.revision
        cluster.delete(POD, "p")
        assert cluster.events(since) == [("MODIFIED", "p"), ("DELETED", "p")]

    def test_a_stopped_pod_needs_no_grace(self, cluster: Cluster) -> None:
        self.bound(cluster)
        cluster.patch(POD, "p", {"status": {"phase": "Succeeded"}}, "status")
        cluster.delete(POD, "p")
        assert cluster.get(POD, "p") is None

    def test_a_second_deletion_can_shorten_the_grace(self, cluster: Cluster) -> None:
        self.bound(cluster)
        began_us = cluster.loop.now_us
        cluster.delete(POD, "p")
        cluster.loop.run_for(2 * SECOND)
        deleted = cluster.delete(POD, "p", grace_period_seconds=10)
        assert deleted["metadata"]["deletionTimestamp"] == to_rfc3339(began_us + 10 * SECOND)
        assert deleted["metadata"]["deletionGracePeriodSeconds"] == 10

    def test_a_second_deletion_cannot_lengthen_the_grace(self, cluster: Cluster) -> None:
        self.bound(cluster)
        first = cluster.delete(POD, "p", grace_period_seconds=10)
        assert cluster.delete(POD, "p", grace_period_seconds=60) == first

    def test_a_shortening_that_comes_too_late_leaves_one_second(self, cluster: Cluster) -> None:
        self.bound(cluster)
        cluster.delete(POD, "p")
        cluster.loop.run_for(20 * SECOND)
        deleted = cluster.delete(POD, "p", grace_period_seconds=5)
        assert deleted["metadata"]["deletionGracePeriodSeconds"] == 1
        assert deleted["metadata"]["deletionTimestamp"] == to_rfc3339(cluster.loop.now_us)

    def test_grace_zero_removes_a_bound_pod_at_once(self, cluster: Cluster) -> None:
        self.bound(cluster)
        cluster.delete(POD, "p", grace_period_seconds=0)
        assert cluster.get(POD, "p") is None

    def test_a_finalizer_outlasts_grace_zero(self, cluster: Cluster) -> None:
        obj = pod(nodeName="n0")
        obj["metadata"]["finalizers"] = ["batch.kubernetes.io/job-tracking"]
        cluster.create(obj, POD)
        cluster.delete(POD, "p", grace_period_seconds=0)
        assert cluster.get(POD, "p") is not None
        cluster.patch(POD, "p", {"metadata": {"finalizers": None}})
        assert cluster.get(POD, "p") is None

    def test_an_emptied_finalizer_list_does_not_cut_the_grace_short(self, cluster: Cluster) -> None:
        obj = pod(nodeName="n0")
        obj["metadata"]["finalizers"] = ["x.y/hold"]
        cluster.create(obj, POD)
        cluster.delete(POD, "p")
        cluster.patch(POD, "p", {"metadata": {"finalizers": None}})
        assert cluster.get(POD, "p") is not None


class TestNamespaces:
    def test_a_deleted_namespace_terminates_until_its_finalizer_is_gone(
        self, cluster: Cluster
    ) -> None:
        cluster.create(_namespace("team"), NAMESPACE)
        deleted: Object = cluster.user(Delete(NAMESPACE, "", "team"))
        assert deleted["status"]["phase"] == "Terminating"
        emptied = {**deleted, "spec": {"finalizers": []}}
        cluster.user(Update(NAMESPACE, emptied, "finalize"))
        assert cluster.get(NAMESPACE, "team") is None

    def test_nothing_can_be_created_in_a_terminating_namespace(self, cluster: Cluster) -> None:
        cluster.create(_namespace("team"), NAMESPACE)
        cluster.user(Delete(NAMESPACE, "", "team"))
        obj = config_map()
        obj["metadata"]["namespace"] = "team"
        error = cluster.refused(Create(CONFIG_MAP, obj))
        assert error.code == 403
        assert error.to_status()["details"]["causes"][0]["reason"] == "NamespaceTerminating"

    def test_nothing_can_be_created_in_a_missing_namespace(self, cluster: Cluster) -> None:
        obj = config_map()
        obj["metadata"]["namespace"] = "nowhere"
        error = cluster.refused(Create(CONFIG_MAP, obj))
        assert (error.code, error.message) == (404, 'namespaces "nowhere" not found')

    def test_the_default_namespace_cannot_be_deleted(self, cluster: Cluster) -> None:
        assert cluster.refused(Delete(NAMESPACE, "", "default")).code == 403


def _namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
