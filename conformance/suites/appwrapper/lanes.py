"""Lanes of an AppWrapper on failure pages: its phase, its quota against its pods, its resets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.history import History, Track
from conformance.history.lanes import Lane, State, Tone, bar_height, lane_of, snapshots
from conformance.suites.appwrapper.api import PARAMETER_PREFIX
from conformance.suites.appwrapper.view.history import AppWrapperHistory
from vocabulary.clock import Micros
from vocabulary.objects import Object, annotations_of, condition_status, get_path

_PHASE_TONES: Final[dict[str, Tone]] = {
    "Resuming": "pending",
    "Running": "good",
    "Resetting": "warn",
    "Suspending": "warn",
    "Succeeded": "done",
    "Failed": "bad",
    "Terminating": "ending",
}
_QUOTA_CONDITION: Final = "QuotaReserved"
_ENDED: Final = frozenset(("Succeeded", "Failed"))
_QUOTA_BARS: Final = 0.6
"""The most of the lane's height that pods take: above them stands what the ground says."""


def lanes(history: History, track: Track) -> Iterator[Lane]:
    """The lanes of one AppWrapper."""
    yield lane_of("phase", track, _phase_state)
    runs = history.seen_by(AppWrapperHistory).subjects
    run = next((run for run in runs if run.track is track), None)
    pods = {} if run is None else {p.uid: p for p in (*run.pods, *run.descendant_pods)}
    yield from _quota_lane(track, [*pods.values()])
    yield from _retry_lane(track, history)


def _phase_state(obj: Object) -> tuple[Tone, str]:
    phase = _phase(obj)
    return _PHASE_TONES.get(phase, "idle"), phase or "new"


def _phase(obj: Object) -> str:
    return str(get_path(obj, "status.phase", "") or "")


def _quota_lane(track: Track, pods: Sequence[Track]) -> Iterator[Lane]:
    """Quota reserved (the ground) against pods that really exist (the bars).

    A bar without ground below it is a pod that runs on quota which another client may have got.
    """
    events = sorted(
        (
            (write.n, write.t, one, None if write is one.removed else write.object)
            for one in (track, *pods)
            for write in (*one.versions, *([one.removed] if one.removed else ()))
        ),
        key=lambda event: event[0],
    )
    reserved, using = False, dict.fromkeys((pod.uid for pod in pods), False)
    ground: list[State] = []
    amounts: list[tuple[Micros, int, bool]] = []
    for _, at_us, changed, obj in events:
        if changed is track:
            reserved = obj is not None and condition_status(obj, _QUOTA_CONDITION) == "True"
            ground.append(State(at_us, "idle" if reserved else None, "reserved"))
        else:
            using[changed.uid] = obj is not None and _phase(obj) not in _ENDED
        amounts.append((at_us, sum(using.values()), reserved))
    top = max((amount for _, amount, _ in amounts), default=0)
    if not top and not any(state.tone for state in ground):
        return
    bars = [
        State(
            at_us,
            None if not amount else "good" if is_reserved else "bad",
            f"{amount} {'pod' if amount == 1 else 'pods'}"
            + ("" if is_reserved else " without quota"),
            _QUOTA_BARS * amount / max(top, 1),
        )
        for at_us, amount, is_reserved in amounts
    ]
    yield Lane("quota / used", [ground, bars], tall=True)


def _retry_lane(track: Track, history: History) -> Iterator[Lane]:
    """The retry counter against its limit, for an object that was ever reset."""
    counts = [
        (at_us, None if obj is None else get_path(obj, "status.resettingCount", 0))
        for at_us, obj in snapshots(track)
    ]
    if not any(count for _, count in counts):
        return
    limit = _retry_limit(track.first, history)
    top = max([limit or 0] + [count for _, count in counts if isinstance(count, int)])
    states = []
    for at_us, count in counts:
        if not isinstance(count, int):
            states.append(State(at_us, None, ""))
            continue
        over = limit is not None and count > limit
        tone: Tone = "bad" if over else "warn" if count and count == limit else "pending"
        text = f"{count} of {limit}" if limit is not None else str(count)
        states.append(State(at_us, tone if count else "off", text, bar_height(count, top)))
    yield Lane("resets", [states], tall=True)


def _retry_limit(obj: Object, history: History) -> int | None:
    """The limit in force, by annotation or by the operator's configuration; None if unknown."""
    text = annotations_of(obj).get(f"{PARAMETER_PREFIX}retryLimit")
    if isinstance(text, str) and text.isdigit() and len(text) < 10:
        return int(text)
    parameters = history.seen_by(AppWrapperHistory).operator.under_test.parameters
    configured = get_path(parameters, "faultTolerance.retryLimit")
    return configured if isinstance(configured, int) else None
