"""Server-side apply: each manager says all that it wants, and the server remembers who said what.

Ownership is kept beside the objects, so that histories do not hold it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from clusters.simulated.patches.field_paths import (
    Structure,
    changes,
    entry_of,
    keys_of,
    leaves,
    order,
    without,
)
from clusters.simulated.patches.ownership import Manager, Ownership, Stamp, conflict
from clusters.simulated.strategy import FieldPath
from vocabulary.objects import Object

_Entry: TypeAlias = tuple[tuple[str, Any], ...]


def apply(
    live: Object,
    config: Object,
    manager: Manager,
    ownership: Ownership,
    structure: Structure,
    stamp: Stamp,
    *,
    force: bool,
) -> tuple[dict[str, Any], Ownership]:
    """The object as the manager wants it, and who owns what then; 409 if others disagree.

    What the manager wanted before and leaves out now goes, unless another manager wants it.
    """
    wanted = frozenset(leaves(config, structure))
    others = ownership.others(manager)
    elsewhere = frozenset[Any]().union(*others.values())
    result = dict(live)
    kept = wanted | elsewhere
    for path in sorted(ownership.of(manager) - kept, key=order):
        if not any(other[: len(path)] == path for other in kept):
            result = without(result, path)
    result = _merged(result, config, structure, ())
    changed, removed = changes(live, result, structure)
    contested = [
        (name, path)
        for name, owned in sorted(others.items())
        for path in sorted(changed & owned, key=order)
    ]
    if contested and not force:
        raise conflict(contested)
    return result, ownership.after(manager, wanted, changed, removed, stamp)


def _merged(live: Any, config: Any, structure: Structure, names: FieldPath) -> Any:
    if isinstance(config, Mapping):
        if names and structure.is_atomic(names):
            return config
        merged = dict(live) if isinstance(live, Mapping) else {}
        for name, value in config.items():
            merged[name] = _merged(merged.get(name), value, structure, (*names, name))
        return merged
    keys = keys_of(config, structure, names)
    if keys is None or not isinstance(live, list):
        return config
    standing: dict[_Entry, list[Any]] = {}
    for item in live:
        standing.setdefault(entry_of(item, keys), []).append(item)
    wanted = {entry_of(item, keys): item for item in config}
    return [
        _merged(standing.get(entry, [None])[0], wanted[entry], structure, names)
        if entry in wanted
        else standing[entry].pop(0)
        for entry in _interleaved([entry_of(item, keys) for item in live], list(wanted))
    ]


def _interleaved(live: Sequence[_Entry], config: Sequence[_Entry]) -> list[_Entry]:
    """The entries of both: those of the configuration in its order, each as far as possible where
    it stood among the others."""
    shared = iter([entry for entry in config if entry in live])
    awaited = next(shared, None)
    merged: list[_Entry] = []
    at = place = 0
    while at < len(live) or place < len(config):
        if at < len(live) and place < len(config):
            if live[at] == config[place]:
                merged.append(live[at])
                at, place, awaited = at + 1, place + 1, next(shared, None)
                continue
            if live[at] in config and awaited not in (None, live[at]):
                at += 1
                continue
        if at < len(live) and live[at] not in config:
            merged.append(live[at])
            at += 1
            continue
        if at < len(live) and live[at] in merged:
            at += 1
        if place < len(config):
            merged.append(config[place])
            if awaited == config[place]:
                awaited = next(shared, None)
            place += 1
    return merged
