"""RayClusters and RayJobs: pods, readiness, suspension, attempts, clean-up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from clusters.crds import load_crd
from tests.simulated_controllers.lab import DEFAULT, Lab
from vocabulary.clock import SECOND, parse_rfc3339
from vocabulary.errors import ApiError
from vocabulary.kinds import JOB, POD, RAY_CLUSTER, RAY_JOB
from vocabulary.objects import (
    Object,
    condition_status,
    get_path,
    is_terminating,
    labels_of,
    name_of,
)


@pytest.fixture
def lab() -> Lab:
    return Lab(crds=[load_crd("raycluster"), load_crd("rayjob")])


def template(behaviour: str = "run forever, stop 5s") -> Object:
    return {
        "metadata": {"annotations": {"assay.dev/behaviour": behaviour}},
        "spec": {"containers": [{"name": "ray", "image": "ray"}]},
    }


def cluster_spec(head: str = "run forever, stop 5s") -> Object:
    group = {"groupName": "cpu", "replicas": 2, "numOfHosts": 1, "template": template()}
    return {"headGroupSpec": {"template": template(head)}, "workerGroupSpecs": [group]}


def made(kind: str, spec: Mapping[str, Any]) -> Object:
    metadata = {"name": "r", "namespace": DEFAULT}
    return {"apiVersion": "ray.io/v1", "kind": kind, "metadata": metadata, "spec": dict(spec)}


def ray_job(submitter: str, **spec: Any) -> Object:
    spec = {"rayClusterSpec": cluster_spec(), "submitterPodTemplate": template(submitter), **spec}
    spec["submitterPodTemplate"]["spec"]["restartPolicy"] = "Never"
    return made("RayJob", {"submitterConfig": {"backoffLimit": 0}, **spec})


def state(lab: Lab) -> str:
    return str(get_path(lab.get(RAY_CLUSTER, "r"), "status.state", ""))


def stage(lab: Lab) -> str:
    return str(get_path(lab.get(RAY_JOB, "r"), "status.jobDeploymentStatus", ""))


def test_a_cluster_is_ready_once_its_head_and_all_workers_are(lab: Lab) -> None:
    lab.create(made("RayCluster", cluster_spec("ready-after 10s")))
    lab.run(5)
    types = sorted(labels_of(pod)["ray.io/node-type"] for pod in lab.pods)
    assert types == ["head", "worker", "worker"]
    assert state(lab) == ""
    lab.run(10)
    assert state(lab) == "ready"
    assert lab.get(RAY_CLUSTER, "r")["status"]["readyWorkerReplicas"] == 2


def test_a_pod_that_is_lost_is_replaced_and_the_state_stays(lab: Lab) -> None:
    lab.create(made("RayCluster", cluster_spec()))
    lab.run(2)
    first = {name_of(pod) for pod in lab.pods}
    lab.delete(POD, sorted(first)[0])
    lab.run(1)
    assert state(lab) == "ready"
    lab.run(10)
    assert len(lab.pods) == 3
    assert {name_of(pod) for pod in lab.pods} != first


def test_a_cluster_is_suspended_once_all_pods_are_gone(lab: Lab) -> None:
    lab.create(made("RayCluster", cluster_spec()))
    lab.run(2)
    lab.patch(RAY_CLUSTER, "r", {"spec": {"suspend": True}})
    lab.run(2)
    assert len(lab.pods) == 3
    assert condition_status(lab.get(RAY_CLUSTER, "r"), "RayClusterSuspended") == "False"
    lab.patch(RAY_CLUSTER, "r", {"spec": {"suspend": False}})
    lab.run(2)
    assert len(lab.pods) == 3, "it was resumed before it was suspended"
    lab.run(10)
    assert state(lab) == "ready"


def test_a_suspended_cluster_has_no_pods_until_it_is_resumed(lab: Lab) -> None:
    lab.create(made("RayCluster", {**cluster_spec(), "suspend": True}))
    lab.run(5)
    assert lab.pods == []
    assert state(lab) == "suspended"
    lab.patch(RAY_CLUSTER, "r", {"spec": {"suspend": False}})
    lab.until(lambda: lab.pods)
    assert condition_status(lab.get(RAY_CLUSTER, "r"), "RayClusterSuspended") == "False"
    lab.run(2)
    assert state(lab) == "ready"


def test_a_job_ends_as_its_submitter_does(lab: Lab) -> None:
    lab.create(ray_job("run 5s, exit 0", shutdownAfterJobFinishes=True))
    lab.run(3)
    assert stage(lab) == "Running"
    assert len(lab.pods) == 4
    lab.run(15)
    assert stage(lab) == "Complete"
    assert lab.get(RAY_JOB, "r")["status"]["jobStatus"] == "SUCCEEDED"
    assert lab.all(RAY_CLUSTER) == []
    assert [name_of(each) for each in lab.all(JOB)] == ["r"]


@pytest.mark.parametrize("ttl_seconds", [0, 7, 30])
def test_a_cluster_is_kept_for_so_long_after_its_job_has_ended(lab: Lab, ttl_seconds: int) -> None:
    options = {"shutdownAfterJobFinishes": True, "ttlSecondsAfterFinished": ttl_seconds}
    lab.create(ray_job("run 5s, exit 0", **options))
    lab.until(lambda: stage(lab) == "Complete")
    ended_us = parse_rfc3339(lab.get(RAY_JOB, "r")["status"]["endTime"])
    lab.until(lambda: all(is_terminating(each) for each in lab.all(RAY_CLUSTER)))
    waited_us = lab.loop.now_us - ended_us
    assert ttl_seconds * SECOND <= waited_us < (ttl_seconds + 1.5) * SECOND


def test_a_client_says_that_a_job_has_failed(lab: Lab) -> None:
    lab.create(ray_job("run forever", submissionMode="HTTPMode"))
    lab.run(5)
    job = lab.get(RAY_JOB, "r")
    lab.set_status(job, {**job["status"], "jobStatus": "FAILED"})
    lab.run(5)
    assert stage(lab) == "Failed"


def test_a_job_without_a_submitter_ends_as_a_client_writes(lab: Lab) -> None:
    lab.create(ray_job("run forever", submissionMode="HTTPMode"))
    lab.run(5)
    assert stage(lab) == "Running"
    assert lab.all(JOB) == []
    job = lab.get(RAY_JOB, "r")
    lab.set_status(job, {**job["status"], "jobStatus": "SUCCEEDED"})
    lab.run(5)
    assert stage(lab) == "Complete"


def test_a_job_that_failed_is_retried_with_another_cluster(lab: Lab) -> None:
    lab.create(ray_job("run 5s, exit 1", backoffLimit=1))
    lab.run(3)
    (first,) = map(name_of, lab.all(RAY_CLUSTER))
    lab.run(12)
    (second,) = map(name_of, lab.all(RAY_CLUSTER))
    assert first != second
    lab.run(20)
    assert stage(lab) == "Failed"
    assert lab.get(RAY_JOB, "r")["status"]["failed"] == 2


def test_a_job_is_suspended_while_the_pods_of_its_cluster_stop(lab: Lab) -> None:
    lab.create(ray_job("run forever"))
    lab.run(3)
    lab.patch(RAY_JOB, "r", {"spec": {"suspend": True}})
    lab.run(4)
    assert stage(lab) == "Suspended"
    assert lab.all(RAY_CLUSTER) == []
    assert lab.pods
    lab.patch(RAY_JOB, "r", {"spec": {"suspend": False}})
    lab.run(10)
    assert stage(lab) == "Running"


@pytest.mark.parametrize("kind", ["RayCluster", "RayJob"])
def test_the_definitions_ask_for_what_the_controllers_read(lab: Lab, kind: str) -> None:
    with pytest.raises(ApiError, match="Required value") as refusal:
        lab.create(made(kind, {}))
    assert refusal.value.code == 422


def test_a_job_says_that_a_pod_submits_to_it_unless_a_client_does(lab: Lab) -> None:
    """Kueue counts that pod only if the job says so, and KubeRay's definition has the default."""
    lab.create(ray_job("run forever"))
    assert lab.get(RAY_JOB, "r")["spec"]["submissionMode"] == "K8sJobMode"


@pytest.mark.parametrize(
    "obj",
    [
        made("RayCluster", {}),
        made("RayCluster", {"headGroupSpec": {"template": template()}, "workerGroupSpecs": [{}]}),
        made("RayJob", {}),
        made("RayJob", {"rayClusterSpec": {}}),
    ],
)
def test_what_is_incomplete_is_borne_where_no_definition_refuses_it(obj: Object) -> None:
    lab = Lab()
    lab.create(obj)
    lab.run(5)
    assert state(lab) in ("", "ready")
