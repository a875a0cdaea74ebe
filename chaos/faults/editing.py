"""How faults change objects: read, derive a merge patch, send it, again on conflict.

The patch carries the resourceVersion it was derived from, so that a list (taints,
finalizers) that others changed in between is never overwritten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias

from chaos.choice import current
from chaos.ground import FaultRefusedError, Ground
from vocabulary.errors import ApiError
from vocabulary.kinds import Kind
from vocabulary.objects import Object, meta, uid_of
from vocabulary.requests import Patch

Who: TypeAlias = Literal["user", "chaos"]
"""The actor of a write in the history."""

MAX_ATTEMPTS: Final = 10
"""So many conflicts in a row mean that another client writes without pause."""


def edit(
    ground: Ground,
    kind: Kind,
    name: str,
    derive: Callable[[Object], Mapping[str, Any] | None],
    *,
    uid: str = "",
    actor: str = "chaos",
    subresource: str = "",
) -> None:
    """Send the merge patch that `derive` makes of the object; None means nothing to do.

    Given a `uid`, an object that is gone or has been replaced by another one of its name is
    left alone: that is how repairs are made. Otherwise an absent object raises ApiError 404.
    """
    namespace = ground.namespace if kind.namespaced else ""
    for _ in range(MAX_ATTEMPTS):
        try:
            obj = current(ground, kind, name)
            if uid and uid_of(obj) != uid:
                return
            patch = derive(obj)
            if patch is None:
                return
            version = {"resourceVersion": meta(obj)["resourceVersion"]}
            body = {**patch, "metadata": {**patch.get("metadata", {}), **version}}
            ground.call(Patch(kind, namespace, name, body, subresource=subresource), actor)
        except ApiError as error:
            if uid and error.is_not_found:
                return
            if not error.is_conflict:
                raise
        else:
            return
    raise FaultRefusedError(
        f"{kind} {name} changed {MAX_ATTEMPTS} times in a row while it was being edited; "
        "find out who writes it without pause"
    )


def inverse_patch(old: Object, patch: Mapping[str, Any]) -> dict[str, Any]:
    """The merge patch (RFC 7386) that undoes `patch` on `old`, and touches nothing else."""
    undo: dict[str, Any] = {}
    for key, value in patch.items():
        before = old.get(key)
        if isinstance(value, Mapping) and (before is None or isinstance(before, Mapping)):
            undo[key] = inverse_patch(before or {}, value)
        else:
            undo[key] = before
    return undo
