"""When the controller under test could not act as it should, and why.

Three sources: the lives of its processes, faults in force that stand between it and the API
server, and requests of its own that failed. A fault whose name is not known here counts as
hindering while it is in force: an upper bound that is too long misses something, one that
is too short raises a false alarm, and only the first can be mended by another scenario.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from conformance.history_view.profile import Profile
from conformance.history_view.timing import Outage
from vocabulary.clock import SECOND, Micros
from vocabulary.history import Fault, Process, Write

HARMLESS_FAULTS: Final = frozenset(
    {
        "cordon_node",
        "delete_node",
        "delete_object",
        "delete_pod",
        "evict_pod",
        "kill_pod",
        "label_node",
        "node_lost",
        "node_not_ready",
        "pod_stuck_pending",
        "pod_stuck_terminating",
        "tamper",
        "taint_node",
        "untaint_node",
    }
)
"""Faults that hit the workload or its nodes and leave the controller free to act."""
PROCESS_FAULTS: Final = frozenset(
    {"kill_operator", "kill_process", "pause_process", "restart_process", "stop_process"}
)
"""Faults whose effect the process entries show, exactly and for the process that was hit."""
ERROR_GAP_US: Final = 2 * SECOND
"""Failed requests that are closer together than this are one outage."""


def outages_of(
    profile: Profile,
    processes: Sequence[Process],
    faults: Sequence[Fault],
    failed_requests: Sequence[Write],
) -> list[Outage]:
    """All outages of the controller, in order of time, merged where they overlap."""
    found = _processes_down(profile, processes)
    found += _faults_in_force(faults)
    found += _failed_requests(failed_requests)
    return _merged(found)


def _processes_down(profile: Profile, processes: Iterable[Process]) -> list[Outage]:
    """Spans without an instance that is able to work: up, and leading where there is a leader."""
    ours = [entry for entry in processes if profile.is_operator(entry.process)]
    if not ours:
        return []
    has_leader = any(entry.change in ("leading", "following") for entry in ours)
    # An instance first heard of as started was not there before; any other ran already.
    up: dict[str, bool] = {}
    for entry in ours:
        up.setdefault(entry.process, entry.change != "started")
    leading: dict[str, bool] = dict.fromkeys(up, not has_leader)
    outages: list[Outage] = []
    down_since: Micros | None = None if any(map(up.get, up)) and not has_leader else 0
    because = "no instance of the operator had started"
    for entry in ours:
        if entry.change in ("started", "resumed"):
            up[entry.process] = True
        elif entry.change in ("killed", "stopped", "paused"):
            up[entry.process] = False
            if entry.change != "paused" and has_leader:
                leading[entry.process] = False
        else:
            leading[entry.process] = entry.change == "leading"
        able = any(up[name] and leading[name] for name in up)
        if able and down_since is not None:
            outages.append(Outage(down_since, entry.t, because))
            down_since = None
        elif not able and down_since is None:
            down_since = entry.t
            because = f"{entry.process} was {entry.change}"
    if down_since is not None:
        outages.append(Outage(down_since, None, because))
    return outages


def _faults_in_force(faults: Iterable[Fault]) -> list[Outage]:
    begun: dict[str, list[Micros]] = {}
    outages: list[Outage] = []
    for entry in faults:
        kind = next(iter(entry.fault), "")
        if kind in HARMLESS_FAULTS or kind in PROCESS_FAULTS:
            continue
        if entry.action == "injected":
            begun.setdefault(entry.text, []).append(entry.t)
        elif entry.action == "reverted" and begun.get(entry.text):
            outages.append(Outage(begun[entry.text].pop(0), entry.t, entry.text))
    for text, since in begun.items():
        outages += [Outage(begin_us, None, text) for begin_us in since]
    return outages


def _failed_requests(writes: Sequence[Write]) -> list[Outage]:
    outages: list[Outage] = []
    for write in writes:
        if outages and write.t - (outages[-1].end_us or 0) <= ERROR_GAP_US:
            outages[-1] = outages[-1]._replace(end_us=write.t)
        else:
            because = f"{write.verb} of {write.kind} {write.name} failed with {write.code}"
            outages.append(Outage(write.t, write.t, because))
    return outages


def _merged(found: list[Outage]) -> list[Outage]:
    found.sort(key=lambda outage: outage.begin_us)
    merged: list[Outage] = []
    for outage in found:
        last = merged[-1] if merged else None
        if last is not None and (last.end_us is None or outage.begin_us <= last.end_us):
            if last.end_us is not None and (outage.end_us is None or outage.end_us > last.end_us):
                merged[-1] = last._replace(end_us=outage.end_us)
        else:
            merged.append(outage)
    return merged
