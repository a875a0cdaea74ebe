"""Admission of jobs: what waits for quota is created suspended, or behind a gate.

A part of another job is left to the controllers, which know whether that other one waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from reference_controller.kueue.integrations.suspended import SuspendedKind
from reference_controller.kueue.names import (
    ADMISSION_GATE,
    FAST_ADMISSION,
    GROUP_NAME,
    GROUP_SERVING,
    GROUP_TOTAL,
    MANAGED,
    QUEUE,
    WORKLOAD,
)
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.workload import Workload
from reference_controller.runtime.admission_review import Operation, UserInfo
from vocabulary.canonical import digest
from vocabulary.errors import ApiError
from vocabulary.kinds import STATEFUL_SET, Kind
from vocabulary.objects import (
    Object,
    annotations_of,
    controller_of,
    get_path,
    labels_of,
    meta,
    name_of,
    namespace_of,
    with_path,
)

_TEMPLATE = "spec.template.metadata"


def suspend(
    operation: Operation,
    new: Object,
    old: Object | None,
    user: UserInfo,
    job: SuspendedKind,
    is_managed: Callable[[str], bool],
    kinds: Iterable[Kind],
    rules: Rules,
) -> Object:
    """Suspend a job that waits as it is created; `is_managed` returns whether jobs of a namespace
    wait that name no queue."""
    del old, user
    if operation != "CREATE" or _is_part(new, kinds):
        return new
    if QUEUE not in labels_of(new) and not is_managed(namespace_of(new)):
        return new
    return with_path(new, job.switch, rules.waits_running(not job.is_suspended(new)))


def gate(
    operation: Operation,
    new: Object,
    old: Object | None,
    user: UserInfo,
    kinds: Iterable[Kind],
    rules: Rules,
) -> Object:
    """Put a pod of a queue behind the gate as it is created."""
    del old, user
    if operation != "CREATE" or not rules.is_gated(QUEUE in labels_of(new), _is_part(new, kinds)):
        return new
    gates = get_path(new, "spec.schedulingGates") or ()
    if not any(each["name"] == ADMISSION_GATE for each in gates):
        new = with_path(new, "spec.schedulingGates", [*gates, {"name": ADMISSION_GATE}])
    return with_path(new, "metadata.labels", {**labels_of(new), MANAGED: "true"})


def queue_pods(operation: Operation, new: Object, old: Object | None, user: UserInfo) -> Object:
    """Have the pods of a Deployment wait in its queue."""
    del operation, old, user
    return _with_template_labels(new) if QUEUE in labels_of(new) else new


def group_pods(operation: Operation, new: Object, old: Object | None, user: UserInfo) -> Object:
    """Have the pods of a StatefulSet wait in its queue together."""
    del operation, user
    if QUEUE not in labels_of(new):
        return new
    template = get_path(new, "spec.template") or {}
    size = get_path(new, "spec.replicas", 1) or (0 if old is None else _size(old))
    group = f"statefulset-{name_of(new)[:40]}-{digest([namespace_of(new), name_of(new)])[:5]}"
    annotations = {
        **annotations_of(template),
        GROUP_TOTAL: str(size),
        FAST_ADMISSION: "true",
        GROUP_SERVING: "true",
    }
    grouped = with_path(new, f"{_TEMPLATE}.annotations", annotations)
    return _with_template_labels(grouped, {GROUP_NAME: group})


def keep_size(operation: Operation, new: Object, old: Object | None, user: UserInfo) -> Object:
    """Refuse another number of replicas of a StatefulSet in a queue: its quota is for all of
    them. It may be scaled to 0 and back."""
    del user
    if operation == "CREATE" or old is None or QUEUE not in labels_of(new):
        return new
    before, after = (int(get_path(each, "spec.replicas", 1)) for each in (old, new))
    if before and after and before != after:
        message = f"cannot go from {before} to {after} in a queue; scale it to 0 first"
        raise _refused(STATEFUL_SET, new, "spec.replicas", message)
    return new


def keep_queue(
    operation: Operation, new: Object, old: Object | None, user: UserInfo, job: SuspendedKind
) -> Object:
    """Refuse another queue of a job that runs."""
    del user
    if operation == "CREATE" or old is None or job.is_suspended(old):
        return new
    if labels_of(new).get(QUEUE) != labels_of(old).get(QUEUE):
        message = "cannot be changed while it runs; suspend it first"
        raise _refused(job.kind, new, f"metadata.labels[{QUEUE}]", message)
    return new


def keep_reserved(operation: Operation, new: Object, old: Object | None, user: UserInfo) -> Object:
    """Refuse changes of a Workload of what its quota was reserved for."""
    del user
    if operation == "CREATE" or old is None or not Workload(old).has_quota:
        return new
    for field in ("podSets", "queueName"):
        if get_path(new, f"spec.{field}") != get_path(old, f"spec.{field}"):
            message = "cannot be changed while quota is reserved"
            raise _refused(WORKLOAD, new, f"spec.{field}", message)
    return new


def _refused(kind: Kind, obj: Object, field: str, message: str) -> ApiError:
    text = f'{kind.group_kind} "{name_of(obj)}" is invalid: {field}: {message}'
    details = {
        "name": name_of(obj),
        "group": kind.group,
        "kind": kind.kind,
        "causes": [{"field": field, "message": message}],
    }
    return ApiError(422, "Invalid", text, details)


def _is_part(obj: Object, kinds: Iterable[Kind]) -> bool:
    owner = controller_of(obj) or {}
    known = owner.get("apiVersion"), owner.get("kind")
    return any((kind.api_version, kind.kind) == known for kind in kinds)


def _size(server: Object) -> int:
    template = get_path(server, "spec.template") or {}
    return int(annotations_of(template).get(GROUP_TOTAL, 0))


def _with_template_labels(obj: Object, more: Object | None = None) -> Object:
    template = get_path(obj, "spec.template") or {}
    labels = {QUEUE: labels_of(obj)[QUEUE], **(more or {})}
    return with_path(obj, f"{_TEMPLATE}.labels", {**(meta(template).get("labels") or {}), **labels})
