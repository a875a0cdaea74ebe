"""The values of a schema, as expressions see them: numbers are doubles, times are times."""

from __future__ import annotations

import base64
from collections.abc import Callable, Hashable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from clusters.simulated.custom_resources.formats import duration_of
from clusters.simulated.custom_resources.keyed_lists import by_key, key_of, map_keys
from clusters.simulated.custom_resources.rules.escaping import names_of

Adapt: TypeAlias = Callable[[Any], Any]
"""From a JSON value to what expressions see. ValueError if it cannot be."""
Align: TypeAlias = Callable[[Any, Any], Any]
"""(old value, new value) → the old value, its sets and keyed lists in the order of the new ones."""


def adapter(schema: Mapping[str, Any], mentioned: frozenset[str]) -> Adapt | None:
    """How a schema's values are adapted; None if they stay as they are.

    Fields that no rule mentions stay as they are: they are compared as parts of others at most.
    """
    kind = schema.get("type", "")
    extra = schema.get("additionalProperties")
    if schema.get("x-kubernetes-int-or-string"):
        return None
    if kind == "array":
        return _each_item(adapter(schema.get("items") or {}, mentioned))
    if kind == "object" and isinstance(extra, Mapping):
        return _each_value(adapter(extra, mentioned))
    if kind == "object":
        return _fields(schema.get("properties") or {}, mentioned)
    if kind == "number":
        return _double
    return _FORMATS.get(schema.get("format", "")) if kind == "string" else None


def _each_item(adapt: Adapt | None) -> Adapt | None:
    if adapt is None:
        return None
    return lambda value: [adapt(item) for item in value] if isinstance(value, list) else value


def _each_value(adapt: Adapt | None) -> Adapt | None:
    if adapt is None:
        return None

    def adapted(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: adapt(child) for key, child in value.items()}

    return adapted


def _fields(properties: Mapping[str, Any], mentioned: frozenset[str]) -> Adapt | None:
    parts = {
        field: (names_of(field), adapter(child, mentioned))
        for field, child in properties.items()
        if mentioned.intersection(names_of(field))
    }
    parts = {
        field: part for field, part in parts.items() if part[1] is not None or part[0] != (field,)
    }
    if not parts:
        return None

    def adapted(value: Any) -> Any:
        if not isinstance(value, dict) or parts.keys().isdisjoint(value):
            return value
        seen = dict(value)
        for field, (spellings, adapt) in parts.items():
            if field in value:
                child = value[field] if adapt is None else adapt(value[field])
                seen |= dict.fromkeys(spellings, child)
        return seen

    return adapted


def _double(value: Any) -> Any:
    return float(value) if isinstance(value, int) else value


def _bytes(value: Any) -> Any:
    return base64.b64decode(value, validate=True) if isinstance(value, str) else value


def _duration(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    span = Duration()
    span.FromMicroseconds(duration_of(value))
    return span


def _time(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    time = datetime.fromisoformat(value)
    moment = Timestamp()
    moment.FromDatetime(time if time.tzinfo else time.replace(tzinfo=UTC))
    return moment


_FORMATS: Final[Mapping[str, Adapt]] = {
    "byte": _bytes,
    "duration": _duration,
    "date": _time,
    "date-time": _time,
}


def aligner(schema: Mapping[str, Any]) -> Align | None:
    """How sets and keyed lists, whose order says nothing, are made comparable; None without any."""
    if schema.get("type") == "array":
        return _aligned_list(schema)
    extra = schema.get("additionalProperties")
    align_extra = aligner(extra) if isinstance(extra, Mapping) else None
    found = {field: aligner(child) for field, child in (schema.get("properties") or {}).items()}
    parts = {field: align for field, align in found.items() if align is not None}
    if not parts and align_extra is None:
        return None

    def align(old: Any, new: Any) -> Any:
        if old == new or not (isinstance(old, dict) and isinstance(new, dict)):
            return old
        aligned = dict(old)
        for field in old.keys() & new.keys():
            part = parts.get(field, align_extra)
            if part is not None:
                aligned[field] = part(old[field], new[field])
        return aligned

    return align


def _aligned_list(schema: Mapping[str, Any]) -> Align | None:
    keys = map_keys(schema)
    is_set = schema.get("x-kubernetes-list-type") == "set"
    inner = aligner(schema.get("items") or {})
    if not keys and not is_set:
        return None if inner is None else lambda old, new: _in_turn(old, new, inner)

    def align(old: Any, new: Any) -> Any:
        if old == new or not (isinstance(old, list) and isinstance(new, list)):
            return old
        before: dict[Hashable, Any]
        before = by_key(old, keys) if keys else {repr(item): item for item in old}
        order: list[Hashable] = [key_of(item, keys) if keys else repr(item) for item in new]
        if len(order) != len(old) or set(order) != before.keys():
            return old
        aligned = [before[each] for each in order]
        return aligned if inner is None else _in_turn(aligned, new, inner)

    return align


def _in_turn(old: Any, new: Any, align: Align) -> Any:
    if not (isinstance(old, list) and isinstance(new, list)) or len(old) != len(new):
        return old
    return [align(before, after) for before, after in zip(old, new, strict=True)]
