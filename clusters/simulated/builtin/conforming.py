"""The types of built-in kinds: a written object has only fields that the API has, with values of
their types.

Almost every object has. msgspec finds that out by structs which are compiled once per message.
Only what it refuses is walked through, for a real server's error or for the fields to drop.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from clusters.simulated.builtin.decoding import decoding_error
from clusters.simulated.builtin.known_fields import always_there, drop_unknown
from vocabulary.kinds import Kind
from vocabulary.messages import Field, fields_of, tables
from vocabulary.objects import Object

_DAY: Final = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d"
_JSON: Final = dict | list | str | int | float | bool
# What these leave out, such as other time zones, is looked at more closely by `decoding_error`.
_SCALARS: Final[dict[str, Any]] = {
    "bool": bool,
    "bytes": Annotated[
        str,
        Meta(pattern=r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?\Z"),
    ],
    "duration": Annotated[str, Meta(pattern=r"^(?:\d+(?:ms|[hms]))+\Z")],
    "fields": dict,
    "float64": float,
    "int32": Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)],
    "int64": Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)],
    "microtime": Annotated[str, Meta(pattern=rf"^{_DAY}\.\d{{6}}Z\Z")],
    "quantity": Annotated[
        str,
        Meta(pattern=r"^[+-]?\d{1,99}(?:\.\d{1,99})?(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d{1,2})?\Z"),
    ]
    | Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
    | float,
    "raw": _JSON,
    "string": str,
    "time": Annotated[str, Meta(pattern=rf"^{_DAY}Z\Z")],
}
_SCALARS["intorstring"] = _SCALARS["int32"] | str

_METADATA_ALONE: Final = "core/v1.ConfigMap"
_ENOUGH: Final = 256
_walked: Final[dict[int, Any]] = {}
"""Specs of CRDs that conform, by identity: one process installs the same ones many times."""


def misfit(obj: dict[str, Any], kind: Kind, old: Object | None) -> str:
    """Return Go's decoding error for the first value that is not of its field's type; "" if there
    is none, and then unknown fields are dropped.

    The top level is the caller's own. What it shares with the old object was checked when that was
    written.
    """
    message = tables().kinds.get((kind.api_version, kind.kind))
    if message is None:
        return ""
    changed = obj
    if old is not None:
        changed = {name: value for name, value in obj.items() if value is not old.get(name)}
    if _is_recursive(message):
        return _walk(obj, changed, message, kind, old)
    try:
        msgspec.convert(changed, _struct(message))
    except msgspec.ValidationError:
        because = decoding_error(changed, message)
        if not because:
            drop_unknown(obj, kind, old)
        return because
    return ""


def undecoded_of(obj: Object, api_version: str, kind: str) -> str:
    """Return Go's decoding error for an object as it was sent: of its metadata only if the tables
    do not have the kind."""
    message = tables().kinds.get((api_version, kind))
    if message is None:
        message, obj = _METADATA_ALONE, {"metadata": obj.get("metadata")}
    elif not _is_recursive(message):
        try:
            msgspec.convert(obj, _struct(message))
        except msgspec.ValidationError:
            pass
        else:
            return ""
    return decoding_error(obj, message)


def _walk(
    obj: dict[str, Any], changed: Object, message: str, kind: Kind, old: Object | None
) -> str:
    spec = obj.get("spec")
    if spec is not None and _walked.get(id(spec)) is spec:
        changed = {name: value for name, value in changed.items() if name != "spec"}
        old = {**(old or {}), "spec": spec}
    because = decoding_error(changed, message)
    if because:
        return because
    drop_unknown(obj, kind, old)
    if obj.get("spec") is spec and len(_walked) < _ENOUGH:
        _walked[id(spec)] = spec
    return ""


def _is_recursive(message: str) -> bool:
    return message.startswith("apiextensions/")


@cache
def _struct(message: str) -> type[msgspec.Struct]:
    """A struct with the fields of a message, nearly all of which may be absent, but not null."""
    fields = fields_of(message)
    names = {f"field{number}": field.name for number, field in enumerate(fields)}
    always = always_there(message)
    return msgspec.defstruct(
        message.replace("/", "_").replace(".", "_"),
        [
            (placed, _type_of(field)) if field.name in always else (placed, _type_of(field), None)
            for placed, field in zip(names, fields, strict=True)
        ],
        rename=names,
        forbid_unknown_fields=True,
        kw_only=True,
        gc=False,
    )


def _type_of(field: Field) -> Any:
    # Go writes a time that is not set as null, where the field is no pointer.
    is_time = field.type == "time" and not field.is_pointer
    return _type(field.type) | None if is_time else _type(field.type)


def _type(type_: str) -> Any:
    form, _, inner = type_.partition(":")
    if type_.startswith("[]"):
        return list[_type(type_.removeprefix("[]"))]  # type: ignore[misc]
    if form == "list":
        return list[_type(inner)]  # type: ignore[misc]
    if form == "map":
        return dict[str, _type(inner)]  # type: ignore[misc]
    return _struct(type_) if type_ in tables().messages else _SCALARS[type_]
