"""A Deployment's status, and the bounds of its rolling updates."""

from __future__ import annotations

from typing import Any, Final

from clusters.simulated.controllers.workloads.workload import scaled, without_empty
from vocabulary.clock import SECOND, Micros, parse_rfc3339
from vocabulary.objects import Object, condition, get_path, meta, name_of

_PAUSED: Final = "DeploymentPaused"
_TIMED_OUT: Final = "ProgressDeadlineExceeded"
_UNDER_WAY: Final = ("NewReplicaSetCreated", "ReplicaSetUpdated", "FoundNewReplicaSet")


def bounds(spec: Object) -> tuple[int, int]:
    """How many pods there may be too many, and too few, while rolling; not both 0."""
    rolling = spec["strategy"].get("rollingUpdate") or {}
    wanted = spec["replicas"]
    if spec["strategy"].get("type") == "Recreate":
        return 0, 0
    surge = scaled(rolling.get("maxSurge", "25%"), wanted, round_up=True)
    unavailable = scaled(rolling.get("maxUnavailable", "25%"), wanted, round_up=False)
    return surge, unavailable if surge or unavailable else 1


def available(replica_set: Object) -> int:
    """How many pods of a ReplicaSet have been ready for long enough."""
    count: int = get_path(replica_set, "status.availableReplicas", 0)
    return count


def _sum(sets: list[Object], field: str) -> int:
    return sum((entry.get("status") or {}).get(field, 0) for entry in sets)


def deployment_status(
    deployment: Object, sets: list[Object], new: Object | None, now: str
) -> dict[str, Any]:
    """The status of a deployment with these ReplicaSets, `new` being that of its template."""
    spec = deployment["spec"]
    wanted = spec["replicas"]
    _, unavailable = bounds(spec)
    total, ready_long = _sum(sets, "replicas"), _sum(sets, "availableReplicas")
    updated = 0 if new is None else _sum([new], "replicas")
    status = without_empty(
        {
            "observedGeneration": meta(deployment)["generation"],
            "replicas": total,
            "updatedReplicas": updated,
            "readyReplicas": _sum(sets, "readyReplicas"),
            "availableReplicas": ready_long,
            "unavailableReplicas": max(0, wanted - ready_long),
        }
    )
    status["terminatingReplicas"] = _sum(sets, "terminatingReplicas")
    before = deployment.get("status") or {}
    if ready_long >= wanted - unavailable:
        entry = ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    else:
        entry = (
            "False",
            "MinimumReplicasUnavailable",
            "Deployment does not have minimum availability.",
        )
    conditions = [_condition(before, "Available", entry, now)]
    complete = updated == wanted == total == ready_long
    progress = _progress(deployment, new, complete, now)
    if progress is not None:
        moved = any(
            before.get(field, 0) != status.get(field, 0)
            for field in ("updatedReplicas", "readyReplicas", "availableReplicas")
        )
        conditions.append(_condition(before, "Progressing", progress, now, touch=moved))
    status["conditions"] = conditions
    return status


def _progress(
    deployment: Object, new: Object | None, complete: bool, now: str
) -> tuple[str, str, str] | None:
    """Status, reason and message of Progressing; None before there is anything to say."""
    shown = condition(deployment, "Progressing")
    if deployment["spec"].get("paused"):
        if shown is not None and shown["reason"] == _TIMED_OUT:
            return shown["status"], shown["reason"], shown["message"]
        return "Unknown", _PAUSED, "Deployment is paused"
    if shown is not None and shown["reason"] == _PAUSED:
        return "Unknown", "DeploymentResumed", "Deployment is resumed"
    if new is None:
        return None
    named = f'ReplicaSet "{name_of(new)}"'
    if complete:
        return "True", "NewReplicaSetAvailable", f"{named} has successfully progressed."
    if shown is None:
        return "True", "NewReplicaSetCreated", f'Created new replica set "{name_of(new)}"'
    due_us = deadline_us(deployment["spec"], deployment["status"])
    if shown["status"] == "False" or (due_us is not None and parse_rfc3339(now) >= due_us):
        return "False", _TIMED_OUT, f"{named} has timed out progressing."
    return "True", "ReplicaSetUpdated", f"{named} is progressing."


def _condition(
    before: Object, type_: str, entry: tuple[str, str, str], now: str, *, touch: bool = False
) -> dict[str, Any]:
    value, reason, message = entry
    shown = condition({"status": before}, type_)
    if shown is not None and (shown["status"], shown["reason"]) == (value, reason) and not touch:
        return {**shown, "message": message}
    since = now if shown is None or shown["status"] != value else shown["lastTransitionTime"]
    return {
        "type": type_,
        "status": value,
        "lastUpdateTime": now,
        "lastTransitionTime": since,
        "reason": reason,
        "message": message,
    }


def deadline_us(spec: Object, status: Object) -> Micros | None:
    """When a roll-out that is under way counts as stuck; None if none is."""
    shown = condition({"status": status}, "Progressing")
    if shown is None or shown["reason"] not in _UNDER_WAY or spec.get("paused"):
        return None
    deadline = spec["progressDeadlineSeconds"]
    at_us: Micros = parse_rfc3339(shown["lastUpdateTime"]) + deadline * SECOND
    return at_us
