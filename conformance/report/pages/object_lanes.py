"""Lanes of objects: phases, conditions, the retry counter, quota against use, pods, nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from conformance.report.pages.change import Step, describe
from conformance.report.pages.lane import Band, Lane, Mark, State, Tone, bands
from conformance.report.pages.object_track import Track
from conformance.report.pages.time_axis import TimeAxis
from conformance.report.untrusted import printable
from vocabulary.clock import Micros
from vocabulary.history import Header, Write
from vocabulary.objects import (
    Object,
    annotations_of,
    condition_status,
    get_path,
    is_terminating,
    labels_of,
)

QUOTA_CONDITION: Final = "QuotaReserved"
_RETRY_LIMIT: Final = "workload.codeflare.dev.appwrapper/retryLimit"
_MAX_TEXT: Final = 60

_PHASE_TONES: Final[dict[str, Tone]] = {
    "": "idle",
    "Suspended": "idle",
    "Pending": "pending",
    "Resuming": "pending",
    "Running": "good",
    "Resetting": "warn",
    "Suspending": "warn",
    "Succeeded": "done",
    "Failed": "bad",
    "Terminating": "ending",
    "Unknown": "off",
}
_ENDED: Final = frozenset(("Succeeded", "Failed"))


class Canvas:
    """The common data of all lanes: the axis, its end, the shown entries."""

    def __init__(self, axis: TimeAxis, end_us: Micros, shown: frozenset[int]) -> None:
        self.axis = axis
        self.end_us = end_us
        self.shown = shown

    def bands(self, states: Iterable[State]) -> list[Band]:
        return bands(states, self.axis, self.end_us)

    def touches(self, track: Track) -> list[Mark]:
        """A tick for every request about an object that is in the table of events."""
        return [
            Mark(self.axis.x(write.t), *_touch(write), n=write.n)
            for write in track.touches
            if write.n in self.shown
        ]


def phase_lane(track: Track, canvas: Canvas) -> Lane:
    """The phase of an object, while it exists."""
    states = [
        State(
            s.t,
            None if s.object is None else _PHASE_TONES.get(_phase(s.object), "idle"),
            "" if s.object is None else _phase(s.object) or "new",
        )
        for s in track.snapshots
    ]
    return Lane("phase", canvas.bands(states), canvas.touches(track))


def condition_lanes(track: Track, canvas: Canvas) -> list[Lane]:
    """One lane per condition that the object ever had, in order of appearance."""
    names = dict.fromkeys(
        str(condition.get("type", ""))
        for s in track.snapshots
        if s.object is not None
        for condition in get_path(s.object, "status.conditions") or ()
        if isinstance(condition, dict)
    )
    return [
        Lane(printable(name, _MAX_TEXT), canvas.bands(_condition_states(track, name)))
        for name in list(names)[:12]
    ]


def _condition_states(track: Track, name: str) -> list[State]:
    # A condition named for trouble is bad when True; all others are bad for nobody.
    if_true: Tone = "bad" if name == "Unhealthy" else "good"
    tones: dict[str, Tone | None] = {"True": if_true, "False": "off", "Unknown": "pending"}
    states = []
    for s in track.snapshots:
        status = "" if s.object is None else condition_status(s.object, name)
        states.append(State(s.t, tones.get(status), status))
    return states


def retry_lane(track: Track, header: Header, canvas: Canvas) -> Lane | None:
    """The retry counter against its limit; None for an object that was never reset."""
    counts = [
        (s.t, get_path(s.object, "status.resettingCount", 0)) if s.object else (s.t, None)
        for s in track.snapshots
    ]
    if not any(count for _, count in counts):
        return None
    limit = _retry_limit(track.first, header)
    top = max([limit or 0] + [count for _, count in counts if isinstance(count, int)] + [1])
    states = []
    for at_us, count in counts:
        if not isinstance(count, int):
            states.append(State(at_us, None, ""))
            continue
        over = limit is not None and count > limit
        tone: Tone = "bad" if over else "warn" if count and count == limit else "pending"
        text = f"{count} of {limit}" if limit is not None else str(count)
        states.append(State(at_us, tone if count else "off", text, max(count / top, 0.08)))
    return Lane("resets", canvas.bands(states), tall=True)


def _retry_limit(obj: Object, header: Header) -> int | None:
    """The limit in force, by annotation or by the operator's configuration; None if unknown."""
    text = annotations_of(obj).get(_RETRY_LIMIT)
    if isinstance(text, str) and text.isdigit() and len(text) < 10:
        return int(text)
    configured = get_path(header.first.parameters, "faultTolerance.retryLimit")
    return configured if isinstance(configured, int) else None


QUOTA_BARS: Final = 0.6
"""The most of the lane's height that pods take: above them stands what the ground says."""


def quota_lane(subject: Track, pods: Sequence[Track], canvas: Canvas) -> Lane | None:
    """Quota reserved (the ground) against pods that really exist (the bars).

    A bar without ground below it is a pod that runs on quota which another client may have got.
    """
    events = sorted(
        [(s.n, s.t, subject, s.object) for s in subject.snapshots]
        + [(s.n, s.t, pod, s.object) for pod in pods for s in pod.snapshots],
        key=lambda event: event[0],
    )
    reserved, using = False, dict.fromkeys((pod.uid for pod in pods), False)
    ground: list[State] = []
    amounts: list[tuple[Micros, int, bool]] = []
    for _, at_us, track, obj in events:
        if track is subject:
            reserved = obj is not None and condition_status(obj, QUOTA_CONDITION) == "True"
            ground.append(State(at_us, "idle" if reserved else None, "reserved"))
        else:
            using[track.uid] = obj is not None and _phase(obj) not in _ENDED
        amounts.append((at_us, sum(using.values()), reserved))
    top = max((amount for _, amount, _ in amounts), default=0)
    if not top and not any(state.tone for state in ground):
        return None
    bars = [
        State(
            at_us,
            None if not amount else "good" if is_reserved else "bad",
            f"{amount} {'pod' if amount == 1 else 'pods'}"
            + ("" if is_reserved else " without quota"),
            QUOTA_BARS * amount / max(top, 1),
        )
        for at_us, amount, is_reserved in amounts
    ]
    return Lane("quota / used", [*canvas.bands(ground), *canvas.bands(bars)], tall=True)


def existence_lane(track: Track, canvas: Canvas) -> Lane:
    """An object that has no phase: there, being deleted, gone."""
    states = [
        State(s.t, None, "")
        if s.object is None
        else State(s.t, "ending", "terminating")
        if is_terminating(s.object)
        else State(s.t, *_standing(s.object))
        for s in track.snapshots
    ]
    return Lane(printable(track.label, _MAX_TEXT), canvas.bands(states), canvas.touches(track))


def _standing(obj: Object) -> tuple[Tone, str]:
    if condition_status(obj, "Failed") == "True":
        return "bad", "Failed"
    if condition_status(obj, "Complete") == "True":
        return "done", "Complete"
    return "idle", "exists"


def pod_lane(track: Track, canvas: Canvas) -> Lane:
    """A pod's phase, and the time at which it was asked to stop."""
    states = []
    for s in track.snapshots:
        if s.object is None:
            states.append(State(s.t, None, ""))
            continue
        phase = _phase(s.object) or "Pending"
        stopping = is_terminating(s.object) and phase not in _ENDED
        tone: Tone = "ending" if stopping else _PHASE_TONES.get(phase, "idle")
        node = str(get_path(s.object, "spec.nodeName", ""))
        text = f"{'stopping' if stopping else phase}{f' on {node}' if node else ''}"
        states.append(State(s.t, tone, printable(text, _MAX_TEXT)))
    return Lane(printable(track.label, _MAX_TEXT), canvas.bands(states), canvas.touches(track))


def node_lane(track: Track, canvas: Canvas) -> Lane:
    """A node: ready or not, its taints, and the labels that changed while it was watched."""
    labels = [labels_of(s.object) for s in track.snapshots if s.object is not None]
    changing = sorted(
        {
            key
            for one in labels
            for key in one
            if any(one[key] != other.get(key) for other in labels)
        }
    )
    states = []
    for s in track.snapshots:
        if s.object is None:
            states.append(State(s.t, None, ""))
            continue
        taints = [_taint(taint) for taint in get_path(s.object, "spec.taints") or ()]
        own = labels_of(s.object)
        signs = [*taints, *(f"{key}={own[key]}" for key in changing if key in own)]
        ready = condition_status(s.object, "Ready") in ("True", "")
        tone: Tone = "bad" if not ready else "warn" if signs else "idle"
        text = ", ".join([*([] if ready else ["not ready"]), *signs]) or "ready"
        states.append(State(s.t, tone, printable(text, 2 * _MAX_TEXT)))
    return Lane(printable(track.label, _MAX_TEXT), canvas.bands(states), canvas.touches(track))


def _taint(taint: Any) -> str:
    if not isinstance(taint, dict):
        return "?"
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint.get('key', '')}{value}:{taint.get('effect', '')}"


def _phase(obj: Object) -> str:
    return printable(str(get_path(obj, "status.phase", "") or ""), _MAX_TEXT)


def _touch(write: Write) -> tuple[Any, Tone, str]:
    """Shape, tone and text of one request's tick."""
    refused = write.code == 0 or write.code >= 400
    tone: Tone = "bad" if refused else "idle"
    return ("cross" if refused else "tick"), tone, describe(Step(write, None))
