"""Wrong rules, and wrong actions."""

from __future__ import annotations

from collections.abc import Sequence

from reference_controller.jobset.job_set import restarts_of
from reference_controller.jobset.mutants.registry import MUTANTS
from reference_controller.jobset.names import Action
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import Rules
from vocabulary.objects import Object
from vocabulary.patterns import compile_pattern


@MUTANTS.mutant(Rules.action_for, "It takes the last rule that matches.", "JS-002")
def last_rule_wins(self: Rules, rules: Sequence[Object], job: Job) -> str:
    return Rules.action_for(self, list(reversed(rules)), job)


@MUTANTS.mutant(Rules.default_action, "It fails a JobSet whose failure no rule matches.", "JS-003")
def fails_unmatched(self: Rules) -> str:
    return Action.FAIL_JOB_SET


@MUTANTS.mutant(Rules.reason_matches, "It ignores the reasons of a rule.", "JS-005", "JS-042")
def any_reason(self: Rules, rule: Object, job: Job) -> bool:
    return True


@MUTANTS.mutant(Rules.target_matches, "It ignores the targets of a rule.", "JS-008")
def any_target(self: Rules, rule: Object, job: Job) -> bool:
    return True


@MUTANTS.mutant(Rules.message_matches, "It ignores the message patterns of a rule.", "JS-003")
def any_message(self: Rules, rule: Object, job: Job) -> bool:
    return True


@MUTANTS.mutant(
    Rules.message_matches, "It compares message patterns with the whole message.", "JS-060"
)
def whole_message_only(self: Rules, rule: Object, job: Job) -> bool:
    patterns = rule.get("onJobFailureMessagePatterns")
    return not patterns or any(
        compile_pattern(each).fullmatch(job.failure_message) for each in patterns
    )


@MUTANTS.mutant(
    Rules.action_for, "It takes a rule of which the reason or the target matches.", "JS-010"
)
def half_a_match(self: Rules, rules: Sequence[Object], job: Job) -> str:
    for rule in rules:
        if (
            self.reason_matches(rule, job) or self.target_matches(rule, job)
        ) and self.message_matches(rule, job):
            return str(rule["action"])
    return self.default_action()


@MUTANTS.mutant(
    Rules.reason_matches, "It takes an empty list of reasons for one of none.", "JS-005"
)
def empty_lists_match_nothing(self: Rules, rule: Object, job: Job) -> bool:
    return rule.get("onJobFailureReasons") != [] and Rules.reason_matches(self, rule, job)


@MUTANTS.mutant(Rules.reason_matches, "It compares the first reason of a rule alone.", "JS-005")
def first_reason_only(self: Rules, rule: Object, job: Job) -> bool:
    reasons = rule.get("onJobFailureReasons") or ()
    return not reasons or job.failure_reason == reasons[0]


@MUTANTS.mutant(
    Rules.target_matches, "It passes over every rule that has targets.", "JS-061", "JS-008"
)
def targets_never_match(self: Rules, rule: Object, job: Job) -> bool:
    return not rule.get("targetReplicatedJobs")


@MUTANTS.mutant(Rules.action_for, "It restarts a JobSet that it should fail.", "JS-020", "JS-048")
def failure_is_retried(self: Rules, rules: Sequence[Object], job: Job) -> str:
    action = Rules.action_for(self, rules, job)
    return Action.RESTART_JOB_SET if action == Action.FAIL_JOB_SET else action


@MUTANTS.mutant(
    Rules.action_without_policy, "It restarts a JobSet that has no failure policy.", "JS-027"
)
def no_policy_restarts(self: Rules) -> str:
    return Action.RESTART_UNCOUNTED


@MUTANTS.mutant(
    Rules.budget_used, "It takes every restart off the budget, counted or not.", "JS-028"
)
def all_restarts_spend(self: Rules, job_set: Object) -> int:
    return restarts_of(job_set)


@MUTANTS.mutant(Rules.in_order_of_failure, "It answers the latest of several failures.", "JS-002")
def latest_failure_first(self: Rules, failed: Sequence[Job]) -> list[Job]:
    return list(reversed(Rules.in_order_of_failure(self, failed)))
