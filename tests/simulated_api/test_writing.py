"""Creating and updating: fields that the server sets, keeps, counts and rejects."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulated_api.cluster import WIDGET, Cluster, config_map, job, pod, widget
from vocabulary.errors import ApiError
from vocabulary.kinds import CONFIG_MAP, DEPLOYMENT, JOB, LEASE, NODE, POD, Kind
from vocabulary.objects import Object
from vocabulary.requests import Create, Patch, Update


def test_the_server_decides_on_uid_time_and_generation(cluster: Cluster) -> None:
    given = pod()
    given["metadata"] |= {
        "uid": "mine",
        "creationTimestamp": "1999-01-01T00:00:00Z",
        "deletionTimestamp": "1999-01-01T00:00:00Z",
        "generation": 7,
    }
    metadata = cluster.create(given, POD)["metadata"]
    assert metadata["uid"] not in ("", "mine")
    assert metadata["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert metadata["generation"] == 1
    assert "deletionTimestamp" not in metadata


def test_the_same_seed_gives_the_same_uids_and_names() -> None:
    def run(seed: int) -> list[Any]:
        cluster = Cluster(seed)
        made = [
            cluster.create({**config_map(), "metadata": _generated()}, CONFIG_MAP) for _ in range(3)
        ]
        return [(obj["metadata"]["name"], obj["metadata"]["uid"]) for obj in made]

    assert run(7) == run(7)
    assert run(7) != run(8)


def test_a_generated_name_is_the_prefix_and_five_letters(cluster: Cluster) -> None:
    name = cluster.create({**config_map(), "metadata": _generated()}, CONFIG_MAP)["metadata"][
        "name"
    ]
    assert name.startswith("some-")
    assert len(name) == len("some-") + 5


def test_a_long_prefix_is_cut_so_that_the_name_fits_a_label(cluster: Cluster) -> None:
    metadata = {"generateName": "x" * 70, "namespace": "default"}
    created = cluster.create({**config_map(), "metadata": metadata}, CONFIG_MAP)
    assert len(created["metadata"]["name"]) == 63


@pytest.mark.parametrize(
    ("metadata", "field", "text"),
    [
        ({}, "metadata.name", "Required value: name or generateName is required"),
        ({"name": "A_b"}, "metadata.name", "a lowercase RFC 1123 subdomain must consist"),
        ({"name": "a", "labels": {"a b": "c"}}, "metadata.labels", "name part must consist"),
        ({"name": "a", "labels": {"a": "c d"}}, "metadata.labels", "a valid label must be"),
        ({"name": "a", "annotations": {"/x": ""}}, "metadata.annotations", "prefix part"),
        ({"name": "a", "finalizers": ["plain"]}, "metadata.finalizers[0]", "fully qualified"),
        (
            {"name": "a", "finalizers": ["orphan", "foregroundDeletion"]},
            "metadata.finalizers",
            "cannot be both set",
        ),
        (
            {"name": "a", "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "b"}]},
            "metadata.ownerReferences.uid",
            "must not be empty",
        ),
    ],
)
def test_malformed_metadata_is_refused_with_the_field_that_is_wrong(
    cluster: Cluster, metadata: dict[str, Any], field: str, text: str
) -> None:
    obj = {**config_map(), "metadata": {"namespace": "default", **metadata}}
    causes = _causes(cluster.refused(Create(CONFIG_MAP, obj)))
    assert any(cause["field"] == field and text in cause["message"] for cause in causes)


def test_only_one_owner_can_be_the_controller(cluster: Cluster) -> None:
    owner = {"apiVersion": "v1", "kind": "Pod", "controller": True}
    owners = [{**owner, "name": name, "uid": name} for name in "ab"]
    error = cluster.refused(Create(CONFIG_MAP, config_map(ownerReferences=owners)))
    assert "Only one reference can have Controller set to true" in error.message


def test_a_resource_version_has_no_place_on_a_new_object(cluster: Cluster) -> None:
    error = cluster.refused(Create(CONFIG_MAP, config_map(resourceVersion="5")))
    assert error.message == "resourceVersion should not be set on objects to be created"


def test_a_taken_name_is_refused(cluster: Cluster) -> None:
    cluster.create(config_map(), CONFIG_MAP)
    error = cluster.refused(Create(CONFIG_MAP, config_map()))
    assert error.to_status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'configmaps "c" already exists',
        "reason": "AlreadyExists",
        "details": {"name": "c", "kind": "configmaps"},
        "code": 409,
    }


def test_a_kind_that_is_not_served_is_not_found(cluster: Cluster) -> None:
    unknown = Kind("no.where", "v1", "Thing", "things")
    error = cluster.refused(Create(unknown, {"metadata": {"name": "a"}}))
    assert (error.code, error.message) == (404, "the server could not find the requested resource")


def test_an_update_of_an_older_version_is_a_conflict(cluster: Cluster) -> None:
    stale = cluster.create(config_map(), CONFIG_MAP)
    cluster.patch(CONFIG_MAP, "c", {"data": {"key": "other"}})
    error = cluster.refused(Update(CONFIG_MAP, {**stale, "data": {}}))
    assert error.is_conflict
    assert error.message == (
        'Operation cannot be fulfilled on configmaps "c": the object has been modified; please '
        "apply your changes to the latest version and try again"
    )


def test_an_update_without_a_version_wins_where_the_kind_allows_it(cluster: Cluster) -> None:
    cluster.create(config_map(), CONFIG_MAP)
    updated: Object = cluster.user(Update(CONFIG_MAP, {**config_map(), "data": {"key": "new"}}))
    assert updated["data"] == {"key": "new"}


@pytest.mark.parametrize("kind", [LEASE, WIDGET])
def test_other_kinds_demand_a_version(widgets: Cluster, kind: Kind) -> None:
    obj = widget() if kind is WIDGET else {"metadata": {"name": "w", "namespace": "default"}}
    widgets.create(obj, kind)
    error = widgets.refused(Update(kind, obj))
    assert "metadata.resourceVersion: Invalid value: 0: must be specified" in error.message


def test_an_update_of_another_uid_is_a_conflict_but_a_patch_is_invalid(cluster: Cluster) -> None:
    cluster.create(config_map(), CONFIG_MAP)
    update = cluster.refused(Update(CONFIG_MAP, config_map(uid="other")))
    assert "Precondition failed: UID in precondition: other" in update.message
    patch = cluster.refused(Patch(CONFIG_MAP, "default", "c", {"metadata": {"uid": "other"}}))
    assert patch.is_invalid
    assert "metadata.uid: Invalid value" in patch.message


def test_a_write_that_changes_nothing_is_answered_but_not_stored(cluster: Cluster) -> None:
    before = cluster.create(config_map(), CONFIG_MAP)
    since = cluster.store.revision
    assert cluster.patch(CONFIG_MAP, "c", {"data": {"key": "value"}}) == before
    assert cluster.user(Update(CONFIG_MAP, before)) == before
    assert cluster.store.revision == since


def test_a_dry_run_answers_what_would_be_stored_and_stores_nothing(cluster: Cluster) -> None:
    answer: Object = cluster.user(Create(CONFIG_MAP, config_map(), dry_run=True))
    assert answer["metadata"]["uid"]
    assert cluster.get(CONFIG_MAP, "c") is None
    before = cluster.create(config_map(), CONFIG_MAP)
    changed = cluster.patch(CONFIG_MAP, "c", {"data": {"key": "new"}}, dry_run=True)
    assert changed["data"] == {"key": "new"}
    assert cluster.get(CONFIG_MAP, "c") == before


def test_nothing_that_was_handed_in_or_stored_is_ever_changed(cluster: Cluster) -> None:
    given = job()
    template = given["spec"]["template"]
    first = cluster.create(given, JOB)
    snapshot = repr(first)
    cluster.patch(JOB, "j", {"spec": {"suspend": True}, "metadata": {"labels": {"a": "b"}}})
    cluster.delete(JOB, "j")
    assert repr(first) == snapshot
    assert template == {
        "spec": {"restartPolicy": "Never", "containers": [{"name": "m", "image": "x:1"}]}
    }


class TestGenerationAndStatus:
    def test_a_status_given_at_creation_is_dropped(self, cluster: Cluster) -> None:
        created = cluster.create({**job(), "status": {"active": 3}}, JOB)
        assert created["status"] == {}

    def test_a_node_brings_its_status_along(self, cluster: Cluster) -> None:
        node = {"metadata": {"name": "n0"}, "status": {"capacity": {"cpu": "1"}}}
        assert cluster.create(node, NODE)["status"]["allocatable"] == {"cpu": "1"}

    def test_an_update_of_the_object_leaves_the_status_alone(self, cluster: Cluster) -> None:
        cluster.create(job(), JOB)
        patched = cluster.patch(JOB, "j", {"status": {"active": 5}})
        assert patched["status"] == {}

    def test_an_update_of_the_status_leaves_the_spec_alone(self, cluster: Cluster) -> None:
        cluster.create(job(), JOB)
        body = {"status": {"active": 1}, "spec": {"parallelism": 9}}
        patched = cluster.patch(JOB, "j", body, "status")
        assert patched["status"] == {"active": 1}
        assert patched["spec"]["parallelism"] == 1

    def test_labels_pass_through_the_status_of_built_in_kinds_only(self, widgets: Cluster) -> None:
        widgets.create(job(), JOB)
        widgets.create(widget(), WIDGET)
        body = {"metadata": {"labels": {"a": "b"}}, "status": {"phase": "x"}}
        assert widgets.patch(JOB, "j", body, "status")["metadata"]["labels"]["a"] == "b"
        assert "labels" not in widgets.patch(WIDGET, "w", body, "status")["metadata"]

    def test_the_generation_counts_changes_of_the_spec_only(self, cluster: Cluster) -> None:
        cluster.create(job(), JOB)
        cluster.patch(JOB, "j", {"metadata": {"labels": {"a": "b"}}})
        cluster.patch(JOB, "j", {"status": {"active": 1}}, "status")
        assert _generation(cluster, JOB, "j") == 1
        cluster.patch(JOB, "j", {"spec": {"suspend": True}})
        assert _generation(cluster, JOB, "j") == 2

    def test_the_generation_of_a_deployment_counts_its_annotations_too(
        self, cluster: Cluster
    ) -> None:
        cluster.create(_deployment(), DEPLOYMENT)
        cluster.patch(DEPLOYMENT, "d", {"metadata": {"annotations": {"roll": "back"}}})
        assert _generation(cluster, DEPLOYMENT, "d") == 2

    def test_the_generation_of_a_custom_resource_counts_all_but_metadata_and_status(
        self, widgets: Cluster
    ) -> None:
        widgets.create(widget(), WIDGET)
        widgets.patch(WIDGET, "w", {"metadata": {"labels": {"a": "b"}}})
        widgets.patch(WIDGET, "w", {"status": {"phase": "x"}}, "status")
        assert _generation(widgets, WIDGET, "w") == 1
        widgets.patch(WIDGET, "w", {"spec": {"size": 2}})
        assert _generation(widgets, WIDGET, "w") == 2

    def test_deletion_is_a_change_of_what_is_desired(self, widgets: Cluster) -> None:
        obj = widget()
        obj["metadata"]["finalizers"] = ["x.y/hold"]
        widgets.create(obj, WIDGET)
        assert widgets.delete(WIDGET, "w")["metadata"]["generation"] == 2


class TestAdmission:
    def test_admission_may_change_what_is_stored(self, cluster: Cluster) -> None:
        def label(request: Any, actor: str, new: dict[str, Any], old: Any) -> dict[str, Any]:
            new["metadata"]["labels"] = {"by": actor}
            return new

        cluster.api.admission.mutating.append(label)
        created = cluster.create(config_map(), CONFIG_MAP)
        assert created["metadata"]["labels"] == {"by": "user"}

    def test_the_history_keeps_what_a_user_submitted_beside_what_was_stored(
        self, cluster: Cluster
    ) -> None:
        def label(request: Any, actor: str, new: dict[str, Any], old: Any) -> dict[str, Any]:
            new["metadata"]["labels"] = {"by": actor}
            return new

        cluster.api.admission.mutating.append(label)
        asked = config_map()
        cluster.api.handle(Create(CONFIG_MAP, asked), "user")
        cluster.api.handle(Patch(CONFIG_MAP, "default", "c", {"data": {"k": "v"}}), "user")
        cluster.api.handle(Create(CONFIG_MAP, config_map("d")), "operator")
        created, patched, others = cluster.recorder.entries[-3:]
        assert created.submitted is asked, "kept as it is, not copied"  # type: ignore[union-attr]
        assert "labels" not in asked["metadata"]
        assert patched.submitted is None  # type: ignore[union-attr]
        assert others.submitted is None  # type: ignore[union-attr]

    def test_a_refusal_of_admission_is_recorded_and_stores_nothing(self, cluster: Cluster) -> None:
        def refuse(request: Any, actor: str, new: dict[str, Any], old: Any) -> dict[str, Any]:
            raise ApiError(403, "Forbidden", "no")

        cluster.api.admission.mutating.append(refuse)
        cluster.refused(Create(CONFIG_MAP, config_map()))
        assert cluster.get(CONFIG_MAP, "c") is None
        entry = cluster.recorder.entries[-1]
        assert (entry.code, entry.reason, entry.event) == (403, "Forbidden", "")  # type: ignore[union-attr]

    def test_what_admission_adds_gets_its_defaults(self, cluster: Cluster) -> None:
        def add(request: Any, actor: str, new: dict[str, Any], old: Any) -> dict[str, Any]:
            containers = [*new["spec"]["containers"], {"name": "side", "image": "y"}]
            return {**new, "spec": {**new["spec"], "containers": containers}}

        cluster.api.admission.mutating.append(add)
        created = cluster.create(pod(), POD)
        assert created["spec"]["containers"][1]["imagePullPolicy"] == "Always"


def _generated() -> dict[str, Any]:
    return {"generateName": "some-", "namespace": "default"}


def _generation(cluster: Cluster, kind: Kind, name: str) -> int:
    obj = cluster.get(kind, name)
    assert obj is not None
    return int(obj["metadata"]["generation"])


def _causes(error: ApiError) -> list[dict[str, str]]:
    assert error.is_invalid
    causes: list[dict[str, str]] = error.to_status()["details"]["causes"]
    return causes


def _deployment() -> dict[str, Any]:
    labels = {"app": "x"}
    return {
        "metadata": {"name": "d", "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "m", "image": "x:1"}]},
            },
        },
    }
