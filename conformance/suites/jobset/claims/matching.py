"""JS-002, 003, 005, 008, 010, 027, 060…062: the rule that matches, and the default."""

from __future__ import annotations

from conformance.norm import Obligations
from conformance.norm.claim import Level
from conformance.suites.jobset.claims.actions import triggered, where
from conformance.suites.jobset.decisions import ALL_ACTIONS, FAILURE_FIRST, FIRST_FAILURE, NO_POLICY
from conformance.suites.jobset.judging import claim
from conformance.suites.jobset.sources import api, constraints, motivation, test_plan
from conformance.suites.jobset.view import JobSetRun
from conformance.suites.jobset.view.answers import Answer
from conformance.suites.jobset.view.matching import (
    Matched,
    all_matches,
    reason_matches,
    target_matches,
)
from vocabulary.objects import Object


@claim(
    "JS-002",
    constraints(1),
    decision=FIRST_FAILURE,
    armed_by="failure that several rules match, or beside one that another matches",
)
def first_matching_rule_decides(run: JobSetRun) -> Obligations:
    """For a failure that several rules match, the controller MUST take the action of the first
    of them, and no other."""

    def fits(answer: Answer, each: Matched) -> bool:
        return (
            len(all_matches(_rules(answer), each.failure)) > 1
            or len({pending.rule for pending in answer.pending}) > 1
        )

    return where(run, fits)


@claim(
    "JS-003",
    api(31),
    decision=FAILURE_FIRST,
    armed_by="failure that no rule matches",
)
def unmatched_failures_restart(run: JobSetRun) -> Obligations:
    """A failure that no rule matches MUST restart the JobSet as RestartJobSet does."""
    return triggered(run, lambda each: each.has_policy and each.rule is None)


@claim(
    "JS-005",
    api(17),
    armed_by="failure that the reasons of a rule concern",
)
def rules_match_by_reason(run: JobSetRun) -> Obligations:
    """A rule MUST match a failure whose reason equals one of its onJobFailureReasons, or any
    failure if it lists none."""
    return where(
        run,
        lambda answer, each: any(rule.get("onJobFailureReasons") for rule in _asked(answer, each)),
    )


@claim(
    "JS-008",
    api(21),
    armed_by="failure that the targets of a rule concern",
)
def rules_match_by_target(run: JobSetRun) -> Obligations:
    """A rule MUST match failures of the replicated jobs that it targets alone, or of all of them
    if it targets none."""
    return where(
        run,
        lambda answer, each: any(rule.get("targetReplicatedJobs") for rule in _asked(answer, each)),
    )


@claim(
    "JS-010",
    api(12),
    armed_by="failure at a rule that has reasons and targets",
)
def reason_and_target_both_match(run: JobSetRun) -> Obligations:
    """A rule with reasons and targets MUST match a failure only if both its reason and its
    replicated job are listed."""

    def fits(answer: Answer, each: Matched) -> bool:
        return any(
            rule.get("onJobFailureReasons")
            and rule.get("targetReplicatedJobs")
            and (reason_matches(rule, each.failure) or target_matches(rule, each.failure))
            for rule in _asked(answer, each)
        )

    return where(run, fits)


@claim(
    "JS-027",
    motivation(1),
    level=Level.PROVISIONAL,
    decision=NO_POLICY,
    armed_by="failure in a JobSet without a failure policy",
)
def without_a_policy_a_failure_is_final(run: JobSetRun) -> Obligations:
    """A JobSet without a failure policy MUST fail when one of its Jobs fails."""
    return triggered(run, lambda each: not each.has_policy)


@claim(
    "JS-060",
    test_plan(8),
    decision=(ALL_ACTIONS, FAILURE_FIRST),
    armed_by="failure that a rule without targets matches first",
)
def untargeted_rules_apply_to_all(run: JobSetRun) -> Obligations:
    """A failure policy rule that targets all replicated jobs MUST be triggered when a child Job
    of any of them fails."""
    return triggered(run, lambda each: each.rule is not None and not _targets(run, each))


@claim(
    "JS-061",
    test_plan(10),
    decision=FAILURE_FIRST,
    armed_by="failure that a rule with targets matches first",
)
def targeted_rules_are_triggered(run: JobSetRun) -> Obligations:
    """A failure policy rule that targets a replicated job MUST be triggered when a child Job of
    it fails."""
    return triggered(run, lambda each: each.rule is not None and bool(_targets(run, each)))


@claim(
    "JS-062",
    test_plan(11),
    armed_by="failure of a Job that no rule targets",
)
def other_jobs_get_the_default(run: JobSetRun) -> Obligations:
    """A failure of a replicated job that no rule targets MUST NOT trigger a rule; the JobSet
    MUST restart as RestartJobSet does."""

    def fits(answer: Answer, each: Matched) -> bool:
        rules = _rules(answer)
        return bool(rules) and not any(target_matches(rule, each.failure) for rule in rules)

    return where(run, fits)


def _rules(answer: Answer) -> list[Object]:
    return list((answer.before.policy or {}).get("rules") or ())


def _asked(answer: Answer, each: Matched) -> list[Object]:
    """The rules that are evaluated: those before the one that matches, and itself."""
    rules = _rules(answer)
    return rules if each.rule is None else rules[: each.rule + 1]


def _targets(run: JobSetRun, each: Matched) -> list[str]:
    standing = run.at(each.failure.n)
    rules = (standing.policy if standing is not None else None) or {}
    assert each.rule is not None
    return list(rules["rules"][each.rule].get("targetReplicatedJobs") or ())
