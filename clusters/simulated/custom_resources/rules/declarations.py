"""The types of a schema, as the checker of expressions knows them.

Objects become messages, as in a file of protocol buffers, so that a field that does not exist is
found before any value is there. Only fields that some rule names are declared: no other can be
asked for, and the schema of a pod template has thousands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from cel_expr_python import cel
from google.protobuf import descriptor_pb2, descriptor_pool, duration_pb2, struct_pb2, timestamp_pb2

from clusters.simulated.custom_resources.rules.escaping import names_of

_PACKAGE: Final = "schema"
_TEXT: Final[Mapping[str, Any]] = {"type": "string"}
ROOT_FIELDS: Final[Mapping[str, Any]] = {
    "apiVersion": _TEXT,
    "kind": _TEXT,
    "metadata": {"type": "object", "properties": {"name": _TEXT, "generateName": _TEXT}},
}
"""The fields that rules may name at the root of every object; no other field of its metadata."""

_Field: Final = descriptor_pb2.FieldDescriptorProto
_SCALARS: Final[Mapping[str, tuple[cel.Type, int]]] = {
    "string": (cel.Type.STRING, _Field.TYPE_STRING),
    "bytes": (cel.Type.BYTES, _Field.TYPE_BYTES),
    "integer": (cel.Type.INT, _Field.TYPE_INT64),
    "number": (cel.Type.DOUBLE, _Field.TYPE_DOUBLE),
    "boolean": (cel.Type.BOOL, _Field.TYPE_BOOL),
}
_WELL_KNOWN: Final[Mapping[str, tuple[cel.Type, str]]] = {
    "dyn": (cel.Type.DYN, ".google.protobuf.Value"),
    "duration": (cel.Type.DURATION, ".google.protobuf.Duration"),
    "timestamp": (cel.Type.TIMESTAMP, ".google.protobuf.Timestamp"),
}
_OF_FORMAT: Final[Mapping[str, str]] = {
    "byte": "bytes",
    "duration": "duration",
    "date": "timestamp",
    "date-time": "timestamp",
}


@dataclass(frozen=True, slots=True)
class Declared:
    """A type: a scalar's or a message's name, or a list or map of others."""

    name: str
    element: Declared | None = None

    def cel_type(self) -> cel.Type:
        if self.element is not None:
            inner = self.element.cel_type()
            return (
                cel.Type.List(inner)
                if self.name == "list"
                else cel.Type.Map(cel.Type.STRING, inner)
            )
        known = _SCALARS.get(self.name) or _WELL_KNOWN.get(self.name)
        return known[0] if known else cel.Type(f"{_PACKAGE}.{self.name}")


class Declarations:
    """The types of one schema; what is declared first is complete when the pool is made."""

    def __init__(self, mentioned: frozenset[str]) -> None:
        """`mentioned` are all names in the rules."""
        self._mentioned = mentioned
        self._file = descriptor_pb2.FileDescriptorProto(
            name="schema.proto", package=_PACKAGE, syntax="proto2"
        )
        self._file.dependency.extend(file.name for file in _FILES)

    def declare(self, schema: Mapping[str, Any], *, is_root: bool = False) -> Declared | None:
        """The type of a schema's values; None if expressions do not see them."""
        if schema.get("x-kubernetes-int-or-string"):
            return Declared("dyn")
        kind = schema.get("type", "")
        if kind == "array":
            return self._composite("list", schema.get("items"))
        extra = schema.get("additionalProperties")
        if kind == "object" and isinstance(extra, Mapping):
            return self._composite("map", extra)
        if kind == "object":
            return self._message(schema, is_root=is_root)
        if kind == "string":
            return Declared(_OF_FORMAT.get(schema.get("format", ""), "string"))
        return Declared(kind) if kind in _SCALARS else None

    def pool(self) -> descriptor_pool.DescriptorPool:
        """All that was declared so far, for the checker."""
        pool = descriptor_pool.DescriptorPool()
        for file in _FILES:
            pool.AddSerializedFile(file.serialized_pb)
        pool.AddSerializedFile(self._file.SerializeToString())
        return pool

    def _composite(self, name: str, schema: Mapping[str, Any] | None) -> Declared | None:
        if schema is None:
            return None
        element = self.declare(schema, is_root=bool(schema.get("x-kubernetes-embedded-resource")))
        return None if element is None else Declared(name, element)

    def _message(self, schema: Mapping[str, Any], *, is_root: bool) -> Declared:
        message = self._file.message_type.add(name=f"Type{len(self._file.message_type)}")
        properties = dict(schema.get("properties") or {})
        if is_root:
            properties |= ROOT_FIELDS
        for name, child in properties.items():
            spellings = self._mentioned.intersection(names_of(name))
            if not spellings:
                continue
            embedded = bool(child.get("x-kubernetes-embedded-resource"))
            declared = self.declare(child, is_root=embedded)
            if declared is not None:
                for spelling in sorted(spellings):
                    self._add(message, spelling, declared)
        return Declared(message.name)

    def _add(self, message: Any, name: str, declared: Declared) -> None:
        number = len(message.field) + 1
        field = message.field.add(name=name, number=number, label=_Field.LABEL_OPTIONAL)
        element = declared.element
        if element is None:
            _set_type(field, declared)
            return
        field.label = _Field.LABEL_REPEATED
        if declared.name == "list":
            _set_type(field, element)
            return
        camel = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
        entry = message.nested_type.add(name=f"{camel}Entry")
        entry.options.map_entry = True
        key = entry.field.add(name="key", number=1, label=_Field.LABEL_OPTIONAL)
        key.type = _Field.TYPE_STRING
        _set_type(entry.field.add(name="value", number=2, label=_Field.LABEL_OPTIONAL), element)
        field.type = _Field.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{message.name}.{entry.name}"


def _set_type(field: Any, declared: Declared) -> None:
    if declared.name in _SCALARS:
        field.type = _SCALARS[declared.name][1]
        return
    field.type = _Field.TYPE_MESSAGE
    if declared.element is not None:
        # Messages have no lists of lists: what such lists hold is checked with the values.
        name = "ListValue" if declared.name == "list" else "Struct"
        field.type_name = f".google.protobuf.{name}"
    elif declared.name in _WELL_KNOWN:
        field.type_name = _WELL_KNOWN[declared.name][1]
    else:
        field.type_name = f".{_PACKAGE}.{declared.name}"


_FILES: Final = (struct_pb2.DESCRIPTOR, timestamp_pb2.DESCRIPTOR, duration_pb2.DESCRIPTOR)


def names_in(texts: Iterator[str]) -> frozenset[str]:
    """Everything in these expressions that may be the name of a field."""
    return frozenset(name for text in texts for name in re.findall(r"[A-Za-z_]\w*", text))
