"""The operator configuration of a run: the seed's defaults, or shortened for real clusters.

One source for both: a scenario never names a duration of its own, it speaks of
`world.durations.failure_grace_us`, so that a week in virtual time and four seconds on a
real cluster are the same scenario.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from conformance.suite import Settings
from conformance.suites.appwrapper.api import PARAMETER_PREFIX
from conformance.suites.appwrapper.parameters import PARAMETERS, RETRY_LIMIT
from vocabulary.clock import HOUR, MILLISECOND, Micros
from vocabulary.durations import format_duration, parse_duration

DEFAULT_CONFIG: Final[dict[str, Any]] = {
    "faultTolerance": {
        "admissionGracePeriod": "1m",
        "warmupGracePeriod": "5m",
        "failureGracePeriod": "1m",
        "resetPause": "90s",
        "retryLimit": 3,
        "deletionGracePeriod": "10m",
        "gracePeriodCeiling": "24h",
        "successTTLCeiling": "168h",
    },
    "autopilot": {
        "injectAntiAffinities": True,
        "monitorNodes": True,
        "source": "labels",
        "resourceTaints": {
            "nvidia.com/gpu": [
                {"key": "autopilot.ibm.com/gpuhealth", "value": "ERR", "effect": "NoSchedule"},
                {"key": "autopilot.ibm.com/gpuhealth", "value": "EVICT", "effect": "NoExecute"},
            ]
        },
    },
    "schedulerName": "",
    "defaultQueueName": "",
    "userRBACAdmissionCheck": False,
}
"""The defaults in the norm's table and its Autopilot stanza. None of them is written to a
configuration: claims about defaults require that an operator uses its own."""

SUITE_CONFIG: Final[dict[str, Any]] = {"userRBACAdmissionCheck": False}
"""Written into every configuration: the suite's users are granted nothing but AppWrappers."""

SHORT_CONFIG: Final[dict[str, Any]] = {
    "faultTolerance": {
        "admissionGracePeriod": "3s",
        "warmupGracePeriod": "5s",
        "failureGracePeriod": "5s",
        "resetPause": "3s",
        "deletionGracePeriod": "6s",
        "gracePeriodCeiling": "60s",
        "successTTLCeiling": "6s",
    }
}
"""Written into every configuration on real clusters: durations alone, still far enough apart to
tell one from another, and long enough for an operator that is not kept waiting to be seen to keep
them."""


def short_config(late_us: Micros, stretch: int = 1) -> dict[str, Any]:
    """Return the configuration for real time, with an operator that may be `late_us` late.

    A claim that something happens within a grace period, or not before, can be distinguished from
    its opposite only if the period is longer than the operator's allowed delay. So on a slow
    machine all durations are longer, by the same factor, until the failure grace period is that
    long. `stretch` multiplies them once more.
    """
    table = SHORT_CONFIG["faultTolerance"]
    enough = max(1.0, late_us / parse_duration(table["failureGracePeriod"]))
    longer = {name: _times(value, enough * stretch) for name, value in table.items()}
    return {**SHORT_CONFIG, "faultTolerance": longer}


def _times(duration: str, factor: float) -> str:
    """A duration, so many times as long, in whole tenths of a second."""
    tenth_us = 100 * MILLISECOND
    return format_duration(round(parse_duration(duration) * factor / tenth_us) * tenth_us)


@dataclass(frozen=True, slots=True)
class Durations:
    """The retry loop's parameters in force, for the steps of a scenario; spans in µs."""

    admission_grace_us: Micros
    warmup_grace_us: Micros
    failure_grace_us: Micros
    retry_pause_us: Micros
    retry_limit: int
    forceful_deletion_us: Micros
    grace_maximum_us: Micros
    success_ttl_us: Micros

    @staticmethod
    def of(config: Mapping[str, Any]) -> Durations:
        """Read them from an operator configuration."""
        table = config["faultTolerance"]
        return Durations(
            admission_grace_us=parse_duration(table["admissionGracePeriod"]),
            warmup_grace_us=parse_duration(table["warmupGracePeriod"]),
            failure_grace_us=parse_duration(table["failureGracePeriod"]),
            retry_pause_us=parse_duration(table["resetPause"]),
            retry_limit=table["retryLimit"],
            forceful_deletion_us=parse_duration(table["deletionGracePeriod"]),
            grace_maximum_us=parse_duration(table["gracePeriodCeiling"]),
            success_ttl_us=parse_duration(table["successTTLCeiling"]),
        )

    @property
    def patience_us(self) -> Micros:
        """The longest wait of a scenario's step: every retry at its longest, and some more.

        Steps that wait for the TTL after a success say so.
        """
        return (self.retry_limit + 2) * self.attempt_bound_us + HOUR

    @property
    def maximum_us(self) -> Micros:
        """The longest of all timers."""
        return max(self.grace_maximum_us, self.success_ttl_us)

    @property
    def attempt_bound_us(self) -> Micros:
        """The longest that one attempt can take from creation to the next creation."""
        return (
            max(self.admission_grace_us, self.warmup_grace_us)
            + self.failure_grace_us
            + 2 * self.forceful_deletion_us
            + self.retry_pause_us
        )


def read_config(data: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration in an operator's file: its section `appwrapper`, and what is beside it."""
    # Imported here: judges read settings, and worlds read them without any judge.
    from conformance.suites.appwrapper.view import parameters

    section = data.get("appwrapper", data)
    if not isinstance(section, dict):
        raise ValueError("appwrapper: expected a map")
    found = dict(section)
    if "webhooksEnabled" in data:
        found["webhooksEnabled"] = data["webhooksEnabled"]
    if not isinstance(found.get("faultTolerance", {}), dict):
        raise ValueError("faultTolerance: expected a map")
    try:
        configured = parameters.OperatorParameters(found)
        for name in PARAMETERS:
            configured.of(name, None)
    except ValueError as error:
        raise ValueError(str(error).removeprefix("parameters.")) from error
    return found


SETTINGS: Final = Settings(
    defaults=DEFAULT_CONFIG,
    written=SUITE_CONFIG,
    short=short_config,
    durations=Durations.of,
    whole=frozenset({"resourceTaints"}),
    spans="faultTolerance",
    read=read_config,
    annotations={
        row.config_key: PARAMETER_PREFIX + row.annotation
        for row in PARAMETERS.values()
        if row.config_key and row.annotation != RETRY_LIMIT
    },
)
