"""Lanes of a Job on failure pages: its phase, the tree that it has, what is left of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from conformance.history import History, Track
from conformance.history.lanes import Lane, State, Tone, bar_height, lane_of
from conformance.suites.streams.kind import JobState
from conformance.suites.streams.view import JobRun, StreamsHistory
from vocabulary.objects import Object


def lanes(history: History, job: Track) -> Iterator[Lane]:
    """The lanes of one Job."""
    run = next((r for r in history.seen_by(StreamsHistory).subjects if r.track is job), None)
    if run is None:
        return
    yield lane_of("phase", job, _phase)
    yield _amount("its objects", run.tree, run, lambda count, _: ("good", str(count)))
    others = [track for track in run.made if track not in run.tree]
    if others:
        yield _amount("of other attempts", others, run, _left)


def _phase(job: Object) -> tuple[Tone, str]:
    state = JobState(job)
    if state.is_terminating:
        return "ending", "being deleted"
    if state.is_submitted:
        return "done", "Submitted"
    return ("pending", "not begun") if state.id is None else ("warn", str(state.phase))


def _left(count: int, is_there: bool) -> tuple[Tone, str]:
    """Objects of an earlier Job beside this one are what no recovery may leave."""
    return ("bad" if is_there and count else "idle", str(count))


def _amount(
    label: str,
    tracks: Sequence[Track],
    run: JobRun,
    shown: Callable[[int, bool], tuple[Tone, str]],
) -> Lane:
    """How many of some objects there are."""
    moments = [track.created for track in tracks]
    moments += [track.removed for track in tracks if track.removed is not None]
    most, states = len(tracks), []
    for moment in sorted([run.track.created, *moments], key=lambda each: each.n):
        count = sum(track.exists_at(moment.n) for track in tracks)
        tone, text = shown(count, run.track.exists_at(moment.n))
        states.append(State(moment.t, tone, text, bar_height(count, most)))
    return Lane(label, [states], tall=True)
