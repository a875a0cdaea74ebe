"""A YAML file as a msgspec type, with errors that name the file, the line and the field."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import yaml
from msgspec import inspect

from vocabulary.safe_yaml import YamlError

T = TypeVar("T")

_FIELD_IN_MESSAGE: Final = re.compile(r" - at `(?:key in )?\$([^`]*)`$")
_STEP: Final = re.compile(r"\[(\d+|\.\.\.)\]|([^.\[\]]+)")


def as_type(value: Any, type_: type[T], path: Path) -> T:
    """`value`, read from `path`, as `type_`; YamlError says which field of which line is wrong."""
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        text = str(error)
        found = _FIELD_IN_MESSAGE.search(text)
        field = found[1].removeprefix(".") if found else ""
        what = text[: found.start()] if found else text
        if "enum value" in what and (allowed := _allowed(type_, field)):
            what += f"; write {' or '.join(allowed)}"
        raise field_error(path, field, what[:1].lower() + what[1:]) from error


def _allowed(type_: Any, field: str) -> list[str]:
    """The texts of which a field may be one; none where that cannot be told."""
    node = inspect.type_info(type_)
    for index, key in _STEP.findall(field):
        if isinstance(node, inspect.UnionType):
            node = next(each for each in node.types if not isinstance(each, inspect.NoneType))
        if index and isinstance(node, inspect.VarTupleType | inspect.ListType):
            node = node.item_type
        elif isinstance(node, inspect.StructType):
            fields = {each.encode_name: each.type for each in node.fields}
            node = fields.get(key, node)
    return [str(value) for value in node.values] if isinstance(node, inspect.LiteralType) else []


def field_error(path: Path, field: str, what: str) -> YamlError:
    """An error about a field (dotted, list items as `[3]`) of a file that was read before."""
    line, column = _position(path, field)
    return YamlError(f"{path}:{line}:{column}: {f'{field}: ' if field else ''}{what}")


def _position(path: Path, field: str) -> tuple[int, int]:
    """Line and column (from 1) of the deepest part of the field that exists.

    Composed only now: errors are rare, and the file has passed `safe_yaml`, so that no alias
    can unfold.
    """
    node = yaml.compose(path.read_text(encoding="utf-8-sig"), Loader=yaml.CSafeLoader)
    for index, key in _STEP.findall(field):
        found = None
        if isinstance(node, yaml.MappingNode):
            found = next((value for name, value in node.value if name.value == key), None)
        elif isinstance(node, yaml.SequenceNode) and index.isdigit():
            found = node.value[int(index)] if int(index) < len(node.value) else None
        if found is None:
            break
        node = found
    return (node.start_mark.line + 1, node.start_mark.column + 1) if node else (1, 1)
