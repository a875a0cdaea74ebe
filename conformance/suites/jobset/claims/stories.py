"""JS-040…044: what the norm's user stories promise.

A story is recognized by its failure policy and by the reasons with which its Jobs fail, so every
JobSet of its kind is judged, not only the norm's manifest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.norm import Obligations
from conformance.norm.claim import Level
from conformance.suites.jobset.api import FAIL_JOB_SET, RESTART_JOB_SET, RESTART_UNCOUNTED
from conformance.suites.jobset.claims.actions import where
from conformance.suites.jobset.decisions import KILLED_PODS
from conformance.suites.jobset.judging import claim
from conformance.suites.jobset.sources import story
from conformance.suites.jobset.view import JobSetRun
from conformance.suites.jobset.view.answers import Answer, Budget
from conformance.suites.jobset.view.exits import exits
from conformance.suites.jobset.view.matching import Matched

BY_POLICY = "PodFailurePolicy"
SIGTERM = 143


@claim(
    "JS-040",
    story(1, 1),
    armed_by="failure that a podFailurePolicy calls non-retriable",
)
def software_bugs_fail_the_jobset(run: JobSetRun) -> Obligations:
    """With FailJobSet for the reason PodFailurePolicy, a Job that its podFailurePolicy fails
    MUST fail the JobSet, whatever restarts are left."""
    return where(
        run,
        lambda answer, each: (
            _is_for(answer, each, FAIL_JOB_SET) and each.failure.reason == BY_POLICY
        ),
    )


@claim(
    "JS-041",
    story(1, 1),
    armed_by="failure for another reason beside FailJobSet for PodFailurePolicy",
)
def maintenance_restarts_the_jobset(run: JobSetRun) -> Obligations:
    """With FailJobSet for the reason PodFailurePolicy alone, a Job that fails for any other
    reason MUST restart the JobSet up to maxRestarts times."""
    return where(
        run,
        lambda answer, each: (
            each.rule is None and each.has_policy and _has_rule(answer, FAIL_JOB_SET)
        ),
        Budget.COUNTED,
    )


@claim(
    "JS-042",
    story(1, 3),
    level=Level.PROVISIONAL,
    decision=KILLED_PODS,
    armed_by="failure of a Job whose pods were killed otherwise than by SIGTERM",
)
def killed_pods_are_judged_by_the_reason_of_their_job(run: JobSetRun) -> Obligations:
    """A Job whose pods were killed otherwise than by SIGTERM MUST be judged by the reason with
    which it failed, like any other."""

    def fits(answer: Answer, each: Matched) -> bool:
        codes = exits(run, each.failure)
        was_killed = any(code is None or (code > 128 and code != SIGTERM) for code in codes)
        return was_killed and _has_rule(answer, FAIL_JOB_SET, RESTART_UNCOUNTED)

    return where(run, fits)


@claim(
    "JS-043",
    story(2, 2),
    armed_by="failure that RestartJobSet without conditions matches",
)
def all_workers_restart_together(run: JobSetRun) -> Obligations:
    """With RestartJobSet without reasons and targets, any failure MUST restart the JobSet, at
    most maxRestarts times."""

    def fits(answer: Answer, each: Matched) -> bool:
        rule = _rule(answer, each)
        conditions = rule.get("onJobFailureReasons") or rule.get("targetReplicatedJobs")
        return each.rule is not None and each.action == RESTART_JOB_SET and not conditions

    return where(run, fits, Budget.COUNTED)


@claim(
    "JS-044",
    story(3, 1),
    armed_by="failure beside RestartJobSetAndIgnoreMaxRestarts for PodFailurePolicy",
)
def maintenance_is_free_and_others_count(run: JobSetRun) -> Obligations:
    """With RestartJobSetAndIgnoreMaxRestarts for the reason PodFailurePolicy, such failures MUST
    restart the JobSet without limit, and all others at most maxRestarts times."""
    return where(
        run,
        lambda answer, each: (
            _has_rule(answer, RESTART_UNCOUNTED)
            and (each.rule is None or each.action == RESTART_UNCOUNTED)
        ),
        Budget.COUNTED,
    )


def _rule(answer: Answer, each: Matched) -> Mapping[str, Any]:
    """The rule that matches; empty if none does."""
    if each.rule is None:
        return {}
    rules = (answer.before.policy or {}).get("rules") or ()
    found: Mapping[str, Any] = rules[each.rule]
    return found


def _is_for(answer: Answer, each: Matched, action: str) -> bool:
    """True if a rule with that action, for PodFailurePolicy alone, matches first."""
    return each.action == action and _rule(answer, each).get("onJobFailureReasons") == [BY_POLICY]


def _has_rule(answer: Answer, *actions: str) -> bool:
    """True if the only rule has one of these actions, for PodFailurePolicy alone."""
    rules = list((answer.before.policy or {}).get("rules") or ())
    return (
        len(rules) == 1
        and rules[0]["action"] in actions
        and rules[0].get("onJobFailureReasons") == [BY_POLICY]
        and not rules[0].get("targetReplicatedJobs")
    )
