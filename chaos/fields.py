"""Reading plans field by field: exact, with errors that name the path and what is allowed.

A fault or trigger is a frozen dataclass, and msgspec reads it by its annotations. What YAML spells
in another way than Python holds it has a `Spelling`: a duration, the name of a kind. A list of one
item may be written as the item alone. `write_fields` turns an instance back into plain data; what
equals its default is left out, so that each value has one spelling. A typo is an error here, never
a fault that silently does not happen.
"""

from __future__ import annotations

import dataclasses
import difflib
import threading
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Final, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from chaos.subject_kind import registered
from vocabulary.clock import Micros
from vocabulary.durations import format_duration, parse_duration
from vocabulary.mistakes import mistake_of

T = TypeVar("T")


class PlanError(ValueError):
    """Data that is no plan; the message begins with the path: `faults[2].taint.effect: …`."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}" if path else problem)
        self.path = path
        self.problem = problem

    def __reduce__(self) -> tuple[type[PlanError], tuple[str, str]]:
        return type(self), (self.path, self.problem)


class Spelling(NamedTuple):
    """How YAML spells a value. Put it into the annotation: `Annotated[type, Spelling(…)]`."""

    read: Callable[[Any], Any]
    """The value; raises ValueError if the data spells none."""
    write: Callable[[Any], Any] = lambda value: value


MAX_SPAN_US: Final = parse_duration("8760h")
"""A year: more than any timer of any controller; what is longer is a mistyped unit."""


def _span(data: Any) -> Micros:
    if not isinstance(data, str):
        raise ValueError(f"is {data!r}, expected a duration with its unit, such as 12s or 1m30s")
    span_us = parse_duration(data)
    if not 0 <= span_us <= MAX_SPAN_US:
        longest = format_duration(MAX_SPAN_US)
        raise ValueError(f"is {data!r}, expected a duration from 0s to {longest}")
    return span_us


Name: TypeAlias = Annotated[str, Meta(min_length=1)]
"""A name that must be given."""

Span: TypeAlias = Annotated[Micros, Spelling(_span, format_duration)]
"""A span of time: microseconds here, a Go duration in YAML."""

Count: TypeAlias = Annotated[int, Meta(ge=1, le=1_000_000)]
"""A positive count."""


ALWAYS_WRITTEN: Final = types.MappingProxyType({"always_written": True})
"""Metadata of a field that is spelled out even where it equals its default, for readers."""


_converting: Final = threading.Lock()
"""At the first use of a dataclass msgspec describes it, and another thread would crash on a
description that is not complete."""


def read_fields(cls: type[T], data: Any, path: str) -> T:
    """An instance of the dataclass from a mapping of its fields; raises PlanError."""
    found: T = read_value(cls, data, path)
    return found


def read_value(hint: Any, data: Any, path: str) -> Any:
    """The value of a type that plain data spells; raises PlanError."""
    prepared = _prepared(_shape(hint), data, path)
    try:
        with _converting:
            return msgspec.convert(prepared, hint)
    except msgspec.ValidationError as error:
        mistake = mistake_of(error, hint)
        raise PlanError(_joined(path, mistake.field), mistake.what) from error


def write_fields(value: Any) -> dict[str, Any]:
    """The dataclass as plain data: its fields in order, those that equal their default left out."""
    data: dict[str, Any] = {}
    object_field = getattr(value, "object_field", "")
    for name, field in _fields(type(value)).items():  # type: ignore[arg-type]  # hashable
        held = getattr(value, name)
        if held and name == object_field:
            data.update(in_short(held, object_field))
        elif held != field.default or field.is_always_written:
            data[name] = _written(field.shape, held)
    return data


def in_full(given: Mapping[str, Any], field: str, path: str) -> Mapping[str, Any]:
    """The mapping with `{job: a}`, the short name of an object, as `{field: Job/a}`."""
    full = dict(given)
    for each in registered():
        if each.word in full:
            name = read_value(Name, full.pop(each.word), at(path, each.word))
            if field in full:
                raise PlanError(at(path, each.word), f"stands beside {field}; name one object")
            full[field] = f"{each.kind.kind}/{name}"
    return full


def in_short(named: str, field: str) -> dict[str, str]:
    """An object `Job/a` as `{job: a}` where its kind is registered, else as `{field: Job/a}`."""
    kind, _, name = named.rpartition("/")
    words = {each.kind.kind: each.word for each in registered()}
    return {words[kind]: name} if kind in words else {field: named}


def mapping(data: Any, path: str) -> Mapping[str, Any]:
    """The data as a mapping with text keys; raises PlanError."""
    found: dict[str, Any] = read_value(dict[str, Any], data, path)
    return found


def at(path: str, key: str) -> str:
    """The path of a field inside what is at a path."""
    return f"{path}.{key}" if path else key


def closest(word: Any, words: Sequence[str]) -> str:
    """`; did you mean X?` where one of the words is close, else nothing."""
    near = difflib.get_close_matches(str(word), words, n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else ""


def listed(words: Iterable[str]) -> str:
    """Words for people: `a, b and c`."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


class _Shape(NamedTuple):
    """A type whose values YAML spells in another way than msgspec reads them."""

    spelling: Spelling | None = None
    cls: type | None = None
    """A dataclass."""
    is_tuple: bool = False
    item: _Shape | None = None
    """The shape of a tuple's items; None: as msgspec reads them."""


class _Field(NamedTuple):
    shape: _Shape | None
    default: Any
    is_always_written: bool


def _prepared(shape: _Shape | None, data: Any, path: str) -> Any:
    """The data as msgspec reads it."""
    if shape is None or data is None:
        return data
    if shape.spelling is not None:
        try:
            return shape.spelling.read(data)
        except ValueError as error:
            raise PlanError(path, str(error)) from error
    if shape.is_tuple:
        items = data if isinstance(data, list) else [data]
        return [_prepared(shape.item, each, f"{path}[{n}]") for n, each in enumerate(items)]
    if shape.cls is None or not isinstance(data, Mapping):
        return data
    if object_field := getattr(shape.cls, "object_field", ""):
        data = in_full(data, object_field, path)
    fields = _fields(shape.cls)
    for key in data:
        if key not in fields:
            known = f"known fields are {', '.join(fields)}" if fields else "it has no fields"
            raise PlanError(
                at(path, key), f"is not a field here; {known}{closest(key, tuple(fields))}"
            )
    return {key: _prepared(fields[key].shape, value, at(path, key)) for key, value in data.items()}


def _written(shape: _Shape | None, value: Any) -> Any:
    """Plain data that `_prepared` and msgspec read back."""
    if shape is None or value is None:
        return value
    if shape.spelling is not None:
        return shape.spelling.write(value)
    if shape.is_tuple:
        items = [_written(shape.item, each) for each in value]
        return items[0] if len(items) == 1 else items
    return write_fields(value) if dataclasses.is_dataclass(value) else value


@cache
def _fields(cls: type) -> Mapping[str, _Field]:
    """The fields of a dataclass by name, in order."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {
        field.name: _Field(
            _shape(hints[field.name]), _default(field), field.metadata == ALWAYS_WRITTEN
        )
        for field in dataclasses.fields(cls)
    }


@cache
def _shape(hint: Any) -> _Shape | None:
    """The shape of a type, or of the first part of a union that has one."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return next(filter(None, map(_shape, typing.get_args(hint))), None)
    for each in getattr(hint, "__metadata__", ()):
        if isinstance(each, Spelling):
            return _Shape(each)
    if typing.get_origin(hint) is tuple:
        return _Shape(is_tuple=True, item=_shape(typing.get_args(hint)[0]))
    return _Shape(cls=typing.cast(type, hint)) if dataclasses.is_dataclass(hint) else None


def _joined(path: str, field: str) -> str:
    return f"{path}{field}" if field.startswith("[") else at(path, field) if field else path


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default
