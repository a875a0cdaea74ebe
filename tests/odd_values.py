"""Copies of an object with one odd value each."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

ODD: Final = (None, "", "text", 7, True, [], ["text"], [None], {}, {"odd": "text"})


def changed(made: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Copies that each have one value deleted, or replaced by an odd one."""
    for path in _paths(made, ()):
        for value in (KeyError, *ODD):
            copy = deepcopy(made)
            parent: Any = copy
            for step in path[:-1]:
                parent = parent[step]
            if value is KeyError:
                del parent[path[-1]]
            else:
                parent[path[-1]] = value
            yield copy


def _paths(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    steps = value if isinstance(value, dict) else range(len(value) if type(value) is list else 0)
    for step in steps:
        yield (*path, step)
        yield from _paths(value[step], (*path, step))
