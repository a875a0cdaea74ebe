"""The table of the cells: when quota was released, against the end of the last pod (KQ-208)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from conformance.history import History
from conformance.suites.quota.cells import STOPS, WAYS, Cell, all_cells, why_impossible
from conformance.suites.quota.view import Loss, QuotaHistory
from conformance.suites.quota.view.holding import Cause
from vocabulary.clock import MILLISECOND, SECOND

_SCENARIOS: Final = "quota/cells/"
_KINDS: Final = {"of-job": "job", "of-job-set": "jobset", "of-app-wrapper": "appwrapper"}
_CAUSES: Final = {
    "success": (Cause.SUCCESS,),
    "failure": (Cause.FAILURE,),
    "retries-exhausted": (Cause.FAILURE,),
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
    found = {cell: entry for each in histories for cell, entry in _entries(each)}
    if not found:
        return
    edition = histories[0].seen_by(QuotaHistory).edition
    yield ""
    yield f"quota released after (+) or before (−) the end of the last pod, edition {edition}"
    yield "rows: how quota is lost; columns: how pods stop; —: cannot occur; empty: not run"
    for kind, cells in groupby(all_cells(), lambda cell: cell.kind):
        of_kind = list(cells)
        if found.keys() & set(of_kind):
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
    reasons = dict.fromkeys(why_impossible(cell) for cell in cells if cell.kind in _KINDS.values())
    for reason in filter(None, reasons):
        yield f"— {reason}"
    impossible = sum(bool(why_impossible(cell)) for cell in cells)
    run = sum(bool(found.get(cell)) and not why_impossible(cell) for cell in cells)
    blank = len(cells) - impossible - run
    yield f"{len(cells)} cells: {run} run, {impossible} impossible, {blank} not run"


def _entries(history: History) -> Iterator[tuple[Cell, str]]:
    scenario = history.header.scenario
    if not scenario.startswith(_SCENARIOS):
        return
    kind, way, pods = scenario.removeprefix(_SCENARIOS).split("/")
    cell = Cell(_KINDS[kind], way, pods)
    loss = _loss(history, cell)
    yield cell, "" if loss is None else _told(loss)


def _loss(history: History, cell: Cell) -> Loss | None:
    """The first loss of quota in the cell's way while its pods were as it says; None: the cell was
    not run."""
    view = history.seen_by(QuotaHistory)
    for holding in view.subjects:
        owner = holding.owner
        if owner is None or owner.name != "a":
            continue
        for loss in holding.losses:
            if loss.released is not None and _is_in_way(loss, cell.way):
                return loss
    return None


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
