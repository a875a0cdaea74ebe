"""The error with which a real server refuses an object whose values are not of their types.

There are two: of Go's decoder, which reads the JSON of an object in the order in which it is
written, and of the converter, which takes an object that a patch has made, in the order of Go's
structs.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from clusters.simulated.builtin.go_times import unparsed_micro_time, unparsed_time
from clusters.simulated.builtin.mistyped import json_type
from clusters.simulated.builtin.quantities import no_quantity
from vocabulary.durations import parse_duration
from vocabulary.messages import (
    Field,
    entries_go_type,
    entries_of,
    fields_of,
    tables,
)

_BITS: Final = {"int32": 31, "int64": 63}
_SCHEMA: Final = "apiextensions/v1.JSONSchemaProps"
_SCHEMA_UNIONS: Final = frozenset({"schemaorarray", "schemaorbool", "schemaorstrings"})


class _UnreadableError(Exception):
    """An error that ends decoding at once, as that of a type which reads its own JSON does."""


def decoding_error(obj: Mapping[str, Any], message: str) -> str:
    """The error of Go's decoder; "" if every value of a message is of its type."""
    decoder = _Decoder()
    try:
        decoder.message(obj, message, "", ())
    except _UnreadableError as error:
        return str(error)
    return decoder.first


@dataclass
class _Decoder:
    """Reads on after a value of a wrong type, and tells the first one in the end."""

    first: str = ""

    def message(self, obj: Any, message: str, struct: str, names: tuple[str, ...]) -> None:
        struct = struct or message.rpartition(".")[2]
        fields = _placed(message)
        for name, value in obj.items():
            if name in fields and value is not None:
                known, steps = fields[name]
                self.value(value, known.type, known.go_type, struct, (*names, *steps))

    def value(
        self, value: Any, type_: str, go_type: str, struct: str, names: tuple[str, ...]
    ) -> None:
        if value is None:
            return
        entries = entries_of(type_)
        if entries:
            shape = dict if type_.startswith("map:") else list
            if not isinstance(value, shape):
                self._mistyped(json_type(value), go_type, struct, names)
                return
            for entry in value.values() if isinstance(value, dict) else value:
                self.value(entry, entries, entries_go_type(go_type, entries), struct, names)
        elif type_ in tables().messages:
            if isinstance(value, dict):
                self.message(value, type_, type_.rpartition(".")[2], names)
            else:
                self._mistyped(json_type(value), go_type, struct, names)
        elif type_ in _SCHEMA_UNIONS:
            for part in _schemas_in(value, type_):
                self._nested(part, struct, names)
        else:
            self._scalar(value, type_, go_type, struct, names)

    def _scalar(
        self, value: Any, type_: str, go_type: str, struct: str, names: tuple[str, ...]
    ) -> None:
        found = _unlike(value, type_)
        if found:
            self._mistyped(found, go_type, struct, names)
            return
        if type_ == "bytes":
            self.first = self.first or _no_base64(value)
            return
        found, wanted = _unlike_own(value, type_)
        if found:
            raise _UnreadableError(_unmarshaled(found, wanted, struct, names))
        because = _unparsed(value, type_)
        if because:
            raise _UnreadableError(because)

    def _nested(self, schema: Any, struct: str, names: tuple[str, ...]) -> None:
        """A schema that is read by itself; its names follow those of the field that has it."""
        inner = _Decoder()
        if isinstance(schema, dict):
            inner.message(schema, _SCHEMA, struct, names)
        else:
            inner._mistyped(json_type(schema), f"v1.{_SCHEMA.rpartition('.')[2]}", struct, names)
        if inner.first:
            raise _UnreadableError(inner.first)

    def _mistyped(self, found: str, go_type: str, struct: str, names: tuple[str, ...]) -> None:
        self.first = self.first or _unmarshaled(found, go_type, struct, names)


@cache
def _placed(message: str) -> Mapping[str, tuple[Field, tuple[str, ...]]]:
    """The fields of a message by their names in JSON; with the steps to each, as the decoder names
    them: it tells the structs that are embedded in others."""
    found: dict[str, tuple[Field, tuple[str, ...]]] = {
        known.name: (known, (known.name,)) for known in fields_of(message)
    }
    for known in tables().messages[message]:
        if known.is_inline:
            embedded = known.type.rpartition(".")[2]
            for name, (inner, steps) in _placed(known.type).items():
                found[name] = inner, (embedded, *steps)
    return found


def conversion_error(obj: Mapping[str, Any], message: str) -> str:
    """The error of the converter; "" if every value of a message is of its type."""
    for known in fields_of(message):
        because = _unconverted(obj.get(known.name), known.type, known.go_type)
        if because:
            return because
    return ""


def _unconverted(value: Any, type_: str, go_type: str) -> str:
    if value is None:
        return ""
    entries = entries_of(type_)
    if type_.startswith("map:"):
        if not isinstance(value, dict):
            return f"cannot restore map from {_go_kind(value)}"
        return _first_unconverted(value.values(), entries, go_type)
    if entries:
        if not isinstance(value, list):
            return f"cannot restore slice from {_go_kind(value)}"
        return _first_unconverted(value, entries, go_type)
    if type_ in tables().messages:
        if not isinstance(value, dict):
            return f"cannot restore struct from: {_go_kind(value)}"
        return conversion_error(value, type_)
    if type_ == "bytes":
        if isinstance(value, str):
            because = _no_base64(value)
            return f"error decoding from json: {because}" if because else ""
        if not isinstance(value, list):
            return f"cannot restore slice from {_go_kind(value)}"
        return next(filter(None, map(_no_byte, value)), "")
    if type_ in _SCHEMA_UNIONS:
        decoder = _Decoder()
        try:
            decoder.value(value, type_, "", "JSONSchemaProps", ())
        except _UnreadableError as error:
            return str(error).replace("JSONSchemaProps..", "JSONSchemaProps.")
        return ""
    found, wanted = _unlike_own(value, type_)
    if found:
        return f"json: cannot unmarshal {found} into Go value of type {wanted}"
    return _unparsed(value, type_) or _inconvertible(value, type_, go_type)


def _no_byte(value: Any) -> str:
    kind = _go_kind(value)
    if value is None or kind == "int64" or (kind == "float64" and value == int(value)):
        return ""
    if kind == "float64":
        return "cannot convert float64 to uint8"
    return "unrecognized type: uint8"


def _first_unconverted(values: Any, entries: str, go_type: str) -> str:
    named = entries_go_type(go_type, entries)
    return next(filter(None, (_unconverted(value, entries, named) for value in values)), "")


def _inconvertible(value: Any, type_: str, go_type: str) -> str:
    """Go converts numbers to each other, and would convert an integer to the text of a letter."""
    kind = _go_kind(value)
    if type_ in _BITS:
        if kind == "int64" or (kind == "float64" and value == int(value)):
            return ""
        if kind == "float64":
            return f"cannot convert float64 to {go_type}"
    elif type_ == "float64":
        if kind in ("int64", "float64"):
            return ""
    elif type_ == "string":
        if kind == "string":
            return ""
        if kind == "int64":
            return f"cannot convert int64 to {go_type}"
    elif type_ != "bool" or kind == "bool":
        return ""
    return f"unrecognized type: {type_}"


def converted(obj: Mapping[str, Any], message: str) -> dict[str, Any]:
    """The object as the converter makes it: Go's integers wrap, and whole numbers become some."""
    fields = _by_name(message)
    return {
        name: _converted(value, fields[name].type) if name in fields else value
        for name, value in obj.items()
    }


def _converted(value: Any, type_: str) -> Any:
    entries = entries_of(type_)
    if type_ == "bytes" and isinstance(value, list):
        return base64.b64encode(bytes(int(each or 0) & 0xFF for each in value)).decode()
    if isinstance(value, list) and entries:
        return [_converted(entry, entries) for entry in value]
    if isinstance(value, dict) and entries:
        return {name: _converted(entry, entries) for name, entry in value.items()}
    if isinstance(value, dict) and type_ in tables().messages:
        return converted(value, type_)
    if type_ not in _BITS or value is None:
        return value
    bits = _BITS[type_]
    if not -(2**63) <= value < 2**63:  # it was a float in Go, of which most processors make this
        return -(2**63) if bits == 63 else 0
    return (int(value) + 2**bits) % 2 ** (bits + 1) - 2**bits


@cache
def _by_name(message: str) -> Mapping[str, Field]:
    return {known.name: known for known in fields_of(message)}


def _unmarshaled(found: str, go_type: str, struct: str, names: tuple[str, ...]) -> str:
    return (
        f"json: cannot unmarshal {found} into Go struct field {struct}.{'.'.join(names)} "
        f"of type {go_type}"
    )


def _unlike(value: Any, type_: str) -> str:
    """The JSON type that stands in place of a scalar; "" if it is one."""
    found = json_type(value)
    if type_ in _BITS:
        if found != "number":
            return found
        bound = 1 << _BITS[type_]
        fits = isinstance(value, int) and -bound <= value < bound
        return "" if fits else f"number {value}"
    wanted = {"bool": "bool", "bytes": "string", "float64": "number", "string": "string"}
    return "" if wanted.get(type_, found) == found else found


def _unlike_own(value: Any, type_: str) -> tuple[str, str]:
    """The JSON type in place of what a type reads by itself, and the Go type of that."""
    if type_ in ("duration", "microtime", "time"):
        return _unlike(value, "string"), "string"
    if type_ == "intorstring" and not isinstance(value, str):
        return _unlike(value, "int32"), "int32"
    return "", ""


def _unparsed(value: Any, type_: str) -> str:
    """The error of a type that reads its own JSON for a text that it cannot parse."""
    parse = _PARSERS.get(type_)
    return "" if parse is None else parse(value)


def _no_duration(text: str) -> str:
    try:
        parse_duration(text)
    except ValueError:
        return f'time: invalid duration "{text}"'
    return ""


def _no_quantity(value: Any) -> str:
    return no_quantity(value.strip() if isinstance(value, str) else json.dumps(value))


_PARSERS: Final[Mapping[str, Callable[[Any], str]]] = {
    "duration": _no_duration,
    "microtime": unparsed_micro_time,
    "quantity": _no_quantity,
    "time": unparsed_time,
}


def _no_base64(text: Any) -> str:
    plain = text.replace("\r", "").replace("\n", "")
    try:
        base64.b64decode(plain, validate=True)
    except (binascii.Error, ValueError):
        legal = re.match(r"(?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{0,4}", plain)
        return f"illegal base64 data at input byte {legal.end() if legal else 0}"
    return ""


def _schemas_in(value: Any, type_: str) -> list[Any]:
    """The schemas within a union of a schema with something else."""
    if isinstance(value, dict):
        return [value]
    if type_ == "schemaorbool" and not isinstance(value, bool):
        raise _UnreadableError("boolean or JSON schema expected")
    return value if type_ == "schemaorarray" and isinstance(value, list) else []


def _go_kind(value: Any) -> str:
    """The kind of a value of JSON in Go."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int64" if -(2**63) <= value < 2**63 else "float64"
    if isinstance(value, float):
        return "float64"
    if isinstance(value, str):
        return "string"
    return "map" if isinstance(value, dict) else "slice"
