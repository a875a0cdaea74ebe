"""A YAML file as a msgspec type, with errors that name the file, the line and the field."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import yaml

from vocabulary.field_hints import STEP
from vocabulary.mistakes import Mistake, mistake_of
from vocabulary.safe_yaml import SafeLoader, YamlError

T = TypeVar("T")

MAX_TOLD: Final = 20
"""The maximum number of mistakes in one error."""
MAX_FOUND: Final = 200
"""The maximum number of mistakes that are looked for: each costs a search for similar names."""


def as_type(value: Any, type_: type[T], path: Path) -> T:
    """Convert `value`, read from `path`. The YamlError names the line and field of each mistake."""
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        raise field_error(path, *mistake_of(error, type_)) from error


def field_error(path: Path, field: str, what: str, at: str = "") -> YamlError:
    """Return an error about a field (dotted, list items as `[3]`) of a file that was read before.

    `at` is the field whose line is reported, if it is another one.
    """
    return field_errors(path, [Mistake(field, what, at)])


def field_errors(path: Path, mistakes: Iterable[Mistake]) -> YamlError:
    """Combine at least one mistake into an error, in the order of lines: the first is its message,
    the others are its notes. No more than `MAX_FOUND` are looked for."""
    places, found = _Places(path), some(mistakes)
    placed = sorted((places.of(m.at or m.field), m.field, m.what) for m in found)
    first, *others = (
        f"{path}:{line}:{column}: {f'{field}: ' if field else ''}{what}"
        for (line, column), field, what in placed
    )
    error = YamlError(first)
    for other in others[: MAX_TOLD - 1]:
        error.add_note(other)
    if len(placed) > MAX_TOLD:
        more = min(len(placed), MAX_FOUND) - MAX_TOLD
        least = "at least " if len(placed) > MAX_FOUND else ""
        error.add_note(f"{path}: and {least}{more:,} more mistake{'s' * (more > 1)}")
    return error


def some(mistakes: Iterable[Mistake]) -> list[Mistake]:
    """Return the mistakes, but only one more than `MAX_FOUND`."""
    return list(islice(mistakes, MAX_FOUND + 1))


class _Places:
    """The places of fields in a file.

    Composed only now: errors are rare, and the file has passed `safe_yaml`, so that no alias
    can expand. Composed once, since a file may have thousands of mistakes.
    """

    def __init__(self, path: Path) -> None:
        self._root = yaml.compose(path.read_text(encoding="utf-8-sig"), Loader=SafeLoader)
        self._fields: dict[int, dict[str, Any]] = {}

    def of(self, field: str) -> tuple[int, int]:
        """Return line and column (from 1) of the deepest existing part of the field."""
        node = self._root
        for index, key in STEP.findall(field):
            found = None
            if isinstance(node, yaml.MappingNode):
                found = self._fields_of(node).get(key)
            elif isinstance(node, yaml.SequenceNode) and index.isdigit():
                found = node.value[int(index)] if int(index) < len(node.value) else None
            if found is None:
                break
            node = found
        return (node.start_mark.line + 1, node.start_mark.column + 1) if node else (1, 1)

    def _fields_of(self, node: Any) -> dict[str, Any]:
        if id(node) not in self._fields:
            self._fields[id(node)] = {name.value: value for name, value in node.value}
        return self._fields[id(node)]
