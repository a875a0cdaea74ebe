"""The answer of the controller to each failure, beside those that the policy allows.

Each step of the status answers one failure: the earliest of those that the controller may have
known of, and that no earlier step has replaced. It knows a beginning of the failures, in the order
of their writes. API times are whole seconds, so failures of one second may be taken in any order;
a failed Job that another client deletes may never have been seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from conformance.history import Moment
from conformance.norm import shared
from conformance.suites.jobset.api import (
    FAIL_JOB,
    FAIL_JOB_SET,
    RELEASED,
    RESTART_JOB,
    RESTART_JOB_SET,
    RESTART_REPLICATED_JOB,
)
from conformance.suites.jobset.view.job_set import Child, Failure, JobSetRun
from conformance.suites.jobset.view.matching import Matched, matched_by
from conformance.suites.jobset.view.snapshots import Snapshot
from conformance.suites.jobset.view.status_steps import Step, is_replaced, steps

NEED_BUDGET = (RESTART_JOB_SET, RESTART_REPLICATED_JOB, RESTART_JOB)


class Budget(Enum):
    """The reach of maxRestarts that a claim judges."""

    ANY = auto()
    """Nothing: it is about the rule that matches. Once it is spent, either action is right."""
    COUNTED = auto()
    """That restarts of the whole JobSet are limited; those of parts may have their own limit."""
    SHARED = auto()
    """That restarts of the whole and of parts share it."""


@dataclass(frozen=True)
class Answer:
    """A step of the status that answers a failure."""

    step: Step
    candidates: tuple[Matched, ...]
    """The failures that it may answer, none of which is left failed."""
    pending: tuple[Matched, ...]
    """All failures that had happened and that no earlier step had replaced."""

    @property
    def before(self) -> Snapshot:
        return self.step.before

    @property
    def after(self) -> Snapshot:
        return self.step.after

    @property
    def taken(self) -> str:
        return self.step.taken

    @property
    def counted(self) -> int:
        """Restarts of the whole JobSet that had been counted."""
        return self.before.counted

    @property
    def used(self) -> int:
        """All that had been counted, those of parts included."""
        return self.before.used + self.step.earlier

    def allowed(self, budget: Budget) -> frozenset[str]:
        """The actions that are right for the failures that it may answer."""
        return frozenset(
            action for each in self.candidates for action in self.demanded(each, budget)
        )

    def demanded(self, each: Matched, budget: Budget) -> frozenset[str]:
        """The actions that are right for one failure, as far as a claim asks for the budget."""
        most = self.before.max_restarts
        if each.action not in NEED_BUDGET:
            return frozenset({each.action})
        if self.used < most:
            return frozenset({each.action})
        is_open = budget is Budget.ANY or (budget is Budget.COUNTED and self.counted < most)
        return frozenset({each.action, FAIL_JOB_SET} if is_open else {FAIL_JOB_SET})


@shared
def answers(run: JobSetRun) -> Iterator[Answer]:
    """Each answer to a failure, in order."""
    for step in steps(run):
        matched = [
            matched_by(step.before.policy, failure)
            for failure in run.failures
            if _stands(run, failure, step.first)
        ]
        pending = [each for each in matched if each.action != FAIL_JOB]
        yield Answer(step, decisive(pending, run), tuple(pending))


def is_pending(run: JobSetRun, failure: Failure, at: Moment) -> bool:
    """True if a failure had happened by then, and no step had answered it."""
    state = run.at(at.n)
    policy = None if state is None else state.policy
    return _stands(run, failure, at) and matched_by(policy, failure).action != FAIL_JOB


def _stands(run: JobSetRun, failure: Failure, at: Moment) -> bool:
    """True if a failure had happened by then, no step had replaced its Job, and no successor of
    it that the controller knew of had come in its place."""
    if failure.n >= at.n or is_replaced(run, failure.child, at.n):
        return False
    following = run.successor(failure.child)
    if following is None or not was_deleted_by_others(run, failure.child):
        return True
    return following.track.created.t >= run.operator.timing.seen_us(at.t)


def decisive(pending: list[Matched], run: JobSetRun) -> tuple[Matched, ...]:
    """The failures of which one decides, in the order of their writes.

    In the edition `released` the first rule that matches any of those that are seen decides, and
    among several that it matches the earliest.
    """
    found: dict[int, Matched] = {}
    for known in range(1, len(pending) + 1):
        seen = pending[:known]
        lasting = [each for each in seen if not was_deleted_by_others(run, each.failure.child)]
        first = min((_place(each, run) for each in lasting), default=None)
        for each in seen:
            if first is None or _place(each, run) <= first:
                found.setdefault(each.failure.n, each)
    return tuple(found[n] for n in sorted(found))


def _place(each: Matched, run: JobSetRun) -> tuple[float, int]:
    """The place of a failure among those that are seen at once; the first one decides."""
    if run.edition == RELEASED:
        return (math.inf if each.rule is None else each.rule, each.failure.stamp_us)
    return (0, each.failure.stamp_us)


def was_deleted_by_others(run: JobSetRun, child: Child) -> bool:
    """True if another client than the controller deleted the Job, or none is known to have."""
    deletion = child.deletion
    if deletion is None:
        return False
    return not run.operator.is_by(deletion.actor)


def was_orphaned_by_others(run: JobSetRun, child: Child) -> bool:
    """True if another client deleted the Job and left its pods, be it after the controller: the
    last deletion decides what becomes of them."""
    return any(
        each.verb == "delete"
        and each.options.get("propagationPolicy") == "Orphan"
        and not run.operator.is_by(each.actor)
        for each in child.track.versions
    )
