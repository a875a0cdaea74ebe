"""YAML from strangers: plans, reports and kubeconfigs, read without surprises.

PyYAML parses; everything above its events is ours, because the comfortable loaders expand
aliases (a few lines become gigabytes), keep the last of two equal keys, and turn `no` into
False and dates into objects. Here a document is maps, lists, strings, numbers, booleans and
null, as YAML 1.2 reads them, or it is refused with the file, line, column and field, what was
expected, and what to do.

Octal numbers keep the leading zero's meaning (`0755`), as the tools of Kubernetes read them.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import yaml

T = TypeVar("T")


class YamlError(ValueError):
    """A document that is refused; the message says where, why, and what to do."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a document is read before it is refused."""

    bytes: int = 16 * 1024**2
    depth: int = 64
    nodes: int = 2_000_000
    scalar_characters: int = 1024**2


DEFAULT_LIMITS: Final = Limits()

_PARSER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INT: Final = re.compile(r"[-+]?(0b[01]+|0o?[0-7]+|0x[0-9a-fA-F]+|0|[1-9][0-9]*|0[0-9]+)$")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$")
_NOT_FINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)$|\.(nan|NaN|NAN)$")
_NULL: Final = frozenset(("", "~", "null", "Null", "NULL"))
_TRUE: Final = frozenset(("true", "True", "TRUE"))
_FALSE: Final = frozenset(("false", "False", "FALSE"))
_INT64: Final = 2**63
_PATH_IN_MESSAGE: Final = re.compile(r" - at `(?:key in )?\$([^`]*)`$")


@dataclass(frozen=True, slots=True)
class Document:
    """One document's value, and where each of its fields stands (line and column from 1)."""

    source: str
    value: Any
    positions: dict[str, tuple[int, int]]

    def as_type(self, type_: type[T]) -> T:
        """The value as a msgspec type; YamlError names line and field if it does not fit."""
        try:
            return msgspec.convert(self.value, type_)
        except msgspec.ValidationError as error:
            text = str(error)
            found = _PATH_IN_MESSAGE.search(text)
            field = found[1].removeprefix(".") if found else ""
            what = text[: found.start()] if found else text
            raise self.error(field, what[:1].lower() + what[1:]) from error

    def error(self, field: str, what: str) -> YamlError:
        """An error about a field of this document, for a reader that knows more than types."""
        known = field
        while known and known not in self.positions:
            known = re.sub(r"(^|\.)[^.\[]*$|\[[^\[]*$", "", known)
        line, column = self.positions.get(known, (1, 1))
        return YamlError(f"{self.source}:{line}:{column}: {field + ': ' if field else ''}{what}")


def read_document(path: Path, limits: Limits = DEFAULT_LIMITS) -> Document:
    """The one document of a file."""
    return parse_document(_bytes_of(path, limits), str(path), limits)


def read_documents(path: Path, limits: Limits = DEFAULT_LIMITS) -> list[Document]:
    """The documents of a file, empty ones left out."""
    return parse_documents(_bytes_of(path, limits), str(path), limits)


def parse_document(data: bytes | str, source: str, limits: Limits = DEFAULT_LIMITS) -> Document:
    """The one document of a text; `source` is what errors call it."""
    documents = parse_documents(data, source, limits)
    if len(documents) != 1:
        raise YamlError(
            f"{source}:1:1: holds {len(documents)} documents, expected one; "
            + ("split the file at ---" if documents else "the file is empty")
        )
    return documents[0]


def parse_documents(
    data: bytes | str, source: str, limits: Limits = DEFAULT_LIMITS
) -> list[Document]:
    """The documents of a text, empty ones left out."""
    text = _text_of(data, source, limits)
    builder = _Builder(text, source, limits)
    try:
        return builder.documents()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise YamlError(
            f"{source}:{line}:{column}: is not YAML: {error.problem or error.context}"
        ) from error
    except yaml.YAMLError as error:
        reason = getattr(error, "reason", None) or str(error).splitlines()[0]
        raise YamlError(f"{source}:1:1: is not YAML text: {reason}") from error


def _bytes_of(path: Path, limits: Limits) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(limits.bytes + 1)
    except OSError as error:
        raise YamlError(f"{path}: cannot be read: {error.strerror}") from error


def _text_of(data: bytes | str, source: str, limits: Limits) -> str:
    if len(data) > limits.bytes:
        raise YamlError(f"{source}: is larger than {limits.bytes} bytes; refused")
    try:
        if isinstance(data, bytes):
            return data.decode("utf-8-sig")
        data.encode()
    except UnicodeError as error:
        raise YamlError(
            f"{source}: position {getattr(error, 'start', 0)} is not UTF-8; "
            "expected a YAML text file"
        ) from error
    return data


class _Builder:
    """Builds values from parser events, within the limits."""

    def __init__(self, text: str, source: str, limits: Limits) -> None:
        self._events = iter(yaml.parse(text, Loader=_PARSER))
        self._source = source
        self._limits = limits
        self._nodes = 0
        self._positions: dict[str, tuple[int, int]] = {}

    def documents(self) -> list[Document]:
        found: list[Document] = []
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                self._positions = {}
                root = next(self._events)
                value = self._value(root, "", 0)
                is_empty = isinstance(root, yaml.ScalarEvent) and value is None
                if not is_empty:
                    found.append(Document(self._source, value, self._positions))
        return found

    def _value(self, event: Any, field: str, depth: int) -> Any:
        self._nodes += 1
        if self._nodes > self._limits.nodes:
            raise self._error(event, field, f"more than {self._limits.nodes} values; refused")
        if depth > self._limits.depth:
            raise self._error(event, field, f"nested deeper than {self._limits.depth}; refused")
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            sign = "*" if isinstance(event, yaml.AliasEvent) else "&"
            raise self._error(
                event,
                field,
                f"anchors and aliases ({sign}{event.anchor}) are refused; write the value out",
            )
        self._positions[field] = (event.start_mark.line + 1, event.start_mark.column + 1)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, field)
        if event.tag not in (None, "!"):
            raise self._error(event, field, f"tag {event.tag} is refused; remove it")
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(field, depth)
        return self._map(field, depth)

    def _list(self, field: str, depth: int) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._value(event, f"{field}[{len(items)}]", depth + 1))
        return items

    def _map(self, field: str, depth: int) -> dict[str, Any]:
        items: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise self._error(event, field, "a key must be plain text, not a list or a map")
            key = event.value
            here = f"{field}.{key}" if field else key
            if len(key) > self._limits.scalar_characters:
                raise self._error(event, field, "a key is too long; refused")
            if key == "<<" and event.implicit[0]:
                raise self._error(event, field, "merge keys (<<) are refused; write the keys out")
            if key in items:
                raise self._error(event, here, "this key stands twice in one map; remove one")
            items[key] = self._value(next(self._events), here, depth + 1)
        return items

    def _scalar(self, event: Any, field: str) -> Any:
        text: str = event.value
        if len(text) > self._limits.scalar_characters:
            raise self._error(
                event, field, f"longer than {self._limits.scalar_characters} characters; refused"
            )
        if event.tag is not None and event.tag not in ("!", "tag:yaml.org,2002:str"):
            raise self._error(event, field, f"tag {event.tag} is refused; remove it")
        if event.tag is not None or not event.implicit[0] or event.style:
            return text
        if text in _NULL:
            return None
        if text in _TRUE:
            return True
        if text in _FALSE:
            return False
        if _INT.match(text):
            return self._whole_number(event, field, text)
        if _NOT_FINITE.match(text):
            raise self._error(event, field, f"{text} is not a finite number")
        if _FLOAT.match(text):
            number = float(text)
            if not math.isfinite(number):
                raise self._error(event, field, "this number is too large")
            return number
        return text

    def _whole_number(self, event: Any, field: str, text: str) -> int:
        if len(text) > 80:
            raise self._error(event, field, "this number has more than 64 bits")
        digits = text.lstrip("+-")
        try:
            if digits[:2] in ("0b", "0o", "0x"):
                number = int(digits, 0)
            elif digits[0] == "0" and len(digits) > 1:
                number = int(digits, 8)
            else:
                number = int(digits)
        except ValueError as error:
            raise self._error(
                event, field, f"{text} is not a number (a leading 0 means octal); quote it"
            ) from error
        number = -number if text[0] == "-" else number
        if not -_INT64 <= number < 2 * _INT64:
            raise self._error(event, field, "this number has more than 64 bits")
        return number

    def _error(self, event: Any, field: str, what: str) -> YamlError:
        mark = event.start_mark
        at = f"{self._source}:{mark.line + 1}:{mark.column + 1}"
        shown = field if len(field) <= 200 else field[:200] + "…"
        return YamlError(f"{at}: {shown + ': ' if shown else ''}{what}")
