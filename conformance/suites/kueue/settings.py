"""The configuration of the controller: the norm's defaults, and shorter ones for real time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from conformance.suite import Settings
from conformance.suites.kueue.back_off import BackOff
from vocabulary.clock import MINUTE, Micros
from vocabulary.durations import format_duration, parse_duration
from vocabulary.objects import get_path

_TIMEOUT: Final = "waitForPodsReady.timeout"
_LIMIT: Final = "waitForPodsReady.requeuingStrategy.backoffLimitCount"
_RECOVERY: Final = "waitForPodsReady.recoveryTimeout"
TIMESTAMP: Final = "waitForPodsReady.requeuingStrategy.timestamp"
BLOCKS: Final = "waitForPodsReady.blockAdmission"
DEFAULTS: Final[dict[str, Any]] = {
    "waitForPodsReady": {
        "timeout": "5m",
        "blockAdmission": False,
        "requeuingStrategy": {"timestamp": "Eviction"},
    }
}
WRITTEN: Final[dict[str, Any]] = {"waitForPodsReady": {"enable": True, "blockAdmission": False}}
"""Written into every configuration: without it readiness is not waited for."""
_SHORT_US: Final = 10_000_000


@dataclass(frozen=True, slots=True)
class KueueDurations:
    """How long Workloads may take at one configuration."""

    timeout_us: Micros
    limit: int | None
    recovery_us: Micros | None = None
    """`recoveryTimeout`; None: as the timeout, 0: never."""

    @property
    def longest_back_off_us(self) -> Micros:
        """The last back-off before the limit; without one that of a tenth requeue."""
        return BackOff.of_norm().span_us(self.limit or 10)[1]

    @property
    def patience_us(self) -> Micros:
        limit = self.limit or 10
        back_offs = sum(BackOff.of_norm().span_us(n)[1] for n in range(1, limit + 1))
        return (limit + 21) * self.timeout_us + back_offs + 5 * MINUTE

    @property
    def maximum_us(self) -> Micros:
        return max(self.timeout_us, self.longest_back_off_us)

    @property
    def attempt_bound_us(self) -> Micros:
        return self.timeout_us + self.longest_back_off_us + 2 * MINUTE


def durations(config: Mapping[str, Any]) -> KueueDurations:
    recovery = get_path(config, _RECOVERY)
    return KueueDurations(
        parse_duration(get_path(config, _TIMEOUT)),
        get_path(config, _LIMIT),
        None if recovery is None else parse_duration(recovery),
    )


def _short(late_us: Micros, stretch: int) -> Mapping[str, Any]:
    timeout_us = max(_SHORT_US, 2 * late_us) * stretch
    return {"waitForPodsReady": {"timeout": format_duration(timeout_us)}}


SETTINGS: Final = Settings(
    defaults=DEFAULTS, written=WRITTEN, short=_short, durations=durations, spans="waitForPodsReady"
)
