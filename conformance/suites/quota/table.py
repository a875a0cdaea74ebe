"""The table of the cells: when quota was released, against the end of the last pod (KQ-208)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from conformance.history import History
from conformance.suites.quota.cells import (
    HELD_BY,
    KINDS,
    STOPS,
    WAYS,
    Cell,
    all_cells,
    why_impossible,
)
from conformance.suites.quota.view import Holding, Loss, QuotaHistory
from conformance.suites.quota.view.holding import Cause
from vocabulary.clock import MILLISECOND, SECOND
from vocabulary.objects import finalizers_of, is_terminating

_SCENARIOS: Final = "quota/cells/"
_KINDS: Final = {
    "of-job": "job",
    "of-job-set": "jobset",
    "of-app-wrapper": "appwrapper",
    "of-pod": "pod",
    "of-pod-group": "pod-group",
    "of-deployment": "deployment",
    "of-stateful-set": "statefulset",
    "of-pytorch-job": "pytorchjob",
    "of-ray-cluster": "raycluster",
    "of-ray-job": "rayjob",
}
_CAUSES: Final = {
    "success": (Cause.SUCCESS,),
    "failure": (Cause.FAILURE,),
    "retries-exhausted": (Cause.FAILURE,),
    "suspension": (Cause.DELETION,),
    "deleted-with-orphans": (Cause.ORPHAN, Cause.DELETION),
    "deleted-in-foreground": (Cause.DELETION,),
    "deleted-in-background": (Cause.DELETION,),
    # The namespace's controller deletes pods before their job, which may fail then.
    "namespace-deleted": (Cause.DELETION, Cause.FAILURE),
}
_REASONS: Final = {
    "preemption": ("Preempted",),
    "reclaim": ("Preempted",),
    "pods-ready-timeout": ("PodsReadyTimeout",),
    "recovery-timeout": ("PodsReadyTimeout",),
    "hold-and-drain": ("ClusterQueueStopped",),
}
_WIDTH: Final = 12


def table_lines(histories: Sequence[History]) -> Iterator[str]:
    """The table as text: a row for each way, a column for how pods stop, an entry for when quota
    was released after (+) or before (−) the end of the last pod; then the reasons why cells cannot
    occur, and how many there are. Nothing where no cell was run."""
    found = {cell: entry for each in histories for cell, entry in entries(each)}
    if not found:
        return
    edition = histories[0].seen_by(QuotaHistory).edition
    yield ""
    yield f"quota released after (+) or before (−) the end of the last pod, edition {edition}"
    yield "rows: how quota is lost; columns: how pods stop; —: cannot occur; blank: not run"
    for kind in KINDS:
        if any(cell.kind == kind for cell in found):
            yield f"{kind:<24}" + "".join(f"{stop:>{_WIDTH}}" for stop in STOPS)
            yield from _rows(kind, found)
    yield from _totals(found)


def _rows(kind: str, found: Mapping[Cell, str]) -> Iterator[str]:
    for way in WAYS:
        entries = [_entry(Cell(kind, way, stop), found) for stop in STOPS]
        yield f"  {way:<22}" + "".join(f"{entry:>{_WIDTH}}" for entry in entries)


def _entry(cell: Cell, found: Mapping[Cell, str]) -> str:
    return "—" if why_impossible(cell) else found.get(cell, "")


def _totals(found: Mapping[Cell, str]) -> Iterator[str]:
    cells = list(all_cells())
    for reason in filter(None, dict.fromkeys(map(why_impossible, cells))):
        yield f"— {reason}"
    impossible = sum(bool(why_impossible(cell)) for cell in cells)
    blank = len(blank_cells(found))
    run = len(cells) - impossible - blank
    yield f"{len(cells)} cells: {run} run, {impossible} impossible, {blank} blank"


def blank_cells(found: Mapping[Cell, str]) -> list[Cell]:
    """The cells that can occur and were not run."""
    return [cell for cell in all_cells() if not (found.get(cell) or why_impossible(cell))]


def entries(history: History) -> Iterator[tuple[Cell, str]]:
    """The cell of a run with its entry; empty if quota was not lost so while the pods were so."""
    scenario = history.header.scenario
    if not scenario.startswith(_SCENARIOS):
        return
    kind, way, pods = scenario.removeprefix(_SCENARIOS).split("/")
    cell = Cell(_KINDS[kind], way, pods)
    losses = (
        loss
        for holding in history.seen_by(QuotaHistory).subjects
        if _is_of_cell(holding)
        for loss in holding.losses
        if loss.released is not None and _is_in_way(loss, way)
    )
    yield cell, next((_told(loss) for loss in losses if _are_so(history, loss, cell)), "")


def _is_of_cell(holding: Holding) -> bool:
    names = () if holding.job is None else (root.name for root in holding.job.roots)
    return any(name == "a" or name.startswith("a-") for name in names)


def _are_so(history: History, loss: Loss, cell: Cell) -> bool:
    """True if pods were in the cell's state as the loss began; those of a job that leaves them
    behind run on."""
    n = _namespace_deleted(history, loss) if cell.way == "namespace-deleted" else loss.began.n
    pods = [pod for pod in loss.pods if pod.track.exists_at(n)]
    if cell.way == "deleted-with-orphans" and cell.kind not in ("pod", "pod-group"):
        return bool(pods)
    if cell.pods == "held":
        return any(HELD_BY in finalizers_of(pod.track.at(n)) for pod in pods)
    least_us, most_us = _STOPS[cell.pods]
    spans_us = [pod.stopping_us for pod in pods]
    return any(least_us <= (span_us or 0) <= most_us for span_us in spans_us)


def _namespace_deleted(history: History, loss: Loss) -> int:
    """The position at which the pods' namespace began to be deleted, and they with it."""
    names = {pod.track.namespace for pod in loss.pods}
    tracks = (each for each in history.by_kind.get("Namespace", ()) if each.name in names)
    versions = (version for track in tracks for version in track.versions)
    return next(each.n for each in versions if is_terminating(each.object or {}))


_STOPS: Final = {
    "quick": (0, 5 * SECOND),
    "slow": (50 * SECOND, 70 * SECOND),
    "stuck": (100 * SECOND, 1_000 * SECOND),
}
"""For how long pods are terminating that stop so; those of a job that ends may end before."""


def _is_in_way(loss: Loss, way: str) -> bool:
    if way in _CAUSES:
        return loss.cause in _CAUSES[way]
    return loss.cause is Cause.EVICTION and loss.why_evicted.startswith(
        _REASONS.get(way, ("WorkloadInactive", "InactiveWorkload", "Deactivated"))
    )


def _told(loss: Loss) -> str:
    """The gap between the end of the last pod and the release: `+0.02s`, `−58.1s`."""
    assert loss.released is not None
    if not loss.pods:
        return "no pods"
    end = loss.last_pod_end
    if end is None:
        return "they run on"
    gap_us = loss.released.t - end.t
    if abs(gap_us) < MILLISECOND:
        return "at"
    return f"{'+' if gap_us > 0 else '−'}{abs(gap_us) / SECOND:.2f}s"
