"""The error of all tools about their input, and checked access to fields of objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, Final

from vocabulary.objects import Object, name_of, namespace_of
from vocabulary.quantities import parse_quantity

_LARGEST: Final = 2**63
"""As in Kubernetes."""


class ToolError(ValueError):
    """Unusable input; the message names the file or object, the field and the next action."""


class ObjectError(ToolError):
    """An unusable field of an object, which the message begins with."""

    def __init__(self, obj: Object, problem: ToolError) -> None:
        super().__init__(f"{described(obj)}: {problem}")
        self.obj = obj


@contextmanager
def reading(obj: Object) -> Iterator[None]:
    """Have every ToolError name this object."""
    try:
        yield
    except ObjectError:
        raise
    except ToolError as error:
        raise ObjectError(obj, error) from error


def described(obj: Object) -> str:
    """An object's kind, namespace and name, for messages."""
    place = f"{namespace_of(obj)}/" if namespace_of(obj) else ""
    return f"{obj.get('kind', 'object')} {place}{name_of(obj)}"


def value_at(obj: Object, path: str) -> Any:
    """The value at a dotted path, None where the path ends early; see `objects_at`."""
    value: Any = obj
    steps = path.split(".")
    for index, step in enumerate(steps):
        if value is None:
            return None
        if not isinstance(value, dict):
            raise ToolError(f"{'.'.join(steps[:index])} is {short(value)}; write a mapping")
        value = value.get(step)
    return value


def objects_at(obj: Object, path: str) -> Sequence[Object]:
    """The list of objects at a dotted path, empty where the path ends early.

    Raises ToolError for anything else there.
    """
    value = value_at(obj, path)
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or not all(isinstance(each, dict) for each in value):
        raise ToolError(f"{path} is {short(value)}; write a list of objects")
    return value


def object_at(obj: Object, path: str) -> Object:
    """The object at a dotted path, empty where the path ends early; see `objects_at`."""
    value = value_at(obj, path)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ToolError(f"{path} is {short(value)}; write a mapping")
    return value


def text_at(obj: Object, path: str) -> str:
    """The text at a dotted path, empty where the path ends early; see `objects_at`."""
    value = value_at(obj, path)
    if value is not None and not isinstance(value, str):
        raise ToolError(f"{path} is {short(value)}; write text, in quotes")
    return value or ""


def conditions_of(obj: Object) -> dict[str, str]:
    """The statuses of an object's conditions, by type."""
    return {
        text_at(each, "type"): text_at(each, "status")
        for each in objects_at(obj, "status.conditions")
    }


def amount_in(amounts: Object, key: str, path: str) -> Fraction:
    """The quantity of that key, 0 if there is none; `path` is that of the mapping."""
    value = amounts.get(key)
    if value is None:
        return Fraction(0)
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError(f"{short(value)} is not a resource quantity; write for example 8")
        amount = parse_quantity(value)
        if abs(amount) > _LARGEST:
            raise ValueError(f"{short(value)} is more than any cluster has; correct it")
        return amount
    except ValueError as error:
        raise ToolError(f"{path}.{key}: {error}" if path else f"{key}: {error}") from error


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
