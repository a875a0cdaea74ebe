"""The answer of the controller to each failure, beside those that the policy allows.

A JobSet's status changes by a restart, counted or not, by a partial restart, or by its failure.
Each such change is the answer to one failure: the earliest of those that had happened when it was
written and that no earlier answer had replaced. API times are whole seconds, so failures of one
second may be taken in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conformance.norm import shared
from conformance.suites.jobset.api import (
    FAIL_JOB,
    FAIL_JOB_SET,
    RESTART_JOB,
    RESTART_JOB_SET,
    RESTART_REPLICATED_JOB,
    RESTART_UNCOUNTED,
)
from conformance.suites.jobset.view.job_set import Failure, JobSetRun
from conformance.suites.jobset.view.snapshots import Snapshot
from vocabulary.objects import Object

NEED_BUDGET = (RESTART_JOB_SET, RESTART_REPLICATED_JOB, RESTART_JOB)
FAILED_BY_BUDGET = "failure for want of restarts"
FAILED_BY_RULE = "failure"


@dataclass(frozen=True)
class Matched:
    """A failure with the action that the policy demands for it."""

    failure: Failure
    action: str
    rule: int | None
    """The position of the rule that matches first; None: no rule does."""


@dataclass(frozen=True)
class Answer:
    """A change of status that answers a failure."""

    before: Snapshot
    after: Snapshot
    taken: str
    """The action as the status shows it; empty if it shows none that the API knows."""
    candidates: tuple[Matched, ...]
    """The failures that it may answer, none of which is left failed."""

    @property
    def is_within_budget(self) -> bool:
        return self.before.used < self.before.max_restarts

    @property
    def allowed(self) -> frozenset[str]:
        """The actions that the policy and the budget demand for the failures that it may answer."""
        return frozenset(
            FAIL_JOB_SET
            if each.action in NEED_BUDGET and not self.is_within_budget
            else each.action
            for each in self.candidates
        )


@shared
def answers(run: JobSetRun) -> Iterator[Answer]:
    """Each answer to a failure, in order."""
    replaced_n = -1
    for before, after in run.changes:
        taken = taken_between(before, after)
        if taken is None or before.has_ended:
            continue
        pending = [
            failure
            for failure in run.failures
            if failure.n < after.n
            and failure.child.track.created.n > replaced_n
            and not _is_replaced(run, failure, after)
        ]
        matched = [matched_by(before.policy, failure) for failure in pending]
        matched = [each for each in matched if each.action != FAIL_JOB]
        first_us = min((each.failure.stamp_us for each in matched), default=0)
        earliest = tuple(each for each in matched if each.failure.stamp_us == first_us)
        yield Answer(before, after, taken, earliest)


def taken_between(before: Snapshot, after: Snapshot) -> str | None:
    """The action that a change of status shows; None if it shows no answer to a failure."""
    if after.has_failed and not before.has_failed:
        return FAIL_JOB_SET
    if after.restarts > before.restarts:
        return RESTART_JOB_SET if after.counted > before.counted else RESTART_UNCOUNTED
    if after.counted > before.counted:
        return ""
    for key, restarts in after.partial.items():
        if restarts > before.partial.get(key, 0):
            return RESTART_JOB if key[1] else RESTART_REPLICATED_JOB
    return None


def _is_replaced(run: JobSetRun, failure: Failure, at: Snapshot) -> bool:
    """True if an earlier answer has had the failed Job restarted."""
    for before, after in run.changes:
        if failure.n < after.n < at.n and _restarts_it(before, after, failure):
            return True
    return False


def _restarts_it(before: Snapshot, after: Snapshot, failure: Failure) -> bool:
    if after.restarts > before.restarts:
        return True
    child = failure.child
    keys = ((child.replicated_job, ""), (child.replicated_job, child.name))
    return any(after.partial.get(key, 0) > before.partial.get(key, 0) for key in keys)


def matched_by(policy: Object | None, failure: Failure) -> Matched:
    """The first rule that a failure matches, and its action."""
    if policy is None:
        return Matched(failure, FAIL_JOB_SET, None)
    for index, rule in enumerate(policy.get("rules") or ()):
        if reason_matches(rule, failure) and target_matches(rule, failure):
            return Matched(failure, str(rule["action"]), index)
    return Matched(failure, RESTART_JOB_SET, None)


def reason_matches(rule: Object, failure: Failure) -> bool:
    reasons = rule.get("onJobFailureReasons") or ()
    return not reasons or failure.reason in reasons


def target_matches(rule: Object, failure: Failure) -> bool:
    targets = rule.get("targetReplicatedJobs") or ()
    return not targets or failure.child.replicated_job in targets


def all_matches(rules: Sequence[Object], failure: Failure) -> list[int]:
    """The positions of all rules that a failure matches."""
    return [
        index
        for index, rule in enumerate(rules)
        if reason_matches(rule, failure) and target_matches(rule, failure)
    ]
