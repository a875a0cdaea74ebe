"""The rule of a failure policy that a failure matches, and its action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import re2

from conformance.suites.jobset.api import FAIL_JOB_SET, RESTART_JOB_SET
from conformance.suites.jobset.view.job_set import Failure
from vocabulary.objects import Object


@dataclass(frozen=True)
class Matched:
    """A failure with the action that the policy demands for it."""

    failure: Failure
    action: str
    rule: int | None
    """The position of the rule that matches first; None: no rule does."""
    has_policy: bool = True
    """False: the JobSet has no failure policy at all."""


def matched_by(policy: Object | None, failure: Failure) -> Matched:
    """The first rule that a failure matches, and its action."""
    if policy is None:
        return Matched(failure, FAIL_JOB_SET, None, has_policy=False)
    for index, rule in enumerate(policy.get("rules") or ()):
        if rule_matches(rule, failure):
            return Matched(failure, str(rule["action"]), index)
    return Matched(failure, RESTART_JOB_SET, None)


def rule_matches(rule: Object, failure: Failure) -> bool:
    return (
        reason_matches(rule, failure)
        and target_matches(rule, failure)
        and message_matches(rule, failure)
    )


def reason_matches(rule: Object, failure: Failure) -> bool:
    reasons = rule.get("onJobFailureReasons") or ()
    return not reasons or failure.reason in reasons


def target_matches(rule: Object, failure: Failure) -> bool:
    targets = rule.get("targetReplicatedJobs") or ()
    return not targets or failure.child.replicated_job in targets


def message_matches(rule: Object, failure: Failure) -> bool:
    """True if one of the rule's expressions is found in the Job's message, or it has none.

    Released controllers have this condition beside those of the norm. They admit an expression
    that is none, and never find it.
    """
    patterns = rule.get("onJobFailureMessagePatterns") or ()
    return not patterns or any(_is_found(pattern, failure.message) for pattern in patterns)


def _is_found(pattern: str, message: str) -> bool:
    try:
        return re2.search(pattern, message) is not None
    except re2.error:
        return False


def all_matches(rules: Sequence[Object], failure: Failure) -> list[int]:
    """The positions of all rules that a failure matches."""
    return [index for index, rule in enumerate(rules) if rule_matches(rule, failure)]
