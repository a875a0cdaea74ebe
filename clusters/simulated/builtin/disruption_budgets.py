"""PodDisruptionBudgets: how many pods evictions may take at once.

`controllers.disruption` counts the pods; `clusters.simulated.disruption` has evictions obey that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from clusters.simulated.builtin.affinity_validation import validate_label_selector
from clusters.simulated.builtin.uncontrolled import Plain, PlainStrategy
from clusters.simulated.field_errors import FieldError, not_supported, value_invalid
from vocabulary.integers import int64_of
from vocabulary.kinds import POD_DISRUPTION_BUDGET
from vocabulary.objects import Object

_POLICIES: Final = ("AlwaysAllow", "IfHealthyBudget")
_COUNTS: Final = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
_NEGATIVE: Final = "must be greater than or equal to 0"
_NO_PERCENTAGE: Final = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
    "'93%', regex used for validation is '[0-9]+%')"
)


class _DisruptionBudgetStrategy(PlainStrategy):
    def validate(self, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = []
        if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
            because = "minAvailable and maxUnavailable cannot be both set"
            errors.append(value_invalid("spec", spec, because))
        for name in ("minAvailable", "maxUnavailable"):
            errors += _amount_errors(spec.get(name), f"spec.{name}")
        errors += validate_label_selector(spec.get("selector"), "spec.selector")
        policy = spec.get("unhealthyPodEvictionPolicy")
        if policy is not None and policy not in _POLICIES:
            errors.append(not_supported("spec.unhealthyPodEvictionPolicy", policy, _POLICIES))
        return errors

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        return [] if new["spec"] is old["spec"] else self.validate(new)

    def validate_status_update(self, new: Object, old: Object) -> list[FieldError]:  # noqa: ARG002
        status = new.get("status") or {}
        return [
            value_invalid(f"status.{name}", status[name], _NEGATIVE)
            for name in _COUNTS
            if status.get(name, 0) < 0
        ]


def _amount_errors(amount: Any, path: str) -> Iterator[FieldError]:
    """Of a number of pods, or a part of all of them."""
    if isinstance(amount, int) and amount < 0:
        yield value_invalid(path, amount, _NEGATIVE)
    if isinstance(amount, str):
        if not re.fullmatch("[0-9]+%", amount):
            yield value_invalid(path, amount, _NO_PERCENTAGE)
        elif (percent := int64_of(amount[:-1])) is None or percent > 100:
            yield value_invalid(path, amount, "must not be greater than 100%")


DISRUPTION_BUDGETS: Final = Plain(
    POD_DISRUPTION_BUDGET,
    short_names=("pdb",),
    subresources=frozenset({"status"}),
    has_generation=True,
    unconditional_update=False,
    strategy=_DisruptionBudgetStrategy,
)
