"""The ledger of a ClusterQueue on failure pages: lanes over time, and a sheet of one moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Final

from conformance.history import History, Track
from conformance.history.lanes import Lane, Sheet, State, Tone, bar_height
from conformance.suites.kueue.api import CLUSTER_QUEUE
from conformance.suites.kueue.lanes import MAX_WORKLOADS, line_of, turn_of
from conformance.suites.kueue.view.amounts import Usage
from conformance.suites.quota.view import Holding, Loss, QuotaHistory
from vocabulary.clock import MILLISECOND, Micros, format_seconds

_MAX_SHEETS: Final = 4
_MAX_ROWS: Final = 24


def lanes(history: History, track: Track) -> Iterator[Lane]:
    """Reserved against used of each resource of a ClusterQueue, and of its cohort, and its
    releases; nothing of the other kinds."""
    if track.kind != str(CLUSTER_QUEUE):
        return
    view = history.seen_by(QuotaHistory)
    if len(view.subjects) > MAX_WORKLOADS:
        return
    last = next((each.n for each in reversed(track.versions)), track.created.n)
    cohort = _cohort(view, track.name, last)
    for resource in _resources(view, track.name, last):
        yield from _amounts(view, [track.name], resource, resource)
    yield from _releases(view, track.name)
    if len(cohort) > 1:
        for resource in _resources(view, track.name, last):
            yield from _amounts(view, cohort, resource, f"cohort's {resource}")


def sheets(history: History, n: int) -> Iterator[Sheet]:
    """The queues after position n, those in which most goes on first: what is reserved, what is
    used, by whom, and who waits."""
    view = history.seen_by(QuotaHistory)
    queues = [each for each in history.by_kind.get(str(CLUSTER_QUEUE), ()) if each.exists_at(n)]
    found = [_sheet(view, each.name, n) for each in queues]
    yield from sorted(found, key=lambda sheet: -len(sheet.rows))[:_MAX_SHEETS]


def _sheet(view: QuotaHistory, queue: str, n: int) -> Sheet:
    line = line_of(view.kueue, queue, n)
    rows = []
    for holding in view.subjects:
        run, state = holding.workload, holding.workload.at(n)
        if state is None or (_queue_of(holding, n) != queue and run not in line):
            continue
        reserved, used = _told(holding.reserved_at(n)), _told(holding.used_at(n))
        if not (reserved or used or run in line):
            continue
        place = line.index(run) if run in line else -1
        _, turn = turn_of(state, line, run)
        until_us = state.requeue_at_us
        requeued = "" if until_us is None else _at(run.on_its_clock(until_us))
        cells = (
            holding.track.name,
            turn,
            reserved,
            used,
            _told(run.asks(run.track.created.n)),
            requeued,
        )
        rows.append((place, (*cells, state.why_waiting)))
    rows.sort(key=lambda row: row[0])
    at = _at(view.history.entries[n].t)
    columns = ("Workload", "state", "reserves", "uses", "requests", "requeue at", "says")
    shown = [cells for _, cells in rows[:_MAX_ROWS]]
    return Sheet(f"Queue {queue} at t={at}", list(_totals(view, queue, n)), columns, shown)


def _totals(view: QuotaHistory, queue: str, n: int) -> Iterator[str]:
    cohort = _cohort(view, queue, n)
    for resource in _resources(view, queue, n):
        for name, queues in (("", [queue]), ("cohort: ", cohort if len(cohort) > 1 else [])):
            if queues:
                reserved, used = (_sum(of(view, queues, n), resource) for of in (_held, _used))
                nominal = _nominal(view, queues, resource, n)
                more = _text_of(used - reserved)
                beyond = f" ({more} more than reserved)" if used > reserved else ""
                amounts = (
                    f"{_text_of(nominal)} nominal, {_text_of(reserved)} reserved, "
                    f"{_text_of(used)} used{beyond}"
                )
                yield f"{name}{resource}: {amounts}"


def _amounts(
    view: QuotaHistory, queues: Sequence[str], resource: str, label: str
) -> Iterator[Lane]:
    points = []
    for n, t in _moments(view):
        reserved, used = (_sum(of(view, queues, n), resource) for of in (_held, _used))
        points.append((t, _nominal(view, queues, resource, n), reserved, used))
    top = max((max(reserved, used) for _, _, reserved, used in points), default=0.0)
    if not top:
        return
    yield Lane(
        f"{label} reserved",
        [[_bar(t, reserved, f"{reserved:g} of {nominal:g}", nominal, top)
          for t, nominal, reserved, _ in points]],
        tall=True,
    )  # fmt: skip
    yield Lane(
        f"{label} used",
        [[_bar(t, used, f"{used:g} of {reserved:g} reserved", reserved, top, "bad")
          for t, _, reserved, used in points]],
        tall=True,
    )  # fmt: skip


def _bar(
    t: Micros, amount: float, text: str, limit: float, top: float, beyond: Tone = "warn"
) -> State:
    tone: Tone = "off" if not amount else "good" if amount <= limit else beyond
    return State(t, tone, text, bar_height(round(100 * amount), round(100 * top)))


def _releases(view: QuotaHistory, queue: str) -> Iterator[Lane]:
    """A band from each release on, which says what was given back, and why."""
    states = [
        State(loss.released.t, "bad" if _is_early(loss) else "done", _release(holding, loss))
        for holding in view.subjects
        for loss in holding.losses
        if loss.released is not None and loss.admitted.cluster_queue == queue
    ]
    if states:
        yield Lane("last release", [sorted(states, key=lambda state: state.at_us)])


def _is_early(loss: Loss) -> bool:
    return loss.released is not None and bool(loss.running_at(loss.released.n))


def _release(holding: Holding, loss: Loss) -> str:
    gone = holding.reserved_at(loss.admitted.n)
    why = f"{loss.cause} ({loss.why_evicted})" if loss.why_evicted else str(loss.cause)
    early = ", while its pods run" if _is_early(loss) else ""
    return f"{holding.track.name}: {_told(gone)} after {why}{early}"


def _moments(view: QuotaHistory) -> list[tuple[int, Micros]]:
    """Each position at which what is reserved or used may change."""
    return sorted({(step.n, step.t) for holding in view.subjects for step in holding.steps})


def _queue_of(holding: Holding, n: int) -> str:
    """The ClusterQueue of its last admission up to position n."""
    known = [each for each in holding.workload.snapshots if each.n <= n and each.cluster_queue]
    return str(known[-1].cluster_queue) if known else ""


def _held(view: QuotaHistory, queues: Sequence[str], n: int) -> Iterator[Usage]:
    return (each.reserved_at(n) for each in view.subjects if _queue_of(each, n) in queues)


def _used(view: QuotaHistory, queues: Sequence[str], n: int) -> Iterator[Usage]:
    return (each.used_at(n) for each in view.subjects if _queue_of(each, n) in queues)


def _sum(usages: Iterable[Usage], resource: str) -> float:
    return float(sum((each.get(resource, Fraction(0)) for each in usages), Fraction(0)))


def _nominal(view: QuotaHistory, queues: Sequence[str], resource: str, n: int) -> float:
    specs = (view.kueue.queues.spec(queue, n) for queue in queues)
    return float(
        sum(
            quota.nominal
            for spec in specs
            if spec is not None
            for (_, name), quota in spec.quotas.items()
            if name == resource
        )
    )


def _resources(view: QuotaHistory, queue: str, n: int) -> list[str]:
    spec = view.kueue.queues.spec(queue, n)
    return [] if spec is None else list(dict.fromkeys(name for _, name in spec.quotas))


def _cohort(view: QuotaHistory, queue: str, n: int) -> list[str]:
    """The queues that share quota with one, itself included."""
    standing = view.kueue.queues.at(n)
    return [each.name for each in standing.cohort(queue)] if queue in standing.queues else [queue]


def _at(at_us: Micros) -> str:
    return format_seconds(at_us // MILLISECOND * MILLISECOND)


def _told(usage: Usage) -> str:
    amounts = sorted(usage.items())
    return ", ".join(f"{_text_of(float(value))} {name}" for name, value in amounts if value)


def _text_of(value: float) -> str:
    """An amount, of bytes in gibibytes."""
    gibibytes = value / 2**30
    return f"{gibibytes:g}Gi" if gibibytes >= 0.5 else f"{value:g}"
