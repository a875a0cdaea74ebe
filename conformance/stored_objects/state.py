"""The state of one object: a suite reads each field of its kinds in one class, live and recorded.

A subclass declares the fields; each is read when it is first asked for:

    class JobSetState(ObjectState):
        restarts = number("status.restarts")
        is_failed = condition("Failed")

A handle's `state` is that of the object that is stored now, a view's snapshot that of a version.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

from vocabulary.objects import Object, condition_status, get_path, is_terminating

T = TypeVar("T")


class Field(Generic[T]):
    """A field of an object, read once for each state."""

    def __init__(self, read: Callable[[Object], T]) -> None:
        self._read = read

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, state: None, owner: type) -> Self: ...
    @overload
    def __get__(self, state: ObjectState, owner: type) -> T: ...
    def __get__(self, state: ObjectState | None, owner: type) -> Self | T:
        if state is None:
            return self
        value = state.__dict__[self._name] = self._read(state.object)
        return value


class ObjectState:
    """An object as it is at one moment; empty once it is gone."""

    def __init__(self, obj: Object) -> None:
        self.object = obj

    is_terminating = Field(is_terminating)


def number(path: str, default: int = 0) -> Field[int]:
    """An integer; the default where it is absent."""
    return Field(lambda obj: int(get_path(obj, path, default)))


def flag(path: str) -> Field[bool]:
    """A boolean; False where it is absent."""
    return Field(lambda obj: bool(get_path(obj, path, False)))


def value(path: str) -> Field[Any]:
    """A value of any type; None where it is absent."""
    return Field(lambda obj: get_path(obj, path))


def items(path: str) -> Field[tuple[Object, ...]]:
    """The items of a list; none where it is absent or null."""
    return Field(lambda obj: tuple(get_path(obj, path) or ()))


def condition(type_: str) -> Field[bool]:
    """True if the condition of that type is True."""
    return Field(lambda obj: condition_status(obj, type_) == "True")
