"""A protobuf body as the object that Go would have written as JSON."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from clusters.simulated.serve.protobuf.wire import Value, WireError, numbered_values, signed
from vocabulary.messages import Field, tables

MAGIC: Final = b"k8s\x00"
"""The beginning of every body, before a runtime.Unknown, which holds the object."""

_TYPE_META, _RAW = 1, 2
_API_VERSION, _KIND = 1, 2
_DELETE_OPTIONS: Final = "DeleteOptions"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ZEROS: Final[Mapping[str, Any]] = {
    "string": "",
    "int32": 0,
    "int64": 0,
    "bool": False,
    "bytes": None,
}
_NUMBERS: Final = ("int32", "int64", "bool")
_WITHOUT_PROTOBUF: Final = ("apiextensions/", "apiregistration/")
"""Their clients write JSON; and the unions in the schema of a CRD have another form there."""


class UndecodableError(ValueError):
    """The body is no object."""


class UnknownKindError(UndecodableError):
    """The body is an object of a kind without a form in protobuf, or of one not known here."""


def decoded(body: bytes) -> dict[str, Any]:
    """The object of a request body. Raises UndecodableError."""
    if not body.startswith(MAGIC):
        raise UndecodableError("the body does not begin with the magic of protobuf: k8s, zero")
    try:
        envelope = numbered_values(body[len(MAGIC) :])
        type_meta = numbered_values(_bytes(envelope, _TYPE_META))
        api_version, kind = (_bytes(type_meta, number).decode() for number in (_API_VERSION, _KIND))
        known = tables().kinds
        # Options of a deletion are written in the version of what is deleted.
        message = known.get(("v1" if kind == _DELETE_OPTIONS else api_version, kind))
        if message is None or message.startswith(_WITHOUT_PROTOBUF):
            raise UnknownKindError(
                f'no kind "{kind}" is registered for version "{api_version}" in protobuf'
            )
        return {"kind": kind, "apiVersion": api_version, **_object(envelope, message)}
    except (WireError, UnicodeDecodeError, msgspec.DecodeError, OverflowError) as error:
        raise UndecodableError(str(error)) from error


def _bytes(values: Mapping[int, list[Value]], number: int) -> bytes:
    found = values.get(number, [b""])[-1]
    if not isinstance(found, bytes):
        raise WireError(f"field {number} is a number")
    return found


def _object(envelope: Mapping[int, list[Value]], message: str) -> dict[str, Any]:
    return _message(_bytes(envelope, _RAW), message)


def _message(data: bytes, name: str) -> dict[str, Any]:
    values = numbered_values(data)
    found: dict[str, Any] = {}
    for field in tables().messages[name]:
        given = values.get(field.number)
        if field.is_inline:
            if given or not field.is_pointer:
                found |= _message(_bytes(values, field.number), field.type)
            continue
        value = _field(field, given)
        if not _is_left_out(field, value, given):
            found[field.name] = value
    return found


def _is_left_out(field: Field, value: Any, given: list[Value] | None) -> bool:
    if field.is_pointer:
        return given is None and field.omits_empty
    if field.omits_zero and (value is None or value == {}):
        return True
    # In Go a struct is never empty, and a time is one.
    is_struct = isinstance(value, dict) and not field.type.startswith("map:")
    return field.omits_empty and not value and not is_struct and field.type not in _STRUCTS


def _field(field: Field, given: list[Value] | None) -> Any:
    if field.type.startswith("[]"):
        return None if given is None else _list(given, field.type.removeprefix("[]"))
    if field.type.startswith("map:"):
        return None if given is None else _map(given, field.type.removeprefix("map:"))
    if given is None:
        if field.is_pointer:
            return None
        return _ZEROS[field.type] if field.type in _ZEROS else _value(b"", field.type)
    return _value(given[-1], field.type)


def _list(given: list[Value], type_: str) -> list[Any]:
    return [_value(each, type_) for each in given]


def _map(given: list[Value], type_: str) -> dict[str, Any]:
    found = {}
    for entry in given:
        if not isinstance(entry, bytes):
            raise WireError("an entry of a map is a number")
        pair = numbered_values(entry)
        default: Value = 0 if type_ in _NUMBERS else b""
        found[_bytes(pair, 1).decode()] = _value(pair.get(2, [default])[-1], type_)
    return found


def _value(given: Value, type_: str) -> Any:
    if type_ in _NUMBERS:
        if not isinstance(given, int):
            raise WireError(f"{type_} expected")
        return bool(given) if type_ == "bool" else signed(given)
    if not isinstance(given, bytes):
        raise WireError(f"{type_} expected, and there is a number")
    if type_.startswith("list:"):
        return _list(numbered_values(given).get(1, []), type_.removeprefix("list:"))
    read = _READERS.get(type_)
    return _message(given, type_) if read is None else read(given)


def _text(given: bytes) -> str:
    return given.decode()


def _base64(given: bytes) -> str:
    return base64.b64encode(given).decode()


def _time(given: bytes) -> str | None:
    moment = _moment(given)
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _micro_time(given: bytes) -> str | None:
    moment = _moment(given)
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%S.%fZ}"


def _moment(given: bytes) -> datetime | None:
    """A Timestamp; None for Go's zero time, which is written without any value."""
    if not given:
        return None
    values = numbered_values(given)
    seconds, nanos = (_number(values, number) for number in (1, 2))
    return _EPOCH + timedelta(seconds=seconds, microseconds=nanos // 1_000)


def _duration(given: bytes) -> str:
    """As Go writes one: `1h2m3.5s`."""
    nanos = _number(numbered_values(given), 1)
    sign, nanos = ("-", -nanos) if nanos < 0 else ("", nanos)
    minutes, nanos = divmod(nanos, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{nanos / 10**9:.9f}".rstrip("0").rstrip(".")
    if hours:
        return f"{sign}{hours}h{minutes}m{seconds}s"
    return f"{sign}{minutes}m{seconds}s" if minutes else f"{sign}{seconds}s"


def _quantity(given: bytes) -> str:
    return _bytes(numbered_values(given), 1).decode() or "0"


def _int_or_string(given: bytes) -> int | str:
    values = numbered_values(given)
    is_string = _number(values, 1) == 1
    return _bytes(values, 3).decode() if is_string else _number(values, 2)


def _json(given: bytes) -> Any:
    """JSON within protobuf: a RawExtension, or managed fields."""
    raw = _bytes(numbered_values(given), 1)
    return msgspec.json.decode(raw) if raw else None


def _number(values: Mapping[int, list[Value]], number: int) -> int:
    found = values.get(number, [0])[-1]
    if not isinstance(found, int):
        raise WireError(f"field {number} is no number")
    return signed(found)


_READERS: Final[Mapping[str, Callable[[bytes], Any]]] = {
    "string": _text,
    "bytes": _base64,
    "time": _time,
    "microtime": _micro_time,
    "duration": _duration,
    "quantity": _quantity,
    "intorstring": _int_or_string,
    "raw": _json,
    "fields": _json,
}
_STRUCTS: Final = frozenset(_READERS.keys() - {"string", "bytes"})
"""Types that JSON has no struct for, and Go has."""
