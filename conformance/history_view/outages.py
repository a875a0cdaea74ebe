"""When the controller under test could not act as it should, and why.

Three sources: the lives of its processes, faults in force that stand between it and the API
server, and requests of its own which the server could not serve. What the server refuses is the
controller's own affair, or a fault that is in force: else one that does what it may not do, again
and again, would have all the time in the world. A fault whose name is not known here counts as
hindering while it is in force: an upper bound that is too long misses something, one that is too
short raises a false alarm, and only the first can be mended by another scenario.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from conformance.history_view.profile import Profile
from conformance.history_view.refusals import MAX_BACKOFF_US, refused_for_us
from conformance.history_view.timing import Outage, Start
from conformance.history_view.tracks import Track
from vocabulary.canonical import encode
from vocabulary.clock import SECOND, Micros
from vocabulary.durations import parse_duration
from vocabulary.history import Fault, Process, Write

HARMLESS_FAULTS: Final = frozenset(
    {
        "autopilot_label",
        "cordon",
        "create_object",
        "delete_object",
        "delete_pod",
        "double_operator",
        "edit_object",
        "evict_pod",
        "hold_object",
        "kill_pod",
        "label_node",
        "lift",
        "node_deleted",
        "node_lost",
        "node_not_ready",
        "release_object",
        "stick_pod",
        "suspend",
        "taint",
        "tamper",
        "uncordon",
        "untaint",
    }
)
"""Faults that hit the workload, its nodes or its objects, and leave the controller free to act."""
PROCESS_FAULTS: Final = frozenset(
    {"kill", "pause", "restart", "resume", "return_lease", "start", "take_lease"}
)
"""Faults whose effect the process entries show, exactly and for the process that was hit."""
_WITHOUT_REFUSALS: Final = frozenset({"break_watch", "delay_watch", "slow_api", "stale_reads"})
"""Faults between controller and server which make it late, and refuse it nothing."""
ERROR_GAP_US: Final = 2 * SECOND
"""Failed requests that are closer together than this, or than a client that backs off has them,
are one outage."""


def outages_of(
    profile: Profile,
    processes: Sequence[Process],
    faults: Sequence[Fault],
    unanswered: Sequence[Write],
    conflicts: Sequence[Write],
) -> list[Outage]:
    """All outages of the controller, in order of time, merged where they overlap.

    `unanswered` are requests that nothing was heard of or that the server could not serve;
    `conflicts` are those to which somebody else's write led, each worth one more attempt.
    """
    found = [outage for outage, _ in _processes_down(profile, processes)]
    found += _faults_in_force(faults)
    found += _unanswered(unanswered)
    found += [Outage(write.t, write.t, _failure(write), cost_us=0) for write in conflicts]
    return _merged(found)


def refuses_other_deletes(fault: Fault, track: Track) -> bool:
    """True if a fault refuses deletes alone, and never that of an object: it keeps nobody from
    asking for it."""
    kind, details = _spelled(fault)
    if kind == "lift":
        lifted = details.get("fault", {})
        kind, details = next(iter(lifted.items()), ("", {}))
    verbs = details.get("verb", ())
    if kind != "api_error" or ([verbs] if isinstance(verbs, str) else list(verbs)) != ["delete"]:
        return False
    of_kind, name = details.get("kind", ""), details.get("name", "")
    is_of_kind = of_kind in ("", track.kind, track.kind.partition(".")[0])
    return not is_of_kind or name not in ("", track.name)


def starts_of(
    profile: Profile, processes: Sequence[Process], faults: Sequence[Fault]
) -> list[Start]:
    """The times at which the controller began anew: by a process that had not acted before, when
    no other could act."""
    hindering = _faults_in_force(faults)
    return [
        Start(
            outage.end_us,
            reads_current=not any(
                fault.begin_us <= outage.end_us
                and (fault.end_us is None or fault.end_us >= outage.end_us)
                for fault in hindering
            ),
        )
        for outage, begins_anew in _processes_down(profile, processes)
        if begins_anew and outage.end_us is not None
    ]


def is_unanswered(write: Write) -> bool:
    """Whether a request got no answer, or one that asks to try again: 429, or a server's error."""
    return write.code in (0, 429) or write.code >= 500


def _processes_down(profile: Profile, processes: Iterable[Process]) -> list[tuple[Outage, bool]]:
    """Spans without an instance that is able to work: up, and leading where there is a leader.

    Each with whether the instance that ended it had not been able to work since it started.
    """
    ours = [entry for entry in processes if profile.is_operator(entry.process)]
    if not ours:
        return []
    has_leader = any(entry.change in ("leading", "following") for entry in ours)
    # An instance first heard of as started was not there before; any other ran already.
    up: dict[str, bool] = {}
    for entry in ours:
        up.setdefault(entry.process, entry.change != "started")
    leading: dict[str, bool] = dict.fromkeys(up, not has_leader)
    outages: list[tuple[Outage, bool]] = []
    acted = {name for name in up if up[name] and leading[name]}
    down_since: Micros | None = None if acted else 0
    because = "no instance of the operator had started"
    for entry in ours:
        if entry.change in ("started", "resumed"):
            up[entry.process] = True
        elif entry.change in ("killed", "stopped", "paused"):
            up[entry.process] = False
            if entry.change != "paused":
                acted.discard(entry.process)
                if has_leader:
                    leading[entry.process] = False
        else:
            leading[entry.process] = entry.change == "leading"
        able = {name for name in up if up[name] and leading[name]}
        if able and down_since is not None:
            outages.append((Outage(down_since, entry.t, because), able.isdisjoint(acted)))
            down_since = None
        elif not able and down_since is None:
            down_since = entry.t
            because = f"{entry.process} was {entry.change}"
        acted |= able
    if down_since is not None:
        outages.append((Outage(down_since, None, because), False))
    return outages


def _faults_in_force(faults: Iterable[Fault]) -> list[Outage]:
    """Faults between the controller and the server, from their injection to their end."""
    standing: dict[bytes, list[Fault]] = {}
    outages: list[Outage] = []
    for entry in faults:
        kind, details = _spelled(entry)
        if kind == "lift":
            _end(standing, outages, details.get("fault", {}), entry.t)
        elif kind in HARMLESS_FAULTS or kind in PROCESS_FAULTS or not _hits_operator(details):
            continue
        elif entry.action == "injected":
            standing.setdefault(encode(entry.fault), []).append(entry)
        elif entry.action == "reverted":
            _end(standing, outages, entry.fault, entry.t)
    for left in standing.values():
        outages += [_outage(entry, None) for entry in left]
    return outages


def _end(
    standing: dict[bytes, list[Fault]],
    outages: list[Outage],
    fault: Mapping[str, Any],
    end_us: Micros,
) -> None:
    begun = standing.get(encode(fault))
    if begun:
        entry = begun.pop(0)
        outages.append(_outage(entry, end_us + _lingers_us(*_spelled(entry))))


def _outage(entry: Fault, end_us: Micros | None) -> Outage:
    kind, details = _spelled(entry)
    for_good = kind == "api_error" and details.get("code", 500) in (400, 404, 409, 410, 422)
    backs_off = kind not in _WITHOUT_REFUSALS
    return Outage(entry.t, end_us, entry.text, _cost_us(kind, details), for_good, backs_off)


def _spelled(entry: Fault) -> tuple[str, Mapping[str, Any]]:
    """The fault's name and what its plan says of it."""
    for kind, details in entry.fault.items():
        return kind, details if isinstance(details, Mapping) else {}
    return "", {}


def _hits_operator(details: Mapping[str, Any]) -> bool:
    actor = details.get("actor", "")
    return actor in ("", "operator") or str(actor).startswith("operator/")


def _cost_us(kind: str, details: Mapping[str, Any]) -> Micros | None:
    """What a fault that strikes a known number of times costs at most; None: unbounded."""
    times = details.get("times", 1)
    match kind:
        case "time_out":
            return times * _span(details, "after", 30 * SECOND) if times else None
        case "lose_reply":
            return times * _span(details, "after", 0) if times else None
        case "slow_api":
            return times * _span(details, "by", 5 * SECOND) if times else None
        case "api_error":
            return refused_for_us(times, details) if times else None
        case "delay_watch":
            return 2 * _span(details, "by", 5 * SECOND)
        case "break_watch":
            return _span(details, "gap", 5 * SECOND)
    return None


def _lingers_us(kind: str, details: Mapping[str, Any]) -> Micros:
    """How long after its end it still hinders: what is on its way then arrives no sooner."""
    match kind:
        case "time_out":
            return _span(details, "after", 30 * SECOND)
        case "lose_reply":
            return _span(details, "after", 0)
        case "slow_api" | "delay_watch":
            return _span(details, "by", 5 * SECOND)
        case "break_watch":
            return _span(details, "gap", 5 * SECOND)
    return 0


def _span(details: Mapping[str, Any], key: str, default_us: Micros) -> Micros:
    text = details.get(key)
    return default_us if text is None else parse_duration(str(text))


def _unanswered(writes: Iterable[Write]) -> list[Outage]:
    """Requests that failed, as outages: a client that backs off lets at most as much time pass
    until the next one as it has been refused already."""
    outages: list[Outage] = []
    for write in writes:
        last = outages[-1] if outages else None
        if last is not None and last.end_us is not None:
            lasted_us = min(last.end_us - last.begin_us, MAX_BACKOFF_US)
            if write.t - last.end_us <= lasted_us + ERROR_GAP_US:
                outages[-1] = last._replace(end_us=write.t)
                continue
        outages.append(Outage(write.t, write.t, _failure(write), backs_off=True))
    return outages


def _failure(write: Write) -> str:
    return f"{write.verb} of {write.kind} {write.name} failed with {write.code}"


def _merged(found: list[Outage]) -> list[Outage]:
    """In order of time, those merged that overlap; those with a bounded cost stand alone."""
    found.sort(key=lambda outage: outage.begin_us)
    merged = [outage for outage in found if outage.cost_us is not None]
    bounded = len(merged)
    for outage in found:
        if outage.cost_us is not None:
            continue
        last = merged[-1] if len(merged) > bounded else None
        if last is not None and (last.end_us is None or outage.begin_us <= last.end_us):
            if last.end_us is not None and (outage.end_us is None or outage.end_us > last.end_us):
                last = last._replace(end_us=outage.end_us)
            merged[-1] = last._replace(
                refuses_for_good=last.refuses_for_good or outage.refuses_for_good,
                backs_off=last.backs_off or outage.backs_off,
            )
        else:
            merged.append(outage)
    return sorted(merged, key=lambda outage: outage.begin_us)
