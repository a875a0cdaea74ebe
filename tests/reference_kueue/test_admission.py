"""Definitions and webhooks refuse by field: features that are out, changes of what is reserved."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from conformance.suites.kueue.handle import QueuedJob, QueuedStatefulSet, queue
from conformance.worlds.simulated.world import SimulatedWorld
from reference_controller.kueue.names import (
    CLUSTER_QUEUE,
    LOCAL_QUEUE,
    QUEUE,
    RESOURCE_FLAVOR,
    WORKLOAD,
)
from vocabulary.errors import ApiError
from vocabulary.kinds import Kind
from vocabulary.objects import name_of


@pytest.fixture
def world(world: SimulatedWorld) -> SimulatedWorld:
    queue(world)
    return world


def refusal(world: SimulatedWorld, kind: Kind, spec: dict[str, Any]) -> str:
    obj = {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": "run-x"},
        "spec": spec,
    }
    with pytest.raises(ApiError) as refused:
        world.create(obj)
    return refused.value.message


def cluster_queue(**spec: Any) -> dict[str, Any]:
    quota = {"name": "cpu", "nominalQuota": 1, **spec.pop("quota", {})}
    flavors = [{"name": "run-default", "resources": [quota]}]
    return {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}], **spec}


TEMPLATE = {"spec": {"containers": [{"name": "a", "image": "i"}]}}


@pytest.mark.parametrize(
    ("kind", "spec", "field"),
    [
        (CLUSTER_QUEUE, cluster_queue(fairSharing={"weight": 1}), "spec.fairSharing"),
        (CLUSTER_QUEUE, cluster_queue(admissionChecks=["a"]), "spec.admissionChecks"),
        (CLUSTER_QUEUE, cluster_queue(quota={"borrowingLimit": 1}), "needs a cohort"),
        (CLUSTER_QUEUE, cluster_queue(quota={"lendingLimit": 1}), "needs a cohort"),
        (
            CLUSTER_QUEUE,
            cluster_queue(preemption={"borrowWithinCohort": {"policy": "LowerPriority"}}),
            "spec.preemption",
        ),
        (LOCAL_QUEUE, {"clusterQueue": "a", "fairSharing": {"weight": 1}}, "spec.fairSharing"),
        (RESOURCE_FLAVOR, {"topologyName": "rack"}, "spec.topologyName"),
        (
            WORKLOAD,
            {"podSets": [{"name": "a", "count": 2, "minCount": 1, "template": TEMPLATE}]},
            "spec.podSets[0].minCount",
        ),
        (
            WORKLOAD,
            {"podSets": [{"name": "a", "topologyRequest": {"a": "b"}, "template": TEMPLATE}]},
            "spec.podSets[0].topologyRequest",
        ),
    ],
)
def test_what_is_out_or_contradicts_itself_is_refused(
    world: SimulatedWorld, kind: Kind, spec: dict[str, Any], field: str
) -> None:
    assert field in refusal(world, kind, spec)


def test_what_quota_was_reserved_for_stays(world: SimulatedWorld) -> None:
    its = QueuedJob.of(world, "a", "run forever")
    world.until(its.is_ready())
    change = partial(world.patch, WORKLOAD, name_of(its.workload))
    for field, value in (("queueName", "other"), ("podSets", [])):
        with pytest.raises(ApiError, match=f"spec.{field}: cannot be changed"):
            change({"spec": {field: value}})
    with pytest.raises(ApiError, match="suspend it first"):
        its.patch({"metadata": {"labels": {QUEUE: "other"}}})


def test_a_job_that_is_changed_while_it_waits_waits_as_it_is_now(world: SimulatedWorld) -> None:
    first = QueuedJob.of(world, "a", "run 1m")
    world.until(first.is_admitted())
    its = QueuedJob.of(world, "b", "run 1m", pods=2)
    world.until(its.waits())
    its.patch({"spec": {"parallelism": 1}})
    world.until(its.is_finished())


def test_a_stateful_set_in_a_queue_is_scaled_to_none_and_back_alone(world: SimulatedWorld) -> None:
    its = QueuedStatefulSet.of(world, "a", "run forever")
    world.until(its.is_ready())
    with pytest.raises(ApiError, match=r"spec\.replicas: cannot go from 1 to 2"):
        its.patch({"spec": {"replicas": 2}})
    its.patch({"spec": {"replicas": 0}})
    second = QueuedJob.of(world, "b", "run 1m")
    world.until(second.is_finished())
    its.patch({"spec": {"replicas": 1}})
    world.until(its.is_ready())
