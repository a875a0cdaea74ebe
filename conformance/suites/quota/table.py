"""The table of the cells: when quota was released, against the end of the last pod (KQ-208)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
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


def table_lines(
    histories: Sequence[History], not_run: Mapping[str, str] = MappingProxyType({})
) -> Iterator[str]:
    """The table as text: a row for each way, a column for how pods stop, an entry for when quota
    was released after (+) or before (−) the end of the last pod; then the reasons why cells cannot
    occur, and how many there are. Nothing where no cell was run.

    `not_run` has the scenarios of what is under test lacks, each with the reason.
    """
    found = {cell: outcome for each in histories for cell, outcome in _outcomes(each)}
    if not found:
        return
    edition = histories[0].seen_by(QuotaHistory).edition
    yield ""
    yield f"quota released after (+) or before (−) the end of the last pod, edition {edition}"
    yield "rows: how quota is lost; columns: how pods stop; —: cannot occur; blank: not run"
    table = _Table(found, not_run, _release_of(histories[0]))
    for kind in KINDS:
        yield from table.block(kind)
    yield from table.totals()


@dataclass(frozen=True)
class _Table:
    """The entries of cells, and why others have none."""

    found: Mapping[Cell, str]
    not_run: Mapping[str, str]
    release: str

    def block(self, kind: str) -> Iterator[str]:
        """The rows of a kind; nothing if none of its cells was run."""
        if kind in self._absent:
            yield f"{kind:<24}{'not integrated':>{2 * _WIDTH}}"
        elif any(cell.kind == kind for cell in self.found):
            yield f"{kind:<24}" + "".join(f"{stop:>{_WIDTH}}" for stop in STOPS)
            for way in WAYS:
                entries = (self._entry(Cell(kind, way, stop)) for stop in STOPS)
                yield f"  {way:<22}" + "".join(f"{entry:>{_WIDTH}}" for entry in entries)

    def totals(self) -> Iterator[str]:
        """The reasons, and the numbers of cells."""
        cells = list(all_cells())
        shown = [cell for cell in cells if cell.kind not in self._absent]
        lacking = [cell for cell in cells if self._lacking(cell)]
        impossible = [cell for cell in cells if why_impossible(cell)]
        for reason in filter(None, dict.fromkeys(map(self._why_not, shown))):
            yield f"— {reason}"
        for kind in self._absent:
            reasons = dict.fromkeys(self._lacking(cell) for cell in lacking if cell.kind == kind)
            yield f"{kind}: {'; '.join(reasons)}"
        for mark, meaning in _MARKS.items():
            if mark in self.found.values():
                yield f"{mark}: {meaning}"
        blank = len(cells) - len(self.found) - len(impossible) - len(lacking)
        counts = [f"{len(self.found)} run", f"{len(impossible)} impossible"]
        counts += [f"{len(lacking)} not integrated"] if lacking else []
        yield f"{len(cells)} cells: {', '.join(counts)}, {blank} blank"

    @cached_property
    def _absent(self) -> tuple[str, ...]:
        """The kinds of which no cell can be run, though some can occur."""
        return tuple(
            kind
            for kind in KINDS
            if all(self._why_not(cell) for cell in all_cells() if cell.kind == kind)
        )

    def _entry(self, cell: Cell) -> str:
        return "—" if self._why_not(cell) else self.found.get(cell, "")

    def _why_not(self, cell: Cell) -> str:
        return why_impossible(cell, self.release) or self._lacking(cell)

    def _lacking(self, cell: Cell) -> str:
        """The reason why a cell is not run that can occur."""
        return "" if why_impossible(cell) else self.not_run.get(_scenario_of(cell), "")


def _release_of(history: History) -> str:
    """The version of a released Kueue; a reference has none."""
    return history.header.operators["kueue"].implementation.removeprefix("kueue-")


def _scenario_of(cell: Cell) -> str:
    (name,) = (name for name, kind in _KINDS.items() if kind == cell.kind)
    return f"{_SCENARIOS}{name}/{cell.way}/{cell.pods}"


def _outcomes(history: History) -> Iterator[tuple[Cell, str]]:
    """The cell of a run with its entry, or what happened instead."""
    for cell, entry in entries(history):
        yield cell, entry or _instead(history)


def _instead(history: History) -> str:
    """The entry of a cell whose quota was not lost in its way."""
    holdings = (each for each in history.seen_by(QuotaHistory).subjects if _is_of_cell(each))
    if any(
        each.track.removed is None and each.workload.snapshots[-1].has_quota for each in holdings
    ):
        return "kept"
    return "otherwise"


_MARKS: Final = {
    "kept": "the quota is not released in that way, and is held when the run ends",
    "otherwise": "the quota is lost in another way, or while pods stop otherwise",
}
"""The entries of cells whose quota was not lost in their way."""


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
