"""The picture of a failure: which lanes there are, in which order, and what is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from conformance.history import History, Track
from conformance.history.lanes import Sheet, State, Tone
from conformance.norm.verdict import Outcome, Verdict, Violation
from conformance.report.pages.lane import DrawnLane, LaneGroup, Mark
from conformance.report.pages.object_lanes import (
    Canvas,
    existence_lane,
    has_lanes,
    node_lane,
    pod_lane,
    requests_about,
    subject_lanes,
    suite_of,
    suites_of,
)
from conformance.report.pages.time_axis import TimeAxis
from conformance.report.untrusted import printable
from vocabulary.history import Entry, Fault, Header, Process, role_of
from vocabulary.history import Mark as RunMark
from vocabulary.kinds import NODE, POD
from vocabulary.objects import controller_of

MAX_SUBJECTS: Final = 4
MAX_PODS: Final = 24
MAX_COMPONENTS: Final = 16
MAX_NODES: Final = 12

_PROCESS_TONES: Final[dict[str, tuple[Tone, str]]] = {
    "started": ("good", "up"),
    "resumed": ("good", "up"),
    "leading": ("good", "up, leading"),
    "following": ("idle", "up, following"),
    "paused": ("warn", "paused"),
    "stopped": ("bad", "stopped"),
    "killed": ("bad", "killed"),
    "ended": ("bad", "ended by itself"),
}


def lane_groups(
    header: Header,
    entries: Sequence[Entry],
    verdicts: Sequence[Verdict],
    axis: TimeAxis,
    shown: frozenset[int],
) -> list[LaneGroup]:
    """All lanes of a history for these verdicts; `shown` are the entries in the table of events."""
    history = History(header, entries)
    canvas = Canvas(history, axis, shown)
    told = {
        n
        for verdict in verdicts
        for violation in verdict.violations
        for n in (violation.at, *violation.evidence)
        if 0 <= n < len(entries)
    }
    mentioned = requests_about(history, told)
    first = min((violation.at for each in verdicts for violation in each.violations), default=-1)

    def rank(track: Track) -> tuple[bool, bool, bool]:
        owner = (controller_of(track.first) or {}).get("uid")
        return track.uid not in mentioned, owner not in mentioned, not track.exists_at(first)

    ranked = sorted(history.tracks.values(), key=rank)
    subjects = list(
        islice(
            (
                track
                for track in ranked
                if suite_of(track) is not None
                and (track.uid in mentioned or has_lanes(track, history))
            ),
            MAX_SUBJECTS,
        )
    )
    uids = {subject.uid for subject in subjects}
    groups = [
        *(LaneGroup(each.claim, [claim_lane(entries, each, canvas)]) for each in verdicts),
        LaneGroup("Faults and processes", _fault_and_process_lanes(entries, header, canvas)),
    ]
    of_subjects = [
        LaneGroup(printable(str(subject), 80), list(subject_lanes(subject, canvas)))
        for subject in subjects
    ]
    drawn = {uid for group in of_subjects for lane in group.lanes for uid in lane.objects}
    pods = [track for track in ranked if track.kind == str(POD)]
    owned = [
        track
        for track in ranked
        if track.kind != str(POD)
        and track.uid not in drawn
        and (controller_of(track.first) or {}).get("uid") in uids
    ]
    nodes = [track for track in ranked if track.kind == str(NODE)]
    groups += [
        *of_subjects,
        _limited("Pods", pods, MAX_PODS, lambda track: pod_lane(track, canvas)),
        _limited("Components", owned, MAX_COMPONENTS, lambda t: existence_lane(t, canvas)),
        _limited("Nodes", nodes, MAX_NODES, lambda track: node_lane(track, canvas)),
    ]
    history.close()
    return [group for group in groups if group.lanes]


def sheets_at(header: Header, entries: Sequence[Entry], n: int) -> list[Sheet]:
    """The tables that suites make of a history, after position n or at its end."""
    if not entries:
        return []
    history = History(header, entries)
    at = n if 0 <= n < len(entries) else len(entries) - 1
    try:
        return [each for found in suites_of(history) for each in found.sheets(history, at)]
    except Exception as error:  # noqa: BLE001 - a suite's table must not cost the report
        return [Sheet(f"tables failed: {type(error).__name__}: {error}", [], [], [])]
    finally:
        history.close()


def claim_lane(entries: Sequence[Entry], verdict: Verdict, canvas: Canvas) -> DrawnLane:
    """The claim's own lane: from when it obliged, what it obliged to, and where that broke."""
    violations = sorted(verdict.violations, key=lambda violation: violation.at)
    known = [v for v in violations if 0 <= v.at < len(entries)]
    kept = [each for each in verdict.kept if 0 <= each.since <= each.by < len(entries)]
    states = [_resting(verdict, bool(known or kept))]
    marks: list[Mark] = []
    for since, by in kept:
        states.append(State(entries[since].t, "pending", "obligation open"))
        states.append(State(entries[by].t, "done", "met"))
        marks.append(Mark(canvas.axis.x(entries[since].t), "diamond", "pending", "armed", since))
        if by != since:
            marks.append(Mark(canvas.axis.x(entries[by].t), "dot", "done", "met", by))
    for violation in known:
        evidence = _evidence(violation, len(entries))
        states.append(State(entries[evidence[0]].t, "pending", "obligation open"))
        states.append(State(entries[violation.at].t, "bad", "violated"))
        for n in evidence:
            x = canvas.axis.x(entries[n].t)
            if n == violation.at:
                marks.append(Mark(x, "cross", "bad", violation.because, n))
            elif n == evidence[0]:
                marks.append(Mark(x, "diamond", "pending", "armed", n))
            else:
                marks.append(Mark(x, "dot", "pending", "evidence", n))
    return DrawnLane("claim", canvas.bands(_in_order(states)), marks, tall=True)


def _resting(verdict: Verdict, has_obligations: bool) -> State:
    """The claim's state before its first obligation, or throughout where none can be shown."""
    if has_obligations or not verdict.armed:
        return State(0, "off", "not armed")
    if verdict.outcome is Outcome.PASSED:
        return State(0, "done", f"armed {verdict.armed} times, met")
    return State(0, "pending", str(verdict.outcome))


def _evidence(violation: Violation, count: int) -> list[int]:
    """The violation's positions in order, up to the contradiction itself."""
    return sorted({n for n in (*violation.evidence, violation.at) if 0 <= n < count})


def _in_order(states: list[State]) -> list[State]:
    """States sorted by time; the later said wins at equal times (sort is stable)."""
    return sorted(states, key=lambda state: state.at_us)


def _fault_and_process_lanes(
    entries: Sequence[Entry], header: Header, canvas: Canvas
) -> list[DrawnLane]:
    shapes = {"injected": ("down", "bad"), "reverted": ("up", "done"), "refused": ("cross", "off")}
    faults = [
        Mark(
            canvas.axis.x(entry.t),
            *shapes[entry.action],  # type: ignore[arg-type]
            f"{entry.action}: {printable(entry.text, 200)}",
            entry.n,
        )
        for entry in entries
        if isinstance(entry, Fault)
    ]
    stopped = [
        State(entry.t, "idle", "faults over")
        for entry in entries
        if isinstance(entry, RunMark) and entry.mark == "faults-stopped"
    ]
    lanes = [DrawnLane("faults", canvas.bands(stopped), faults)] if faults or stopped else []
    processes: dict[str, list[Process]] = {}
    for entry in entries:
        if isinstance(entry, Process):
            processes.setdefault(entry.process, []).append(entry)
    operators_first = sorted(
        processes, key=lambda name: (role_of(name) not in header.operators, name)
    )
    return lanes + [_process_lane(name, processes[name], canvas) for name in operators_first]


def _process_lane(name: str, changes: Sequence[Process], canvas: Canvas) -> DrawnLane:
    states = [State(change.t, *_PROCESS_TONES[change.change]) for change in changes]
    if changes[0].change != "started":
        states.insert(0, State(0, "good", "up"))
    marks = [
        Mark(canvas.axis.x(change.t), "tick", "idle", change.change, change.n) for change in changes
    ]
    return DrawnLane(printable(name, 60), canvas.bands(states), marks)


def _limited(
    title: str,
    ranked: Sequence[Track],
    limit: int,
    lane_of: Callable[[Track], DrawnLane],
) -> LaneGroup:
    """The first `limit` of the ranked objects, shown in the order of their appearance."""
    shown = sorted(ranked[:limit], key=lambda track: track.created.n)
    left_out = len(ranked) - len(shown)
    note = f"{left_out} more that the verdict does not mention" if left_out else ""
    return LaneGroup(title, [lane_of(track) for track in shown], note)
