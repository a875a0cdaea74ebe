"""Disruption budgets: whether one allows the eviction of a pod, and what it then writes down."""

from __future__ import annotations

from typing import Any, Final

from clusters.simulated.store import Key, Store
from vocabulary.clock import Micros, to_rfc3339
from vocabulary.errors import ApiError
from vocabulary.kinds import POD_DISRUPTION_BUDGET
from vocabulary.objects import (
    Object,
    condition,
    condition_status,
    get_path,
    is_terminating,
    labels_of,
    meta,
    name_of,
    namespace_of,
)
from vocabulary.selectors import matches

ALLOWED: Final = "DisruptionAllowed"
"""The one type of a budget's conditions."""
SYNC_FAILED: Final = "SyncFailed"
_CAUSE: Final = "DisruptionBudget"
_RETRY_SECONDS: Final = 10
_MOST_DISRUPTED: Final = 2_000
_UNPROTECTED: Final = ("Pending", "Succeeded", "Failed")
"""Phases of pods that do not serve yet, or no longer."""
_MORE_THAN_ONE: Final = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
    "support."
)


def budgets_of(store: Store, pod: Object) -> list[Object]:
    """The budgets that select a pod."""
    return [
        budget
        for budget in store.of_kind(str(POD_DISRUPTION_BUDGET), namespace_of(pod))
        if matches(get_path(budget, "spec.selector"), labels_of(pod))
    ]


def require_budget(store: Store, pod: Object, now_us: Micros, *, dry_run: bool) -> None:
    """Count an eviction against the pod's budget, if it has one; 429 if that allows none now, 500
    if there are several."""
    if is_terminating(pod) or get_path(pod, "status.phase") in _UNPROTECTED:
        return
    budgets = budgets_of(store, pod)
    if len(budgets) > 1:
        raise ApiError(500, "", _MORE_THAN_ONE)
    for budget in budgets:
        _take_from(store, budget, pod, now_us, dry_run=dry_run)


def _take_from(store: Store, budget: Object, pod: Object, now_us: Micros, *, dry_run: bool) -> None:
    """A pod that is not ready is not part of what a budget protects: it may go while enough others
    are ready, or at any time if the budget says so."""
    status = budget.get("status") or {}
    current, desired = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
    if condition_status(pod, "Ready") != "True":
        if get_path(budget, "spec.unhealthyPodEvictionPolicy") == "AlwaysAllow":
            return
        if current >= desired > 0:
            return
    _require_allowed(budget, status)
    if dry_run:
        return
    changed = {**status, "disruptionsAllowed": status["disruptionsAllowed"] - 1}
    if not changed["disruptionsAllowed"]:
        changed["conditions"] = conditions_of(budget, changed, now_us)
    disrupted = changed.get("disruptedPods") or {}
    changed["disruptedPods"] = {**disrupted, name_of(pod): to_rfc3339(now_us)}
    key = Key(str(POD_DISRUPTION_BUDGET), namespace_of(budget), name_of(budget))
    store.put(key, {**budget, "metadata": dict(meta(budget)), "status": changed})


def conditions_of(budget: Object, status: Object, now_us: Micros) -> list[dict[str, Any]]:
    """The conditions of a budget with that status."""
    allows = status["disruptionsAllowed"] > 0
    reason = "SufficientPods" if allows else "InsufficientPods"
    return [decided(budget, status, "True" if allows else "False", reason, "", now_us)]


def decided(
    budget: Object, status: Object, allowed: str, reason: str, message: str, now_us: Micros
) -> dict[str, Any]:
    """The condition; its time moves where its status does."""
    before = condition(budget, ALLOWED) or {}
    is_same = before.get("status") == allowed
    found = {
        "type": ALLOWED,
        "status": allowed,
        "lastTransitionTime": before["lastTransitionTime"] if is_same else to_rfc3339(now_us),
        "reason": reason,
        "message": message,
    }
    generation = status.get("observedGeneration")
    return {**found, "observedGeneration": generation} if generation else found


def _require_allowed(budget: Object, status: Object) -> None:
    name = name_of(budget)
    if status.get("observedGeneration", 0) < meta(budget)["generation"]:
        raise _refused(
            f"The disruption budget {name} is still being processed by the server.",
            _RETRY_SECONDS,
        )
    if len(status.get("disruptedPods") or ()) > _MOST_DISRUPTED:
        because = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise ApiError(
            403,
            "Forbidden",
            f'poddisruptionbudget.policy "{name}" is forbidden: {because}',
            {"name": name, "group": "policy", "kind": "poddisruptionbudget"},
        )
    if not status.get("disruptionsAllowed"):
        raise _refused(_why_none(budget, status))


def _why_none(budget: Object, status: Object) -> str:
    found = condition(budget, ALLOWED) or {}
    message = found.get("message") if found.get("status") == "False" else ""
    named = f"The disruption budget {name_of(budget)}"
    if message and found.get("reason") == SYNC_FAILED:
        return f"{named} does not allow evicting pods currently because it failed sync: {message}"
    current, desired = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
    if current <= desired:
        return f"{named} needs {desired} healthy pods and has {current} currently"
    return f"{named} does not allow evicting pods currently"


def _refused(because: str, retry_seconds: int = 0) -> ApiError:
    details: dict[str, Any] = {"causes": [{"reason": _CAUSE, "message": because}]}
    if retry_seconds:
        details["retryAfterSeconds"] = retry_seconds
    return ApiError(
        429,
        "TooManyRequests",
        "Cannot evict pod as it would violate the pod's disruption budget.",
        details,
    )
