"""Deletion: preconditions, grace, propagation policy, finalizers.

A deletion either removes an object immediately or only marks it: it stays while a finalizer or a
grace period holds it, and the write that removes the last hold removes the object. The propagation
policy deletes nothing by itself: it becomes a finalizer that the garbage collector acts on and
removes: `foregroundDeletion` or `orphan`, none for Background.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clusters.simulated.field_errors import invalid, not_supported
from clusters.simulated.object_meta import FOREGROUND, ORPHAN
from clusters.simulated.store import Change, Key, Store
from clusters.simulated.strategy import Strategy
from vocabulary.clock import Micros, parse_rfc3339, to_rfc3339
from vocabulary.errors import ApiError, conflict
from vocabulary.objects import Object, finalizers_of, meta
from vocabulary.requests import Delete, PropagationPolicy

_POLICIES = ("Foreground", "Background", "Orphan")


def delete(
    store: Store,
    strategy: Strategy,
    key: Key,
    old: Object,
    request: Delete,
    now_us: Micros,
    admit: Callable[[Object], None] | None = None,
) -> tuple[Change | None, Object]:
    """Carry out a deletion; the last change it made (None: it changed nothing) and the object.

    `admit` may refuse it.
    """
    require_policy(request.propagation_policy)
    _check_preconditions(strategy, old, request)
    if admit is not None:
        admit(old)
    if "deletionTimestamp" not in meta(old):
        marked = _first_stage(strategy, old, request, now_us)
        if marked is not None:
            return (None if request.dry_run else store.put(key, marked)), marked
    if not strategy.is_final(old):
        return None, old
    metadata, graceful = _with_grace(strategy, old, request.grace_period_seconds, now_us)
    if metadata is None:
        return None, old
    finalizers = _finalizers(strategy, old, request.propagation_policy)
    if finalizers:
        metadata["finalizers"] = finalizers
    else:
        metadata.pop("finalizers", None)
    if not graceful and finalizers:
        _mark(metadata, now_us)
    marked = {**old, "metadata": metadata}
    if graceful or finalizers:
        if request.dry_run:
            return None, marked
        change = store.put(key, marked) if marked != old else None
        if finalizers or metadata["deletionGracePeriodSeconds"] > 0:
            return change, marked
    if request.dry_run:
        return None, old
    removed = store.remove(key)
    return removed, removed.object


def removes(strategy: Strategy, new: Object, old: Object) -> bool:
    """True if an update removes the last hold on a terminating object.

    Such an update is not stored. The object is deleted in its previous state, so its DELETED
    event still has the finalizer that the update removed.
    """
    before = meta(old)
    return (
        "deletionTimestamp" in before
        and not finalizers_of(new)
        and not before.get("deletionGracePeriodSeconds")
        and strategy.is_final(new)
    )


def require_policy(policy: str | None) -> None:
    """422 for a policy that there is none of."""
    if policy is not None and policy not in _POLICIES:
        error = not_supported("propagationPolicy", policy, (*_POLICIES, "nil"))
        raise invalid("DeleteOptions.meta.k8s.io", "", [error])


def _check_preconditions(strategy: Strategy, old: Object, request: Delete) -> None:
    metadata = meta(old)
    for field, wanted, found, how in (
        ("UID", request.uid, metadata["uid"], "deleted and then recreated"),
        ("ResourceVersion", request.resource_version, metadata["resourceVersion"], "modified"),
    ):
        if wanted is not None and wanted != found:
            raise _precondition_failed(
                strategy,
                metadata["name"],
                f"the {field} in the precondition ({wanted}) does not match the {field} in record "
                f"({found}). The object might have been {how}",
            )


def _precondition_failed(strategy: Strategy, name: str, because: str) -> ApiError:
    """A real server names the kind here, where all other conflicts name the plural."""
    error = conflict(strategy.kind, name, because)
    plural = f"{strategy.kind.plural}.{strategy.kind.group}".rstrip(".")
    message = error.message.replace(f" on {plural} ", f" on {strategy.kind} ", 1)
    details = {**(error.details or {}), "kind": strategy.kind.kind}
    return ApiError(error.code, error.reason, message, details)


def _with_grace(
    strategy: Strategy, old: Object, requested: int | None, now_us: Micros
) -> tuple[dict[str, Any] | None, bool]:
    """The metadata that a graceful deletion leaves, and whether it is one at all.

    None for the metadata says that a deletion is already under way which this one cannot
    shorten: nothing changes, not even the finalizers.
    """
    metadata = dict(meta(old))
    if requested is not None and requested < 0:
        requested = 1
    grace = strategy.grace_seconds(old, requested)
    if grace is None:
        return metadata, False
    if "deletionTimestamp" not in metadata:
        metadata["deletionTimestamp"] = to_rfc3339(now_us + _span_us(grace))
        metadata["deletionGracePeriodSeconds"] = grace
        _count_generation(metadata)
        return metadata, True
    standing = metadata.get("deletionGracePeriodSeconds") or 0
    if standing == 0:
        return metadata, False
    if requested is None or requested >= standing:
        return None, False
    asked_us = parse_rfc3339(metadata["deletionTimestamp"]) - _span_us(standing)
    due_us = asked_us + _span_us(requested)
    if due_us < now_us:
        due_us = now_us
        requested = min(requested, 1)
    metadata["deletionTimestamp"] = to_rfc3339(due_us)
    metadata["deletionGracePeriodSeconds"] = requested
    return metadata, True


def _span_us(seconds: int) -> Micros:
    """A real server counts in nanoseconds of 64 bits: what is longer than 292 years wraps."""
    return ((seconds * 10**9 + 2**63) % 2**64 - 2**63) // 1_000


def _finalizers(strategy: Strategy, old: Object, policy: PropagationPolicy | None) -> list[str]:
    """The object's finalizers with the policy's own put in place of what was there.

    An explicit policy wins, else a finalizer that is already on the object decides, else
    the kind's default.
    """
    before = finalizers_of(old)
    if strategy.default_policy is None:
        policy = "Background"
    elif policy is None:
        if ORPHAN in before:
            policy = "Orphan"
        elif FOREGROUND in before:
            policy = "Foreground"
        else:
            policy = strategy.default_policy
    kept = [name for name in before if name not in (ORPHAN, FOREGROUND)]
    if policy == "Orphan":
        kept.append(ORPHAN)
    elif policy == "Foreground":
        kept.append(FOREGROUND)
    return list(before) if set(kept) == set(before) else kept


def _mark(metadata: dict[str, Any], now_us: Micros) -> None:
    """Mark an object as terminating, without any grace."""
    standing = metadata.get("deletionTimestamp")
    if standing is None:
        _count_generation(metadata)
    if standing is None or parse_rfc3339(standing) > now_us:
        metadata["deletionTimestamp"] = to_rfc3339(now_us)
    metadata["deletionGracePeriodSeconds"] = 0


def _count_generation(metadata: dict[str, Any]) -> None:
    """To be deleted is a change of what is desired."""
    if metadata.get("generation"):
        metadata["generation"] += 1


def _first_stage(
    strategy: Strategy, old: Object, request: Delete, now_us: Micros
) -> dict[str, Any] | None:
    """Return the object after the first deletion request, if it has to be emptied before it goes.

    None for all other kinds.
    """
    marked = {**old, "metadata": dict(meta(old))}
    if not strategy.begin_deletion(marked, now_us):
        return None
    metadata = marked["metadata"]
    metadata["deletionTimestamp"] = to_rfc3339(now_us)
    if request.propagation_policy is not None:
        finalizers = [
            name for name in metadata.get("finalizers") or () if name not in (ORPHAN, FOREGROUND)
        ]
        if request.propagation_policy != "Background":
            orphan = request.propagation_policy == "Orphan"
            finalizers.append(ORPHAN if orphan else FOREGROUND)
        metadata["finalizers"] = finalizers
    if not metadata.get("finalizers"):
        metadata.pop("finalizers", None)
    return marked
