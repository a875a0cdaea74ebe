"""The difference between two snapshots of an object, path by path.

Lists of maps that carry a key (`type` of a condition, `name` of a container, `uid` of an owner) are
compared by it, since their order says nothing. Where no field is a key, all texts of an item are
one together, if it has other values beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

ABSENT: Final = "\x00absent"
"""Stands where there was no value; no API value can equal it."""

_KEYS: Final = ("type", "name", "uid", "key", "containerPort")
_UNTOLD: Final = frozenset(("metadata.resourceVersion", "metadata.managedFields"))


class Difference(NamedTuple):
    """One path whose value changed. `old` or `new` is ABSENT where there was none."""

    path: str
    old: Any
    new: Any


def differences(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> list[Difference]:
    """All differences in order of their paths' appearance; resourceVersion is left out."""
    return list(_walk("", old or {}, new or {}))


def _walk(path: str, old: Any, new: Any) -> Iterator[Difference]:
    if old is new or path in _UNTOLD:
        return
    old, new = _emptied(old, new), _emptied(new, old)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in (*old, *(key for key in new if key not in old)):
            yield from _walk(joined(path, key), old.get(key, ABSENT), new.get(key, ABSENT))
        return
    if isinstance(old, list | tuple) and isinstance(new, list | tuple):
        before, after = _by_key(old), _by_key(new)
        if before is not None and after is not None:
            for name in (*before, *(name for name in after if name not in before)):
                yield from _walk(
                    f"{path}[{name}]", before.get(name, ABSENT), after.get(name, ABSENT)
                )
            return
    if old != new:
        yield Difference(path, old, new)


def _emptied(value: Any, other: Any) -> Any:
    """An empty map or list for an absent value beside a filled one, so that its parts are
    listed."""
    if value == ABSENT and isinstance(other, Mapping) and other:
        return {}
    if value == ABSENT and isinstance(other, list | tuple) and _by_key(other):
        return ()
    return value


def joined(path: str, key: str) -> str:
    """The path of a key below another path: `spec.selector["example.com/a"]`."""
    shown = f'["{key}"]' if "." in key or "/" in key else key
    return f"{path}{'' if shown.startswith('[') or not path else '.'}{shown}"


def _by_key(items: Sequence[Any]) -> dict[str, Any] | None:
    """The items by their key; None for a list that has no unique one."""
    if not items:
        return {}
    if not all(isinstance(item, Mapping) for item in items):
        return None
    for key in (*([key] for key in _KEYS), _texts(items)):
        if key and all(part in item for item in items for part in key):
            named = {_name_of(item, key): item for item in items}
            if len(named) == len(items):
                return named
    return None


def _texts(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """The fields that are texts; none where an item has nothing else."""
    texts = {key for item in items for key, value in item.items() if isinstance(value, str)}
    is_told_apart = all(set(item) > texts for item in items)
    return sorted(texts, reverse=True) if is_told_apart else []


def _name_of(item: Mapping[str, Any], key: Sequence[str]) -> str:
    return "/".join(str(item[part]) for part in key if item[part])
