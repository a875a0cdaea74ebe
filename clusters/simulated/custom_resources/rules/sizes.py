"""How large the values of a schema may be, of which the costs of expressions are estimated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from clusters.simulated.custom_resources.rules.declarations import ROOT_FIELDS
from clusters.simulated.custom_resources.rules.escaping import names_of

Schema = Mapping[str, Any]

MAX_REQUEST_BYTES: Final = 3 * 1024 * 1024
_MAX_BYTES_OF_CHARACTER: Final = 4
_MAX_OF_FORMAT: Final = {"duration": 32, "date": 12, "date-time": 32}
_MIN_OF_FORMAT: Final = {"duration": 3, "date": 12, "date-time": 21}
_MIN_OF_TYPE: Final = {"boolean": 4, "number": 1, "integer": 1}
_EMPTY: Final = 2
"""The bytes of an empty text, list or map."""
_BESIDE_FIELD: Final = 4
"""The bytes beside a field's name and its value."""
_BESIDE_KEY: Final = 6
_KEY: Final[Schema] = {}


def max_elements(schema: Schema) -> int:
    """The largest size of a value: its characters, items or entries; 0 for one without a size."""
    if schema.get("x-kubernetes-int-or-string"):
        return _max_length({"maxLength": schema.get("maxLength")})
    kind = schema.get("type", "")
    if kind == "array":
        most = schema.get("maxItems")
        smallest = min_bytes(schema.get("items") or {}) + 1
        return (MAX_REQUEST_BYTES - _EMPTY) // smallest if most is None else max(most, 0)
    extra = schema.get("additionalProperties")
    if kind == "object" and isinstance(extra, Mapping):
        most = schema.get("maxProperties")
        smallest = min_bytes(extra) + _BESIDE_KEY
        return (MAX_REQUEST_BYTES - _EMPTY) // smallest if most is None else max(most, 0)
    return _max_length(schema) if kind == "string" else 0


def _max_length(schema: Schema) -> int:
    format_: str = schema.get("format", "")
    longest: int | None = schema.get("maxLength")
    if format_ in _MAX_OF_FORMAT:
        return _MAX_OF_FORMAT[format_]
    if longest is not None:
        return max(longest, 0) * (1 if format_ == "byte" else _MAX_BYTES_OF_CHARACTER)
    if schema.get("enum") and format_ != "byte":
        texts = [choice.encode() for choice in schema["enum"] if isinstance(choice, str)]
        return max(map(len, texts), default=0)
    return MAX_REQUEST_BYTES - _EMPTY


def min_bytes(schema: Schema) -> int:
    """The size of the smallest value, as JSON."""
    if schema.get("x-kubernetes-int-or-string"):
        return 1
    kind = schema.get("type", "")
    if kind != "object" or isinstance(schema.get("additionalProperties"), Mapping):
        smallest = _MIN_OF_FORMAT.get(schema.get("format", "")) if kind == "string" else None
        return smallest or _MIN_OF_TYPE.get(kind, _EMPTY)
    fields = schema.get("properties") or {}
    needed = (name for name in schema.get("required") or () if name in fields)
    return _EMPTY + sum(
        len(name) + min_bytes(fields[name]) + _BESIDE_FIELD
        for name in needed
        if "default" not in fields[name] and _is_seen(fields[name])
    )


def _is_seen(schema: Schema) -> bool:
    """True for a schema whose values expressions see."""
    kind = schema.get("type", "")
    if kind == "array":
        return _is_seen(schema.get("items") or {})
    known = kind in ("object", "string", *_MIN_OF_TYPE)
    return known or bool(schema.get("x-kubernetes-int-or-string"))


def max_factor(schema: Schema) -> int | None:
    """By how much a schema multiplies the values below it; None without a limit."""
    kind = schema.get("type", "")
    if kind == "array":
        most = schema.get("maxItems")
    elif kind == "object" and schema.get("additionalProperties"):
        most = schema.get("maxProperties")
    else:
        return 1
    return None if most is None else max(most, 0)


def at(schema: Schema, path: Sequence[str], *, is_root: bool) -> Schema | None:
    """The schema of a part of a value; None for a part that is not known."""
    node: Any = schema
    for step in path:
        if node is None:
            return None
        if step == "@keys":
            node = _KEY
        elif step in ("@items", "@values"):
            extra = node.get("additionalProperties")
            node = node.get("items") or (extra if isinstance(extra, Mapping) else None)
        else:
            fields = dict(node.get("properties") or {})
            if is_root or node.get("x-kubernetes-embedded-resource"):
                fields |= ROOT_FIELDS
            node = next((it for name, it in fields.items() if step in names_of(name)), None)
        is_root = False
    return node  # type: ignore[no-any-return]
