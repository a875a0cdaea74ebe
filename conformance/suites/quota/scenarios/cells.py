"""Each cell of the table: a job loses its quota in one way, while its pods stop in one way.

A job has all the quota of its queue, and another one waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from chaos.faults import Cordon, KillPod, StickPod, Uncordon
from conformance.scenario_type import scenario
from conformance.suites.kueue.api import APP_WRAPPER, CLUSTER_QUEUE
from conformance.suites.kueue.handle import Queued, QueuedJob, priority_class, queue, stop
from conformance.suites.kueue.kind import StopPolicy, WorkloadState
from conformance.suites.quota.cells import HELD_BY, Cell, all_cells, why_impossible
from conformance.suites.quota.scenarios import jobs
from conformance.world import Condition, World
from vocabulary.clock import MINUTE, SECOND
from vocabulary.kinds import NAMESPACE, POD, PYTORCH_JOB
from vocabulary.objects import Object, finalizers_of, get_path, is_terminating, name_of, uid_of
from vocabulary.requests import Delete

_TEAM: Final = "team"
_PREEMPTS: Final[dict[str, Any]] = {"preemption": {"withinClusterQueue": "LowerPriority"}}
_RECLAIMS: Final[dict[str, Any]] = {"preemption": {"reclaimWithinCohort": "Any"}}
_NO_OPERATOR: Final = "its operator is not on the control plane"
_KILLED: Final = 137
"""The exit code of a container that was killed, which a PyTorchJob retries."""

Way = Callable[[World, Queued], None]
Steps = Callable[[World, Cell], None]


class Ground:
    """The queues of a cell, and the job that waits for the quota."""

    def __init__(self, world: World, cell: Cell) -> None:
        self._world = world
        self._kind, self._way, _ = cell
        is_apart = cell.way == "namespace-deleted"
        self.namespace = world.namespaces[_TEAM] if is_apart else world.namespace
        self._high = ""
        if cell.way == "reclaim":
            queue(world, "main", {"cpu": "1"}, cohort="c")
            queue(world, "lender", {"cpu": "1"}, cohort="c", **_RECLAIMS)
        elif cell.way == "preemption":
            queue(world, "main", {"cpu": "2"}, **_PREEMPTS)
            self._high = priority_class(world, "high", 100)
        else:
            both = (world.namespace, self.namespace)
            queue(world, "main", {"cpu": "2"}, namespaces=both)

    def next(self) -> Queued:
        """The job that waits."""
        if self._way == "reclaim":
            return QueuedJob.of(self._world, "next", "run 30s", queue="lender")
        pods = 1 if self._kind == "deployment" else 2  # whose pods are let go one by one
        return QueuedJob.of(self._world, "next", "run 30s", pods=pods, priority=self._high)


def _waits(world: World, its: Queued) -> None:
    """Let it lose its quota by itself."""


def _loses_readiness(world: World, its: Queued) -> None:
    """An AppWrapper and a PyTorchJob ask for pods that run, ready or not."""
    pods = _pods(world, its)
    if its.kind not in (APP_WRAPPER, PYTORCH_JOB):
        for pod in pods:
            world.inject(StickPod(pod=name_of(pod), state="not_ready"))
        return
    for node in world.nodes:
        world.inject(Cordon(node=node))
    world.inject(KillPod(pod=name_of(pods[0]), exit_code=_KILLED))


def _drains(world: World, _: Queued) -> None:
    stop(world, CLUSTER_QUEUE, f"{world.prefix}main", StopPolicy.HOLD_AND_DRAIN)


def _delete_namespace(world: World, its: Queued) -> None:
    world.delete(NAMESPACE, its.namespace)


WAYS: Final[Mapping[str, Way]] = {
    "success": _waits,
    "failure": _waits,
    "retries-exhausted": _waits,
    "suspension": lambda _, its: its.patch({"spec": {"replicas": 0}}),
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


def _cells_of(
    kind: str,
    *roles: str,
    kills: str = "deletion-releases-at-once",
    only_simulated: str = "",
) -> Callable[[Steps], Steps]:
    """Register a scenario with the cells of a kind that can occur as its cases."""
    cells = (cell for cell in all_cells() if cell.kind == kind and not why_impossible(cell))
    return scenario(
        arms=["QL-001", "QL-004"],
        kills=kills,
        namespaces=(_TEAM,),
        roles=("kueue", *roles),
        only_simulated=only_simulated,
        cases={f"{cell.way}/{cell.pods}": cell for cell in cells},
    )


@_cells_of("job")
def of_job(world: World, cell: Cell) -> None:
    """A Job loses its quota, and the next one gets it once its pods have stopped."""
    _run(world, cell)


@_cells_of("jobset", "jobset")
def of_job_set(world: World, cell: Cell) -> None:
    """A JobSet loses its quota, and the next job gets it once its pods have stopped."""
    _run(world, cell)


@_cells_of("appwrapper", "appwrapper")
def of_app_wrapper(world: World, cell: Cell) -> None:
    """An AppWrapper loses its quota, and the next job gets it once its pods have stopped."""
    _run(world, cell)


@_cells_of("pod")
def of_pod(world: World, cell: Cell) -> None:
    """A pod loses its quota, and the next job gets it once it has stopped."""
    _run(world, cell)


@_cells_of("pod-group")
def of_pod_group(world: World, cell: Cell) -> None:
    """A group of pods loses its quota, and the next job gets it once they have stopped."""
    _run(world, cell)


@_cells_of("deployment", kills="strategy-is-ignored")
def of_deployment(world: World, cell: Cell) -> None:
    """The pods of a Deployment lose their quota, and the next job gets it once they have
    stopped."""
    _run(world, cell)


@_cells_of("statefulset")
def of_stateful_set(world: World, cell: Cell) -> None:
    """A StatefulSet loses its quota, and the next job gets it once its pods have stopped."""
    _run(world, cell)


@_cells_of("pytorchjob", kills="job-is-not-asked", only_simulated=_NO_OPERATOR)
def of_pytorch_job(world: World, cell: Cell) -> None:
    """A PyTorchJob loses its quota, and the next job gets it once it says so."""
    _run(world, cell)


@_cells_of("raycluster", kills="job-is-not-asked", only_simulated=_NO_OPERATOR)
def of_ray_cluster(world: World, cell: Cell) -> None:
    """A RayCluster loses its quota, and the next job gets it once it says so."""
    _run(world, cell)


@_cells_of("rayjob", kills="job-is-not-asked", only_simulated=_NO_OPERATOR)
def of_ray_job(world: World, cell: Cell) -> None:
    """A RayJob loses its quota, and the next job gets it once it says so."""
    _run(world, cell)


def _run(world: World, cell: Cell) -> None:
    ground = Ground(world, cell)
    its = jobs.submit(world, cell, ground.namespace)
    world.until(_has_pods(world, its, jobs.pods_of(cell)) & its.is_admitted())
    if cell.way not in jobs.ENDING:
        world.until(its.is_ready())
    if cell.way == "retries-exhausted" and cell.kind != "pytorchjob":
        _fail_once(world, cell, its)
    if cell.pods == "held":
        _hold(world, its)
    other = ground.next()
    world.wait(SECOND)  # So that it comes before the pods that follow those of a Deployment.
    WAYS[cell.way](world, its)
    if cell.way == "recovery-timeout":
        world.until(_is_evicted(its))
    if cell.pods in ("stuck", "held") and not _leaves_pods(cell):
        world.until(_are_stopping(world, its))
        world.wait(2 * MINUTE)
        _let_go(world, its)
    if cell.way in ("recovery-timeout", "hold-and-drain"):
        _mend(world, its, other)
    world.until(other.is_admitted())
    world.until(other.is_finished())
    if cell.pods in ("quick", "slow"):
        world.until(_have_stopped(world, its))
    _let_go(world, its)
    if its.now:
        its.delete("Background")
    world.wait(10 * SECOND)


def _fail_once(world: World, cell: Cell, its: Queued) -> None:
    """Let the first attempt fail, which others than a PyTorchJob repeat with other pods."""
    before = {uid_of(pod) for pod in _pods(world, its)}
    world.until(_are_stopping(world, its))
    if cell.pods == "stuck":
        _let_go(world, its)

    count = 1 if cell.pods == "slow" else jobs.pods_of(cell)  # the first may not wait for others

    def is_repeated() -> bool:
        later = {uid_of(pod) for pod in _pods(world, its)} - before
        return len(later) >= count

    world.until(Condition(f"{its} has other pods", is_repeated))


def _leaves_pods(cell: Cell) -> bool:
    """A pod is deleted with its orphans like without."""
    return cell.way == "deleted-with-orphans" and cell.kind not in ("pod", "pod-group")


def _mend(world: World, its: Queued, other: Queued) -> None:
    """Let others be admitted and run, and not it again."""
    world.until(_has_lost(its) | other.is_admitted())
    its.activate(False)
    for node in world.nodes:
        world.inject(Uncordon(node=node))
    stop(world, CLUSTER_QUEUE, f"{world.prefix}main", StopPolicy.NONE)


def _is_evicted(its: Queued) -> Condition:
    def holds() -> bool:
        states = map(WorkloadState, its.workloads)
        return all(state.is_evicted or not state.has_reservation for state in states)

    return Condition(f"{its} is evicted", holds)


def _has_lost(its: Queued) -> Condition:
    return Condition(
        f"{its} has lost its quota",
        lambda: not any(WorkloadState(each).has_reservation for each in its.workloads),
    )


def _pods(world: World, its: Queued) -> list[Object]:
    """Its pods that were bound to a node: those that follow them wait."""
    pods = world.list(POD, namespace=its.namespace)
    return [pod for pod in pods if _is_of(its, pod) and get_path(pod, "spec.nodeName")]


def _is_of(its: Queued, pod: Object) -> bool:
    return name_of(pod) == its.name or name_of(pod).startswith(f"{its.name}-")


def _has_pods(world: World, its: Queued, count: int) -> Condition:
    return Condition(f"{its} has {count} pods", lambda: len(_pods(world, its)) == count)


def _are_stopping(world: World, its: Queued) -> Condition:
    """Of a Deployment some may keep their quota."""

    def holds() -> bool:
        pods = _pods(world, its)
        return any(map(is_terminating, pods)) or all(map(_is_terminal, pods))

    return Condition(f"pods of {its} are terminating, or all are terminal", holds)


def _have_stopped(world: World, its: Queued) -> Condition:
    return Condition(
        f"no pod of {its} is terminating",
        lambda: not any(is_terminating(pod) for pod in _pods(world, its)),
    )


def _is_terminal(pod: Object) -> bool:
    return get_path(pod, "status.phase") in ("Succeeded", "Failed")


def _hold(world: World, its: Queued) -> None:
    for pod in _pods(world, its):
        if is_terminating(pod):
            continue
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
