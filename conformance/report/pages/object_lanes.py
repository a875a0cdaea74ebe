"""Lanes of objects: those of suites, conditions, pods, nodes, and objects that just exist."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from conformance import suite
from conformance.history import History, Track
from conformance.history.lanes import Lane, State, Tone, lane_of
from conformance.report.pages.change import Step, describe
from conformance.report.pages.lane import Band, DrawnLane, Mark, bands
from conformance.report.pages.time_axis import TimeAxis
from conformance.report.untrusted import printable
from conformance.suite import Suite
from vocabulary.clock import Micros
from vocabulary.history import Write
from vocabulary.objects import Object, condition_status, get_path, is_terminating, labels_of

_MAX_TEXT: Final = 60
_MAX_CONDITIONS: Final = 12
_POD_TONES: Final[dict[str, Tone]] = {
    "Pending": "pending",
    "Running": "good",
    "Succeeded": "done",
    "Failed": "bad",
    "Unknown": "off",
}
_ENDED: Final = frozenset(("Succeeded", "Failed"))


class Canvas:
    """The common data of all lanes: the history, the axis, its end, and the requests in the table
    of events."""

    def __init__(self, history: History, axis: TimeAxis, shown: Collection[int]) -> None:
        self.history = history
        self.axis = axis
        self.end_us: Micros = history.end.t + 1
        self._requests = requests_about(history, shown)

    def bands(self, states: Iterable[State]) -> list[Band]:
        return bands(states, self.axis, self.end_us)

    def draw(self, lane: Lane, *touched: Track) -> DrawnLane:
        """The lane; with a tick for every request about its objects and those that are touched,
        if the table of events has the request."""
        layers = [band for layer in lane.layers for band in self.bands(map(_printable, layer))]
        marks = [mark for track in (*touched, *lane.objects) for mark in self._touches(track)]
        objects = frozenset(track.uid for track in lane.objects)
        return DrawnLane(printable(lane.label, _MAX_TEXT), layers, marks, lane.tall, objects)

    def _touches(self, track: Track) -> Iterator[Mark]:
        for write in self._requests.get(track.uid, ()):
            refused = write.code == 0 or write.code >= 400
            text = describe(Step(write, None))
            x = self.axis.x(write.t)
            yield Mark(
                x, "cross" if refused else "tick", "bad" if refused else "idle", text, n=write.n
            )


def requests_about(history: History, positions: Iterable[int]) -> Mapping[str, Sequence[Write]]:
    """The requests at these positions, those without effect included, by the object's uid."""
    found: dict[str, list[Write]] = {}
    for n in sorted(positions):
        write = history.entries[n]
        if isinstance(write, Write):
            named = history.named(write.kind, write.namespace, write.name)
            current = next((track for track in reversed(named) if track.created.n <= n), None)
            if current is not None:
                found.setdefault(current.uid, []).append(write)
    return found


def suite_of(track: Track) -> Suite | None:
    """The suite whose operators reconcile the object's kind."""
    for each in suite.load().values():
        if any(str(use.kind) == track.kind for use in each.kinds):
            return each
    return None


def subject_lanes(subject: Track, canvas: Canvas) -> Iterator[DrawnLane]:
    """The lanes that its suite yields of an object, and its conditions."""
    its_suite = suite_of(subject)
    tones = {} if its_suite is None else its_suite.condition_tones
    first, *more = _own_lanes(subject, canvas.history) or [lane_of("exists", subject, _standing)]
    yield canvas.draw(first, subject)
    for lane in more:
        yield canvas.draw(lane)
    names = dict.fromkeys(
        str(condition.get("type", ""))
        for version in subject.versions
        for condition in get_path(version.object or {}, "status.conditions") or ()
        if isinstance(condition, dict)
    )
    for name in list(names)[:_MAX_CONDITIONS]:
        tone = tones.get(name, "good")
        yield canvas.draw(_condition_lane(subject, name, tone))


def _own_lanes(subject: Track, history: History) -> list[Lane]:
    """The lanes of its suite, and those that suites without kinds of their own add to them."""
    own = suite_of(subject)
    if own is None:
        return []
    adding = [each for each in suites_of(history) if not each.kinds]
    try:
        return [lane for each in (*adding, own) for lane in each.lanes(history, subject)]
    except Exception as error:  # noqa: BLE001 - a suite's lane must not cost the report
        return [Lane(f"lanes failed: {type(error).__name__}: {error}", [])]


def suites_of(history: History) -> list[Suite]:
    """The suites that the operators of a history suffice for."""
    roles = history.header.operators.keys()
    return [each for each in suite.load().values() if roles >= {*each.roles}]


def has_lanes(subject: Track, history: History) -> bool:
    """True if a suite says more of an object than that it exists."""
    return bool(_own_lanes(subject, history))


def _condition_lane(track: Track, name: str, if_true: Tone) -> Lane:
    tones: dict[str, Tone] = {"True": if_true, "False": "off", "Unknown": "pending"}

    def state(obj: Object) -> tuple[Tone | None, str]:
        status = condition_status(obj, name)
        return tones.get(status), status

    return lane_of(name, track, state)


def existence_lane(track: Track, canvas: Canvas) -> DrawnLane:
    """An object that has no phase: there, being deleted, gone."""
    return canvas.draw(lane_of(str(track), track, _standing), track)


def _standing(obj: Object) -> tuple[Tone, str]:
    if is_terminating(obj):
        return "ending", "terminating"
    if condition_status(obj, "Failed") == "True":
        return "bad", "Failed"
    if condition_status(obj, "Complete") == "True":
        return "done", "Complete"
    return "idle", "exists"


def pod_lane(track: Track, canvas: Canvas) -> DrawnLane:
    """A pod's phase, and the time at which it was asked to stop."""
    return canvas.draw(lane_of(str(track), track, _pod_state), track)


def _pod_state(pod: Object) -> tuple[Tone, str]:
    phase = str(get_path(pod, "status.phase", "") or "Pending")
    stopping = is_terminating(pod) and phase not in _ENDED
    node = str(get_path(pod, "spec.nodeName", ""))
    text = f"{'stopping' if stopping else phase}{f' on {node}' if node else ''}"
    return "ending" if stopping else _POD_TONES.get(phase, "idle"), text


def node_lane(track: Track, canvas: Canvas) -> DrawnLane:
    """A node: ready or not, its taints, and the labels that changed while it was watched."""
    labels = [labels_of(version.object or {}) for version in track.versions]
    changing = sorted(
        {
            key
            for one in labels
            for key in one
            if any(one[key] != other.get(key) for other in labels)
        }
    )

    def state(node: Object) -> tuple[Tone, str]:
        taints = [_taint(taint) for taint in get_path(node, "spec.taints") or ()]
        own = labels_of(node)
        signs = [*taints, *(f"{key}={own[key]}" for key in changing if key in own)]
        ready = condition_status(node, "Ready") in ("True", "")
        text = ", ".join([*([] if ready else ["not ready"]), *signs]) or "ready"
        return "bad" if not ready else "warn" if signs else "idle", text

    return canvas.draw(lane_of(str(track), track, state), track)


def _taint(taint: Any) -> str:
    if not isinstance(taint, dict):
        return "?"
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint.get('key', '')}{value}:{taint.get('effect', '')}"


def _printable(state: State) -> State:
    return state._replace(text=printable(state.text, 2 * _MAX_TEXT))
