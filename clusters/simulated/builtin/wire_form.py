"""The JSON form of an object in Go: fields that are always present, and omitted zeros.

A real server decodes to structs and encodes these again. An unset time becomes null if the field
is required, and a zero or an empty list is omitted if the field is optional.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from clusters.simulated.builtin.quantities import canonical_quantity
from vocabulary.kinds import Kind
from vocabulary.messages import Field, entries_of, fields_of, tables
from vocabulary.objects import Object


def with_times(conditions: Sequence[Object]) -> list[Object]:
    """Conditions of a Pod or a Job, each with both its times; null where they are not set."""
    times: Mapping[str, Any] = {"lastProbeTime": None, "lastTransitionTime": None}
    return [
        one if "lastProbeTime" in one and "lastTransitionTime" in one else {**times, **one}
        for one in conditions
    ]


def without_zeros(part: Object, fields: Iterable[str]) -> dict[str, Any]:
    """A part of an object, such as its status, without those of the fields that hold nothing."""
    emptied = [field for field in fields if field in part and not part[field]]
    return {name: value for name, value in part.items() if name not in emptied}


def container_status(status: Object) -> Object:
    """A container's status, its states with all their times."""
    if "lastState" not in status:
        status = {**status, "lastState": {}}
    state = status.get("state") or {}
    for phase, times in (("running", ("startedAt",)), ("terminated", ("startedAt", "finishedAt"))):
        shown = state.get(phase)
        if shown is not None and any(time not in shown for time in times):
            filled = {**dict.fromkeys(times), **shown}
            status = {**status, "state": {**state, phase: filled}}
    return status


_ZEROS: Final[Mapping[str, Any]] = {
    "string": "",
    "int32": 0,
    "int64": 0,
    "bool": False,
    "duration": "0s",
    "intorstring": 0,
    "quantity": "0",
}
_OMITTED: Final = ("string", "int32", "int64", "bool", "bytes")
"""Scalars whose zero Go leaves out of an optional field; the others are structs to it."""


def as_go_writes(part: Object, message: str) -> dict[str, Any]:
    """A message as Go writes what it has read: without the zeros of optional fields, with those of
    all others, quantities in their one form. Fields that the message lacks are left out."""
    found: dict[str, Any] = {}
    for field in tables().messages[message]:
        if field.is_inline:
            found |= as_go_writes(part, field.type)
            continue
        value = _written(part.get(field.name), field.type)
        if value is None and not field.is_pointer:
            value = _zero(field.type)
        if not _is_left_out(field, value):
            found[field.name] = value
    return found


def _zero(type_: str) -> Any:
    return as_go_writes({}, type_) if type_ in tables().messages else _ZEROS.get(type_)


def _is_left_out(field: Field, value: Any) -> bool:
    if field.is_pointer:
        return value is None and field.omits_empty
    if field.omits_zero and not value:
        return True
    is_empty = bool(entries_of(field.type)) and not value
    return field.omits_empty and (is_empty or _is_zero(value, field.type))


def _written(value: Any, type_: str) -> Any:
    entries = entries_of(type_)
    if entries and isinstance(value, list):
        return [_written(entry, entries) for entry in value]
    if entries and isinstance(value, dict):
        return {name: _written(entry, entries) for name, entry in value.items()}
    if type_ == "quantity" and value is not None:
        return canonical_quantity(value)
    if isinstance(value, dict) and type_ in tables().messages:
        return as_go_writes(value, type_)
    return value


def without_optional_zeros(part: Object, message: str, *, empty: bool = False) -> Object:
    """A message without the zeros of optional fields that are no pointers, and with `empty` without
    their empty lists: Go does not tell these from no value. The very same object if it has none."""
    changed: dict[str, Any] = {}
    fields = _fields(message)
    for name, value in part.items():
        field = fields.get(name)
        if field is None or value is None:
            continue
        # An IntOrString is a struct to Go, so its zero is written; every default counts it as none.
        is_zero = not value and (
            _is_zero(value, field.type)
            or field.type == "intorstring"
            or (empty and bool(entries_of(field.type)))
        )
        if field.omits_empty and not field.is_pointer and is_zero:
            changed[name] = None
        elif isinstance(value, dict | list):
            inner = _without_zeros_within(value, field.type, empty)
            if inner is not value:
                changed[name] = inner
    if not changed:
        return part
    return {
        name: changed.get(name, value)
        for name, value in part.items()
        if changed.get(name, value) is not None or name not in changed
    }


def drop_optional_zeros(
    obj: dict[str, Any], kind: Kind, old: Object | None = None, *, empty: bool = False
) -> None:
    """Take the zeros of optional fields off an object whose top level is the caller's own, but for
    what it shares with the old object."""
    message = tables().kinds.get((kind.api_version, kind.kind))
    if message is None:
        return
    changed = {
        name: value for name, value in obj.items() if old is None or value is not old.get(name)
    }
    kept = without_optional_zeros(changed, message, empty=empty)
    if kept is changed:
        return
    for name in changed:
        if name in kept:
            obj[name] = kept[name]
        else:
            del obj[name]


@cache
def _fields(message: str) -> Mapping[str, Field]:
    return {field.name: field for field in fields_of(message)}


def _is_zero(value: Any, type_: str) -> bool:
    return not value and type_ in _OMITTED


def _without_zeros_within(value: Any, type_: str, empty: bool) -> Any:
    if value is None:  # an entry of a list or a map, of which an empty one is made later
        return None
    entries = entries_of(type_)
    if not entries:
        is_message = type_ in tables().messages
        return without_optional_zeros(value, type_, empty=empty) if is_message else value
    if entries not in tables().messages and not entries_of(entries):
        return value
    if isinstance(value, list):
        changed: Any = [_without_zeros_within(entry, entries, empty) for entry in value]
        same = all(one is other for one, other in zip(changed, value, strict=True))
    else:
        changed = {
            name: _without_zeros_within(entry, entries, empty) for name, entry in value.items()
        }
        same = all(changed[name] is entry for name, entry in value.items())
    return value if same else changed
