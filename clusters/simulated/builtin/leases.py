"""Leases: who holds what for how long."""

from __future__ import annotations

from typing import Any, Final

from clusters.simulated.builtin.go_times import in_utc
from clusters.simulated.field_errors import FieldError, value_invalid
from clusters.simulated.strategy import Strategy
from vocabulary.objects import Object

_TIMES: Final = ("acquireTime", "renewTime")


class LeaseStrategy(Strategy):
    unconditional_update = False
    creates_on_update = True

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        spec = obj.get("spec")
        if spec is None:
            obj["spec"] = {}
        elif old is None or spec is not old.get("spec"):
            for field in _TIMES:
                text = spec.get(field)
                if text is not None and (stored := in_utc(text)) != text:
                    obj["spec"] = {**obj["spec"], field: stored}

    def validate(self, obj: Object) -> list[FieldError]:
        spec: Object = obj.get("spec") or {}
        errors = []
        seconds = spec.get("leaseDurationSeconds")
        if seconds is not None and seconds <= 0:
            field = "spec.leaseDurationSeconds"
            errors.append(value_invalid(field, seconds, "must be greater than 0"))
        transitions = spec.get("leaseTransitions")
        if transitions is not None and transitions < 0:
            because = "must be greater than or equal to 0"
            errors.append(value_invalid("spec.leaseTransitions", transitions, because))
        return errors

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        return [] if new.get("spec") is old.get("spec") else self.validate(new)
