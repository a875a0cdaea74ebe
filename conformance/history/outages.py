"""When the controller under test could not act as it should, and why.

Three sources: the lives of its processes, faults in force that stand between it and the API
server, and requests of its own which the server could not serve. A refusal excuses the controller
only if a fault causes it: a controller that keeps doing what it may not do would have all the time
in the world. How a fault hinders is in its own entry.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.history.refusals import (
    BACKOFF_US,
    MAX_BACKOFF_US,
    longest_wait_us,
    refused_for_us,
)
from conformance.history.timing import Outage, Start
from conformance.history.tracks import Track
from vocabulary.canonical import encode
from vocabulary.clock import MINUTE, SECOND, Micros
from vocabulary.hindrance import hinders
from vocabulary.history import Fault, Process, Write

AFTERMATH_US: Final = MINUTE
"""A program that gives up since it was hindered does so within this time: those that elect a leader
by default after 10 s."""
ERROR_GAP_US: Final = 2 * SECOND
"""Failed requests that are closer together than this, or than a client that backs off has them,
are one outage."""


def outages_of(
    role: str,
    processes: Sequence[Process],
    faults: Sequence[Fault],
    unanswered: Sequence[Write],
    conflicts: Sequence[Write],
    failed: Sequence[Write],
) -> list[Outage]:
    """All outages of the operator of a role, in order of time, merged where they overlap.

    `processes` are its own; `unanswered` are requests that nothing was heard of or that the server
    could not serve; `conflicts` are those that another's write led to, each worth one more attempt;
    `failed` are all that the server did not carry out, these included.
    """
    hindering = _stacked(_faults_in_force(role, faults), failed)
    found = [outage for outage, _ in _processes_down(processes, hindering)]
    found += hindering
    found += _unanswered(unanswered)
    found += [Outage(write.t, write.t, _failure(write), cost_us=0) for write in conflicts]
    return _merged(found)


def refuses_other_deletes(fault: Fault, track: Track) -> bool:
    """True if a fault refuses only deletes of other objects: it does not hinder requesting this
    one's deletion."""
    refuses = fault.effect.refuses
    if refuses is None or refuses.verbs != ("delete",):
        return False
    of_kind = refuses.kind in ("", track.kind, track.kind.partition(".")[0])
    return not of_kind or refuses.name not in ("", track.name)


def starts_of(role: str, processes: Sequence[Process], faults: Sequence[Fault]) -> list[Start]:
    """The times at which the controller began anew: by a process that had not acted before, when
    no other could act."""
    hindering = _faults_in_force(role, faults)
    return [
        Start(
            outage.end_us,
            reads_current=not any(
                fault.begin_us <= outage.end_us
                and (fault.end_us is None or fault.end_us >= outage.end_us)
                for fault in hindering
            ),
        )
        for outage, begins_anew in _processes_down(processes, hindering)
        if begins_anew and outage.end_us is not None
    ]


def is_unanswered(write: Write) -> bool:
    """True if a request got no answer, or one that asks to try again: 429, or a server's error."""
    return write.code in (0, 429) or write.code >= 500


def _without_own_ends(processes: Sequence[Process], hindering: Sequence[Outage]) -> list[Process]:
    """Leave out the crashes that no fault has led to: they excuse nothing. A program that gives up
    because a fault hinders it is excused."""
    pauses = [entry for entry in processes if entry.change in ("paused", "resumed")]

    def is_hindered(end: Process) -> bool:
        since_us = end.t - AFTERMATH_US
        return any(
            outage.begin_us <= end.t and (outage.end_us is None or outage.end_us >= since_us)
            for outage in hindering
        ) or any(entry.process == end.process and since_us <= entry.t <= end.t for entry in pauses)

    return [entry for entry in processes if entry.change != "ended" or is_hindered(entry)]


def _processes_down(
    processes: Sequence[Process], hindering: Sequence[Outage]
) -> list[tuple[Outage, bool]]:
    """Spans without an instance that is able to work: up, and leading where there is a leader.

    Each with whether the instance that ended it had not been able to work since it started.
    """
    ours = _without_own_ends(processes, hindering)
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
        elif entry.change in ("killed", "stopped", "ended", "paused"):
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
            how = "ended by itself" if entry.change == "ended" else f"was {entry.change}"
            because = f"{entry.process} {how}"
        acted |= able
    if down_since is not None:
        outages.append((Outage(down_since, None, because), False))
    return outages


_OF_WATCHES: Final = frozenset(("break_watch", "delay_watch"))


def _faults_in_force(role: str, faults: Iterable[Fault]) -> list[Outage]:
    """Faults between the controller and the server, from their injection to their end."""
    standing: dict[bytes, list[Fault]] = {}
    outages: list[Outage] = []
    for entry in faults:
        effect = entry.effect
        if effect.ends is not None:
            _end(standing, outages, effect.ends, entry.t)
        elif not hinders(effect, role):
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
        outages.append(_outage(entry, end_us + entry.effect.lingers_us))


def _outage(entry: Fault, end_us: Micros | None) -> Outage:
    effect, refuses = entry.effect, entry.effect.refuses
    costs_us, failures = effect.costs_us, 0
    if costs_us is None and refuses is not None and refuses.times:
        costs_us, failures = refused_for_us(refuses.times, refuses.retry_after_us), refuses.times
    elif costs_us is not None and effect.backs_off:
        failures = costs_us // effect.lingers_us if effect.lingers_us else 1
    for_good = refuses is not None and refuses.for_good
    return Outage(
        entry.t,
        end_us,
        entry.text,
        costs_us,
        for_good,
        effect.backs_off,
        failures,
        strikes_watches=not _OF_WATCHES.isdisjoint(entry.fault),
    )


class _Row(NamedTuple):
    """Failures in a row."""

    begin_us: Micros
    end_us: Micros
    wait_us: Micros
    """The longest wait of the client after one more failure."""

    def reaches(self, begin_us: Micros) -> bool:
        """True if a failure from then on may be one more in the row."""
        return begin_us <= self.end_us + self.wait_us + ERROR_GAP_US


def _stacked(hindering: Sequence[Outage], failed: Sequence[Write]) -> list[Outage]:
    """The same outages. Where the failures of one are limited in number, it costs more if the
    client was failing already: for another fault, or for a refusal that no fault causes."""
    limited = sorted((each for each in hindering if each.failures), key=_begin_us)
    if not limited:
        return [*hindering]
    rows = _rows(hindering, failed)
    stacked = [each for each in hindering if not each.failures]
    for number, outage in enumerate(limited):
        end_us = math.inf if outage.end_us is None else outage.end_us
        waits = [
            row.wait_us for row in rows if row.begin_us <= end_us and row.reaches(outage.begin_us)
        ]
        before = (
            each.failures
            for each in limited[:number]
            if each.end_us is None or each.end_us >= outage.begin_us
        )
        wait_us = min(max(waits, default=BACKOFF_US) << min(sum(before), 40), MAX_BACKOFF_US)
        assert outage.cost_us is not None
        more_us = refused_for_us(outage.failures, 0, wait_us) - refused_for_us(outage.failures, 0)
        stacked.append(
            outage._replace(cost_us=outage.cost_us + more_us, waited_us=wait_us - BACKOFF_US)
        )
    return stacked


def _rows(hindering: Iterable[Outage], failed: Iterable[Write]) -> list[_Row]:
    """The failures that are not limited in number, those in a row taken together."""
    rows: list[_Row] = []
    spans = [
        (each.begin_us, each.end_us)
        for each in hindering
        if each.backs_off and each.cost_us is None and each.end_us is not None
    ]
    for begin_us, end_us in sorted((*spans, *((write.t, write.t) for write in failed))):
        row, lasted_us = rows[-1] if rows else None, end_us - begin_us
        if row is not None and row.reaches(begin_us):
            wait_us = longest_wait_us(row.wait_us + lasted_us)
            rows[-1] = _Row(row.begin_us, max(row.end_us, end_us), wait_us)
        else:
            rows.append(_Row(begin_us, end_us, longest_wait_us(BACKOFF_US + lasted_us)))
    return rows


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
    found.sort(key=_begin_us)
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
    return sorted(merged, key=_begin_us)


def _begin_us(outage: Outage) -> Micros:
    return outage.begin_us


def doubled_since(processes: Sequence[Process]) -> int | None:
    """The position from which on two replicas of an operator acted at once; None if they never
    did. Replicas that wait for a Lease do not."""
    if any(entry.change in ("leading", "following") for entry in processes):
        return None
    starts = (entry.n for entry in processes if "/" in entry.process and entry.change == "started")
    return next(starts, None)
