"""The kinds that users wrap, and those that they create themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.scenario_type import scenario
from conformance.suites.kueue.api import QUEUE_LABEL
from conformance.suites.kueue.handle import (
    Queued,
    QueuedPyTorchJob,
    QueuedRayCluster,
    QueuedRayJob,
    job,
    pod,
    pytorch_job,
    queue,
    ray_cluster,
    ray_job,
    serving,
)
from conformance.suites.mlbatch.handle import DEFAULT_QUEUE, Team
from conformance.world import Condition, World
from vocabulary.clock import SECOND
from vocabulary.kinds import DEPLOYMENT, POD, STATEFUL_SET
from vocabulary.objects import Object, with_path, without_path

_NO_OPERATOR: Final = "its operator is not on the control plane"


@scenario(
    arms=["MLB-073", "MLB-001", "MLB-023"],
    kills="service-accounts-cannot-be-wrapped",
    cases={
        "deployment": serving(DEPLOYMENT, "a", 2, queue=""),
        "job": job("a", queue="", pods=2),
        "pod": pod("a", queue=""),
        "stateful-set": serving(STATEFUL_SET, "a", 2, queue=""),
    },
)
def kind_is_wrapped(world: World, wrapped: Object) -> None:
    """Each kind of workload runs in an AppWrapper beside all that is no workload, and all of it
    goes together."""
    _runs_and_goes(world, wrapped)


@scenario(
    arms=["MLB-073", "MLB-001", "MLB-023"],
    kills="workloads-outlive-their-jobs",
    only_simulated=_NO_OPERATOR,
    cases={
        "py-torch-job": pytorch_job("a", ("Master", "Worker"), queue=""),
        "ray-cluster": ray_cluster("a", queue=""),
        "ray-job": with_path(ray_job("a", queue=""), "spec.submissionMode", "HTTPMode"),
    },
)
def kind_of_others_is_wrapped(world: World, wrapped: Object) -> None:
    """The same of kinds that other operators reconcile."""
    _runs_and_goes(world, wrapped)


def _runs_and_goes(world: World, wrapped: Object) -> None:
    world.install("pod_group_crd.yaml")
    red = Team.of(world, "red", 8)
    wanted = without_path(without_path(wrapped, "spec.suspend"), "spec.runPolicy")
    its = red.wrap("its", *_others(), wanted, behaviour="run forever")
    world.until(its.is_ready())
    world.wait(5 * SECOND)
    its.delete()
    world.until(its.is_gone())
    world.until(Condition("no pods are left", lambda: not world.list(POD, namespace=red.namespace)))


def _others() -> list[Object]:
    """One of each kind of the guide's list that is no workload."""

    def of(api_version: str, kind: str, **fields: Any) -> Object:
        made: Mapping[str, Any] = {"metadata": {"name": f"a-{kind.lower()}"}, **fields}
        return {"apiVersion": api_version, "kind": kind, **made}

    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return [
        of("v1", "ServiceAccount"),
        of("v1", "ConfigMap", data={"mode": "train"}),
        of("v1", "Secret", stringData={"token": "not-a-secret"}),
        of("v1", "PersistentVolumeClaim", spec=claim),
        of("v1", "Service", spec={"clusterIP": "None", "ports": [{"port": 80}]}),
        of("scheduling.x-k8s.io/v1alpha1", "PodGroup", spec={"minMember": 1}),
    ]


@scenario(
    arms=["MLB-022"],
    kills="scheduler-not-injected",
    only_simulated=_NO_OPERATOR,
    config={"appwrapper": {"schedulerName": "batch-scheduler"}},
)
def each_pod_names_the_scheduler(world: World) -> None:
    """All pods of a job with several templates wait for the configured scheduler."""
    red = Team.of(world, "red", 8)
    made = pytorch_job("a", ("Master", "Worker"), queue="")
    its = red.wrap("its", without_path(made, "spec.runPolicy"), behaviour="run forever")
    world.until(its.is_in("Running"))
    world.wait(5 * SECOND)
    its.delete()
    world.until(its.is_gone())


@scenario(
    arms=["MLB-080"],
    kills="unqueued-jobs-run",
    only_simulated=_NO_OPERATOR,
    namespaces=("others",),
    cases={
        "py-torch-job": (QueuedPyTorchJob, pytorch_job("a", queue="")),
        "ray-cluster": (QueuedRayCluster, ray_cluster("a", queue="")),
        "ray-job": (QueuedRayJob, ray_job("a", queue="")),
    },
)
def created_directly(world: World, kind: tuple[type[Queued], Object]) -> None:
    """A job that a team creates itself, and that names no queue or one that does not exist, waits
    until it names one of the team's; another one runs in the team's second queue, and one in a
    namespace of no team at once."""
    handle, made = kind
    red = Team.of(world, "red", 8)
    quota = {"cpu": "100", "memory": "100Gi"}
    queue(world, "second", quota, namespaces=(red.namespace,), local_name="second-queue")
    left_alone = without_path(without_path(made, "spec.suspend"), "spec.runPolicy")
    its = handle.submit(world, left_alone, "run forever")
    named = with_path(left_alone, "metadata.name", "b")
    queued = with_path(named, "metadata.labels", {QUEUE_LABEL: "second-queue"})
    second = handle.submit(world, queued, "run forever")
    world.until(second.is_admitted())
    world.wait(2 * SECOND)
    other = handle.submit(
        world, with_path(left_alone, "metadata.namespace", "others"), "run forever"
    )
    world.until(
        Condition("the other one runs", lambda: bool(world.list(POD, namespace=other.namespace)))
    )
    world.wait(30 * SECOND)
    its.patch({"metadata": {"labels": {QUEUE_LABEL: "missing"}}})
    world.wait(30 * SECOND)
    its.patch({"metadata": {"labels": {QUEUE_LABEL: DEFAULT_QUEUE}}})
    world.until(its.is_admitted())
    world.wait(10 * SECOND)
    for each in (its, second, other):
        each.delete()
        world.until(each.is_gone())
