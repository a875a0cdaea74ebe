"""Server-side apply: each manager says all that it wants, and the server remembers who said what.

Ownership is kept beside the objects, so that histories do not hold it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    for path in sorted(ownership.of(manager) - wanted - elsewhere, key=order):
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
    items = list(live)
    places = {entry_of(item, keys): place for place, item in enumerate(items)}
    for wanted in config:
        place = places.get(entry_of(wanted, keys))
        if place is None:
            items.append(wanted)
        else:
            items[place] = _merged(items[place], wanted, structure, names)
    return items
