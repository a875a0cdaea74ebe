"""The operator's configuration, as its config file spells it.

The shape is the one of the released operator's config map. It accepts both spellings of a
duration, Go strings (`90s`) and whole nanoseconds, since the released operator reads only
the latter and people write the former. Unknown keys are refused: a misspelled grace period
that is silently ignored is how clusters lose quota.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from reference_controller.runtime.options import ConfigError
from vocabulary.clock import DAY, HOUR, MINUTE, SECOND, Micros
from vocabulary.durations import format_duration, parse_duration

EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
SOURCES: Final = ("labels", "taints", "both")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FaultTolerance:
    """The retry loop's parameters as the operator sets them; annotations override most."""

    admission_grace_us: Micros = MINUTE
    warmup_grace_us: Micros = 5 * MINUTE
    failure_grace_us: Micros = MINUTE
    retry_pause_us: Micros = 90 * SECOND
    retry_limit: int = 3
    forceful_deletion_grace_us: Micros = 10 * MINUTE
    grace_maximum_us: Micros = 24 * HOUR
    success_ttl_us: Micros = 7 * DAY


@dataclass(frozen=True, slots=True)
class Taint:
    """One mark by which Autopilot tells that a resource of a node is unhealthy."""

    key: str
    value: str
    effect: str


_GPU_HEALTH: Final = "autopilot.ibm.com/gpuhealth"
DEFAULT_RESOURCE_TAINTS: Final[Mapping[str, tuple[Taint, ...]]] = {
    "nvidia.com/gpu": (
        Taint(_GPU_HEALTH, "ERR", "NoSchedule"),
        Taint(_GPU_HEALTH, "EVICT", "NoExecute"),
    )
}


@dataclass(frozen=True, slots=True)
class Autopilot:
    """Settings for Autopilot: trusted labels, and the reaction to them."""

    inject_anti_affinities: bool = True
    monitor_nodes: bool = True
    prefer_no_schedule_weight: int = 50
    source: str = "labels"
    """Where a node's marks are read: its labels, its real taints, or both."""
    resource_taints: Mapping[str, tuple[Taint, ...]] = field(
        default_factory=lambda: DEFAULT_RESOURCE_TAINTS
    )


@dataclass(frozen=True, slots=True)
class OperatorConfig:
    """All that an administrator decides. `autopilot` None switches it off."""

    fault_tolerance: FaultTolerance = FaultTolerance()
    autopilot: Autopilot | None = Autopilot()
    scheduler_name: str = ""
    default_queue_name: str = ""
    slack_queue_name: str = ""
    """The ClusterQueue whose lending follows the nodes; empty: none."""
    user_rbac_admission_check: bool = True

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> OperatorConfig:
        """Parse the `appwrapper` section of the config file; raises ConfigError."""
        _only(data, "", _TOP_KEYS)
        autopilot = data.get("autopilot", {})
        return cls(
            fault_tolerance=_fault_tolerance(_section(data, "faultTolerance")),
            autopilot=None if autopilot is None else _autopilot(_section(data, "autopilot")),
            scheduler_name=_typed(data, "", "schedulerName", str, ""),
            default_queue_name=_typed(data, "", "defaultQueueName", str, ""),
            slack_queue_name=_typed(data, "", "slackQueueName", str, ""),
            user_rbac_admission_check=_typed(data, "", "userRBACAdmissionCheck", bool, True),
        )


_TOP_KEYS: Final = (
    "autopilot",
    "defaultQueueName",
    "faultTolerance",
    "schedulerName",
    "slackQueueName",
    "userRBACAdmissionCheck",
)
_TAINT_FIELDS: Final = ("key", "value", "effect")
_GRACE_PERIODS: Final = {
    "admissionGracePeriod": "admission_grace_us",
    "warmupGracePeriod": "warmup_grace_us",
    "failureGracePeriod": "failure_grace_us",
    "resetPause": "retry_pause_us",
    "deletionGracePeriod": "forceful_deletion_grace_us",
}
_FAULT_TOLERANCE_KEYS: Final = {
    **_GRACE_PERIODS,
    "retryLimit": "retry_limit",
    "gracePeriodCeiling": "grace_maximum_us",
    "successTTLCeiling": "success_ttl_us",
}


def _fault_tolerance(data: Mapping[str, Any]) -> FaultTolerance:
    where = "faultTolerance"
    _only(data, where, tuple(_FAULT_TOLERANCE_KEYS))
    values: dict[str, int] = {}
    for key, name in _FAULT_TOLERANCE_KEYS.items():
        if key == "retryLimit":
            values[name] = _typed(data, where, key, int, FaultTolerance().retry_limit)
        else:
            values[name] = _duration(data, where, key, getattr(FaultTolerance(), name))
    parsed = FaultTolerance(**values)
    for key, name in _GRACE_PERIODS.items():
        if values[name] > parsed.grace_maximum_us:
            raise ConfigError(
                f"{where}.{key} is {format_duration(values[name])}, longer than "
                f"{where}.gracePeriodCeiling {format_duration(parsed.grace_maximum_us)}; "
                "shorten the one or raise the other"
            )
    if parsed.admission_grace_us > parsed.warmup_grace_us:
        raise ConfigError(
            f"{where}.admissionGracePeriod is longer than {where}.warmupGracePeriod; pods are "
            "admitted before they run, so make warmupGracePeriod at least as long"
        )
    if parsed.success_ttl_us <= 0:
        raise ConfigError(f"{where}.successTTLCeiling must be longer than 0s")
    return parsed


def _autopilot(data: Mapping[str, Any]) -> Autopilot:
    where = "autopilot"
    keys = ("injectAntiAffinities", "monitorNodes", "preferNoScheduleWeight", "resourceTaints")
    _only(data, where, (*keys, "source"))
    source = _typed(data, where, "source", str, "labels")
    if source not in SOURCES:
        raise ConfigError(f"autopilot.source is {source!r}; write one of {', '.join(SOURCES)}")
    weight = _typed(data, where, "preferNoScheduleWeight", int, 50)
    if not 1 <= weight <= 100:
        raise ConfigError(f"autopilot.preferNoScheduleWeight is {weight}; write 1 to 100")
    return Autopilot(
        inject_anti_affinities=_typed(data, where, "injectAntiAffinities", bool, True),
        monitor_nodes=_typed(data, where, "monitorNodes", bool, True),
        prefer_no_schedule_weight=weight,
        source=source,
        resource_taints={
            **DEFAULT_RESOURCE_TAINTS,
            **_resource_taints(_section(data, "resourceTaints", where)),
        },
    )


def _resource_taints(data: Mapping[str, Any]) -> dict[str, tuple[Taint, ...]]:
    """The taints per resource. Naming a resource replaces its list; others keep their default."""
    parsed: dict[str, tuple[Taint, ...]] = {}
    for resource, entries in data.items():
        where = f"autopilot.resourceTaints[{resource}]"
        if not isinstance(entries, list | tuple):
            raise ConfigError(f"{where} must be a list of taints (key, value, effect)")
        taints = []
        for index, entry in enumerate(entries):
            at = f"{where}[{index}]"
            if not isinstance(entry, Mapping):
                raise ConfigError(f"{at} must be a map with key, value and effect")
            _only(entry, at, _TAINT_FIELDS)
            taint = Taint(**{name: _typed(entry, at, name, str, "") for name in _TAINT_FIELDS})
            if not taint.key:
                raise ConfigError(f"{at}.key is missing; write the label key")
            if taint.effect not in EFFECTS:
                raise ConfigError(
                    f"{at}.effect is {taint.effect!r}; write one of {', '.join(EFFECTS)}"
                )
            taints.append(taint)
        parsed[str(resource)] = tuple(taints)
    return parsed


def _section(data: Mapping[str, Any], key: str, where: str = "") -> Mapping[str, Any]:
    value = data.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ConfigError(f"{_at(where, key)} must be a map, not {type(value).__name__}")
    return value


def _typed(data: Mapping[str, Any], where: str, key: str, type_: type[T], default: T) -> T:
    value: T | None = data.get(key)
    if value is None:
        return default
    if type(value) is not type_:
        raise ConfigError(f"{_at(where, key)} is {value!r}; write a value of type {type_.__name__}")
    return value


def _duration(data: Mapping[str, Any], where: str, key: str, default_us: Micros) -> Micros:
    value = data.get(key)
    if value is None:
        return default_us
    if type(value) is int:
        span_us = value // 1_000
    elif type(value) is str:
        try:
            span_us = parse_duration(value)
        except ValueError as error:
            raise ConfigError(f"{_at(where, key)}: {error}") from error
    else:
        raise ConfigError(
            f"{_at(where, key)} is {value!r}; write a Go duration such as 90s, or nanoseconds"
        )
    if span_us < 0:
        raise ConfigError(f"{_at(where, key)} is negative; write 0s or more")
    return span_us


def _only(data: Mapping[str, Any], where: str, known: tuple[str, ...]) -> None:
    for key in data:
        if key not in known:
            raise ConfigError(
                f"unknown key {_at(where, str(key))}; known here: {', '.join(sorted(known))}"
            )


def _at(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key
