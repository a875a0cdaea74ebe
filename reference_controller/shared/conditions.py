"""Setting an entry of `status.conditions`."""

from __future__ import annotations

from collections.abc import Iterable

from vocabulary.clock import Micros, to_rfc3339
from vocabulary.objects import Object


def with_condition(entries: Iterable[Object], new: Object, now_us: Micros) -> list[Object]:
    """The list with one condition set, in its place; its lastTransitionTime moves only if its
    status flips."""
    changed = list(entries)
    for index, entry in enumerate(changed):
        if entry.get("type") == new["type"]:
            since = (
                entry.get("lastTransitionTime") if entry.get("status") == new["status"] else None
            )
            changed[index] = {**new, "lastTransitionTime": since or to_rfc3339(now_us)}
            return changed
    changed.append({**new, "lastTransitionTime": to_rfc3339(now_us)})
    return changed
