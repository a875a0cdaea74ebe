"""Deployments, ReplicaSets and StatefulSets: scaling, rolling out, replacing."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import Predicate, condition, count, has, present
from tests.differential.script import script
from tests.differential.scripts.manifests import as_annotations, container
from vocabulary.kinds import DEPLOYMENT, POD, REPLICA_SET, STATEFUL_SET

STATUS = ["status"]
SAID = [
    *(f"status.conditions.{n}.{part}" for n in (0, 1) for part in ("type", "status", "reason")),
    *("status.replicas", "status.updatedReplicas", "status.observedGeneration"),
]
"""All but the messages, which have the hashes of sets."""


def workload(
    kind: str,
    name: str = "a",
    behaviour: dict[str, str] | None = None,
    /,
    replicas: int = 2,
    **spec: Any,
) -> dict[str, Any]:
    labels = {"app": name}
    metadata: dict[str, Any] = {"labels": labels}
    if behaviour:
        metadata["annotations"] = as_annotations(behaviour)
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": metadata, "spec": {"containers": [container()]}},
            **spec,
        },
    }


def _delete_one(c: Dialogue) -> None:
    name = sorted(item["metadata"]["name"] for item in c.list(POD, show=["status.phase"]).items)[0]
    c.raw("DELETE", POD.path(c.namespace, name), label="delete a pod", show=["status.phase"])


@script("A ReplicaSet keeps its number of pods.", ["4.15"])
def replica_set(c: Dialogue) -> None:
    c.create(workload("ReplicaSet"))
    c.until(REPLICA_SET, "a", has("status.readyReplicas", 2))
    c.list(POD)
    _delete_one(c)
    c.until_listed(
        POD,
        count(2, condition("Ready") & has("metadata.deletionTimestamp", None)),
        show=["metadata.generateName", "status.phase"],
    )
    c.patch(REPLICA_SET, "a", {"spec": {"replicas": 3}}, show=["metadata.generation"])
    c.until(REPLICA_SET, "a", has("status.readyReplicas", 3), show=STATUS)
    c.patch(REPLICA_SET, "a", {"spec": {"replicas": 0}}, show=["metadata.generation"])
    c.until(REPLICA_SET, "a", has("status.replicas", 0), show=STATUS)
    c.until_listed(POD, count(0))


@script("A ReplicaSet adopts pods that match, and releases those that do not.", ["4.15"])
def replica_set_adopts(c: Dialogue) -> None:
    c.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "stray", "labels": {"app": "a"}},
            "spec": {"containers": [container()]},
        },
        show=["metadata.ownerReferences"],
    )
    c.until(POD, "stray", condition("Ready"), show=["metadata.ownerReferences"])
    c.create(workload("ReplicaSet", "a", replicas=1), show=["metadata.name"])
    c.until(POD, "stray", present("metadata.ownerReferences"), show=["metadata.ownerReferences"])
    c.until(REPLICA_SET, "a", has("status.readyReplicas", 1), show=STATUS)
    c.patch(POD, "stray", {"metadata": {"labels": {"app": "other"}}}, show=["metadata.labels"])
    c.until(POD, "stray", has("metadata.ownerReferences", None), show=["metadata.ownerReferences"])
    c.until(REPLICA_SET, "a", has("status.readyReplicas", 1), show=STATUS)
    c.until_listed(
        POD, count(2, condition("Ready")), show=["metadata.labels", "metadata.ownerReferences"]
    )


@script("A Deployment creates a ReplicaSet, which creates the pods.", ["4.15"])
def deployment(c: Dialogue) -> None:
    c.create(workload("Deployment"))
    c.until(
        DEPLOYMENT,
        "a",
        has("status.readyReplicas", 2) & condition("Progressing") & condition("Available"),
    )
    c.list(REPLICA_SET)
    c.list(POD, show=["metadata.labels", "metadata.ownerReferences", "status.phase"])


@script("A new template rolls out by a second ReplicaSet.", ["4.15"])
def deployment_rollout(c: Dialogue) -> None:
    c.create(workload("Deployment"), show=["spec.strategy"])
    c.until(DEPLOYMENT, "a", has("status.readyReplicas", 2), show=STATUS)
    template = {
        "spec": {"template": {"spec": {"containers": [container(image="example.org/next")]}}}
    }
    c.patch(DEPLOYMENT, "a", template, show=["metadata.generation"])
    wanted = (
        has("status.observedGeneration", 2)
        & has("status.updatedReplicas", 2)
        & has("status.replicas", 2)
        & has("status.readyReplicas", 2)
    )
    c.until(DEPLOYMENT, "a", wanted, show=["status", "metadata.annotations"])
    c.until_listed(POD, count(2), show=["metadata.generateName", "spec.containers.0.image"])
    c.list(REPLICA_SET, show=["metadata.annotations", "spec.replicas", "status"])


@script("A Deployment that recreates ends the old pods before it starts new ones.", ["4.15"])
def deployment_recreate(c: Dialogue) -> None:
    c.create(workload("Deployment", strategy={"type": "Recreate"}), show=["spec.strategy"])
    c.until(DEPLOYMENT, "a", has("status.readyReplicas", 2), show=STATUS)
    template = {
        "spec": {"template": {"spec": {"containers": [container(image="example.org/next")]}}}
    }
    c.patch(DEPLOYMENT, "a", template, show=["metadata.generation"])
    wanted = (
        has("status.observedGeneration", 2)
        & has("status.updatedReplicas", 2)
        & has("status.readyReplicas", 2)
    )
    c.until(DEPLOYMENT, "a", wanted, show=STATUS)
    c.list(REPLICA_SET, show=["metadata.annotations", "spec.replicas", "status"])


@script("A Deployment is scaled without a rollout, and paused without one either.", ["4.15"])
def deployment_scaling(c: Dialogue) -> None:
    c.create(workload("Deployment", replicas=1), show=["spec.replicas"])
    c.until(DEPLOYMENT, "a", has("status.readyReplicas", 1), show=STATUS)
    c.patch(DEPLOYMENT, "a", {"spec": {"replicas": 3}}, subresource="scale")
    c.until(DEPLOYMENT, "a", has("status.readyReplicas", 3), show=STATUS)
    c.patch(
        DEPLOYMENT,
        "a",
        {"spec": {"paused": True, "template": {"spec": {"containers": [container(image="x")]}}}},
        show=["metadata.generation"],
    )
    c.until(DEPLOYMENT, "a", has("status.observedGeneration", 3), show=STATUS)
    c.list(REPLICA_SET, show=["spec.replicas", "status.readyReplicas"])
    c.patch(DEPLOYMENT, "a", {"spec": {"replicas": 0}}, show=["metadata.generation"])
    c.until(
        DEPLOYMENT,
        "a",
        has("status.replicas", None) & has("status.observedGeneration", 4),
        show=STATUS,
    )
    c.until_listed(POD, count(0))


@script("Pods that never get ready make a Deployment unavailable.", ["4.15"])
def deployment_unavailable(c: Dialogue) -> None:
    c.create(workload("Deployment", "a", {"hold": "notready"}, replicas=1), show=["spec.replicas"])
    c.until(
        DEPLOYMENT, "a", has("status.replicas", 1) & condition("Available", "False"), show=STATUS
    )
    c.create(
        workload("Deployment", "b", {"hold": "notready"}, replicas=1, progressDeadlineSeconds=1),
        show=["spec.progressDeadlineSeconds"],
    )
    c.until(DEPLOYMENT, "b", condition("Progressing", "False"), show=STATUS)
    c.list(REPLICA_SET, show=["metadata.name", "status"])


@script("A StatefulSet creates its pods one after the other, with stable names.", ["4.15"])
def stateful_set(c: Dialogue) -> None:
    c.create(workload("StatefulSet", serviceName="a"))
    c.until(STATEFUL_SET, "a", has("status.readyReplicas", 2))
    c.list(POD)
    first = c.get(POD, "a-0", show=["metadata.name"])
    c.delete(POD, "a-0", show=["status.phase"])
    c.until(STATEFUL_SET, "a", has("status.readyReplicas", 2), show=STATUS)
    second = c.until(POD, "a-0", condition("Ready"), show=["metadata.name"])
    c.note("the uid is another", first.uid != second.uid)
    c.patch(STATEFUL_SET, "a", {"spec": {"replicas": 1}}, show=["metadata.generation"])
    c.until_gone(POD, "a-1")
    c.until(STATEFUL_SET, "a", has("status.replicas", 1), show=STATUS)


@script("A StatefulSet waits for each pod, unless it creates them in parallel.", ["4.15"])
def stateful_set_order(c: Dialogue) -> None:
    c.create(
        workload("StatefulSet", "a", {"hold": "notready"}, serviceName="a"),
        show=["spec.podManagementPolicy"],
    )
    c.until(STATEFUL_SET, "a", has("status.currentReplicas", 1), show=STATUS)
    c.stays(STATEFUL_SET, "a", has("status.replicas", 1), for_seconds=1, show=STATUS)
    c.create(
        workload(
            "StatefulSet",
            "b",
            {"hold": "notready"},
            serviceName="b",
            podManagementPolicy="Parallel",
        ),
        show=["spec.podManagementPolicy"],
    )
    c.until(STATEFUL_SET, "b", has("status.currentReplicas", 2), show=STATUS)


@script("Invalid workloads are rejected, each error with its field.", ["4.15"])
def workload_validation(c: Dialogue) -> None:
    for kind in ("ReplicaSet", "Deployment", "StatefulSet"):
        wrong = workload(kind, replicas=-1)
        wrong["spec"]["selector"] = {"matchLabels": {"app": "other"}}
        c.create(wrong)
        empty = workload(kind)
        empty["spec"]["selector"] = {}
        c.create(empty)
        never = workload(kind)
        never["spec"]["template"]["spec"]["restartPolicy"] = "Never"
        c.create(never)
        right = workload(kind, kind.lower(), replicas=0)
        c.create(right, show=["metadata.name"])
    c.patch(
        DEPLOYMENT,
        "deployment",
        {"spec": {"selector": {"matchLabels": {"x": "y"}}}},
        show=["metadata.name"],
    )
    c.patch(
        REPLICA_SET,
        "replicaset",
        {"spec": {"selector": {"matchLabels": {"x": "y"}}}},
        show=["metadata.name"],
    )
    c.patch(STATEFUL_SET, "statefulset", {"spec": {"serviceName": "other"}}, show=["metadata.name"])
    c.create(
        workload(
            "Deployment", "d", strategy={"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}
        ),
        show=["metadata.name"],
    )
    c.create(
        workload(
            "Deployment", "e", strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}
        ),
        show=["metadata.name"],
    )


def _image(image: str) -> dict[str, Any]:
    return {"spec": {"template": {"spec": {"containers": [container(image=image)]}}}}


@script("A StatefulSet that updates on delete gives new pods the new template.", ["4.15"])
def stateful_set_on_delete(c: Dialogue) -> None:
    on_delete = {"updateStrategy": {"type": "OnDelete"}, "serviceName": "a"}
    c.create(workload("StatefulSet", **on_delete), show=["spec.updateStrategy"])
    c.until(STATEFUL_SET, "a", has("status.readyReplicas", 2), show=STATUS)
    c.patch(STATEFUL_SET, "a", _image("example.org/next"), show=["metadata.generation"])
    c.until(STATEFUL_SET, "a", has("status.observedGeneration", 2), show=["status.replicas"])
    image = ["spec.containers.0.image", "metadata.labels"]
    c.stays(POD, "a-1", has("metadata.deletionTimestamp", None), for_seconds=1, show=image)
    first = c.get(POD, "a-1", show=["metadata.name"])
    c.delete(POD, "a-1", show=["metadata.name"])
    other = Predicate("it is another", lambda body: body["metadata"]["uid"] != first.uid)
    c.until(POD, "a-1", other & condition("Ready"), show=image)
    c.get(POD, "a-0", show=image)
    c.until(STATEFUL_SET, "a", has("status.updatedReplicas", 1), show=STATUS)


@script("A pod of a StatefulSet that has ended is replaced, and claims are kept.", ["4.15"])
def stateful_set_ended_pods(c: Dialogue) -> None:
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    spec = {"serviceName": "a", "volumeClaimTemplates": [claim]}
    obj = workload("StatefulSet", "a", None, 2, **spec)
    obj["spec"]["template"]["spec"]["schedulerName"] = "nobody"
    c.create(obj, show=["spec.podManagementPolicy"])
    first = c.until(
        POD, "a-0", has("status.phase", "Pending"), show=["spec.volumes", "spec.hostname"]
    )
    claims = f"/api/v1/namespaces/{c.namespace}/persistentvolumeclaims/data-a-0"
    c.raw("GET", claims, label="its claim", show=["metadata.labels", "spec", "metadata.finalizers"])
    c.patch(
        POD, "a-0", {"status": {"phase": "Failed"}}, subresource="status", show=["status.phase"]
    )
    other = Predicate("it is another", lambda body: body["metadata"]["uid"] != first.uid)
    c.until(POD, "a-0", other, show=["spec.volumes", "status.phase"])
    c.until(STATEFUL_SET, "a", has("status.replicas", 1), show=STATUS)


@script(
    "A Deployment is paused and resumed, keeps a history, and gives up broken pods first.", ["4.15"]
)
def deployment_history(c: Dialogue) -> None:
    spec = {"revisionHistoryLimit": 1}
    c.create(workload("Deployment", replicas=1, **spec), show=["spec.revisionHistoryLimit"])
    c.until(DEPLOYMENT, "a", has("status.readyReplicas", 1), show=SAID)
    c.patch(DEPLOYMENT, "a", {"spec": {"paused": True}}, show=["metadata.generation"])
    paused = has("status.observedGeneration", 2) & condition("Progressing", "Unknown")
    c.until(DEPLOYMENT, "a", paused, show=SAID)
    c.patch(DEPLOYMENT, "a", _image("example.org/2"), show=["metadata.generation"])
    c.until(DEPLOYMENT, "a", has("status.observedGeneration", 3), show=SAID)
    c.patch(DEPLOYMENT, "a", {"spec": {"paused": False}}, show=["metadata.generation"])

    def at(generation: int) -> Predicate:
        return (
            has("status.observedGeneration", generation)
            & has("status.updatedReplicas", 1)
            & has("status.replicas", 1)
            & has("status.readyReplicas", 1)
        )

    c.until(DEPLOYMENT, "a", at(4), show=[*SAID, "metadata.annotations"])
    for number in (3, 4):
        c.patch(DEPLOYMENT, "a", _image(f"example.org/{number}"), show=["metadata.generation"])
        c.until(DEPLOYMENT, "a", at(2 + number), show=["metadata.annotations"])
        c.until_listed(REPLICA_SET, count(2), show=["kind"])
    c.patch(DEPLOYMENT, "a", _image("example.org/3"), show=["metadata.generation"])
    c.until(DEPLOYMENT, "a", at(7), show=["metadata.annotations"])
    sets = c.until_listed(REPLICA_SET, count(2), show=["kind"]).items
    told = [[each["metadata"]["annotations"], each["spec"]["replicas"]] for each in sets]
    c.note("annotations and replicas", sorted(told, key=str))


@script("Old pods that never got ready go before others, whatever may be unavailable.", ["4.15"])
def deployment_broken(c: Dialogue) -> None:
    bounds = {"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}
    never = workload("Deployment", "a", {"hold": "notready"}, 3, **bounds)
    c.create(never, show=["spec.strategy"])
    c.until(DEPLOYMENT, "a", has("status.replicas", 3), show=["status.replicas"])
    change = _image("example.org/next")
    change["spec"]["template"]["metadata"] = {"annotations": {"assay.dev/hold": None}}
    c.patch(DEPLOYMENT, "a", change, show=["metadata.generation"])
    wanted = (
        has("status.observedGeneration", 2)
        & has("status.updatedReplicas", 3)
        & has("status.replicas", 3)
        & has("status.readyReplicas", 3)
    )
    c.until(DEPLOYMENT, "a", wanted, show=SAID)
    for label, strategy in (
        ("percents", {"rollingUpdate": {"maxSurge": "34%", "maxUnavailable": "34%"}}),
        ("zero percent", {"rollingUpdate": {"maxSurge": "0%", "maxUnavailable": "0%"}}),
        ("more than all", {"rollingUpdate": {"maxSurge": "101%", "maxUnavailable": "101%"}}),
        ("text", {"rollingUpdate": {"maxSurge": "many"}}),
        ("negative", {"rollingUpdate": {"maxSurge": -1}}),
        ("another", {"type": "Never"}),
    ):
        body = workload("Deployment", label.replace(" ", "-"), replicas=0, strategy=strategy)
        c.create(body, dry_run=True, show=["spec.strategy"])
    for label, spec in (
        ("no time", {"progressDeadlineSeconds": 0, "minReadySeconds": 0}),
        ("less time", {"progressDeadlineSeconds": 5, "minReadySeconds": 5}),
        ("negative", {"minReadySeconds": -1, "revisionHistoryLimit": -1}),
    ):
        body = workload("Deployment", label.replace(" ", "-"), replicas=0, **spec)
        c.create(body, dry_run=True, show=["spec.minReadySeconds", "spec.progressDeadlineSeconds"])
