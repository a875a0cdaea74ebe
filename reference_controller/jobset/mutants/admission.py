"""Submissions and changes that are admitted, or refused, wrongly."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from reference_controller.jobset.mutants.registry import MUTANTS
from reference_controller.jobset.rules import Rules
from vocabulary.objects import Object


def _with_rule(definition: Object, change: Callable[[Object], Object]) -> Object:
    """The CustomResourceDefinition with another schema of a failure policy's rule."""

    def changed(value: Any, path: tuple[str, ...] = ()) -> Any:
        if path[-4:] == ("failurePolicy", "properties", "rules", "items"):
            return change(value)
        if isinstance(value, Mapping):
            return {key: changed(each, (*path, key)) for key, each in value.items()}
        return [changed(each, path) for each in value] if isinstance(value, list) else value

    found: Object = changed(definition)
    return found


@MUTANTS.wrong_definition(
    "any-action", "Its API has rules with actions that nobody knows.", "JS-004"
)
def any_action(definition: Object) -> Object:
    def change(rule: Object) -> Object:
        return {**rule, "properties": {**rule["properties"], "action": {"type": "string"}}}

    return _with_rule(definition, change)


@MUTANTS.wrong_definition("no-action", "Its API has rules without an action.", "JS-004")
def no_action(definition: Object) -> Object:
    def change(rule: Object) -> Object:
        return {key: value for key, value in rule.items() if key != "required"}

    return _with_rule(definition, change)


@MUTANTS.wrong_rules("reasons-repeat", "It admits a rule with a reason twice.", "JS-006")
class ReasonsRepeat(Rules):
    def reasons_are_unique(self) -> bool:
        return False


@MUTANTS.wrong_rules("targets-repeat", "It admits a rule with a target twice.", "JS-009")
class TargetsRepeat(Rules):
    def targets_are_unique(self) -> bool:
        return False


@MUTANTS.wrong_rules("any-case", "It admits reasons in lower case, which no Job has.", "JS-007")
class AnyCase(Rules):
    def is_failure_reason(self, reason: str) -> bool:
        return super().is_failure_reason(f"{reason[:1].upper()}{reason[1:]}")


@MUTANTS.wrong_rules(
    "deadlines-are-no-failures", "It refuses rules for Jobs that exceed a deadline.", "JS-107"
)
class DeadlinesAreNoFailures(Rules):
    def is_failure_reason(self, reason: str) -> bool:
        return reason != "DeadlineExceeded" and super().is_failure_reason(reason)


@MUTANTS.wrong_rules(
    "max-restarts-are-capped", "It lowers a maxRestarts that it takes for too many.", "JS-107"
)
class MaxRestartsAreCapped(Rules):
    def max_restarts(self, policy: Object) -> Any:
        return min(super().max_restarts(policy), 5)


@MUTANTS.wrong_rules(
    "user-defined-reasons", "It admits reasons that a Job's template makes up.", "JS-075", "JS-007"
)
class UserDefinedReasons(Rules):
    def reasons_are_user_defined(self) -> bool:
        return True


@MUTANTS.wrong_rules(
    "any-target-is-admitted", "It admits rules for replicated jobs that are not there.", "JS-046"
)
class AnyTargetIsAdmitted(Rules):
    def targets_must_exist(self) -> bool:
        return False


@MUTANTS.wrong_rules("rules-need-names", "It refuses rules without a name.", "JS-011")
class RulesNeedNames(Rules):
    def default_rule_name(self, index: int) -> str:
        del index
        return ""


@MUTANTS.wrong_rules("policy-is-changed", "It lets the policy in force be changed.", "JS-096")
class PolicyIsChanged(Rules):
    def may_become(self, standing: Any, asked: Any) -> bool:
        return super().may_become(standing, asked) or None not in (standing, asked)


@MUTANTS.wrong_rules("policy-is-removed", "It lets the policy in force be removed.", "JS-096")
class PolicyIsRemoved(Rules):
    def may_become(self, standing: Any, asked: Any) -> bool:
        return super().may_become(standing, asked) or asked is None


@MUTANTS.wrong_rules("policy-is-added", "It lets a policy be added to a JobSet in force.", "JS-096")
class PolicyIsAdded(Rules):
    def may_become(self, standing: Any, asked: Any) -> bool:
        return super().may_become(standing, asked) or standing is None


@MUTANTS.wrong_rules(
    "strategy-is-changed", "It lets the restart strategy in force be changed.", "JS-096"
)
class StrategyIsChanged(Rules):
    def may_become(self, standing: Any, asked: Any) -> bool:
        return super().may_become(_without_strategy(standing), _without_strategy(asked))


def _without_strategy(policy: Any) -> Any:
    if not isinstance(policy, dict):
        return policy
    return {key: value for key, value in policy.items() if key != "restartStrategy"}


@MUTANTS.wrong_rules(
    "replicated-jobs-are-changed", "It lets the number of a JobSet's Jobs be changed.", "JS-109"
)
class ReplicatedJobsAreChanged(Rules):
    def open_fields(self, is_suspended: bool) -> Collection[str]:
        return *super().open_fields(is_suspended), "replicas"


@MUTANTS.wrong_rules(
    "suspended-ones-are-open",
    "It lets the Jobs of a suspended JobSet be changed to run more pods.",
    "JS-109",
)
class SuspendedOnesAreOpen(Rules):
    def open_fields(self, is_suspended: bool) -> Collection[str]:
        found = super().open_fields(is_suspended)
        return (*found, "template.spec.parallelism") if is_suspended else found


@MUTANTS.wrong_rules(
    "any-topology-is-admitted", "It admits an exclusive topology that no node can have.", "JS-110"
)
class AnyTopologyIsAdmitted(Rules):
    def is_topology(self, key: str) -> bool:
        del key
        return True


@MUTANTS.wrong_rules(
    "any-resource-is-admitted", "It admits pods that ask for devices as a whole.", "JS-110"
)
class AnyResourceIsAdmitted(Rules):
    def is_resource_of_pods(self, name: str) -> bool:
        del name
        return True
