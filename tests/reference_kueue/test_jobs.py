"""Jobs and their Workloads: too many of either, and jobs of which parts are not given."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.suites.kueue.handle import QueuedJob, QueuedRayJob, queue, ray_job
from conformance.worlds.simulated.world import SimulatedWorld
from reference_controller.kueue.names import OF_WORKLOAD, QUEUE, WORKLOAD
from vocabulary.clock import SECOND
from vocabulary.objects import meta, name_of


@pytest.fixture
def world(world: SimulatedWorld) -> SimulatedWorld:
    queue(world)
    return world


def test_of_two_workloads_of_one_job_one_is_left(world: SimulatedWorld) -> None:
    its = QueuedJob.of(world, "a", "run forever")
    world.until(its.is_ready())
    stored = its.workload
    kept = {key: meta(stored)[key] for key in ("labels", "ownerReferences")}
    world.create({**stored, "metadata": {**kept, "name": "z"}, "status": {}})
    world.wait(5 * SECOND)
    assert [name_of(each) for each in world.list(WORKLOAD)] == [name_of(stored)]
    assert its.state.is_admitted


def test_a_job_that_leaves_its_queue_while_it_waits_has_no_workload(world: SimulatedWorld) -> None:
    first = QueuedJob.of(world, "a", "run forever")
    world.until(first.is_ready())
    its = QueuedJob.of(world, "b", "run forever")
    world.until(its.waits())
    its.patch({"metadata": {"labels": {QUEUE: None}}})
    world.wait(5 * SECOND)
    assert not its.workload


@pytest.mark.parametrize(
    ("changes", "pod_sets"),
    [
        pytest.param({}, ["head", "submitter"], id="its-own-template"),
        pytest.param({"submitterPodTemplate": None}, ["head", "submitter"], id="the-default"),
        pytest.param({"submissionMode": "HTTPMode"}, ["head"], id="no-submitter"),
    ],
)
def test_a_ray_job_has_quota_for_what_submits_it(
    world: SimulatedWorld, changes: dict[str, Any], pod_sets: list[str]
) -> None:
    queue(world, "wide", {"cpu": "2", "memory": "1Gi"})
    made = ray_job("a", queue="wide")
    spec = {key: each for key, each in {**made["spec"], **changes}.items() if each is not None}
    its = QueuedRayJob.submit(world, {**made, "spec": spec})
    world.until(its.is_admitted())
    world.until(its.is_ready())
    assert [each["name"] for each in its.workload["spec"]["podSets"]] == pod_sets
    its.activate(False)
    world.until(its.has_released())
    world.wait(5 * SECOND)
    assert OF_WORKLOAD not in repr(its.now["spec"]), "what its admission changed stayed"


def test_a_ray_job_without_a_cluster_of_its_own_stays_suspended(world: SimulatedWorld) -> None:
    spec = {"clusterSelector": {"ray.io/cluster": "other"}, "suspend": False}
    its = QueuedRayJob.submit(world, {**ray_job("a"), "spec": spec})
    world.wait(5 * SECOND)
    assert its.now["spec"]["suspend"]
    assert not its.workload
