"""Lanes on failure pages: a Job's phase, the tree that it has, what is left of others; launches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from conformance.history import History, Moment, Track
from conformance.history.lanes import Lane, State, Tone, bar_height, lane_of
from conformance.suites.streams.api import PROCESSING_ELEMENT
from conformance.suites.streams.kind import ElementState, JobState
from conformance.suites.streams.view import JobRun, StreamsHistory
from vocabulary.objects import Object


def lanes(history: History, track: Track) -> Iterator[Lane]:
    """The lanes of one Job, or ProcessingElement."""
    if track.kind == str(PROCESSING_ELEMENT):
        yield lane_of("launch", track, _launch)
        return
    run = next((r for r in history.seen_by(StreamsHistory).subjects if r.track is track), None)
    if run is None:
        return
    yield lane_of("phase", track, _phase)
    yield _amount("its objects", run.tree, run, lambda count, _: ("good", str(count)))
    if run.interruption is not None:
        n = run.interruption.n
        before = [track for track in run.tree if track.created.n < n]
        yield _amount("from before the crash", before, run, partial(_stale, run))
    others = [track for track in run.made if track not in run.tree]
    if others:
        yield _amount("of other attempts", others, run, partial(_left, run))


def _launch(element: Object) -> tuple[Tone, str]:
    state = ElementState(element)
    if state.is_terminating:
        return "ending", "being deleted"
    return ("good" if state.launches else "pending"), str(state.launches)


def _phase(job: Object) -> tuple[Tone, str]:
    state = JobState(job)
    if state.is_terminating:
        return "ending", "being deleted"
    if state.is_submitted:
        return "done", "Submitted"
    return ("pending", "not begun") if state.id is None else ("warn", str(state.phase))


def _left(run: JobRun, count: int, n: int) -> tuple[Tone, str]:
    """Objects of an earlier Job beside this one are what no recovery may leave."""
    return ("bad" if count and run.track.exists_at(n) else "idle", str(count))


def _stale(run: JobRun, count: int, n: int) -> tuple[Tone, str]:
    """Objects of the interrupted attempt are what no Submitted Job may have."""
    is_bad = count and run.submitted is not None and run.submitted.n <= n
    return "bad" if is_bad else "idle", str(count)


def _amount(
    label: str,
    tracks: Sequence[Track],
    run: JobRun,
    shown: Callable[[int, int], tuple[Tone, str]],
) -> Lane:
    """How many of some objects there are."""
    moments: list[Moment] = [track.created for track in tracks]
    moments += [track.removed for track in tracks if track.removed is not None]
    most, states = len(tracks), []
    moments += [each for each in (run.track.created, run.submitted) if each is not None]
    for moment in sorted(moments, key=lambda each: each.n):
        count = sum(track.exists_at(moment.n) for track in tracks)
        tone, text = shown(count, moment.n)
        states.append(State(moment.t, tone, text, bar_height(count, most)))
    return Lane(label, [states], tall=True)
