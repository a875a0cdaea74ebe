"""Subresources of pods: binding and eviction."""

from __future__ import annotations

from typing import Any

from clusters.simulated.deletion import delete
from clusters.simulated.disruption import require_budget
from clusters.simulated.store import Change, Key, Store
from clusters.simulated.strategy import Strategy
from vocabulary.clock import Micros, to_rfc3339
from vocabulary.errors import ApiError, conflict, not_found
from vocabulary.kinds import POD
from vocabulary.objects import Object, get_path, is_terminating, meta, name_of, uid_of
from vocabulary.requests import Create, Delete


def bind(store: Store, request: Create, now_us: Micros) -> tuple[Change | None, Object]:
    """Assign a pod to the node that the binding names; once, and never while it terminates."""
    name = request.name or name_of(request.object)
    if name != name_of(request.object):
        raise ApiError(400, "BadRequest", "name in URL does not match name in Binding object")
    key = Key(str(POD), request.namespace, name)
    pod = _standing(store, key)
    binding = meta(request.object)
    if binding.get("uid") and binding["uid"] != uid_of(pod):
        raise conflict(
            POD,
            name,
            "StorageError: invalid object, Code: 4, "
            f"Key: /registry/pods/{request.namespace}/{name}, ResourceVersion: 0, "
            f"AdditionalErrorMsg: Precondition failed: UID in precondition: {binding['uid']}, "
            f"UID in object meta: {uid_of(pod)}",
        )
    kind = get_path(request.object, "target.kind", "")
    if kind not in ("", "Node"):
        because = f'target.kind: Unsupported value: "{kind}": supported values: "Node", "<empty>"'
        raise ApiError(500, "", because)
    node = get_path(request.object, "target.name", "")
    if not node:
        raise ApiError(500, "", "target.name: Required value")
    if is_terminating(pod):
        raise _not_bound(name, f"pod {name} is being deleted, cannot be assigned to a host")
    spec = pod["spec"]
    if spec.get("nodeName"):
        raise _not_bound(name, f'pod {name} is already assigned to node "{spec["nodeName"]}"')
    if spec.get("schedulingGates"):
        raise _not_bound(name, f"pod {name} has non-empty .spec.schedulingGates")
    metadata = dict(pod["metadata"])
    for field in ("annotations", "labels"):
        if binding.get(field):
            metadata[field] = {**(metadata.get(field) or {}), **binding[field]}
    status = {key: value for key, value in pod["status"].items() if key != "nominatedNodeName"}
    condition = {"type": "PodScheduled", "status": "True"}
    bound = {
        **pod,
        "metadata": metadata,
        "spec": {**spec, "nodeName": node},
        "status": _with_condition(status, condition, now_us),
    }
    change = None if request.dry_run else store.put(key, bound)
    return change, _SUCCESS


def evict(
    store: Store, strategy: Strategy, request: Create, now_us: Micros
) -> tuple[Change | None, Object]:
    """Say on the pod that it is evicted, then delete it with the options in the request; 429 if
    its disruption budget does not allow that now."""
    name = request.name or name_of(request.object)
    if name != name_of(request.object):
        raise ApiError(400, "BadRequest", "name in URL does not match name in Eviction object")
    key = Key(str(POD), request.namespace, name)
    pod = _standing(store, key)
    options = request.object.get("deleteOptions") or {}
    preconditions = options.get("preconditions") or {}
    deletion = Delete(
        POD,
        request.namespace,
        name,
        options.get("gracePeriodSeconds"),
        options.get("propagationPolicy"),
        preconditions.get("uid"),
        preconditions.get("resourceVersion"),
        request.dry_run or bool(options.get("dryRun")),
    )
    require_budget(store, pod, now_us, dry_run=deletion.dry_run)
    if not deletion.dry_run:
        pod = _mark_disrupted(store, key, pod, deletion, now_us)
    change, _ = delete(store, strategy, key, pod, deletion, now_us)
    return change, _SUCCESS


_SUCCESS: Object = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Success",
    "code": 201,
}


def _standing(store: Store, key: Key) -> Object:
    pod = store.get(key)
    if pod is None:
        raise not_found(POD, key.name)
    return pod


def _mark_disrupted(
    store: Store, key: Key, pod: Object, deletion: Delete, now_us: Micros
) -> Object:
    """The pod with the condition that tells a Job's failure policy of a disruption.

    Checked against the preconditions first: an eviction that is refused leaves no trace.
    """
    for wanted, field in ((deletion.uid, "uid"), (deletion.resource_version, "resourceVersion")):
        if wanted is not None and wanted != pod["metadata"][field]:
            return pod
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    status = _with_condition(pod["status"], condition, now_us)
    if status == pod["status"]:
        return pod
    marked = {**pod, "metadata": dict(pod["metadata"]), "status": status}
    store.put(key, marked)
    return marked


def _with_condition(status: Object, condition: dict[str, Any], now_us: Micros) -> dict[str, Any]:
    """The status with the condition in place; its time moves only where its status flips."""
    conditions = list(status.get("conditions") or ())
    for position, before in enumerate(conditions):
        if before["type"] == condition["type"]:
            same = before.get("status") == condition["status"]
            since = before.get("lastTransitionTime") if same else to_rfc3339(now_us)
            conditions[position] = {"lastProbeTime": None, **condition, "lastTransitionTime": since}
            break
    else:
        conditions.append(
            {"lastProbeTime": None, **condition, "lastTransitionTime": to_rfc3339(now_us)}
        )
    return {**status, "conditions": conditions}


def _not_bound(name: str, because: str) -> ApiError:
    return ApiError(
        409,
        "Conflict",
        f'Operation cannot be fulfilled on pods/binding "{name}": {because}',
        {"name": name, "kind": "pods/binding"},
    )
