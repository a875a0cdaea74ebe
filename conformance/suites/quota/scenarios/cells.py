"""Each cell of the table: a job loses its quota in one way, while its pods stop in one way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.handle import Condition
from conformance.scenario_type import scenario
from conformance.suites.kueue.handle import Queued, QueuedJob, job, queue
from conformance.suites.quota.cells import STOPS, Cell, all_cells, why_impossible
from conformance.world import World
from vocabulary.clock import MINUTE, SECOND
from vocabulary.kinds import NAMESPACE, POD
from vocabulary.objects import Object, finalizers_of, is_terminating, name_of, with_path
from vocabulary.requests import Delete

HELD_BY: Final = "assay.dev/held"
_TEAM: Final = "team"
_RUNS: Final = {
    "success": "run 1m, exit 0",
    "failure": "run 1m, exit 1",
    "retries-exhausted": "run 1m, exit 1",
    "pods-ready-timeout": "never ready",
}
_RETRIES: Final = {"retries-exhausted": 1}

Way = Callable[[World, Queued], None]


def _waits(world: World, its: Queued) -> None:
    """Let it lose its quota by itself."""


def _deactivate(_: World, its: Queued) -> None:
    its.activate(False)


def _delete_namespace(world: World, its: Queued) -> None:
    world.delete(NAMESPACE, its.namespace)


WAYS: Final[Mapping[str, Way]] = {
    "success": _waits,
    "failure": _waits,
    "retries-exhausted": _waits,
    "pods-ready-timeout": _waits,
    "deactivation": _deactivate,
    "deleted-in-foreground": lambda _, its: its.delete("Foreground"),
    "deleted-in-background": lambda _, its: its.delete("Background"),
    "deleted-with-orphans": lambda _, its: its.delete("Orphan"),
    "namespace-deleted": _delete_namespace,
}


def _job(world: World, cell: Cell, namespace: str) -> Queued:
    changes: dict[str, Any] = {"backoffLimit": _RETRIES.get(cell.way, 0)}
    made = with_path(job("a", pods=2), "metadata.namespace", namespace)
    for key, value in changes.items():
        made = with_path(made, f"spec.{key}", value)
    if cell.pods == "held":
        made = with_path(made, "spec.template.metadata", {"finalizers": [HELD_BY]})
    return QueuedJob.submit(world, made, _behaviour(cell))


KINDS: Final[Mapping[str, Callable[[World, Cell, str], Queued]]] = {"job": _job}


def _behaviour(cell: Cell) -> str:
    runs = _RUNS.get(cell.way, "run forever")
    return f"{runs}, {STOPS[cell.pods]}"


CELLS: Final = {
    str(cell): cell
    for cell in all_cells()
    if cell.kind in KINDS and cell.way in WAYS and not why_impossible(cell)
}


@scenario(
    arms=["QL-001", "QL-004"],
    kills="deletion-releases-at-once",
    namespaces=(_TEAM,),
    cases=CELLS,
)
def cells(world: World, cell: Cell) -> None:
    """A job loses its quota, and the next one gets it once its pods have stopped."""
    namespace = world.namespaces[_TEAM] if cell.way == "namespace-deleted" else world.namespace
    queue(world, quota={"cpu": "2"}, namespaces=(world.namespace, namespace))
    its = KINDS[cell.kind](world, cell, namespace)
    world.until(its.is_admitted())
    other = QueuedJob.of(world, "next", "run 30s", pods=2)
    if cell.way not in _RUNS:
        world.until(its.is_ready())
    WAYS[cell.way](world, its)
    if cell.pods == "stuck" and cell.way != "deleted-with-orphans":
        world.until(_are_stopping(world, its))
        world.wait(2 * MINUTE)
        _delete_by_force(world, its)
    world.until(other.is_admitted())
    _let_go(world, its)
    world.until(other.is_finished())
    if its.now:
        its.delete("Background")
    world.wait(30 * SECOND)


def _pods(world: World, its: Queued) -> list[Object]:
    pods = world.list(POD, namespace=its.namespace)
    return [pod for pod in pods if name_of(pod).startswith(f"{its.name}-")]


def _are_stopping(world: World, its: Queued) -> Condition:
    return Condition(
        f"the pods of {its} are terminating",
        lambda: all(map(is_terminating, _pods(world, its))),
    )


def _delete_by_force(world: World, its: Queued) -> None:
    for pod in _pods(world, its):
        world.call(Delete(POD, its.namespace, name_of(pod), grace_period_seconds=0))


def _let_go(world: World, its: Queued) -> None:
    """Take the finalizer off the pods that are held."""
    for pod in _pods(world, its):
        left = [each for each in finalizers_of(pod) if each != HELD_BY]
        if len(left) < len(finalizers_of(pod)):
            body = {"metadata": {"finalizers": left or None}}
            world.patch(POD, name_of(pod), body, namespace=its.namespace)
