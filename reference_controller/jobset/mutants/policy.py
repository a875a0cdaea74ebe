"""Wrong rules, and wrong actions."""

from __future__ import annotations

from collections.abc import Sequence

from reference_controller.jobset.mutants.registry import MUTANTS
from reference_controller.jobset.names import Action
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import Rules
from vocabulary.objects import Object


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


@MUTANTS.wrong_rules("any-reason", "It ignores the reasons of a rule.", "JS-005")
class AnyReason(Rules):
    def reason_matches(self, rule: Object, job: Job) -> bool:
        del rule, job
        return True


@MUTANTS.wrong_rules("any-target", "It ignores the targets of a rule.", "JS-008")
class AnyTarget(Rules):
    def target_matches(self, rule: Object, job: Job) -> bool:
        del rule, job
        return True
