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


@MUTANTS.wrong_rules("last-rule-wins", "It takes the last rule that matches.", "JS-002")
class LastRuleWins(Rules):
    def action_for(self, rules: Sequence[Object], job: Job) -> str:
        return super().action_for(list(reversed(rules)), job)


@MUTANTS.wrong_rules(
    "fails-unmatched", "It fails a JobSet whose failure no rule matches.", "JS-003"
)
class FailsUnmatched(Rules):
    def default_action(self) -> str:
        return Action.FAIL_JOB_SET


@MUTANTS.wrong_rules("any-reason", "It ignores the reasons of a rule.", "JS-005", "JS-042")
class AnyReason(Rules):
    def reason_matches(self, rule: Object, job: Job) -> bool:
        del rule, job
        return True


@MUTANTS.wrong_rules("any-target", "It ignores the targets of a rule.", "JS-008")
class AnyTarget(Rules):
    def target_matches(self, rule: Object, job: Job) -> bool:
        del rule, job
        return True


@MUTANTS.wrong_rules("any-message", "It ignores the message patterns of a rule.", "JS-003")
class AnyMessage(Rules):
    def message_matches(self, rule: Object, job: Job) -> bool:
        del rule, job
        return True


@MUTANTS.wrong_rules(
    "whole-message-only", "It compares message patterns with the whole message.", "JS-060"
)
class WholeMessageOnly(Rules):
    def message_matches(self, rule: Object, job: Job) -> bool:
        patterns = rule.get("onJobFailureMessagePatterns")
        return not patterns or any(
            compile_pattern(each).fullmatch(job.failure_message) for each in patterns
        )


@MUTANTS.wrong_rules(
    "half-a-match", "It takes a rule of which the reason or the target matches.", "JS-010"
)
class HalfAMatch(Rules):
    def action_for(self, rules: Sequence[Object], job: Job) -> str:
        for rule in rules:
            if (
                self.reason_matches(rule, job) or self.target_matches(rule, job)
            ) and self.message_matches(rule, job):
                return str(rule["action"])
        return self.default_action()


@MUTANTS.wrong_rules(
    "empty-lists-match-nothing", "It takes an empty list of reasons for one of none.", "JS-005"
)
class EmptyListsMatchNothing(Rules):
    def reason_matches(self, rule: Object, job: Job) -> bool:
        return rule.get("onJobFailureReasons") != [] and super().reason_matches(rule, job)


@MUTANTS.wrong_rules("first-reason-only", "It compares the first reason of a rule alone.", "JS-005")
class FirstReasonOnly(Rules):
    def reason_matches(self, rule: Object, job: Job) -> bool:
        reasons = rule.get("onJobFailureReasons") or ()
        return not reasons or job.failure_reason == reasons[0]


@MUTANTS.wrong_rules(
    "targets-never-match", "It passes over every rule that has targets.", "JS-061", "JS-008"
)
class TargetsNeverMatch(Rules):
    def target_matches(self, rule: Object, job: Job) -> bool:
        del job
        return not rule.get("targetReplicatedJobs")


@MUTANTS.wrong_rules(
    "failure-is-retried", "It restarts a JobSet that it should fail.", "JS-020", "JS-048"
)
class FailureIsRetried(Rules):
    def action_for(self, rules: Sequence[Object], job: Job) -> str:
        action = super().action_for(rules, job)
        return Action.RESTART_JOB_SET if action == Action.FAIL_JOB_SET else action


@MUTANTS.wrong_rules(
    "no-policy-restarts", "It restarts a JobSet that has no failure policy.", "JS-027"
)
class NoPolicyRestarts(Rules):
    def action_without_policy(self) -> str:
        return Action.RESTART_UNCOUNTED


@MUTANTS.wrong_rules(
    "all-restarts-spend", "It takes every restart off the budget, counted or not.", "JS-028"
)
class AllRestartsSpend(Rules):
    def budget_used(self, job_set: Object) -> int:
        return restarts_of(job_set)


@MUTANTS.wrong_rules("latest-failure-first", "It answers the latest of several failures.", "JS-002")
class LatestFailureFirst(Rules):
    def in_order_of_failure(self, failed: Sequence[Job]) -> list[Job]:
        return list(reversed(super().in_order_of_failure(failed)))
