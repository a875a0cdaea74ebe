"""LimitRange: its defaults and its validation."""
# ruff: noqa: ARG002 - a hook is given all that some kind may want to look at

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from clusters.simulated.builtin.quantities import (
    Quantity,
    canonical_quantities,
    quantities_of,
    quantity_of,
)
from clusters.simulated.builtin.resource_validation import (
    complaints_about_name,
    complaints_about_resource,
    may_be_overcommitted,
)
from clusters.simulated.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    required,
    value_invalid,
)
from clusters.simulated.names import qualified_name
from clusters.simulated.strategy import Strategy
from vocabulary.objects import Object, get_path

_AMOUNTS: Final = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_TYPES: Final = ("Pod", "Container", "PersistentVolumeClaim")


class LimitRangeStrategy(Strategy):
    creates_on_update = True
    short_names = ("limits",)

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        limits = get_path(obj, "spec.limits")
        if limits and (old is None or limits is not get_path(old, "spec.limits")):
            obj["spec"] = {**obj["spec"], "limits": list(map(_filled, limits))}

    def validate(self, obj: Object) -> list[FieldError]:
        limits = get_path(obj, "spec.limits") or ()
        errors: list[FieldError] = []
        for position, item in enumerate(limits):
            path = f"spec.limits[{position}]"
            errors += _validate_type(item.get("type", ""), f"{path}.type")
            if any(item.get("type") == other.get("type") for other in limits[:position]):
                errors.append(duplicate(f"{path}.type", item.get("type", "")))
            errors += _validate_item(item, path)
        return errors

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        return self.validate(new)


def _filled(item: Object) -> Object:
    """A container's default limit is its maximum, and its default request the limit."""
    amounts = {name: canonical_quantities(item[name]) for name in _AMOUNTS if item.get(name)}
    if item.get("type") == "Container":
        limits = {**amounts.get("max", {}), **amounts.get("default", {})}
        requests = {**amounts.get("min", {}), **limits, **amounts.get("defaultRequest", {})}
        amounts |= {"default": limits, "defaultRequest": requests}
    others = {name: value for name, value in item.items() if name not in _AMOUNTS}
    return {**others, **{name: amount for name, amount in amounts.items() if amount}}


def _validate_type(type_: str, path: str) -> list[FieldError]:
    complaints = qualified_name(type_)
    if not complaints and "/" not in type_ and type_ not in _TYPES:
        complaints = ("must be a standard limit type or fully qualified",)
    return [value_invalid(path, type_, complaint) for complaint in complaints]


def _validate_item(item: Object, path: str) -> Iterator[FieldError]:
    type_ = item.get("type")
    amounts = {name: quantities_of(item.get(name) or {}) for name in _AMOUNTS}
    if type_ == "Pod":
        for name in ("default", "defaultRequest"):
            if amounts.pop(name):
                yield forbidden(f"{path}.{name}", "may not be specified when `type` is 'Pod'")
    complain = complaints_about_name if type_ in ("Pod", "Container") else complaints_about_resource
    for name, each in amounts.items():
        for resource in each:
            for complaint in complain(resource):
                yield value_invalid(f"{path}.{name}[{resource}]", resource, complaint)
    if type_ == "PersistentVolumeClaim" and not {"storage"} & {*amounts["min"], *amounts["max"]}:
        because = "either minimum or maximum storage value is required, but neither was provided"
        yield required(f"{path}.limits", because)
    for resource in sorted({resource for each in amounts.values() for resource in each}):
        of_one = {name: each[resource] for name, each in amounts.items() if resource in each}
        yield from _validate_order(resource, of_one, path)


_IN_ORDER: Final = (
    ("min", "max", "min", "min value {0} is greater than max value {1}"),
    (
        "min",
        "defaultRequest",
        "defaultRequest",
        "min value {0} is greater than default request value {1}",
    ),
    (
        "defaultRequest",
        "max",
        "defaultRequest",
        "default request value {0} is greater than max value {1}",
    ),
    (
        "defaultRequest",
        "default",
        "defaultRequest",
        "default request value {0} is greater than default limit value {1}",
    ),
    ("min", "default", "default", "min value {0} is greater than default value {1}"),
    ("default", "max", "default", "default value {0} is greater than max value {1}"),
)
"""(the smaller amount, the larger, the one whose field is refused, the words)."""
_SHOWN: Final = {("min", "default"): "min", ("default", "max"): "max"}
"""Where the message shows another amount than that of the field."""


def _validate_order(
    resource: str, amounts: Mapping[str, Quantity], path: str
) -> Iterator[FieldError]:
    def refusal(field: str, shown: Quantity, because: str) -> FieldError:
        return value_invalid(f"{path}.{field}[{resource}]", str(shown), because)

    for low, high, field, words in _IN_ORDER:
        if low in amounts and high in amounts and amounts[high] < amounts[low]:
            shown = amounts[_SHOWN.get((low, high), field)]
            yield refusal(field, shown, words.format(amounts[low], amounts[high]))
    ratio = amounts.get("maxLimitRequestRatio")
    if ratio is not None:
        if ratio < quantity_of("1"):
            because = f"ratio {ratio} is less than 1"
            yield refusal("maxLimitRequestRatio", ratio, because)
        if "min" in amounts and "max" in amounts and amounts["min"].value:
            most = amounts["max"].value / amounts["min"].value
            if ratio.value > most:
                because = f"ratio {ratio} is greater than max/min = {float(most):f}"
                yield refusal("maxLimitRequestRatio", ratio, because)
    request, limit = amounts.get("defaultRequest"), amounts.get("default")
    if request and limit and not may_be_overcommitted(resource) and request.value != limit.value:
        because = (
            f"default value {limit} must equal to defaultRequest value {request} in {resource}"
        )
        yield refusal("defaultRequest", request, because)
