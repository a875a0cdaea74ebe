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


@MUTANTS.wrong_definition("Its API has rules with actions that nobody knows.", "JS-004")
def any_action(definition: Object) -> Object:
    def change(rule: Object) -> Object:
        return {**rule, "properties": {**rule["properties"], "action": {"type": "string"}}}

    return _with_rule(definition, change)


@MUTANTS.wrong_definition("Its API has rules without an action.", "JS-004")
def no_action(definition: Object) -> Object:
    def change(rule: Object) -> Object:
        return {key: value for key, value in rule.items() if key != "required"}

    return _with_rule(definition, change)


@MUTANTS.mutant(Rules.reasons_are_unique, "It admits a rule with a reason twice.", "JS-006")
def reasons_repeat(self: Rules) -> bool:
    return False


@MUTANTS.mutant(Rules.targets_are_unique, "It admits a rule with a target twice.", "JS-009")
def targets_repeat(self: Rules) -> bool:
    return False


@MUTANTS.mutant(
    Rules.is_failure_reason, "It admits reasons in lower case, which no Job has.", "JS-007"
)
def any_case(self: Rules, reason: str) -> bool:
    return Rules.is_failure_reason(self, f"{reason[:1].upper()}{reason[1:]}")


@MUTANTS.mutant(
    Rules.is_failure_reason, "It refuses rules for Jobs that exceed a deadline.", "JS-107"
)
def deadlines_are_no_failures(self: Rules, reason: str) -> bool:
    return reason != "DeadlineExceeded" and Rules.is_failure_reason(self, reason)


@MUTANTS.mutant(Rules.max_restarts, "It lowers a maxRestarts that it takes for too many.", "JS-107")
def max_restarts_are_capped(self: Rules, policy: Object) -> Any:
    return min(Rules.max_restarts(self, policy), 5)


@MUTANTS.mutant(
    Rules.reasons_are_user_defined,
    "It admits reasons that a Job's template makes up.",
    "JS-075",
    "JS-007",
)
def user_defined_reasons(self: Rules) -> bool:
    return True


@MUTANTS.mutant(
    Rules.targets_must_exist, "It admits rules for replicated jobs that are not there.", "JS-046"
)
def any_target_is_admitted(self: Rules) -> bool:
    return False


@MUTANTS.mutant(Rules.default_rule_name, "It refuses rules without a name.", "JS-011")
def rules_need_names(self: Rules, index: int) -> str:
    return ""


@MUTANTS.mutant(Rules.may_become, "It lets the policy in force be changed.", "JS-096")
def policy_is_changed(self: Rules, standing: Any, asked: Any) -> bool:
    return Rules.may_become(self, standing, asked) or None not in (standing, asked)


@MUTANTS.mutant(Rules.may_become, "It lets the policy in force be removed.", "JS-096")
def policy_is_removed(self: Rules, standing: Any, asked: Any) -> bool:
    return Rules.may_become(self, standing, asked) or asked is None


@MUTANTS.mutant(Rules.may_become, "It lets a policy be added to a JobSet in force.", "JS-096")
def policy_is_added(self: Rules, standing: Any, asked: Any) -> bool:
    return Rules.may_become(self, standing, asked) or standing is None


@MUTANTS.mutant(Rules.may_become, "It lets the restart strategy in force be changed.", "JS-096")
def strategy_is_changed(self: Rules, standing: Any, asked: Any) -> bool:
    return Rules.may_become(self, _without_strategy(standing), _without_strategy(asked))


def _without_strategy(policy: Any) -> Any:
    if not isinstance(policy, dict):
        return policy
    return {key: value for key, value in policy.items() if key != "restartStrategy"}


@MUTANTS.mutant(Rules.open_fields, "It lets the number of a JobSet's Jobs be changed.", "JS-109")
def replicated_jobs_are_changed(
    self: Rules, was_suspended: bool, is_suspended: bool
) -> Collection[str]:
    return *Rules.open_fields(self, was_suspended, is_suspended), "replicas"


@MUTANTS.mutant(
    Rules.open_fields,
    "It lets the Jobs of a suspended JobSet be changed to run more pods.",
    "JS-109",
)
def suspended_ones_are_open(
    self: Rules, was_suspended: bool, is_suspended: bool
) -> Collection[str]:
    found = Rules.open_fields(self, was_suspended, is_suspended)
    return (*found, "template.spec.parallelism") if found else found


@MUTANTS.mutant(
    Rules.open_fields, "It refuses a placement in the update that suspends a JobSet.", "JS-109"
)
def opens_once_suspended(self: Rules, was_suspended: bool, is_suspended: bool) -> Collection[str]:
    return Rules.open_fields(self, was_suspended, False)


@MUTANTS.mutant(
    Rules.is_topology, "It admits an exclusive topology that no node can have.", "JS-110"
)
def any_topology_is_admitted(self: Rules, key: str) -> bool:
    return True


@MUTANTS.mutant(
    Rules.is_resource_of_pods, "It admits pods that ask for devices as a whole.", "JS-110"
)
def any_resource_is_admitted(self: Rules, name: str) -> bool:
    return True
