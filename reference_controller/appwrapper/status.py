"""Deriving the next `status` from the one that stands: conditions, stamps, component records.

`StatusDraft` is the only mutable thing of this package. It copies on the first change, lives
inside one pure function, and hands out an immutable snapshot at the end.
"""

from __future__ import annotations

from typing import Any, Final

from reference_controller.appwrapper.names import ATTEMPT_LABEL, Condition, Reason
from reference_controller.shared.conditions import with_condition
from vocabulary.clock import Micros, parse_rfc3339, to_rfc3339_micro
from vocabulary.objects import Object, annotations_of, labels_of

PERHAPS_CREATED: Final = ("True", "Unknown")
"""The states of creation of a component that may exist."""
_EMPTY: Object = {}


def status_of(aw: Object) -> Object:
    status: Object = aw.get("status") or _EMPTY
    return status


def spec_of(aw: Object) -> Object:
    spec: Object = aw.get("spec") or _EMPTY
    return spec


def phase_of(aw: Object) -> str:
    return str(status_of(aw).get("phase", ""))


def resets_of(aw: Object) -> int:
    """`status.resettingCount`; absent counts as 0."""
    return int(status_of(aw).get("resettingCount", 0))


def attempt_of(aw: Object) -> int:
    """The number of the current or last attempt to run the workload; 0 before the first."""
    return int(status_of(aw).get("attempt", 0))


def stamp_of(aw: Object, name: str) -> Micros | None:
    """One of our own timestamps (see `names.Stamp`), or None if it is not set."""
    text = status_of(aw).get(name)
    return None if text is None else parse_rfc3339(text)


def component_records(aw: Object) -> tuple[Object, ...]:
    """`status.componentStatus`, in the order of `spec.components`."""
    return tuple(status_of(aw).get("componentStatus") or ())


def creation_state(record: Object) -> str:
    """A component's own ResourcesDeployed condition: "", Unknown, True or False.

    Unknown means that its creation was intended: it may or may not exist.
    """
    for entry in record.get("conditions") or ():
        if entry.get("type") == Condition.RESOURCES_DEPLOYED:
            return str(entry["status"])
    return ""


def is_suspended(aw: Object) -> bool:
    return bool(spec_of(aw).get("suspend", False))


def attempt_of_object(obj: Object) -> int:
    """The attempt that created a component, a pod or a ReplicaSet; 0 if the object has none."""
    text = {**labels_of(obj), **annotations_of(obj)}.get(ATTEMPT_LABEL, "")
    return int(text) if text.isdecimal() else 0


class StatusDraft:
    """A status in the making. `now_us` stamps the conditions whose status flips."""

    def __init__(self, aw: Object, now_us: Micros) -> None:
        self._status: dict[str, Any] = dict(status_of(aw))
        self._now_us = now_us

    def done(self) -> Object:
        return self._status

    def phase(self, phase: str) -> StatusDraft:
        self._status["phase"] = phase
        return self

    def resets(self, count: int) -> StatusDraft:
        """Set the retry counter; 0 is written as absence, as the released API has it."""
        if count:
            self._status["resettingCount"] = count
        else:
            self._status.pop("resettingCount", None)
        return self

    def attempt(self, number: int) -> StatusDraft:
        self._status["attempt"] = number
        return self

    def stamp(self, name: str, at_us: Micros) -> StatusDraft:
        self._status[name] = to_rfc3339_micro(at_us)
        return self

    def clear(self, *names: str) -> StatusDraft:
        for name in names:
            self._status.pop(name, None)
        return self

    def condition(self, type_: str, status: str, reason: str, message: str = "") -> StatusDraft:
        new = {"type": type_, "status": status, "reason": reason, "message": message}
        standing = self._status.get("conditions") or ()
        self._status["conditions"] = with_condition(standing, new, self._now_us)
        return self

    def components(self, records: tuple[Object, ...]) -> StatusDraft:
        self._status["componentStatus"] = list(records)
        return self

    def component(self, index: int, record: Object) -> StatusDraft:
        records = list(self._status.get("componentStatus") or ())
        records[index] = record
        self._status["componentStatus"] = records
        return self


def with_creation_state(
    record: Object, state: str, reason: str, now_us: Micros, **fields: Any
) -> Object:
    """A component's record with its own ResourcesDeployed condition, and other fields, set."""
    new = {"type": Condition.RESOURCES_DEPLOYED, "status": state, "reason": reason, "message": ""}
    conditions = with_condition(record.get("conditions") or (), new, now_us)
    return {**record, **fields, "conditions": conditions}


def with_intent(record: Object, name: str, attempt: int, now_us: Micros) -> Object:
    """The record once the creation under `name` is intended; whatever an older attempt left
    in it is gone."""
    kept = {key: value for key, value in record.items() if key not in ("uid", "conditions")}
    return with_creation_state(
        kept, "Unknown", Reason.CREATION_INITIATED, now_us, name=name, attempt=attempt
    )
