"""Retries under quota."""

from __future__ import annotations

from chaos.choice import PodChoice
from chaos.faults import KillPod
from conformance.scenario_type import scenario
from conformance.suites.kueue.api import GROUP_SERVING
from conformance.suites.kueue.handle import (
    QueuedJob,
    QueuedJobSet,
    QueuedPodGroup,
    QueuedStatefulSet,
    job,
    job_set,
    queue,
)
from conformance.world import Condition, World
from vocabulary.clock import SECOND
from vocabulary.kinds import POD
from vocabulary.objects import get_path, with_path


@scenario(arms=["QL-005", "QL-006"], kills="lost-readiness-evicts-at-once")
def pod_of_a_job_is_replaced(world: World) -> None:
    """A Job whose pod fails keeps its quota while the pod is replaced, and another one waits."""
    queue(world, quota={"cpu": "2"})
    made = with_path(job("a", pods=2), "spec.backoffLimit", 3)
    its = QueuedJob.submit(world, made, "run forever")
    world.until(its.is_ready())
    other = QueuedJob.of(world, "next", "run 30s", pods=2)
    world.until(other.waits())
    world.wait(10 * SECOND)
    world.inject(KillPod(pod=PodChoice(owner="a", which="first"), exit_code=1))
    world.until(_is_whole(world))
    world.inject(KillPod(pod=PodChoice(owner="a", which="all"), exit_code=0))
    world.until(its.is_finished())
    world.until(other.is_finished())
    world.wait(10 * SECOND)


@scenario(arms=["QL-001"], kills="done-pods-count-twice")
def rest_comes_back(world: World) -> None:
    """A Job of which one pod is done is admitted again for the other one."""
    queue(world, quota={"cpu": "2"})
    its = QueuedJob.submit(world, job("a", pods=2), "run forever, stop 1s")
    world.until(its.is_ready())
    world.inject(KillPod(pod=PodChoice(owner="a", which="first"), exit_code=0))
    world.until(Condition("one of its pods is done", lambda: its.state.reclaimable == 1))
    its.activate(False)
    world.until(its.has_released())
    its.activate(True)
    world.until(its.is_ready())
    other = QueuedJob.of(world, "other", "run 20s", pods=2)
    world.wait(20 * SECOND)
    its.delete()
    world.until(other.is_finished())


@scenario(arms=["QL-001"], kills="done-pods-never-run-again", roles=("kueue", "jobset"))
def job_set_restarts_after_its_return(world: World) -> None:
    """A JobSet that was admitted again after a part was done has quota for all once it restarts."""
    queue(world, quota={"cpu": "2"})
    made = with_path(job_set("a", 2), "spec.failurePolicy", {"maxRestarts": 1})
    its = QueuedJobSet.submit(world, made, "run forever, stop 1s")
    world.until(its.is_ready())
    world.inject(KillPod(pod=PodChoice(owner="a-workers-0"), exit_code=0))
    world.until(Condition("one of its pods is done", lambda: its.state.reclaimable == 1))
    its.activate(False)
    world.until(its.has_released())
    its.activate(True)
    world.until(its.is_ready())
    world.inject(KillPod(pod=PodChoice(owner="a-workers-1"), exit_code=1))
    world.until(Condition("all run again", lambda: its.state.reclaimable == 0))
    world.until(its.is_ready())
    world.wait(30 * SECOND)


@scenario(arms=["QL-017"], kills="serving-groups-end", cases={"group": True, "stateful-set": False})
def pod_that_serves_is_deleted(world: World, is_group: bool) -> None:
    """Pods that serve keep their quota while one of them, which stops with 0, is replaced."""
    queue(world, quota={"cpu": "2"})
    behaviour, serves = "run forever, stop 10s, stop exit 0", {GROUP_SERVING: "true"}
    its: QueuedPodGroup | QueuedStatefulSet
    if is_group:
        its = QueuedPodGroup.of(world, "a", behaviour, 2, 2, serves)
    else:
        its = QueuedStatefulSet.of(world, "a", behaviour, pods=2)
    world.until(its.is_ready())
    world.patch(POD, "a-0", {"metadata": {"finalizers": ["example.com/hold"]}})
    other = QueuedJob.of(world, "other", "run 20s")
    world.delete(POD, "a-0")
    world.wait(30 * SECOND)
    world.patch(POD, "a-0", {"metadata": {"finalizers": None}})
    if is_group:
        QueuedPodGroup.of(world, "a", behaviour, 1, 2, serves)
    world.wait(30 * SECOND)
    its.delete()
    world.until(other.is_finished())


def _is_whole(world: World) -> Condition:
    """Two pods run, beside the one that failed."""

    def holds() -> bool:
        phases = [get_path(pod, "status.phase") for pod in world.list(POD)]
        return phases.count("Running") == 2 and "Failed" in phases

    return Condition("two pods run beside the failed one", holds)
