"""Each cell of the table: a job loses its quota in one way, while its pods stop in one way.

A job of two pods takes all the quota of its queue, and another one waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from chaos.choice import PodChoice
from chaos.faults import Cordon, KillPod, Uncordon
from conformance.handle import Condition
from conformance.pod_templates import with_behaviour
from conformance.scenario_type import scenario
from conformance.suites.kueue.api import CLUSTER_QUEUE, GROUP, VERSION
from conformance.suites.kueue.handle import (
    Queued,
    QueuedAppWrapper,
    QueuedJob,
    QueuedJobSet,
    app_wrapper,
    job,
    job_set,
    queue,
)
from conformance.suites.quota.cells import STOPS, Cell, all_cells, why_impossible
from conformance.world import World
from vocabulary.clock import MINUTE, SECOND
from vocabulary.kinds import NAMESPACE, POD
from vocabulary.objects import Object, finalizers_of, get_path, is_terminating, name_of, with_path
from vocabulary.requests import Delete

HELD_BY: Final = "assay.dev/held"
_TEAM: Final = "team"
_PARAMETER: Final = "workload.codeflare.dev.appwrapper/"
_RUNS: Final = {
    "success": "run 20s, exit 0",
    "failure": "run 20s, exit 1",
    "retries-exhausted": "run 20s, exit 1",
    "pods-ready-timeout": "never ready",
}
_PREEMPTS: Final[dict[str, Any]] = {"preemption": {"withinClusterQueue": "LowerPriority"}}
_RECLAIMS: Final[dict[str, Any]] = {"preemption": {"reclaimWithinCohort": "Any"}}

_LEAVE_PODS: Final = ("deleted-with-orphans",)

Way = Callable[[World, Queued], None]


class Ground:
    """The queues of a cell, and the job that waits for the quota."""

    def __init__(self, world: World, cell: Cell) -> None:
        self._world = world
        self._way = cell.way
        is_apart = cell.way == "namespace-deleted"
        self.namespace = world.namespaces[_TEAM] if is_apart else world.namespace
        both = (world.namespace, self.namespace)
        if cell.way == "reclaim":
            queue(world, "main", {"cpu": "1"}, cohort="c")
            queue(world, "lender", {"cpu": "1"}, cohort="c", **_RECLAIMS)
        elif cell.way == "preemption":
            queue(world, "main", {"cpu": "2"}, **_PREEMPTS)
            world.create(_priority_class(world))
        else:
            queue(world, "main", {"cpu": "2"}, namespaces=both)

    def next(self) -> Queued:
        """The job that waits."""
        if self._way == "reclaim":
            return QueuedJob.of(self._world, "next", "run 30s", queue="lender")
        made = job("next", pods=2)
        if self._way == "preemption":
            label = f"{GROUP}/priority-class"
            labels = {**made["metadata"]["labels"], label: f"{self._world.prefix}high"}
            made = with_path(made, "metadata.labels", labels)
        return QueuedJob.submit(self._world, made, "run 30s")


def _waits(world: World, its: Queued) -> None:
    """Let it lose its quota by itself."""


def _loses_readiness(world: World, its: Queued) -> None:
    for node in world.nodes:
        world.inject(Cordon(node=node))
    world.inject(KillPod(pod=PodChoice(of=f"{its.kind.kind}/{its.name}"), exit_code=1))


def _drains(world: World, _: Queued) -> None:
    body = {"spec": {"stopPolicy": "HoldAndDrain"}}
    world.patch(CLUSTER_QUEUE, f"{world.prefix}main", body)


def _delete_namespace(world: World, its: Queued) -> None:
    world.delete(NAMESPACE, its.namespace)


WAYS: Final[Mapping[str, Way]] = {
    "success": _waits,
    "failure": _waits,
    "retries-exhausted": _waits,
    "preemption": _waits,
    "reclaim": _waits,
    "pods-ready-timeout": _waits,
    "recovery-timeout": _loses_readiness,
    "deactivation": lambda _, its: its.activate(False),
    "hold-and-drain": _drains,
    "deleted-in-foreground": lambda _, its: its.delete("Foreground"),
    "deleted-in-background": lambda _, its: its.delete("Background"),
    "deleted-with-orphans": lambda _, its: its.delete("Orphan"),
    "namespace-deleted": _delete_namespace,
}


def _cases(kind: str) -> dict[str, Cell]:
    return {
        f"{cell.way}/{cell.pods}": cell
        for cell in all_cells()
        if cell.kind == kind and cell.way in WAYS and not why_impossible(cell)
    }


@scenario(
    arms=["QL-001", "QL-004"],
    kills="deletion-releases-at-once",
    namespaces=(_TEAM,),
    cases=_cases("job"),
)
def of_job(world: World, cell: Cell) -> None:
    """A Job loses its quota, and the next one gets it once its pods have stopped."""
    made = with_path(job("a", pods=2), "spec.backoffLimit", _retries(cell))
    _run(world, cell, QueuedJob, made)


@scenario(
    arms=["QL-001", "QL-004"],
    kills="deletion-releases-at-once",
    namespaces=(_TEAM,),
    roles=("kueue", "jobset"),
    cases=_cases("jobset"),
)
def of_job_set(world: World, cell: Cell) -> None:
    """A JobSet loses its quota, and the next job gets it once its pods have stopped."""
    policy = {"maxRestarts": _retries(cell)}
    _run(world, cell, QueuedJobSet, with_path(job_set("a", 2), "spec.failurePolicy", policy))


@scenario(
    arms=["QL-001", "QL-004"],
    kills="deletion-releases-at-once",
    namespaces=(_TEAM,),
    roles=("kueue", "appwrapper"),
    cases=_cases("appwrapper"),
)
def of_app_wrapper(world: World, cell: Cell) -> None:
    """An AppWrapper loses its quota, and the next job gets it once its pods have stopped."""
    made = app_wrapper("a", pods=2)
    if cell.way == "pods-ready-timeout":
        made = _half_pending(cell)
    asked = {
        f"{_PARAMETER}retryLimit": str(_retries(cell)),
        f"{_PARAMETER}warmupGracePeriodDuration": "1h",
    }
    _run(world, cell, QueuedAppWrapper, with_path(made, "metadata.annotations", asked))


def _half_pending(cell: Cell) -> Object:
    """An AppWrapper with a pod that runs and another one that stays pending: it counts the pods
    that run, ready or not."""
    made, other = app_wrapper("a"), app_wrapper("a-pending")
    (runs,), (waits,) = made["spec"]["components"], other["spec"]["components"]
    runs = with_behaviour(runs, f"run forever, {STOPS[cell.pods]}")
    waits = with_behaviour(waits, "stay pending")
    return with_path(made, "spec.components", [runs, waits])


def _retries(cell: Cell) -> int:
    return {"retries-exhausted": 1, "recovery-timeout": 6}.get(cell.way, 0)


def _run(world: World, cell: Cell, handle: type[Queued], made: Object) -> None:
    ground = Ground(world, cell)
    runs = _RUNS.get(cell.way, "run forever")
    named = with_path(made, "metadata.namespace", ground.namespace)
    is_made = cell.kind == "appwrapper" and cell.way == "pods-ready-timeout"
    its = handle.submit(world, named, "" if is_made else f"{runs}, {STOPS[cell.pods]}")
    world.until(its.is_admitted())
    world.until(_has_pods(world, its) if cell.way in _RUNS else its.is_ready())
    if cell.pods == "held":
        _hold(world, its)
    other = ground.next()
    WAYS[cell.way](world, its)
    if cell.pods in ("stuck", "held") and cell.way not in _LEAVE_PODS:
        world.until(_are_stopping(world, its))
        world.wait(2 * MINUTE)
        _let_go(world, its)
    if cell.way in ("recovery-timeout", "hold-and-drain"):
        _mend(world, its)
    world.until(other.is_admitted())
    world.until(other.is_finished())
    if cell.pods in ("quick", "slow"):
        world.until(_have_stopped(world, its))
    _let_go(world, its)
    if its.now:
        its.delete("Background")
    world.wait(10 * SECOND)


def _mend(world: World, its: Queued) -> None:
    """Let others be admitted again, and not it."""
    world.until(its.has_released())
    its.activate(False)
    for node in world.nodes:
        world.inject(Uncordon(node=node))
    world.patch(CLUSTER_QUEUE, f"{world.prefix}main", {"spec": {"stopPolicy": "None"}})


def _pods(world: World, its: Queued) -> list[Object]:
    pods = world.list(POD, namespace=its.namespace)
    return [pod for pod in pods if name_of(pod).startswith(f"{its.name}-")]


def _has_pods(world: World, its: Queued) -> Condition:
    return Condition(f"{its} has two pods", lambda: len(_pods(world, its)) == 2)


def _are_stopping(world: World, its: Queued) -> Condition:
    return Condition(
        f"the pods of {its} are terminating, or terminal",
        lambda: all(is_terminating(pod) or _is_terminal(pod) for pod in _pods(world, its)),
    )


def _have_stopped(world: World, its: Queued) -> Condition:
    return Condition(
        f"no pod of {its} is terminating",
        lambda: not any(is_terminating(pod) for pod in _pods(world, its)),
    )


def _is_terminal(pod: Object) -> bool:
    return get_path(pod, "status.phase") in ("Succeeded", "Failed")


def _hold(world: World, its: Queued) -> None:
    for pod in _pods(world, its):
        body = {"metadata": {"finalizers": [*finalizers_of(pod), HELD_BY]}}
        world.patch(POD, name_of(pod), body, namespace=its.namespace)


def _let_go(world: World, its: Queued) -> None:
    """Take the finalizer off the pods that are held; delete others that are terminating by
    force."""
    for pod in _pods(world, its):
        left = [each for each in finalizers_of(pod) if each != HELD_BY]
        if len(left) < len(finalizers_of(pod)):
            body = {"metadata": {"finalizers": left or None}}
            world.patch(POD, name_of(pod), body, namespace=its.namespace)
        elif is_terminating(pod):
            world.call(Delete(POD, its.namespace, name_of(pod), grace_period_seconds=0))


def _priority_class(world: World) -> Object:
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": f"{world.prefix}high"},
        "value": 100,
    }
