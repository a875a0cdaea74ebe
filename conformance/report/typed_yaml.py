"""A YAML file as a msgspec type, with errors that name the file, the line and the field."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import yaml

from conformance.report.what_instead import STEP, UNKNOWN, what_instead
from vocabulary.safe_yaml import YamlError

T = TypeVar("T")

_FIELD_IN_MESSAGE: Final = re.compile(r" - at `(?:key in )?\$([^`]*)`$")


def as_type(value: Any, type_: type[T], path: Path) -> T:
    """`value`, read from `path`, as `type_`; YamlError says which field of which line is wrong."""
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        text = str(error)
        found = _FIELD_IN_MESSAGE.search(text)
        field = found[1].removeprefix(".") if found else ""
        what = text[: found.start()] if found else text
        unknown = UNKNOWN.search(what)
        at = f"{field}.{unknown[1]}" if unknown else field
        instead = what_instead(type_, field, what)
        raise field_error(path, field, f"{what[:1].lower()}{what[1:]}{instead}", at) from error


def field_error(path: Path, field: str, what: str, at: str = "") -> YamlError:
    """An error about a field (dotted, list items as `[3]`) of a file that was read before.

    `at` is the field whose line is told, if it is another one.
    """
    line, column = _position(path, at or field)
    return YamlError(f"{path}:{line}:{column}: {f'{field}: ' if field else ''}{what}")


def _position(path: Path, field: str) -> tuple[int, int]:
    """Line and column (from 1) of the deepest part of the field that exists.

    Composed only now: errors are rare, and the file has passed `safe_yaml`, so that no alias
    can unfold.
    """
    node = yaml.compose(path.read_text(encoding="utf-8-sig"), Loader=yaml.CSafeLoader)
    for index, key in STEP.findall(field):
        found = None
        if isinstance(node, yaml.MappingNode):
            found = next((value for name, value in node.value if name.value == key), None)
        elif isinstance(node, yaml.SequenceNode) and index.isdigit():
            found = node.value[int(index)] if int(index) < len(node.value) else None
        if found is None:
            break
        node = found
    return (node.start_mark.line + 1, node.start_mark.column + 1) if node else (1, 1)
