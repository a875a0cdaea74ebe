"""Controllers that start where objects stand already: they take up what they find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clusters.crds import load_crd
from clusters.simulated.controllers.settings import Settings
from tests.simulated_controllers.lab import DEFAULT, Lab, job, pod
from tests.simulated_controllers.test_pytorchjob import pytorch_job
from tests.simulated_controllers.test_ray import cluster_spec, made, ray_job
from tests.simulated_controllers.test_workloads import workload
from vocabulary.kinds import (
    DEPLOYMENT,
    ENDPOINT_SLICE,
    JOB,
    NODE,
    PERSISTENT_VOLUME_CLAIM,
    POD_DISRUPTION_BUDGET,
    PYTORCH_JOB,
    RAY_CLUSTER,
    RAY_JOB,
    REPLICA_SET,
    RESOURCE_QUOTA,
    STATEFUL_SET,
    Kind,
)
from vocabulary.objects import finalizers_of, get_path

SETTINGS = Settings(every_kind=True, endpoint_slices=True)
Prepare = Callable[[Lab], None]


def creates(*objects: Any) -> Prepare:
    def prepare(lab: Lab) -> None:
        for obj in objects:
            lab.create(obj)

    return prepare


def thing(kind: Kind, **fields: Any) -> dict[str, Any]:
    metadata = {"name": "a", "namespace": DEFAULT}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **fields}


def labelled_pod() -> dict[str, Any]:
    obj = pod(behaviour="run forever")
    obj["metadata"]["labels"] = {"app": "a"}
    return obj


def finished(lab: Lab) -> None:
    lab.create(job(behaviour="exit 0", ttlSecondsAfterFinished=60))
    lab.create(job("other", behaviour="exit 0"))
    lab.run(20)


def on_no_node(lab: Lab) -> None:
    lab.create(pod(behaviour="run forever"))
    lab.run(5)
    node = lab.pod()["spec"]["nodeName"]
    lab.processes.kill(f"kubelet/{node}")
    lab.delete(NODE, node)


def terminating_claim(lab: Lab) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    lab.create(thing(PERSISTENT_VOLUME_CLAIM, spec=spec))
    lab.delete(PERSISTENT_VOLUME_CLAIM, "a")


def at(kind: Kind, path: str, value: Any, name: str = "a") -> Callable[[Lab], bool]:
    return lambda lab: get_path(lab.get(kind, name) or {}, path) == value


BUDGET = {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}}
QUOTA = {"hard": {"pods": "3"}}
SERVICE = {"selector": {"app": "a"}, "ports": [{"port": 80}]}
SELECTOR = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": SERVICE}
STARTS: dict[str, tuple[Prepare, Callable[[Lab], bool]]] = {
    "replicaset-controller": (
        creates(workload("ReplicaSet", "a", 2)),
        at(REPLICA_SET, "status.replicas", 2),
    ),
    "deployment-controller": (
        creates(workload("Deployment", "a", 2)),
        at(DEPLOYMENT, "status.readyReplicas", 2),
    ),
    "statefulset-controller": (
        creates(workload("StatefulSet", "a", 2)),
        at(STATEFUL_SET, "status.readyReplicas", 2),
    ),
    "job-controller": (creates(job(behaviour="exit 0")), at(JOB, "status.succeeded", 1, "j")),
    "ttl-after-finished": (finished, lambda lab: lab.get(JOB, "j") is None),
    "disruption-controller": (
        creates(labelled_pod(), thing(POD_DISRUPTION_BUDGET, spec=BUDGET)),
        at(POD_DISRUPTION_BUDGET, "status.expectedPods", 1),
    ),
    "resourcequota-controller": (
        creates(thing(RESOURCE_QUOTA, spec=QUOTA), pod(behaviour="run forever")),
        at(RESOURCE_QUOTA, "status.used.pods", "1"),
    ),
    "pvc-protection": (
        terminating_claim,
        lambda lab: lab.get(PERSISTENT_VOLUME_CLAIM, "a") is None,
    ),
    "pod-gc": (on_no_node, lambda lab: lab.pods == []),
    "endpointslice-controller": (
        creates(labelled_pod(), SELECTOR),
        lambda lab: len(lab.all(ENDPOINT_SLICE)) == 1,
    ),
    "pytorchjob-controller": (
        creates(pytorch_job()),
        at(PYTORCH_JOB, "status.replicaStatuses.Worker.active", 2, "t"),
    ),
    "raycluster-controller": (
        creates(made("RayCluster", cluster_spec())),
        at(RAY_CLUSTER, "status.state", "ready", "r"),
    ),
    "rayjob-controller": (
        creates(ray_job("exit 0")),
        at(RAY_JOB, "status.jobDeploymentStatus", "Complete", "r"),
    ),
}


@pytest.mark.parametrize("name", STARTS)
def test_a_controller_takes_up_what_stands_when_it_starts(name: str) -> None:
    lab = Lab(
        crds=[load_crd(each) for each in ("pytorchjob", "raycluster", "rayjob")], settings=SETTINGS
    )
    prepare, done = STARTS[name]
    lab.processes.kill(name)
    prepare(lab)
    lab.run(400)
    assert not done(lab)
    lab.processes.start(name)
    lab.run(400)
    assert done(lab)


def test_a_controller_that_is_down_is_neither_killed_nor_resumed() -> None:
    lab = Lab()
    changes: list[str] = []
    lab.processes.on_change(changes.append)
    lab.processes.kill("job-controller")
    lab.processes.kill("job-controller")
    lab.processes.resume("job-controller")
    lab.processes.pause("job-controller")
    assert changes == ["job-controller"]
    assert lab.processes.state("job-controller") == "down"
    lab.processes.start("job-controller")
    lab.processes.start("job-controller")
    assert changes == ["job-controller"] * 2


def test_a_quota_that_is_paused_counts_when_it_goes_on() -> None:
    lab = Lab()
    lab.create(thing(RESOURCE_QUOTA, spec=QUOTA))
    lab.run(5)
    lab.processes.pause("resourcequota-controller")
    lab.create(pod(behaviour="run forever"))
    lab.run(60)
    used = get_path(lab.get(RESOURCE_QUOTA, "a"), "status.used.pods")
    lab.processes.resume("resourcequota-controller")
    lab.run(5)
    assert (used, get_path(lab.get(RESOURCE_QUOTA, "a"), "status.used.pods")) == ("0", "1")


def test_a_claim_keeps_its_protection_through_a_restart() -> None:
    lab = Lab()
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    lab.create(thing(PERSISTENT_VOLUME_CLAIM, spec=spec))
    lab.run(2)
    lab.processes.kill("pvc-protection")
    lab.processes.start("pvc-protection")
    writes = len(lab.writes(PERSISTENT_VOLUME_CLAIM))
    lab.run(5)
    assert len(lab.writes(PERSISTENT_VOLUME_CLAIM)) == writes
    assert len(finalizers_of(lab.get(PERSISTENT_VOLUME_CLAIM, "a"))) == 1
