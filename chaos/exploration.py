"""Crash points: every moment at which the operator could die, enumerated from a history.

A reconciler can be killed between any two of its requests. What survives is what it wrote,
so it is enough to kill it around each of its writes: before the write is committed, after
it is committed and before the reply is heard, and after the reply. A recorded run lists its
writes; repeating the run once per point tries all of them, k of k, and none by luck.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from chaos.faults.process import RESTART_AFTER_US, Kill
from chaos.happening import Place
from chaos.plan import Plan, Step
from chaos.trigger import Combined, On, Trigger
from vocabulary.clock import MILLISECOND, Micros
from vocabulary.history import Entry, Mark, Process, Write

CRASH_PLACES: Final = (Place.BEFORE_COMMIT, Place.AFTER_COMMIT, Place.AFTER_REPLY)
ENDED: Final = ("killed", "stopped", "ended")
REPLY_US: Final = 5 * MILLISECOND
"""A reply of the simulated API server takes no longer, unless a fault delays it."""


@dataclass(frozen=True, slots=True)
class CrashPoint:
    """One moment: at a place of the actor's k-th write, counted from 1."""

    k: int
    of: int
    """How many writes there are."""
    place: Place
    write: str
    """The write in the recorded run: `update JobSet a/status`."""
    actor: str

    def trigger(self) -> Trigger:
        """Due at this moment of a repeated run, which is the same up to here.

        Before a commit, requests are counted from the last commit on: one that was refused
        on its way is not in the recorded run, and leaves the same state behind.
        """
        match self.place:
            case Place.AFTER_COMMIT:
                return self._after_commit(self.k)
            case Place.AFTER_REPLY:
                reply = On(after="reply", by=self.actor, outcome="any")
                return Combined("then", (self._after_commit(self.k), reply))
            case Place.BEFORE_COMMIT:
                request = On(before="commit", by=self.actor)
                if self.k == 1:
                    return request
                return Combined("then", (self._after_commit(self.k - 1), request))
        raise ValueError(f"no crash is explored {self.place}; use one of CRASH_PLACES")

    def plan(self, base: Plan, *, restart_after_us: Micros | None = RESTART_AFTER_US) -> Plan:
        """The base plan with the actor killed at this moment."""
        kill = Step(Kill(actor=self.actor, restart_after=restart_after_us), self.trigger())
        return replace(base, faults=(*base.faults, kill))

    def describe(self) -> str:
        """`killed after commit of write 3 of 17: update JobSet a/status`."""
        return f"killed {self.place} of write {self.k} of {self.of}: {self.write}"

    def _after_commit(self, k: int) -> On:
        return On(after="commit", by=self.actor, outcome="any", occurrence=k)


def crash_points(entries: Iterable[Entry], actor: str) -> tuple[CrashPoint, ...]:
    """Every crash point of the actor in a recorded run, in the order of its writes.

    Requests that were refused or changed nothing count too: the writer could have died there.
    Left out is what no repeated run reaches: writes after the faults have stopped, and replies
    that came after that, or after another fault had ended the process.
    """
    writes: list[Write] = []
    ends_us: list[Micros] = []
    for entry in entries:
        if isinstance(entry, Write) and entry.actor == actor:
            writes.append(entry)
        elif isinstance(entry, Process) and entry.process == actor and entry.change in ENDED:
            ends_us.append(entry.t)
        elif isinstance(entry, Mark) and entry.mark == "faults-stopped":
            ends_us.append(entry.t)
            break
    return tuple(
        CrashPoint(k, len(writes), place, _named(write), actor)
        for k, write in enumerate(writes, start=1)
        for place in CRASH_PLACES
        if place is not Place.AFTER_REPLY
        or not any(0 <= end_us - write.t <= REPLY_US for end_us in ends_us)
    )


def _named(write: Write) -> str:
    part = f"/{write.subresource}" if write.subresource else ""
    return f"{write.verb} {write.kind} {write.name}{part}"
