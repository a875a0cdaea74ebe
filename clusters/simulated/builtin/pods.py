"""Pods: their defaults, what admission adds, what can be changed, graceful deletion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from clusters.simulated.builtin.affinity_label_keys import with_label_keys
from clusters.simulated.builtin.pod_defaults import default_pod
from clusters.simulated.builtin.pod_validation import (
    validate_new_pod_spec,
    validate_pod_spec_update,
)
from clusters.simulated.builtin.wire_form import container_status, with_times, without_zeros
from clusters.simulated.field_errors import FieldError
from clusters.simulated.strategy import METADATA_FIELDS, FieldOf, Strategy, path_field
from vocabulary.clock import Micros, to_rfc3339
from vocabulary.objects import Object, containers, get_path, labels_of
from vocabulary.quantities import parse_quantity

_FINISHED: Final = ("Failed", "Succeeded")
_SELECTABLE: Final = (
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
)
_TOLERATED_SECONDS: Final = 300
_DEFAULT_TOLERATIONS: Final = tuple(
    {
        "effect": "NoExecute",
        "key": key,
        "operator": "Exists",
        "tolerationSeconds": _TOLERATED_SECONDS,
    }
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
)


class PodStrategy(Strategy):
    lists_selectable: ClassVar = False
    subresources = frozenset({"status", "binding", "eviction", "log"})
    has_generation = True
    returns_deleted = True
    short_names = ("po",)
    categories = ("all",)
    selectable: Mapping[str, FieldOf] = {
        **METADATA_FIELDS,
        **{path: path_field(path) for path in _SELECTABLE},
        "spec.hostNetwork": path_field("spec.hostNetwork", absent=False),
    }

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        spec = obj.get("spec") or {}
        if old is None or spec is not old.get("spec"):
            obj["spec"] = default_pod(spec)

    def prepare_for_update(self, new: dict[str, Any], old: Object) -> None:
        super().prepare_for_update(new, old)
        if new["spec"] is not old["spec"]:
            new["spec"] = with_tolerations(new["spec"])

    def prepare_for_create(self, obj: dict[str, Any], now_us: Micros) -> None:
        spec = obj["spec"]
        if spec.get("affinity"):
            spec = {**spec, "affinity": with_label_keys(spec["affinity"], labels_of(obj))}
        obj["spec"] = spec
        obj["status"] = {"phase": "Pending", "qosClass": qos_class(spec)}
        if spec.get("schedulingGates"):
            obj["status"]["conditions"] = [_gated(now_us)]

    def validate(self, obj: Object) -> list[FieldError]:
        return validate_new_pod_spec(obj["spec"])

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        if new["spec"] is old["spec"]:
            return []
        return validate_pod_spec_update(new["spec"], old["spec"])

    def prepare_for_status_update(self, new: dict[str, Any], old: Object) -> None:
        """Owners cannot change here either: kubelets of old have spoilt them this way."""
        super().prepare_for_status_update(new, old)
        metadata = new["metadata"]
        owners = old["metadata"].get("ownerReferences")
        if owners:
            metadata["ownerReferences"] = owners
        else:
            metadata.pop("ownerReferences", None)
        status = without_zeros(new.get("status") or {}, ("conditions",))
        quality = get_path(old, "status.qosClass")
        if quality and not status.get("qosClass"):
            status["qosClass"] = quality
        if "conditions" in status:
            status["conditions"] = with_times(status["conditions"])
        for field in ("initContainerStatuses", "containerStatuses"):
            if status.get(field):
                status[field] = [container_status(entry) for entry in status[field]]
        new["status"] = status

    def grace_seconds(self, obj: Object, requested: int | None) -> int | None:
        """A pod that was never bound to a node, or has stopped, needs no time to stop."""
        if not get_path(obj, "spec.nodeName") or get_path(obj, "status.phase") in _FINISHED:
            return 0
        if requested is not None:
            return requested
        grace = int(get_path(obj, "spec.terminationGracePeriodSeconds", 30))
        return grace if grace >= 0 else 1


def with_tolerations(spec: Object) -> Object:
    """The spec with a toleration of lost nodes, for a while, unless it says how it bears them."""
    tolerations = list(spec.get("tolerations") or ())
    missing = [
        toleration
        for toleration in _DEFAULT_TOLERATIONS
        if not any(_covers(standing, toleration["key"]) for standing in tolerations)
    ]
    return {**spec, "tolerations": [*tolerations, *missing]} if missing else spec


def qos_class(spec: Object) -> str:
    """Guaranteed, Burstable or BestEffort, by what the containers request and are limited to."""
    any_resource = False
    guaranteed = True
    for container in containers(spec):
        resources: Object = container.get("resources") or {}
        requests = _computing(resources.get("requests"))
        limits = _computing(resources.get("limits"))
        any_resource = any_resource or bool(requests or limits)
        guaranteed = guaranteed and len(limits) == 2 and {**limits, **requests} == limits
    if not any_resource:
        return "BestEffort"
    return "Guaranteed" if guaranteed else "Burstable"


def _computing(quantities: Mapping[str, Any] | None) -> dict[str, Any]:
    """CPU and memory of a list of resources, without those that are zero."""
    amounts = {
        name: parse_quantity(value)
        for name, value in (quantities or {}).items()
        if name in ("cpu", "memory")
    }
    return {name: amount for name, amount in amounts.items() if amount}


def _covers(toleration: Mapping[str, Any], key: object) -> bool:
    return toleration.get("key") in (None, "", key) and toleration.get("effect") in (
        None,
        "",
        "NoExecute",
    )


def _gated(now_us: Micros) -> dict[str, Any]:
    return {
        "type": "PodScheduled",
        "status": "False",
        "reason": "SchedulingGated",
        "message": "Scheduling is blocked due to non-empty scheduling gates",
        "lastProbeTime": None,
        "lastTransitionTime": to_rfc3339(now_us),
    }
