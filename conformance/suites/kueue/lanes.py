"""Lanes of Workloads and ClusterQueues on failure pages: places in queues, and requeue timers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.history import History, Track
from conformance.history.lanes import Lane, State, Tone
from conformance.suites.kueue.api import CLUSTER_QUEUE, WORKLOAD
from conformance.suites.kueue.view import KueueHistory, Snapshot, WorkloadRun
from vocabulary.clock import MILLISECOND, format_seconds

MAX_WORKLOADS: Final = 100
"""Of more, places in queues are not worked out: that takes their square."""


def lanes(history: History, track: Track) -> Iterator[Lane]:
    """The lanes of one Workload or ClusterQueue; none of the other kinds."""
    if track.kind not in (str(CLUSTER_QUEUE), str(WORKLOAD)):
        return
    view = history.seen_by(KueueHistory)
    if len(view.subjects) > MAX_WORKLOADS:
        yield Lane(f"{len(view.subjects)} Workloads", [])
    elif track.kind == str(CLUSTER_QUEUE):
        yield _queue_lane(view, track)
    else:
        run = next(each for each in view.subjects if each.track is track)
        yield _turn_lane(view, run)
        yield from _timer_lane(run)


def line_of(view: KueueHistory, queue: str, n: int) -> list[WorkloadRun]:
    """The Workloads that wait in a ClusterQueue after position n, the first in order first."""
    waiting = [
        (state, run)
        for run in view.subjects
        if (state := run.at(n)) is not None
        and _waits(state)
        and view.queues.queue_of(run, n) == queue
    ]
    waiting.sort(key=lambda each: each[1].precedence(each[0]), reverse=True)
    return [run for _, run in waiting]


def turn_of(state: Snapshot, line: Sequence[WorkloadRun], run: WorkloadRun) -> tuple[Tone, str]:
    """The state of a Workload with regard to its quota, and its place among those that wait."""
    if state.is_finished:
        return "done", "finished"
    if state.has_quota and state.is_evicted:
        return "ending", f"evicted ({state.why_evicted}), holds quota"
    if state.has_quota:
        return ("good", "admitted, ready") if state.are_pods_ready else ("warn", "admitted")
    if not state.is_active:
        return "off", "deactivated"
    if run not in line:
        return "off", "waits in no queue"
    place = f"{line.index(run) + 1} of {len(line)}"
    return "pending", f"{'backs off' if _backs_off(run, state) else 'waits'}, {place}"


def _waits(state: Snapshot) -> bool:
    return state.is_active and not (
        state.has_reservation or state.is_finished or state.is_terminating
    )


def _backs_off(run: WorkloadRun, state: Snapshot) -> bool:
    until_us = state.requeue_at_us
    return state.is_evicted and until_us is not None and run.on_its_clock(until_us) > state.t


def _moments(view: KueueHistory) -> list[Snapshot]:
    return sorted((each for run in view.subjects for each in run.snapshots), key=lambda s: s.n)


def _turn_lane(view: KueueHistory, run: WorkloadRun) -> Lane:
    states = []
    for moment in _moments(view):
        state = run.at(moment.n)
        if state is None or not run.track.exists_at(moment.n):
            states.append(State(moment.t, None, ""))
            continue
        line = line_of(view, view.queues.queue_of(run, moment.n), moment.n)
        states.append(State(moment.t, *turn_of(state, line, run)))
    return Lane("queue position", [[*states, *_removal(run.track)]])


def _timer_lane(run: WorkloadRun) -> Iterator[Lane]:
    """A band for each back-off, from its eviction until its requeueAt."""
    states = []
    for evicted in run.timeouts:
        if evicted.requeue_at_us is not None:
            until_us = run.on_its_clock(evicted.requeue_at_us)
            span = format_seconds(max(0, until_us - evicted.t) // MILLISECOND * MILLISECOND)
            states.append(State(evicted.t, "warn", f"requeue {evicted.count} in {span}"))
            states.append(State(max(until_us, evicted.t), None, ""))
    if states:
        yield Lane("requeue timer", [[*states, *_removal(run.track)]])


def _queue_lane(view: KueueHistory, track: Track) -> Lane:
    """Those that wait in a ClusterQueue, in order."""
    states = []
    for moment in _moments(view):
        names = [str(run.track.name) for run in line_of(view, track.name, moment.n)]
        text = f"{len(names)}: {', '.join(names)}" if names else "nothing waits"
        states.append(State(moment.t, "pending" if names else "off", text))
    return Lane("waiting", [[*states, *_removal(track)]])


def _removal(track: Track) -> Iterator[State]:
    if track.removed is not None:
        yield State(track.removed.t, None, "")
