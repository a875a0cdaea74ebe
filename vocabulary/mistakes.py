"""All mistakes in plain data with respect to a type, where msgspec stops at the first.

Data that does not convert is taken apart: a mistake in a struct is one in a field, or an unknown
or missing field; a mistake in a list is one in an item.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Final, NamedTuple, Union, get_args, get_origin

import msgspec

from vocabulary.field_hints import UNKNOWN, field_hint

_FIELD_IN_MESSAGE: Final = re.compile(r" - at `(?:key in )?\$([^`]*)`$")


class Mistake(NamedTuple):
    """A mistake in a file."""

    field: str
    """Dotted, list items as `[3]`; empty: the whole file."""
    what: str
    """The mistake and its correction."""
    at: str = ""
    """The field whose line is reported, if it is another one."""


def mistake_of(error: msgspec.ValidationError, type_: Any) -> Mistake:
    """Return msgspec's error about data that is not of the type."""
    return _told(*_place_and_message(error), type_)


def mistakes_in(value: Any, type_: Any) -> Iterator[Mistake]:
    """Yield all mistakes that can be found at once; none if the value is of the type."""
    return (_told(field, message, type_) for field, message in _messages(value, type_, ""))


def _told(field: str, message: str, type_: Any) -> Mistake:
    unknown = UNKNOWN.search(message)
    instead = field_hint(type_, field, message)
    return Mistake(
        field,
        f"{message[:1].lower()}{message[1:]}{instead}",
        f"{field}.{unknown[1]}" if unknown else "",
    )


def _place_and_message(error: msgspec.ValidationError) -> tuple[str, str]:
    text = str(error)
    found = _FIELD_IN_MESSAGE.search(text)
    return (found[1].removeprefix("."), text[: found.start()]) if found else ("", text)


def _messages(value: Any, type_: Any, field: str) -> Iterator[tuple[str, str]]:
    """Yield msgspec's messages by field, including those after the first."""
    try:
        msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        parts = list(_messages_of_parts(value, _plain(type_), field))
        if parts:
            yield from parts
        else:
            inner, message = _place_and_message(error)
            yield _below(field, inner), message


def _messages_of_parts(value: Any, type_: Any, field: str) -> Iterator[tuple[str, str]]:
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct) and isinstance(value, Mapping):
        yield from _messages_of_struct(value, type_, field)
    elif get_origin(type_) is tuple and isinstance(value, Sequence) and not isinstance(value, str):
        for index, item in enumerate(value):
            yield from _messages(item, get_args(type_)[0], f"{field}[{index}]")


def _messages_of_struct(
    value: Mapping[str, Any], type_: type[msgspec.Struct], field: str
) -> Iterator[tuple[str, str]]:
    known = {each.encode_name: each for each in msgspec.structs.fields(type_)}
    missing = [name for name, each in known.items() if each.required and name not in value]
    for key, inner in value.items():
        if key in known:
            yield from _messages(inner, known[key].type, _below(field, key))
        else:
            yield field, f"Object contains unknown field `{key}`"
            # It is present, but misspelled.
            for meant in difflib.get_close_matches(key, missing, n=1):
                missing.remove(meant)
    for name in missing:
        yield field, f"Object missing required field `{name}`"


def _below(field: str, inner: str) -> str:
    return f"{field}.{inner}" if field and inner and inner[0] != "[" else f"{field}{inner}"


def _plain(type_: Any) -> Any:
    """The type without annotations and without None."""
    if get_origin(type_) is Annotated:
        return _plain(get_args(type_)[0])
    if get_origin(type_) in (Union, UnionType):
        others = [each for each in get_args(type_) if each is not NoneType]
        return _plain(others[0]) if len(others) == 1 else type_
    return type_
