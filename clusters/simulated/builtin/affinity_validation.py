"""Validation of a pod's affinity: to nodes, to other pods, and away from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from clusters.simulated.field_errors import FieldError, forbidden, required, value_invalid
from clusters.simulated.names import dns_label, dns_subdomain, label_value, qualified_name
from clusters.simulated.object_meta import validate_labels
from vocabulary.objects import Object

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_NO_OPERATOR: Final = "not a valid selector operator"


def validate_affinity(affinity: Object, path: str) -> list[FieldError]:
    """Validate the affinity at that path."""
    errors: list[FieldError] = []
    if affinity.get("nodeAffinity"):
        errors += _validate_node_affinity(affinity["nodeAffinity"], f"{path}.nodeAffinity")
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind) or {}
        for position, term in enumerate(rules.get(_REQUIRED) or ()):
            errors += _validate_pod_term(term, f"{path}.{kind}.{_REQUIRED}[{position}]")
        for position, weighted in enumerate(rules.get(_PREFERRED) or ()):
            at = f"{path}.{kind}.{_PREFERRED}[{position}]"
            errors += _validate_weight(weighted, at)
            errors += _validate_pod_term(
                weighted.get("podAffinityTerm") or {}, f"{at}.podAffinityTerm"
            )
    return errors


def _validate_weight(weighted: Object, path: str) -> list[FieldError]:
    weight = weighted.get("weight") or 0
    if 1 <= weight <= 100:
        return []
    return [value_invalid(f"{path}.weight", weight, "must be in the range 1-100")]


def _validate_pod_term(term: Object, path: str) -> list[FieldError]:
    selector = term.get("labelSelector")
    errors = validate_label_selector(selector, f"{path}.labelSelector")
    errors += validate_label_selector(term.get("namespaceSelector"), f"{path}.namespaceSelector")
    for name in term.get("namespaces") or ():
        errors += _complaints(f"{path}.namespace", name, dns_label)
    errors += _validate_label_keys(term, selector is not None, path)
    key = term.get("topologyKey") or ""
    if not key:
        errors.append(required(f"{path}.topologyKey", "can not be empty"))
    return errors + _complaints(f"{path}.topologyKey", key, qualified_name)


def _validate_label_keys(term: Object, selects: bool, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    unlike = term.get("mismatchLabelKeys") or ()
    for field in ("matchLabelKeys", "mismatchLabelKeys"):
        if term.get(field) and not selects:
            because = "must not be specified when labelSelector is not set"
            errors.append(forbidden(f"{path}.{field}", because))
    for field in ("matchLabelKeys", "mismatchLabelKeys"):
        for position, key in enumerate(term.get(field) or ()):
            errors += _complaints(f"{path}.{field}[{position}]", key, qualified_name)
    errors += [
        value_invalid(
            f"{path}.matchLabelKeys[{position}]",
            key,
            "exists in both matchLabelKeys and mismatchLabelKeys",
        )
        for position, key in enumerate(term.get("matchLabelKeys") or ())
        if key in unlike
    ]
    return errors + [
        value_invalid(f"{path}[{position}]", key, "exists in both matchLabelKeys and labelSelector")
        for position, key in enumerate(term.get("matchLabelKeys") or ())
        if _requirements(term.get("labelSelector") or {}).count(key) > 1
    ]


def _requirements(selector: Object) -> list[str]:
    """The keys that a selector is about: a label key adds one where a pod has the label."""
    expressions = selector.get("matchExpressions") or ()
    return [*(selector.get("matchLabels") or ()), *(each.get("key") for each in expressions)]


def validate_label_selector(selector: Object | None, path: str) -> list[FieldError]:
    if not selector:
        return []
    errors = validate_labels(selector.get("matchLabels") or {}, f"{path}.matchLabels")
    for position, each in enumerate(selector.get("matchExpressions") or ()):
        at = f"{path}.matchExpressions[{position}]"
        errors += _validate_requirement(each, at, numbers=False)
        errors += _each_complaint(f"{at}.values", each.get("values") or (), label_value)
    return errors


def shown_selector(selector: Object) -> Object:
    """The selector as a refusal repeats it: a requirement has a key and an operator, if empty."""
    shown = {
        "matchLabels": selector.get("matchLabels"),
        "matchExpressions": [
            {"key": "", "operator": "", **{name: part for name, part in each.items() if part}}
            for each in selector.get("matchExpressions") or ()
        ],
    }
    return {name: part for name, part in shown.items() if part}


def _validate_requirement(each: Object, path: str, *, numbers: bool) -> list[FieldError]:
    operator, values = each.get("operator", ""), each.get("values") or ()
    errors: list[FieldError] = []
    if operator in ("In", "NotIn"):
        if not values:
            because = "must be specified when `operator` is 'In' or 'NotIn'"
            errors.append(required(f"{path}.values", because))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            because = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(forbidden(f"{path}.values", because))
    elif numbers and operator in ("Gt", "Lt"):
        if len(values) != 1:
            because = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            errors.append(required(f"{path}.values", because))
    else:
        errors.append(value_invalid(f"{path}.operator", operator, _NO_OPERATOR))
    return errors + _complaints(f"{path}.key", each.get("key") or "", qualified_name)


def _validate_node_affinity(affinity: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if affinity.get(_REQUIRED) is not None:
        at = f"{path}.{_REQUIRED}.nodeSelectorTerms"
        terms = affinity[_REQUIRED].get("nodeSelectorTerms") or ()
        if not terms:
            errors.append(required(at, "must have at least one node selector term"))
        for position, term in enumerate(terms):
            errors += _validate_node_term(term, f"{at}[{position}]", checks_values=True)
    for position, weighted in enumerate(affinity.get(_PREFERRED) or ()):
        at = f"{path}.{_PREFERRED}[{position}]"
        errors += _validate_weight(weighted, at)
        preference = weighted.get("preference") or {}
        errors += _validate_node_term(preference, f"{at}.preference", checks_values=False)
    return errors


def _validate_node_term(term: Object, path: str, *, checks_values: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    for position, each in enumerate(term.get("matchExpressions") or ()):
        at = f"{path}.matchExpressions[{position}]"
        errors += _validate_requirement(each, at, numbers=True)
        if checks_values:
            errors += _each_complaint(f"{at}.values", each.get("values") or (), label_value)
    for position, each in enumerate(term.get("matchFields") or ()):
        errors += _validate_field(each, f"{path}.matchFields[{position}]")
    return errors


def _validate_field(each: Object, path: str) -> list[FieldError]:
    operator, values = each.get("operator", ""), each.get("values") or ()
    errors: list[FieldError] = []
    if operator not in ("In", "NotIn"):
        errors.append(value_invalid(f"{path}.operator", operator, _NO_OPERATOR))
    elif len(values) != 1:
        because = (
            "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        )
        errors.append(required(f"{path}.values", because))
    if each.get("key") != "metadata.name":
        because = "not a valid field selector key"
        return [*errors, value_invalid(f"{path}.key", each.get("key") or "", because)]
    return errors + _each_complaint(f"{path}.values", values, dns_subdomain)


def _each_complaint(
    path: str, values: Sequence[Any], check: Callable[[str], Iterable[str]]
) -> list[FieldError]:
    return [
        error
        for position, value in enumerate(values)
        for error in _complaints(f"{path}[{position}]", value, check)
    ]


def _complaints(path: str, value: str, check: Callable[[str], Iterable[str]]) -> list[FieldError]:
    return [value_invalid(path, value, text) for text in check(value)]
