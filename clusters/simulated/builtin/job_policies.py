"""Validation of a Job's podFailurePolicy and successPolicy."""

from __future__ import annotations

from typing import Any, Final

from clusters.simulated.builtin.indexes import IndexesError, count_indexes
from clusters.simulated.field_errors import (
    FieldError,
    contradiction,
    duplicate,
    not_supported,
    required,
    too_many,
    value_invalid,
)
from clusters.simulated.names import qualified_name
from vocabulary.objects import Object, containers, get_path

_ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
_MAX_RULES: Final = 20
_MAX_PATTERNS: Final = 20
_MAX_EXIT_CODES: Final = 255


def validate_failure_policy(spec: Object) -> list[FieldError]:
    """Validate the rules for failed pods."""
    path = "spec.podFailurePolicy.rules"
    rules = spec["podFailurePolicy"].get("rules") or ()
    names = {container.get("name") for container in containers(get_path(spec, "template.spec", {}))}
    errors = [too_many(path, len(rules), _MAX_RULES)] if len(rules) > _MAX_RULES else []
    for position, rule in enumerate(rules):
        at = f"{path}[{position}]"
        errors += _validate_action(spec, rule, f"{at}.action")
        exit_codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
        if exit_codes is not None:
            errors += _validate_exit_codes(exit_codes, f"{at}.onExitCodes", names)
        if len(conditions or ()) > _MAX_PATTERNS:
            errors.append(too_many(f"{at}.onPodConditions", len(conditions), _MAX_PATTERNS))
        for index, pattern in enumerate(conditions or ()):
            errors += _validate_pattern(pattern, f"{at}.onPodConditions[{index}]")
        if exit_codes is not None and conditions:
            errors.append(
                contradiction(
                    at, "specifying both OnExitCodes and OnPodConditions is not supported"
                )
            )
        if exit_codes is None and not conditions:
            errors.append(
                contradiction(at, "specifying one of OnExitCodes and OnPodConditions is required")
            )
    return errors


def _validate_action(spec: Object, rule: Object, path: str) -> list[FieldError]:
    action = rule.get("action")
    if not action:
        quoted = " ".join(f'"{name}"' for name in _ACTIONS)
        return [required(path, f"valid values: [{quoted}]")]
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        return [value_invalid(path, action, "requires the backoffLimitPerIndex to be set")]
    if action not in _ACTIONS:
        return [not_supported(path, action, _ACTIONS)]
    return []


def _validate_pattern(pattern: Object, path: str) -> list[FieldError]:
    errors = [
        value_invalid(f"{path}.type", pattern.get("type", ""), text)
        for text in qualified_name(str(pattern.get("type", "")))
    ]
    if pattern.get("status") not in ("False", "True", "Unknown"):
        errors.append(
            not_supported(f"{path}.status", pattern.get("status"), ("False", "True", "Unknown"))
        )
    return errors


def _validate_exit_codes(codes: Object, path: str, names: set[Any]) -> list[FieldError]:
    errors: list[FieldError] = []
    operator = codes.get("operator")
    if not operator:
        errors.append(required(f"{path}.operator", 'valid values: ["In" "NotIn"]'))
    elif operator not in ("In", "NotIn"):
        errors.append(not_supported(f"{path}.operator", operator, ("In", "NotIn")))
    name = codes.get("containerName")
    if name is not None and name not in names:
        errors.append(
            value_invalid(
                f"{path}.containerName",
                name,
                "must be one of the container or initContainer names in the pod template",
            )
        )
    values = list(codes.get("values") or ())
    if not values:
        errors.append(
            value_invalid(f"{path}.values", codes.get("values"), "at least one value is required")
        )
    elif len(values) > _MAX_EXIT_CODES:
        errors.append(too_many(f"{path}.values", len(values), _MAX_EXIT_CODES))
    for position, value in enumerate(values):
        if operator == "In" and value == 0:
            errors.append(
                value_invalid(
                    f"{path}.values[{position}]", value, "must not be 0 for the In operator"
                )
            )
        if value in values[:position]:
            errors.append(duplicate(f"{path}.values[{position}]", value))
    if values != sorted(values):
        errors.append(value_invalid(f"{path}.values", values, "must be ordered"))
    return errors


def validate_success_policy(spec: Object) -> list[FieldError]:
    """Validate the rules for a Job's early success."""
    policy = spec["successPolicy"]
    if spec["completionMode"] != "Indexed":
        return [value_invalid("spec.successPolicy", policy, "requires indexed completion mode")]
    path = "spec.successPolicy.rules"
    rules = policy.get("rules") or ()
    completions = spec.get("completions") or 0
    errors: list[FieldError] = []
    if not rules:
        errors.append(
            required(
                path, "at least one rules must be specified when the successPolicy is specified"
            )
        )
    if len(rules) > _MAX_RULES:
        errors.append(too_many(path, len(rules), _MAX_RULES))
    for position, rule in enumerate(rules):
        errors += _validate_success_rule(rule, completions, f"{path}[{position}]")
    return errors


def _validate_success_rule(rule: Object, completions: int, path: str) -> list[FieldError]:
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        return [
            required(path, "at least one of succeededCount or succeededIndexes must be specified")
        ]
    errors: list[FieldError] = []
    named = 0
    if indexes is not None:
        try:
            named = count_indexes(indexes, completions)
        except IndexesError as error:
            errors.append(
                value_invalid(
                    f"{path}.succeededIndexes", indexes, f"error parsing succeededIndexes: {error}"
                )
            )
    if count is None:
        return errors
    at = f"{path}.succeededCount"
    if count < 0:
        errors.append(value_invalid(at, count, "must be greater than or equal to 0"))
    if count > completions:
        errors.append(
            value_invalid(
                at,
                count,
                f"must be less than or equal to {completions} (the number of specified "
                "completions)",
            )
        )
    if indexes is not None and count > named:
        errors.append(
            value_invalid(
                at,
                count,
                f"must be less than or equal to {named} (the number of indexes in the specified "
                "succeededIndexes field)",
            )
        )
    return errors
