"""Reading plans field by field: exact, with errors that name the path and what is allowed.

A fault or trigger is a frozen dataclass whose annotations say what each field may hold.
`read_fields` makes one from plain data, `write_fields` turns it back; what equals its default
is left out, so that each value has one spelling. A typo is an error here, never a fault that
silently does not happen.
"""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, NoReturn, Protocol, TypeAlias, TypeVar

from chaos.subject_kind import registered
from vocabulary.clock import Micros
from vocabulary.durations import format_duration, parse_duration

T = TypeVar("T")


class PlanError(ValueError):
    """Data that is no plan; the message begins with the path: `faults[2].taint.effect: …`."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}" if path else problem)
        self.path = path
        self.problem = problem


class Codec(Protocol):
    """How one field is read and written. Put it into the annotation: `Annotated[str, codec]`."""

    def read(self, data: Any, path: str) -> Any:
        """The field's value; raises PlanError."""
        ...

    def write(self, value: Any) -> Any:
        """Plain data that `read` reads back."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Text:
    """Text; not empty unless `empty`."""

    empty: bool = True

    def read(self, data: Any, path: str) -> str:
        if not isinstance(data, str):
            refuse(path, data, "text; put it in quotes if it looks like something else")
        if not data and not self.empty:
            raise PlanError(path, "is empty, expected a name")
        return data

    def write(self, value: Any) -> Any:
        return value


@dataclasses.dataclass(frozen=True, slots=True)
class OneOf:
    """One of a few words."""

    words: tuple[str, ...]

    def read(self, data: Any, path: str) -> str:
        if not isinstance(data, str) or data not in self.words:
            refuse(path, data, f"one of {', '.join(self.words)}", hint=closest(data, self.words))
        return data

    def write(self, value: Any) -> Any:
        return value


@dataclasses.dataclass(frozen=True, slots=True)
class Whole:
    """A whole number within bounds, both included."""

    least: int
    most: int

    def read(self, data: Any, path: str) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            refuse(path, data, f"a whole number from {self.least} to {self.most}")
        if not self.least <= data <= self.most:
            refuse(path, data, f"a whole number from {self.least} to {self.most}")
        return data

    def write(self, value: Any) -> Any:
        return value


class YesNo:
    """True or false."""

    def read(self, data: Any, path: str) -> bool:
        if not isinstance(data, bool):
            refuse(path, data, "true or false")
        return data

    def write(self, value: Any) -> Any:
        return value


MAX_SPAN_US: Final = parse_duration("8760h")
"""A year: more than any timer of any controller; what is longer is a mistyped unit."""


class Duration:
    """A span of time as a Go duration: `12s`, `1m30s`."""

    def read(self, data: Any, path: str) -> Micros:
        if isinstance(data, int) and not isinstance(data, bool):
            refuse(path, data, f"a duration with its unit, for example {data}s")
        if not isinstance(data, str):
            refuse(path, data, "a duration such as 12s or 1m30s")
        try:
            span_us = parse_duration(data)
        except ValueError as error:
            raise PlanError(path, str(error)) from error
        if not 0 <= span_us <= MAX_SPAN_US:
            refuse(path, data, f"a duration from 0s to {format_duration(MAX_SPAN_US)}")
        return span_us

    def write(self, value: Any) -> Any:
        return format_duration(value)


class Json:
    """Anything JSON can hold."""

    def read(self, data: Any, path: str) -> Any:  # noqa: ARG002  # the protocol's signature
        return data

    def write(self, value: Any) -> Any:
        return value


class JsonObject:
    """A mapping with text keys."""

    def read(self, data: Any, path: str) -> Mapping[str, Any]:
        return mapping(data, path)

    def write(self, value: Any) -> Any:
        return value


@dataclasses.dataclass(frozen=True, slots=True)
class Many:
    """A list, or a single item for a list of one; read as a tuple."""

    item: Codec

    def read(self, data: Any, path: str) -> tuple[Any, ...]:
        if not isinstance(data, list):
            return (self.item.read(data, path),)
        return tuple(self.item.read(each, f"{path}[{number}]") for number, each in enumerate(data))

    def write(self, value: Any) -> Any:
        items = [self.item.write(each) for each in value]
        return items[0] if len(items) == 1 else items


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """A nested dataclass."""

    cls: type

    def read(self, data: Any, path: str) -> Any:
        return read_fields(self.cls, data, path)

    def write(self, value: Any) -> Any:
        return write_fields(value)


@dataclasses.dataclass(frozen=True, slots=True)
class NameOr:
    """A name, or a mapping that chooses among objects."""

    part: Part

    def read(self, data: Any, path: str) -> Any:
        if isinstance(data, str):
            return Text(empty=False).read(data, path)
        if not isinstance(data, Mapping):
            allowed = ", ".join(field.name for field in dataclasses.fields(self.part.cls))
            refuse(path, data, f"a name, or a mapping with {allowed}")
        return self.part.read(data, path)

    def write(self, value: Any) -> Any:
        return value if isinstance(value, str) else self.part.write(value)


@dataclasses.dataclass(frozen=True, slots=True)
class Nullable:
    """The same, or null."""

    inner: Codec

    def read(self, data: Any, path: str) -> Any:
        return None if data is None else self.inner.read(data, path)

    def write(self, value: Any) -> Any:
        return None if value is None else self.inner.write(value)


Name: TypeAlias = Annotated[str, Text(empty=False)]
"""A name that must be given."""

Span: TypeAlias = Annotated[Micros, Duration()]
"""A span of time: microseconds here, a Go duration in YAML."""

Count: TypeAlias = Annotated[int, Whole(1, 1_000_000)]
"""A positive count."""


ALWAYS_WRITTEN: Final = types.MappingProxyType({"always_written": True})
"""Metadata of a field that is spelled out even where it equals its default, for readers."""


def read_fields(cls: type[T], data: Any, path: str) -> T:
    """An instance of the dataclass from a mapping of its fields; raises PlanError."""
    codecs = codecs_of(cls)
    given = mapping(data, path)
    if object_field := getattr(cls, "object_field", ""):
        given = in_full(given, object_field, path)
    for key in given:
        if key not in codecs:
            known = f"known fields are {', '.join(codecs)}" if codecs else "it has no fields"
            raise PlanError(
                at(path, key), f"is not a field here; {known}{closest(key, tuple(codecs))}"
            )
    values: dict[str, Any] = {}
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]  # every caller's is one
        if field.name in given:
            values[field.name] = codecs[field.name].read(given[field.name], at(path, field.name))
        elif _default(field) is dataclasses.MISSING:
            raise PlanError(at(path, field.name), "is missing")
    return cls(**values)


def write_fields(value: Any) -> dict[str, Any]:
    """The dataclass as plain data: its fields in order, those that equal their default left out."""
    data: dict[str, Any] = {}
    codecs = codecs_of(type(value))
    object_field = getattr(value, "object_field", "")
    for field in dataclasses.fields(value):
        held = getattr(value, field.name)
        if held and field.name == object_field:
            data.update(in_short(held, object_field))
        elif held != _default(field) or field.metadata == ALWAYS_WRITTEN:
            data[field.name] = codecs[field.name].write(held)
    return data


def in_full(given: Mapping[str, Any], field: str, path: str) -> Mapping[str, Any]:
    """The mapping with `{job: a}`, the short name of an object, as `{field: Job/a}`."""
    full = dict(given)
    for each in registered():
        if each.word in full:
            name = Text(empty=False).read(full.pop(each.word), at(path, each.word))
            if field in full:
                raise PlanError(at(path, each.word), f"stands beside {field}; name one object")
            full[field] = f"{each.kind.kind}/{name}"
    return full


def in_short(named: str, field: str) -> dict[str, str]:
    """An object `Job/a` as `{job: a}` where its kind is registered, else as `{field: Job/a}`."""
    kind, _, name = named.rpartition("/")
    words = {each.kind.kind: each.word for each in registered()}
    return {words[kind]: name} if kind in words else {field: named}


def codecs_of(cls: type) -> Mapping[str, Codec]:
    """The codec of each field, derived from the class's annotations."""
    known = _codecs.get(cls)
    if known is None:
        hints = typing.get_type_hints(cls, include_extras=True)
        known = _codecs[cls] = {
            field.name: codec_for(hints[field.name], f"{cls.__name__}.{field.name}")
            for field in dataclasses.fields(cls)
        }
    return known


_codecs: Final[dict[type, Mapping[str, Codec]]] = {}
"""Annotations do not change, so each class is looked at once."""


def codec_for(hint: Any, where: str) -> Codec:
    """The codec of a type annotation; TypeError for one that no plan can hold."""
    origin = typing.get_origin(hint)
    if origin is Annotated:
        codec: Codec = hint.__metadata__[0]
        return codec
    if origin is Literal:
        return OneOf(typing.get_args(hint))
    if origin in (typing.Union, types.UnionType):
        options = [option for option in typing.get_args(hint) if option is not type(None)]
        if len(options) < len(typing.get_args(hint)):
            inner = options[0] if len(options) == 1 else typing.Union[tuple(options)]  # noqa: UP007
            return Nullable(codec_for(inner, where))
        if len(options) == 2 and options[0] is str and dataclasses.is_dataclass(options[1]):
            return NameOr(Part(typing.cast(type, options[1])))
    if origin is tuple:
        return Many(codec_for(typing.get_args(hint)[0], where))
    if hint in _PLAIN:
        return _PLAIN[hint]
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return Part(hint)
    if hint is Mapping or origin in (dict, typing.get_origin(Mapping[str, Any])):
        return JsonObject()
    raise TypeError(f"{where}: no codec for {hint}; annotate it with Annotated[type, codec]")


_PLAIN: Final[dict[Any, Codec]] = {
    str: Text(),
    bool: YesNo(),
    int: Whole(-(2**31), 2**31 - 1),
    Any: Json(),
}


def mapping(data: Any, path: str) -> Mapping[str, Any]:
    """The data as a mapping with text keys; raises PlanError."""
    if not isinstance(data, Mapping):
        refuse(path, data, "a mapping (key: value)")
    for key in data:
        if not isinstance(key, str):
            raise PlanError(path, f"has the key {key!r}, which is not text; put it in quotes")
    return data


def at(path: str, key: str) -> str:
    """The path of a field inside what is at a path."""
    return f"{path}.{key}" if path else key


def refuse(path: str, data: Any, expected: str, *, hint: str = "") -> NoReturn:
    """Raise the PlanError that says what stands there and what should."""
    raise PlanError(path, f"is {_shown(data)}, expected {expected}{hint}")


def closest(word: Any, words: Sequence[str]) -> str:
    """`; did you mean X?` where one of the words is close, else nothing."""
    near = difflib.get_close_matches(str(word), words, n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else ""


def listed(words: Iterable[str]) -> str:
    """Words for people: `a, b and c`."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _shown(data: Any) -> str:
    if data is None:
        return "null"
    if isinstance(data, bool):
        return "true" if data else "false"
    if isinstance(data, Mapping):
        return "a mapping"
    if isinstance(data, list | tuple):
        return "a list"
    text = repr(data)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default
