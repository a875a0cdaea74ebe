"""The operator's configuration, as its config file spells it.

The shape is the one of the released controller's configuration. Unknown keys are refused: a
misspelled timeout that is silently ignored holds quota.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar

import msgspec

from reference_controller.kueue.names import Release, Timestamp
from reference_controller.runtime.options import ConfigError
from vocabulary.clock import MINUTE, SECOND, Micros
from vocabulary.durations import parse_duration
from vocabulary.objects import Object
from vocabulary.selectors import matches

T = TypeVar("T")

TERMINAL_FRAMEWORKS: Final = ("batch/job", "pod")
"""The frameworks whose quota may be held until their pods are terminal."""
JOB_SET_FRAMEWORK: Final = "jobset.x-k8s.io/jobset"
FRAMEWORKS: Final = (
    *TERMINAL_FRAMEWORKS,
    JOB_SET_FRAMEWORK,
    "kubeflow.org/pytorchjob",
    "ray.io/raycluster",
    "ray.io/rayjob",
    "workload.codeflare.dev/appwrapper",
)
_RELEASE_GATE: Final = "QuotaReleaseStrategy"
_OLD_RELEASE_GATE: Final = "FastQuotaReleaseInPodIntegration"


@dataclass(frozen=True, slots=True)
class Requeuing:
    """`waitForPodsReady.requeuingStrategy`. The defaults are the norm's formula."""

    timestamp: str = Timestamp.EVICTION
    limit: int | None = None
    """`backoffLimitCount`; None: it is requeued without end."""
    base_us: Micros = SECOND
    factor: float = 1.41284738
    maximum_us: Micros | None = None
    jitter: float = 0.0001
    """A back-off is longer by up to this part of it."""


@dataclass(frozen=True, slots=True)
class WaitForPodsReady:
    """`waitForPodsReady`."""

    timeout_us: Micros = 5 * MINUTE
    recovery_timeout_us: Micros | None = None
    """None: as `timeout_us`; 0: a workload that loses its readiness is not evicted."""
    blocks_admission: bool = False
    requeuing: Requeuing = Requeuing()


@dataclass(frozen=True, slots=True)
class KueueConfig:
    """All that an administrator decides."""

    wait_for_pods_ready: WaitForPodsReady | None = None
    """None: readiness is not waited for."""
    release: Mapping[str, str] = field(default_factory=dict)
    """`integrations.quotaReleaseStrategy`, by framework."""
    holds_until_terminal: bool = False
    """Our own, `quotaHeldUntilTerminal`: the quota of a workload that failed, or whose owner is
    deleted, is held until its last pod is terminal, and JobSets may be released so, too."""

    manages_unqueued: bool = False
    """`manageJobsWithoutQueueName`: jobs that name no queue do not start either."""
    managed_namespaces: Object = field(default_factory=dict)
    """`managedJobsNamespaceSelector`: the namespaces in which that is so."""

    def manages(self, namespace_labels: Mapping[str, str]) -> bool:
        """True if jobs of a namespace with these labels wait though they name no queue."""
        return self.manages_unqueued and matches(self.managed_namespaces, namespace_labels)

    @property
    def requeuing(self) -> Requeuing:
        return self.wait_for_pods_ready.requeuing if self.wait_for_pods_ready else Requeuing()

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> KueueConfig:
        """Parse the config file; raises ConfigError."""
        _only(
            data,
            "",
            (
                "featureGates",
                "integrations",
                "manageJobsWithoutQueueName",
                "managedJobsNamespaceSelector",
                "quotaHeldUntilTerminal",
                "waitForPodsReady",
            ),
        )
        holds = _typed(data, "", "quotaHeldUntilTerminal", bool, False)
        return cls(
            wait_for_pods_ready=_wait(_section(data, "", "waitForPodsReady")),
            release=_release(
                _section(data, "", "integrations"), _section(data, "", "featureGates"), holds
            ),
            holds_until_terminal=holds,
            manages_unqueued=_typed(data, "", "manageJobsWithoutQueueName", bool, False),
            managed_namespaces=_selector(data, "managedJobsNamespaceSelector"),
        )


def _wait(data: Mapping[str, Any]) -> WaitForPodsReady | None:
    where = "waitForPodsReady"
    _only(
        data,
        where,
        ("blockAdmission", "enable", "recoveryTimeout", "requeuingStrategy", "timeout"),
        {"requeueingStrategy": "requeuingStrategy"},
    )
    if not _typed(data, where, "enable", bool, bool(data)):
        return None
    default = WaitForPodsReady()
    return WaitForPodsReady(
        timeout_us=_span(data, where, "timeout", default.timeout_us),
        recovery_timeout_us=(
            _span(data, where, "recoveryTimeout", 0) if "recoveryTimeout" in data else None
        ),
        blocks_admission=_typed(data, where, "blockAdmission", bool, False),
        requeuing=_requeuing(_section(data, where, "requeuingStrategy")),
    )


def _requeuing(data: Mapping[str, Any]) -> Requeuing:
    where = "waitForPodsReady.requeuingStrategy"
    _only(
        data,
        where,
        (
            "backoffBaseSeconds",
            "backoffFactor",
            "backoffJitter",
            "backoffLimitCount",
            "backoffMaxSeconds",
            "timestamp",
        ),
    )
    default = Requeuing()
    timestamp = _typed(data, where, "timestamp", str, default.timestamp)
    known = (Timestamp.EVICTION, Timestamp.CREATION)
    if timestamp not in known:
        raise ConfigError(f"{where}.timestamp: {timestamp!r}; write {' or '.join(known)}")
    limit = data.get("backoffLimitCount")
    maximum = data.get("backoffMaxSeconds")
    return Requeuing(
        timestamp=timestamp,
        limit=None if limit is None else _whole(data, where, "backoffLimitCount"),
        base_us=(
            _whole(data, where, "backoffBaseSeconds") * SECOND
            if "backoffBaseSeconds" in data
            else default.base_us
        ),
        factor=_number(data, where, "backoffFactor", default.factor, 1.0),
        maximum_us=None if maximum is None else _whole(data, where, "backoffMaxSeconds") * SECOND,
        jitter=_number(data, where, "backoffJitter", default.jitter, 0.0),
    )


def _selector(data: Mapping[str, Any], key: str) -> Object:
    found = _section(data, "", key)
    _only(found, key, ("matchExpressions", "matchLabels"))
    try:
        msgspec.convert(found, _LabelSelector)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{key}: {error}; write a label selector") from error
    return found


class _Requirement(msgspec.Struct, forbid_unknown_fields=True):
    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: list[str] | None = None

    def __post_init__(self) -> None:
        if bool(self.values) != (self.operator in ("In", "NotIn")):
            raise ValueError("In and NotIn have values, and no other operator has")


class _LabelSelector(msgspec.Struct, forbid_unknown_fields=True):
    matchLabels: dict[str, str] | None = None  # noqa: N815 - the API's name
    matchExpressions: list[_Requirement] | None = None  # noqa: N815 - the API's name


def _release(data: Mapping[str, Any], gates: Mapping[str, Any], holds: bool) -> Mapping[str, str]:
    _only(gates, "featureGates", (_OLD_RELEASE_GATE, _RELEASE_GATE))
    is_fast = _typed(gates, "featureGates", _OLD_RELEASE_GATE, bool, True)
    default = {} if is_fast else {"pod": Release.ON_TERMINAL}
    strategies = _strategies(data, holds)
    is_on = _typed(gates, "featureGates", _RELEASE_GATE, bool, True)
    return {**default, **strategies} if is_on else default


def _strategies(data: Mapping[str, Any], holds: bool) -> Mapping[str, str]:
    _only(data, "integrations", ("quotaReleaseStrategy",))
    where = "integrations.quotaReleaseStrategy"
    strategies = _section(data, "integrations", "quotaReleaseStrategy")
    _only(strategies, where, FRAMEWORKS)
    for framework, strategy in strategies.items():
        if strategy not in (Release.ON_QUOTA_RELEASED, Release.ON_TERMINAL):
            raise ConfigError(
                f"{where}[{framework}]: {strategy!r}; write {Release.ON_QUOTA_RELEASED} or "
                f"{Release.ON_TERMINAL}"
            )
        terminal = (*TERMINAL_FRAMEWORKS, *((JOB_SET_FRAMEWORK,) if holds else ()))
        if strategy == Release.ON_TERMINAL and framework not in terminal:
            raise ConfigError(
                f"{where}[{framework}]: {framework} does not support {strategy}; "
                f"{', '.join(terminal)} do"
            )
    return strategies


def _only(
    data: Mapping[str, Any],
    where: str,
    known: tuple[str, ...],
    meant: Mapping[str, str] | None = None,
) -> None:
    for key in data:
        if key not in known:
            path = f"{where}.{key}" if where else key
            hint = (meant or {}).get(key)
            advice = f"write {hint}" if hint else f"there may be {', '.join(known)}"
            raise ConfigError(f"{path}: unknown key; {advice}")


def _section(data: Mapping[str, Any], where: str, key: str) -> Mapping[str, Any]:
    value = data.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ConfigError(f"{f'{where}.' if where else ''}{key}: {value!r} is not a map")
    return value


def _typed(data: Mapping[str, Any], where: str, key: str, type_: type[T], default: T) -> T:
    value = data.get(key)
    if value is None:
        return default
    if not isinstance(value, type_):
        name = {bool: "true or false", str: "a text"}.get(type_, type_.__name__)
        raise ConfigError(f"{f'{where}.' if where else ''}{key}: {value!r} is not {name}")
    return value


def _whole(data: Mapping[str, Any], where: str, key: str) -> int:
    value = data[key]
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ConfigError(f"{where}.{key}: {value!r} is no whole number from 0 on")
    return value


def _number(data: Mapping[str, Any], where: str, key: str, default: float, minimum: float) -> float:
    value = data.get(key, default)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not minimum <= value < math.inf:
        raise ConfigError(f"{where}.{key}: {value!r} is no number from {minimum:g} on")
    return float(value)


def _span(data: Mapping[str, Any], where: str, key: str, default: Micros) -> Micros:
    if key not in data:
        return default
    try:
        span_us = parse_duration(str(data[key]))
    except ValueError as error:
        raise ConfigError(f"{where}.{key}: {error}") from error
    if span_us < 0:
        raise ConfigError(f"{where}.{key}: {data[key]!r} is negative; write a duration from 0s on")
    return span_us
