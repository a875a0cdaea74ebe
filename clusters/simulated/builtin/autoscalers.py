"""HorizontalPodAutoscalers, which are stored in autoscaling/v2 and served in v1, too.

A v1 object has one target, for the use of CPU. Other metrics, the behavior and conditions do not
show in v1, where a real server keeps them in annotations, and an update through v1 takes them off.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from clusters.simulated.builtin.uncontrolled import Plain, PlainStrategy
from vocabulary.kinds import Kind
from vocabulary.objects import Object

_V1: Final = "autoscaling/v1"
_CPU_PERCENT: Final = "targetCPUUtilizationPercentage"
_CURRENT_PERCENT: Final = "currentCPUUtilizationPercentage"
_IN_BOTH: Final = ("observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas")


def _cpu_target(percent: int) -> dict[str, Any]:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def _rules(defaults: Mapping[str, Any], given: Object) -> dict[str, Any]:
    return {**defaults, **{name: value for name, value in given.items() if value is not None}}


def _behavior(given: Object) -> Object:
    """A behavior says all of what it does not leave to its default."""
    percent = {"type": "Percent", "value": 100, "periodSeconds": 15}
    pods = {"type": "Pods", "value": 4, "periodSeconds": 15}
    up = {
        "stabilizationWindowSeconds": 0,
        "selectPolicy": "Max",
        "policies": [pods, percent],
    }
    down = {"selectPolicy": "Max", "policies": [percent]}
    return {
        **given,
        "scaleUp": _rules(up, given.get("scaleUp") or {}),
        "scaleDown": _rules(down, given.get("scaleDown") or {}),
    }


class _AutoscalerStrategy(PlainStrategy):
    def __init__(self, plain: Plain) -> None:
        super().__init__(plain)
        self.versions = ("v2", "v1")

    @property
    def has_other_versions(self) -> bool:
        return True

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        super().default(obj, old)
        if obj["apiVersion"] == _V1:
            return
        spec = obj["spec"] = dict(obj["spec"])
        spec["metrics"] = spec.get("metrics") or [_cpu_target(80)]
        if spec.get("behavior") is not None:
            spec["behavior"] = _behavior(spec["behavior"])

    def to_version(self, obj: Object, api_version: str) -> dict[str, Any]:
        if obj["apiVersion"] == api_version:
            return dict(obj)
        of_spec, of_status = (
            (_spec_in_v1, _status_in_v1) if api_version == _V1 else (_spec_in_v2, _status_in_v2)
        )
        found = {**obj, "apiVersion": api_version, "spec": of_spec(obj.get("spec") or {})}
        if "status" in obj:
            found["status"] = of_status(obj["status"])
        return found


def _spec_in_v1(spec: Object) -> dict[str, Any]:
    found = {name: value for name, value in spec.items() if name not in ("metrics", "behavior")}
    percent = _cpu_percent(spec.get("metrics") or (), "target")
    return found if percent is None else {**found, _CPU_PERCENT: percent}


def _spec_in_v2(spec: Object) -> dict[str, Any]:
    found = {name: value for name, value in spec.items() if name != _CPU_PERCENT}
    percent = spec.get(_CPU_PERCENT)
    return found if percent is None else {**found, "metrics": [_cpu_target(percent)]}


def _status_in_v1(status: Object) -> dict[str, Any]:
    found = {"currentReplicas": 0, "desiredReplicas": 0}
    found |= {name: status[name] for name in _IN_BOTH if name in status}
    percent = _cpu_percent(status.get("currentMetrics") or (), "current")
    return found if percent is None else {**found, _CURRENT_PERCENT: percent}


def _status_in_v2(status: Object) -> dict[str, Any]:
    found: dict[str, Any] = {name: status[name] for name in _IN_BOTH if name in status}
    percent = status.get(_CURRENT_PERCENT)
    current = {"name": "cpu", "current": {"averageUtilization": percent}}
    metrics = [{"type": "Resource", "resource": current}]
    return {**found, "currentMetrics": None if percent is None else metrics}


def _cpu_percent(metrics: Any, side: str) -> int | None:
    """The use of CPU in the first metric that is about it."""
    for metric in metrics:
        resource = metric.get("resource") or {}
        percent = (resource.get(side) or {}).get("averageUtilization")
        if resource.get("name") == "cpu" and percent is not None:
            return int(percent)
    return None


AUTOSCALERS: Final = Plain(
    Kind("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"),
    "it scales nothing",
    {"spec.minReplicas": 1},
    ("hpa",),
    ("all",),
    frozenset({"status"}),
    strategy=_AutoscalerStrategy,
)
