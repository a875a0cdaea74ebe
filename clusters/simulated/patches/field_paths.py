"""Paths of fields, as server-side apply tells them apart: names, and the keys of list entries."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

from clusters.simulated.strategy import FieldPath

Step: TypeAlias = str | tuple[tuple[str, Any], ...]
"""The name of a field, or the keys and values that name an entry of a list.

An entry of a set is named by its value, under the key ""."""
Path: TypeAlias = tuple[Step, ...]

_IDENTITY: Final = frozenset({"apiVersion", "kind"})
_IDENTITY_METADATA: Final = frozenset(
    {
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "managedFields",
        "selfLink",
    }
)
_DEFAULT_KEYS: Final[Mapping[str, Any]] = {"protocol": "TCP"}
"""The values of keys that an entry may leave out."""


class Structure(Protocol):
    """The parts of a kind's schema that divide its objects into fields."""

    @property
    def has_status(self) -> bool:
        """True if the status is written through a subresource of its own."""
        ...

    def list_keys(self, path: FieldPath) -> tuple[str, ...] | None:
        """The keys of the list's entries; none for a set, None for a list that is one field."""
        ...

    def is_atomic(self, path: FieldPath) -> bool:
        """True if the object at the path is one field."""
        ...

    def is_always_there(self, path: FieldPath) -> bool:
        """True if the field exists in each object, even if it is empty."""
        ...


def entry_of(item: Any, keys: Sequence[str]) -> tuple[tuple[str, Any], ...]:
    """The step that leads to an entry of a list."""
    if not keys:
        return (("", item),)
    return tuple((key, item.get(key, _DEFAULT_KEYS.get(key))) for key in keys)


def _is(item: Any, step: tuple[tuple[str, Any], ...]) -> bool:
    if step[0][0] == "":
        return bool(item == step[0][1])
    return isinstance(item, Mapping) and all(
        item.get(key, _DEFAULT_KEYS.get(key)) == wanted for key, wanted in step
    )


def keys_of(value: Any, structure: Structure, names: FieldPath) -> tuple[str, ...] | None:
    """The keys of a list that is merged entry by entry; None for any other value."""
    if not isinstance(value, list) or not names:
        return None
    keys = structure.list_keys(names)
    if keys is None:
        return None
    wanted = Mapping if keys else str | int | float
    return keys if all(isinstance(item, wanted) for item in value) else None


def is_divided(value: Any, structure: Structure, names: FieldPath) -> bool:
    """True for an object whose fields have managers of their own."""
    return isinstance(value, dict) and not (names and structure.is_atomic(names))


def has_manager(names: FieldPath, name: str) -> bool:
    """False for the fields that only the server may change, or that name the object."""
    if not names:
        return name not in _IDENTITY
    return not (names == ("metadata",) and name in _IDENTITY_METADATA)


def leaves(
    value: Any, structure: Structure, path: Path = (), names: FieldPath = ()
) -> Iterator[Path]:
    """The fields of an object that say something, and the entries of its lists."""
    if is_divided(value, structure, names) and value:
        for name, child in value.items():
            if has_manager(names, name):
                yield from leaves(child, structure, (*path, name), (*names, name))
        return
    keys = keys_of(value, structure, names)
    if keys is not None and value:
        for item in value:
            entry = (*path, entry_of(item, keys))
            yield entry
            if keys and not structure.is_atomic(names):
                for name, child in item.items():
                    yield from leaves(child, structure, (*entry, name), (*names, name))
        return
    if path:
        yield path


def nodes(value: Any, structure: Structure, path: Path, names: FieldPath) -> Iterator[Path]:
    """The field at a path with everything in it, as an update adds or removes it."""
    if value is None:
        return
    yield path
    if is_divided(value, structure, names):
        for name, child in value.items():
            yield from nodes(child, structure, (*path, name), (*names, name))
        return
    keys = keys_of(value, structure, names)
    for item in value if keys is not None else ():
        entry = (*path, entry_of(item, keys or ()))
        if keys:
            yield from nodes(item, structure, entry, names)
        else:
            yield entry


def changes(
    old: Any,
    new: Any,
    structure: Structure,
    path: Path = (),
    names: FieldPath = (),
) -> tuple[set[Path], set[Path]]:
    """The fields that are added or have another value, and those that are removed."""
    changed: set[Path] = set()
    removed: set[Path] = set()
    _compare(old, new, structure, path, names, changed, removed)
    return changed, removed


def _compare(
    old: Any,
    new: Any,
    structure: Structure,
    path: Path,
    names: FieldPath,
    changed: set[Path],
    removed: set[Path],
) -> None:
    if old is new:
        return
    if old is None and path and isinstance(path[-1], str) and structure.is_always_there(names):
        old = [] if isinstance(new, list) else {}
    if old is None or new is None:
        (changed if old is None else removed).update(
            nodes(new if old is None else old, structure, path, names)
        )
        return
    if is_divided(old, structure, names) and is_divided(new, structure, names):
        for name in {**old, **new}:
            if has_manager(names, name):
                one, other = old.get(name), new.get(name)
                _compare(one, other, structure, (*path, name), (*names, name), changed, removed)
        return
    keys = keys_of(new, structure, names)
    if keys is None or keys_of(old, structure, names) is None:
        if old != new:
            changed.add(path)
        return
    before = {entry_of(item, keys): item for item in old}
    after = {entry_of(item, keys): item for item in new}
    for step in {**before, **after}:
        one, other = before.get(step), after.get(step)
        _compare(one, other, structure, (*path, step), names, changed, removed)


def undeclared(
    given: Any,
    shaped: Any,
    structure: Structure,
    path: Path = (),
    names: FieldPath = (),
) -> Iterator[Path]:
    """The fields of an object that its schema has dropped."""
    if given is shaped:
        return
    if isinstance(shaped, dict):
        for name, child in given.items():
            at, within = (*path, name), (*names, name)
            if name in shaped:
                yield from undeclared(child, shaped[name], structure, at, within)
            elif child is not None:
                yield at
    elif isinstance(given, list) and isinstance(shaped, list):
        keys = keys_of(given, structure, names) or ()
        for child, kept in zip(given, shaped, strict=True):
            yield from undeclared(child, kept, structure, (*path, entry_of(child, keys)), names)


def _child(value: Any, step: Step) -> Any:
    if isinstance(step, str):
        return value.get(step) if isinstance(value, Mapping) else None
    for item in value if isinstance(value, list) else ():
        if _is(item, step):
            return item
    return None


def without(value: Any, path: Path) -> Any:
    """The value without what is at the path; objects and lists that this empties go too."""
    step, rest = path[0], path[1:]
    if _child(value, step) is None:
        return value
    if isinstance(step, str):
        copy = dict(value)
        if rest:
            copy[step] = without(copy[step], rest)
        if not rest or copy[step] in ({}, []):
            del copy[step]
        return copy
    items = []
    for item in value:
        if not _is(item, step):
            items.append(item)
        elif rest:
            items.append(without(item, rest))
    return items


def order(path: Path) -> tuple[tuple[bool, str], ...]:
    """Sort key: at each level, shorter paths first, so that an entry precedes its own fields."""
    last = len(path) - 1
    return tuple((depth < last, _shown_step(step)) for depth, step in enumerate(path))


def shown(path: Path) -> str:
    """A path as messages have it."""
    return "".join(map(_shown_step, path))


def _shown_step(step: Step) -> str:
    if isinstance(step, str):
        return f".{step}"
    return "[" + ",".join(f"{key}={json.dumps(value)}" for key, value in step) + "]"


def fields_v1(paths: frozenset[Path]) -> dict[str, Any]:
    """Paths as `metadata.managedFields` has them."""
    tree: dict[str, Any] = {}
    inner = {path[:depth] for path in paths for depth in range(1, len(path))}
    for path in sorted(paths, key=order):
        node = tree
        for step in path:
            node = node.setdefault(_encoded(step), {})
        if path in inner:
            node["."] = {}
    return tree


def _encoded(step: Step) -> str:
    if isinstance(step, str):
        return f"f:{step}"
    if step[0][0] == "":
        return f"v:{json.dumps(step[0][1])}"
    return f"k:{json.dumps(dict(step), separators=(',', ':'))}"
