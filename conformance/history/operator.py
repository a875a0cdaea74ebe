"""One operator under test: its requests, when it could not act, and the bounds that hold for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from conformance.history.outages import (
    is_unanswered,
    outages_of,
    refuses_other_deletes,
    starts_of,
)
from conformance.history.timing import Timing
from conformance.history.tracks import Track
from vocabulary.clock import Micros
from vocabulary.history import Fault, OperatorUnderTest, Process, Write, role_of

if TYPE_CHECKING:
    from conformance.history.history import History

ENDS = ("killed", "stopped", "ended")
"""The changes after which a process runs no longer."""
UNKNOWN: OperatorUnderTest = OperatorUnderTest(suite="", implementation="")
"""An operator that no header speaks of: nothing is known of it."""


class OperatorView:
    """One operator as seen in a history, all its replicas taken together."""

    def __init__(self, history: History, role: str) -> None:
        self._history = history
        self.role = role
        self.under_test = history.header.operators.get(role, UNKNOWN)
        self.writes: list[Write] = []
        """Every request of the operator, also those that failed."""

    def is_by(self, actor: str) -> bool:
        """True for the operator's replicas, as processes and as writers."""
        return role_of(actor) == self.role

    @cached_property
    def processes(self) -> list[Process]:
        """The process entries of its replicas."""
        return [entry for entry in self._history.processes if self.is_by(entry.process)]

    @cached_property
    def configurations(self) -> tuple[tuple[int, Mapping[str, Any]], ...]:
        """The parameters of its replicas, each with the position from which they were in force."""
        found: list[tuple[int, Mapping[str, Any]]] = [(-1, self.under_test.parameters)]
        for mark in self._history.marks:
            if mark.mark == "reconfigured" and mark.role == self.role:
                starts = (
                    entry.n
                    for entry in self.processes
                    if entry.n > mark.n and entry.change == "started"
                )
                started = next(starts, None)
                if started is not None:
                    found.append((started, mark.parameters))
        return tuple(found)

    @cached_property
    def kept_configurations(self) -> tuple[tuple[int, int, Mapping[str, Any]], ...]:
        """The parameters of replicas that go on with them while another has newer ones, each with
        the positions from and until which that is so."""
        found: list[tuple[int, int, Mapping[str, Any]]] = []
        for (since, old), (changed, _) in pairwise(self.configurations):
            for start in self.processes:
                if start.change == "started" and start.n < changed and start.n >= since:
                    end = self._end_of(start)
                    if end > changed:
                        found.append((changed, end, old))
        return tuple(found)

    def _end_of(self, start: Process) -> int:
        """The position at which a replica that has started ends."""
        ends = (
            entry.n
            for entry in self.processes
            if entry.process == start.process and entry.n > start.n and entry.change in ENDS
        )
        return next(ends, sys.maxsize)

    @cached_property
    def deletes(self) -> dict[tuple[str, str, str], list[Write]]:
        """The deletions that the operator asked for and got, by kind, namespace and name."""
        found: dict[tuple[str, str, str], list[Write]] = {}
        for write in self.writes:
            if write.verb in ("delete", "deletecollection") and 200 <= write.code < 300:
                found.setdefault((write.kind, write.namespace, write.name), []).append(write)
        return found

    @cached_property
    def refused_deletes(self) -> dict[tuple[str, str, str], list[Write]]:
        """The deletions that the operator asked for and did not get, by kind, namespace and
        name."""
        found: dict[tuple[str, str, str], list[Write]] = {}
        for write in self.writes:
            if write.verb == "delete" and not 200 <= write.code < 300:
                found.setdefault((write.kind, write.namespace, write.name), []).append(write)
        return found

    @cached_property
    def refused_creates(self) -> list[Write]:
        """The creations that the operator asked for and did not get."""
        return [
            write for write in self.writes if write.verb == "create" and not 200 <= write.code < 300
        ]

    @cached_property
    def timing(self) -> Timing:
        return self._timing(self._history.faults, self._unanswered)

    def looked_us(self, actor: str, at_us: Micros, *, live: bool = False) -> Micros:
        """The earliest time at which a replica may have looked last before a write at that time:
        what came later, it cannot have seen.

        That is one request before it, or earlier where answers came late; one to the API server
        itself, if it is `live`. One that was killed and started again has looked since.
        """
        return self._before_pauses(actor, at_us, partial(self.timing.requested_us, live=live))

    def seen_us(self, actor: str, at_us: Micros) -> Micros:
        """The oldest state that a replica which writes at that time may be acting on."""
        return self._before_pauses(actor, at_us, self.timing.seen_us)

    def _before_pauses(
        self, actor: str, at_us: Micros, reach_us: Callable[[Micros], Micros]
    ) -> Micros:
        """How far a replica reaches back from a time; farther where it stood still in between,
        though the others went on."""
        earliest_us = reach_us(at_us)
        paused_us: Micros | None = None
        for entry in self.processes:
            if entry.process != actor or entry.t > at_us:
                continue
            if entry.change == "paused":
                paused_us = entry.t
            elif entry.change == "resumed" and paused_us is not None and entry.t >= earliest_us:
                earliest_us = min(earliest_us, reach_us(paused_us))
        return earliest_us

    def timing_of_delete(self, track: Track) -> Timing:
        """The bounds for asking to delete one object, which refused deletes of others do not
        move."""
        every = self._history.faults
        faults = [fault for fault in every if not refuses_other_deletes(fault, track)]
        if len(faults) == len(every):
            return self.timing
        of_track = (track.kind, track.namespace, track.name)
        unanswered = [
            write
            for write in self._unanswered
            if write.verb != "delete"
            or write.code == 0
            or (write.kind, write.namespace, write.name) == of_track
        ]
        return self._timing(faults, unanswered)

    @cached_property
    def _failed(self) -> list[Write]:
        return [write for write in self.writes if not 200 <= write.code < 300]

    @cached_property
    def _unanswered(self) -> list[Write]:
        return [write for write in self._failed if is_unanswered(write)]

    def _timing(self, faults: Sequence[Fault], unanswered: Sequence[Write]) -> Timing:
        conflicts = self._explained_conflicts
        outages = outages_of(self.role, self.processes, faults, unanswered, conflicts, self._failed)
        starts = starts_of(self.role, self.processes, faults)
        return Timing(self._history.header, self.under_test, outages, starts)

    @cached_property
    def _explained_conflicts(self) -> list[Write]:
        """Conflicts that the operator ran into since the object had been written.

        A write explains one conflict of each replica: a replica that conflicts again without one
        did not read the object again.
        """
        explained: dict[tuple[str, str, str, str], Write] = {}
        found: list[Write] = []
        for write in self.writes:
            if write.code != 409 or write.reason == "AlreadyExists":
                continue
            key = (write.actor, write.kind, write.namespace, write.name)
            since = explained[key].n if key in explained else -1
            tracks = self._history.named(write.kind, write.namespace, write.name)
            if any(track.changed_between(since, write.n) for track in tracks):
                explained[key] = write
                found.append(write)
        return found
