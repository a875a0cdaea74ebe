"""The paths in an object at which a write changes something, and changes at a path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

Path: TypeAlias = tuple[str, ...]
"""The keys from an object's top; of an element of a list `EACH`, of a condition its type."""
Change: TypeAlias = Callable[[Any, Any], Any]
"""From the value that a write asks for and the one that is stored, the wrong one."""

EACH: Final = "*"
ABSENT: Final = object()
_ESCAPED: Final = {"~": "~0", "/": "~1", ",": "~2", ":": "~3"}
_OF_SERVER: Final = frozenset(
    {
        ("apiVersion",),
        ("kind",),
        *(
            ("metadata", field)
            for field in (
                "name",
                "generateName",
                "namespace",
                "uid",
                "resourceVersion",
                "generation",
                "creationTimestamp",
                "deletionTimestamp",
                "deletionGracePeriodSeconds",
                "managedFields",
                "selfLink",
            )
        ),
    }
)
"""The identity of an object, and the fields that no writer decides."""


def in_text(path: Path) -> str:
    """A path as a JSON pointer; commas and colons are escaped, too.

    >>> in_text(("metadata", "labels", "example.com/queue"))
    '/metadata/labels/example.com~1queue'
    """
    return "".join("/" + "".join(_ESCAPED.get(it, it) for it in key) for key in path)


def from_text(text: str) -> Path:
    """The path of a text that `in_text` made."""
    return tuple(map(_unescaped, text.split("/")[1:]))


def _unescaped(key: str) -> str:
    for plain, escaped in reversed(_ESCAPED.items()):
        key = key.replace(escaped, plain)
    return key


def changed(asked: Any, stored: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """Each path at which a write asks for another value than the stored one, with both values;
    `ABSENT` is the one that there is not. Whole mappings and lists come before what is in them."""
    if asked == stored or path in _OF_SERVER or (stored is ABSENT and asked in (None, {}, [])):
        return
    if path:
        yield path, asked, stored
    for key, value, before in _parts(asked, stored):
        yield from changed(value, before, (*path, key))


def _parts(asked: Any, stored: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(asked, Mapping):
        for key, value in asked.items():
            yield key, value, stored.get(key, ABSENT) if isinstance(stored, Mapping) else ABSENT
        if isinstance(stored, Mapping):
            yield from ((key, ABSENT, stored[key]) for key in stored if key not in asked)
    elif isinstance(asked, Sequence) and not isinstance(asked, str):
        for index, element in enumerate(asked):
            yield _key_of(element), element, _same_element(element, index, stored)


def _key_of(element: Any) -> str:
    is_condition = isinstance(element, Mapping) and "type" in element and "status" in element
    return str(element["type"]) if is_condition else EACH


def _same_element(element: Any, index: int, stored: Any) -> Any:
    if not isinstance(stored, Sequence) or isinstance(stored, str):
        return ABSENT
    key = _key_of(element)
    if key == EACH:
        return stored[index] if index < len(stored) else ABSENT
    return next((each for each in stored if _key_of(each) == key), ABSENT)


def with_change(asked: Any, stored: Any, path: Path, change: Change) -> Any:
    """The object with what it changes at a path changed otherwise; the object itself if it changes
    nothing there. A change to `ABSENT` takes the field or the element away."""
    if asked == stored:
        return asked
    if not path:
        return change(asked, stored)
    head, rest = path[0], path[1:]
    changed_parts = [
        (key, with_change(value, before, rest, change) if key == head else value)
        for key, value, before in _parts(asked, stored)
    ]
    kept = [(key, value) for key, value in changed_parts if value is not ABSENT]
    wrong = dict(kept) if isinstance(asked, Mapping) else [value for _, value in kept]
    return asked if wrong == asked or not isinstance(asked, Mapping | Sequence) else wrong


def merge_patch(old: Any, new: Any) -> Any:
    """The merge patch that makes one object of another."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return new
    patch = {key: None for key in old if key not in new}
    for key, value in new.items():
        if key not in old:
            patch[key] = value
        elif value != old[key]:
            patch[key] = merge_patch(old[key], value)
    return patch
