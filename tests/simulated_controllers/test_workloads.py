"""ReplicaSets, Deployments and StatefulSets."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulated_controllers.lab import DEFAULT, Lab
from vocabulary.kinds import (
    CONTROLLER_REVISION,
    DEPLOYMENT,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    REPLICA_SET,
    STATEFUL_SET,
)
from vocabulary.objects import annotations_of, get_path, is_terminating, labels_of, name_of


def workload(kind: str, name: str, replicas: int = 3, behaviour: str = "", **spec: Any) -> Any:
    annotations = {"assay.dev/behaviour": behaviour} if behaviour else {}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": DEFAULT},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}, "annotations": annotations},
                "spec": {"containers": [{"name": "main", "image": "busybox"}]},
            },
            **spec,
        },
    }


def new_template(value: str = "2") -> dict[str, Any]:
    return {"spec": {"template": {"metadata": {"labels": {"version": value}}}}}


def alive(lab: Lab) -> list[str]:
    return sorted(name_of(pod) for pod in lab.pods if not is_terminating(pod))


def test_a_replica_set_replaces_a_pod_as_soon_as_it_is_being_deleted() -> None:
    lab = Lab()
    lab.create(workload("ReplicaSet", "rs", behaviour="stop 60s"))
    lab.run(2)
    victim = alive(lab)[0]
    lab.delete(POD, victim)
    lab.run(2)
    assert len(alive(lab)) == 3
    assert len(lab.pods) == 4


def test_a_replica_set_shows_how_many_pods_are_ready() -> None:
    lab = Lab()
    lab.create(workload("ReplicaSet", "rs"))
    lab.run(2)
    lab.annotate(alive(lab)[0], {"assay.dev/hold": "notready"})
    lab.run(2)
    status = lab.get(REPLICA_SET, "rs")["status"]
    assert (status["replicas"], status["readyReplicas"], status["availableReplicas"]) == (3, 2, 2)


def test_a_replica_set_that_shrinks_deletes_unready_pods_first() -> None:
    lab = Lab()
    lab.create(workload("ReplicaSet", "rs"))
    lab.run(2)
    unready = alive(lab)[1]
    lab.annotate(unready, {"assay.dev/hold": "notready"})
    lab.run(2)
    lab.patch(REPLICA_SET, "rs", {"spec": {"replicas": 2}})
    lab.run(2)
    assert len(alive(lab)) == 2
    assert unready not in alive(lab)


def test_a_replica_set_lets_go_and_takes_in_pods_by_their_labels() -> None:
    lab = Lab()
    lab.create(workload("ReplicaSet", "rs", replicas=1))
    lab.run(2)
    (first,) = alive(lab)
    lab.patch(POD, first, {"metadata": {"labels": {"app": "quarantine"}}})
    lab.run(2)
    assert len(alive(lab)) == 2
    lab.patch(POD, first, {"metadata": {"labels": {"app": "rs"}}})
    (second,) = (name for name in alive(lab) if name != first)
    lab.delete(POD, second)
    lab.run(2)
    assert alive(lab) == [first]


def test_minimum_ready_seconds_delay_availability() -> None:
    lab = Lab()
    lab.create(workload("ReplicaSet", "rs", minReadySeconds=30))
    lab.run(20)
    assert "availableReplicas" not in lab.get(REPLICA_SET, "rs")["status"]
    lab.run(15)
    assert lab.get(REPLICA_SET, "rs")["status"]["availableReplicas"] == 3


def test_a_deployment_makes_a_replica_set_with_hash_and_revision() -> None:
    lab = Lab()
    lab.create(workload("Deployment", "d"))
    lab.run(2)
    (replica_set,) = lab.all(REPLICA_SET)
    hash_ = labels_of(replica_set)["pod-template-hash"]
    assert name_of(replica_set) == f"d-{hash_}"
    assert annotations_of(replica_set)["deployment.kubernetes.io/revision"] == "1"
    deployment = lab.get(DEPLOYMENT, "d")
    assert annotations_of(deployment)["deployment.kubernetes.io/revision"] == "1"
    assert {labels_of(pod)["pod-template-hash"] for pod in lab.pods} == {hash_}
    assert lab.conditions(deployment) == {
        "Available": ("True", "MinimumReplicasAvailable"),
        "Progressing": ("True", "NewReplicaSetAvailable"),
    }
    assert lab.cluster.is_quiet()


def test_a_rolling_update_never_falls_below_nor_rises_above_its_bounds() -> None:
    lab = Lab()
    lab.create(workload("Deployment", "d", replicas=4))
    lab.run(2)
    lab.patch(DEPLOYMENT, "d", new_template())
    counts = set()
    deadline_us = lab.loop.now_us + 30_000_000
    while lab.loop.step(deadline_us):
        wanted = sum(entry["spec"]["replicas"] for entry in lab.all(REPLICA_SET))
        ready = sum(
            not is_terminating(pod) and lab.conditions(pod).get("Ready", ("", ""))[0] == "True"
            for pod in lab.pods
        )
        counts.add((wanted, ready))
    assert max(wanted for wanted, _ in counts) == 5
    assert min(ready for _, ready in counts) >= 3
    assert {labels_of(pod)["version"] for pod in lab.pods} == {"2"}
    revisions = {
        annotations_of(entry)["deployment.kubernetes.io/revision"] for entry in lab.all(REPLICA_SET)
    }
    assert revisions == {"1", "2"}


def test_a_template_that_comes_back_gets_the_highest_revision() -> None:
    lab = Lab()
    lab.create(workload("Deployment", "d"))
    lab.run(2)
    lab.patch(DEPLOYMENT, "d", new_template())
    lab.run(30)
    lab.patch(DEPLOYMENT, "d", {"spec": {"template": {"metadata": {"labels": {"version": None}}}}})
    lab.run(30)
    assert len(lab.all(REPLICA_SET)) == 2
    deployment = lab.get(DEPLOYMENT, "d")
    assert annotations_of(deployment)["deployment.kubernetes.io/revision"] == "3"


def test_recreate_ends_everything_old_before_anything_new_begins() -> None:
    lab = Lab()
    lab.create(workload("Deployment", "d", behaviour="stop 20s", strategy={"type": "Recreate"}))
    lab.run(2)
    lab.patch(DEPLOYMENT, "d", new_template())
    lab.run(60)
    entries = lab.writes(POD)
    last_gone = max(entry.n for entry in entries if entry.event == "DELETED")
    born = [entry.n for entry in entries if entry.event == "ADDED"]
    assert born[3] > last_gone
    assert len(alive(lab)) == 3


def test_a_deployment_that_does_not_progress_says_so_after_its_deadline() -> None:
    lab = Lab()
    lab.create(workload("Deployment", "d", behaviour="stay pending", progressDeadlineSeconds=60))
    lab.run(50)
    assert lab.conditions(lab.get(DEPLOYMENT, "d"))["Progressing"][0] == "True"
    lab.run(20)
    assert lab.conditions(lab.get(DEPLOYMENT, "d")) == {
        "Available": ("False", "MinimumReplicasUnavailable"),
        "Progressing": ("False", "ProgressDeadlineExceeded"),
    }


def test_a_paused_deployment_keeps_its_old_template() -> None:
    lab = Lab()
    lab.create(workload("Deployment", "d"))
    lab.run(2)
    lab.patch(DEPLOYMENT, "d", {"spec": {"paused": True}})
    lab.patch(DEPLOYMENT, "d", new_template())
    lab.run(30)
    assert len(lab.all(REPLICA_SET)) == 1


def test_4_15_replica_sets_of_a_deleted_deployment_go() -> None:
    lab = Lab()
    lab.create(workload("Deployment", "d"))
    lab.run(2)
    lab.delete(DEPLOYMENT, "d")
    lab.run(10)
    assert lab.all(REPLICA_SET) == []
    assert lab.pods == []


def stateful(**spec: Any) -> Any:
    return workload("StatefulSet", "s", serviceName="s", **spec)


def test_a_stateful_set_makes_its_pods_in_order_with_stable_names_and_labels() -> None:
    lab = Lab()
    lab.create(stateful())
    lab.run(5)
    assert [entry.name for entry in lab.writes(POD, event="ADDED")] == ["s-0", "s-1", "s-2"]
    labels = labels_of(lab.pod("s-1"))
    assert labels["statefulset.kubernetes.io/pod-name"] == "s-1"
    assert labels["apps.kubernetes.io/pod-index"] == "1"
    status = lab.get(STATEFUL_SET, "s")["status"]
    assert labels["controller-revision-hash"] == status["currentRevision"]
    assert (status["replicas"], status["readyReplicas"]) == (3, 3)


def test_a_stateful_set_keeps_each_template_on_record() -> None:
    lab = Lab()
    lab.create(stateful())
    lab.run(5)
    (revision,) = lab.all(CONTROLLER_REVISION)
    stored = lab.get(STATEFUL_SET, "s")
    name = stored["status"]["currentRevision"]
    assert (name_of(revision), revision["revision"]) == (name, 1)
    template_labels = stored["spec"]["template"]["metadata"]["labels"]
    assert labels_of(revision) == {
        **template_labels,
        "controller.kubernetes.io/hash": name.removeprefix("s-"),
    }
    (owner,) = revision["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("StatefulSet", "s", True)


def test_ordered_ready_waits_for_each_pod_and_parallel_for_none() -> None:
    ordered, parallel = Lab(), Lab()
    ordered.create(stateful(behaviour="never ready"))
    parallel.create(stateful(behaviour="never ready", podManagementPolicy="Parallel"))
    for lab in (ordered, parallel):
        lab.run(10)
    assert (len(ordered.pods), len(parallel.pods)) == (1, 3)


def test_a_stateful_pod_comes_back_under_its_name_only_when_the_old_one_is_gone() -> None:
    lab = Lab()
    lab.create(stateful(behaviour="stop 20s"))
    lab.run(5)
    old = lab.pod("s-1")["metadata"]["uid"]
    lab.delete(POD, "s-1")
    lab.run(10)
    assert lab.pod("s-1")["metadata"]["uid"] == old
    lab.run(15)
    assert lab.pod("s-1")["metadata"]["uid"] != old


def test_a_stateful_set_shrinks_from_its_highest_ordinal() -> None:
    lab = Lab()
    lab.create(stateful())
    lab.run(5)
    lab.patch(STATEFUL_SET, "s", {"spec": {"replicas": 1}})
    lab.run(10)
    assert [entry.name for entry in lab.writes(POD, event="DELETED")] == ["s-2", "s-1"]


@pytest.mark.parametrize(("partition", "replaced"), [(0, 3), (2, 1)])
def test_a_stateful_set_rolls_down_to_its_partition(partition: int, replaced: int) -> None:
    lab = Lab()
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}
    lab.create(stateful(updateStrategy=rolling))
    lab.run(5)
    lab.patch(STATEFUL_SET, "s", new_template())
    lab.run(60)
    names = [entry.name for entry in lab.writes(POD, event="DELETED")]
    assert names == ["s-2", "s-1", "s-0"][:replaced]
    new = [name_of(pod) for pod in lab.pods if labels_of(pod).get("version") == "2"]
    assert len(new) == replaced


def test_claim_templates_give_every_ordinal_its_claim() -> None:
    lab = Lab()
    template = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    lab.create(stateful(replicas=2, volumeClaimTemplates=[template]))
    lab.run(5)
    claims = sorted(name_of(claim) for claim in lab.all(PERSISTENT_VOLUME_CLAIM))
    assert claims == ["data-s-0", "data-s-1"]
    volumes = get_path(lab.pod("s-0"), "spec.volumes")
    assert volumes[0]["persistentVolumeClaim"]["claimName"] == "data-s-0"
