"""The steps of a JobSet's status that answer failures: a restart, whole or partial, or the end.

A controller may write the two counters of a restart one after the other: that is one step.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from conformance.norm import shared
from conformance.suites.jobset.api import (
    FAIL_JOB_SET,
    RESTART_JOB,
    RESTART_JOB_SET,
    RESTART_JOB_UNCOUNTED,
    RESTART_REPLICATED_JOB,
    RESTART_UNCOUNTED,
)
from conformance.suites.jobset.view.job_set import Child, JobSetRun
from conformance.suites.jobset.view.snapshots import Snapshot

_PARTIAL: Final = (RESTART_JOB, RESTART_JOB_UNCOUNTED, RESTART_REPLICATED_JOB)
_COUNT_ALONE: Final = "one more restart that counts, and no restart"
_PARTS: Final = "several partial restarts"


@dataclass(frozen=True, eq=False)
class Step:
    """A step of the status, from the state before it to the one that completes it."""

    before: Snapshot
    first: Snapshot
    """The first write of it: what the controller had decided by then."""
    after: Snapshot
    taken: str
    """The action that it shows, or what it is in words if it is none of the API's."""
    partial: tuple[str, str] | None = None
    """The replicated job, and the Job or "", that restart partially."""
    is_open: bool = False
    """True if its second counter may still follow."""
    earlier: int = 0
    """Counted restarts of the same write that come before it."""

    @property
    def is_global(self) -> bool:
        return self.after.restarts > self.before.restarts

    def concerns(self, child: Child) -> bool:
        """True if the step has this Job restarted."""
        return child.track.created.n < self.first.n and self.is_for(child)

    def is_for(self, child: Child) -> bool:
        """True if it has any Job of that name restarted that there is."""
        return self.is_global or self.partial in (
            (child.replicated_job, ""),
            (child.replicated_job, child.name),
        )


@shared
def steps(run: JobSetRun) -> Iterator[Step]:
    """Each step of the controller, in order. What other clients write to the status is none."""
    found = [
        (before, after, taken)
        for before, after in run.changes
        if not before.has_ended
        and _is_by_the_controller(run, after)
        and (taken := _taken(before, after)) is not None
    ]
    is_second = False
    for position, (before, after, taken) in enumerate(found):
        if is_second:
            is_second = False
            continue
        if taken == _PARTS:
            yield from _each_part(before, after)
            continue
        partial = _partial(before, after)[0] if taken in _PARTIAL else None
        following = found[position + 1] if position + 1 < len(found) else None
        if (
            following is not None
            and {taken, following[2]} == {RESTART_UNCOUNTED, _COUNT_ALONE}
            and not _has_failure_between(run, after, following[1])
        ):
            is_second = True
            yield Step(before, after, following[1], RESTART_JOB_SET)
            continue
        is_open = (
            taken in (RESTART_UNCOUNTED, _COUNT_ALONE)
            and following is None
            and not run.history.is_whole
        )
        yield Step(before, after, after, taken, partial, is_open)


def _each_part(before: Snapshot, after: Snapshot) -> Iterator[Step]:
    """The partial restarts that one write records, each as a step of its own."""
    counted = 0
    for key in _partial(before, after):
        taken = _taken_part(before, after, key)
        yield Step(before, after, after, taken, key, earlier=counted)
        counted += taken != RESTART_JOB_UNCOUNTED


def _has_failure_between(run: JobSetRun, first: Snapshot, second: Snapshot) -> bool:
    """True if a Job was created and failed between two writes: they answer different failures."""
    return any(
        first.n < failure.child.track.created.n and failure.n < second.n for failure in run.failures
    )


def is_replaced(run: JobSetRun, child: Child, n: int) -> bool:
    """True if a step before position n has a Job restarted, though the Job may still be there."""
    return any(step.first.n < n and step.concerns(child) for step in steps(run))


def may_be_born_stale(run: JobSetRun, child: Child) -> bool:
    """True if the replica that created a Job need not have known of a restart of its predecessor:
    the Job may be of the number before, and then has to go as well."""
    created = child.track.created
    seen_us = run.operator.seen_us(created.actor, created.t)
    return any(
        step.first.n < created.n and step.first.t >= seen_us and step.is_for(child)
        for step in steps(run)
    )


def generation_of(run: JobSetRun, n: int) -> int:
    """How many restarts of the whole JobSet had been written by position n."""
    return bisect_right([step.first.n for step in steps(run) if step.is_global], n)


def _is_by_the_controller(run: JobSetRun, after: Snapshot) -> bool:
    actor = after.write.actor
    return not actor or run.operator.is_by(actor)


def _taken(before: Snapshot, after: Snapshot) -> str | None:
    """The action that a change of status shows; None if it shows no answer to a failure."""
    restarts, counted = after.restarts - before.restarts, after.counted - before.counted
    partial = _partial(before, after)
    if after.has_failed and not before.has_failed:
        return FAIL_JOB_SET
    if restarts == 0 and counted == 0 and not partial:
        return None
    if restarts == 0 and counted == 1 and not partial:
        return _COUNT_ALONE
    if restarts == 1 and counted in (0, 1) and not partial:
        return RESTART_JOB_SET if counted else RESTART_UNCOUNTED
    once = all(after.partial[key] - before.partial.get(key, 0) == 1 for key in partial)
    if restarts == 0 and counted == 0 and once:
        return _taken_part(before, after, partial[0]) if len(partial) == 1 else _PARTS
    if restarts < 0 or counted < 0:
        return None
    return " and ".join(_in_words(before, after))


def _taken_part(before: Snapshot, after: Snapshot, key: tuple[str, str]) -> str:
    """The action that one more partial restart of a replicated job, or of a Job, shows."""
    if not key[1]:
        return RESTART_REPLICATED_JOB
    is_counted = after.partial_counted.get(key, 0) > before.partial_counted.get(key, 0)
    return RESTART_JOB if is_counted else RESTART_JOB_UNCOUNTED


def _partial(before: Snapshot, after: Snapshot) -> list[tuple[str, str]]:
    """The keys of the partial restarts that a change adds."""
    return [key for key, restarts in after.partial.items() if restarts > before.partial.get(key, 0)]


def _in_words(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """The counters that a change of status raises, each with both its values."""
    of_all = {"restarts": (before.restarts, after.restarts)}
    of_all["restartsCountTowardsMax"] = (before.counted, after.counted)
    for name, (old, new) in of_all.items():
        if new != old:
            yield f"{name} {old} → {new}"
    for key in _partial(before, after):
        replicated_job, job = key
        old, new = before.partial.get(key, 0), after.partial[key]
        yield f"restarts of {job or replicated_job} {old} → {new}"
