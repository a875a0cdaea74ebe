"""The back-off of each requeue: the norm's formula, and that of released controllers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.suites.kueue.api import RELEASED
from vocabulary.clock import HOUR, MINUTE, SECOND, Micros
from vocabulary.objects import get_path

_STRATEGY = "waitForPodsReady.requeuingStrategy"


@dataclass(frozen=True, slots=True)
class BackOff:
    """base · factor^(n−1), at most `maximum_us`, and up to a part of it longer."""

    base_us: Micros
    factor: float
    maximum_us: Micros | None
    jitter: float = 0.0001

    @classmethod
    def of_norm(cls) -> BackOff:
        """1.41284738^(n−1) seconds."""
        return cls(SECOND, 1.41284738, None)

    @classmethod
    def of(cls, edition: str, config: Mapping[str, Any]) -> BackOff:
        """That of an edition at a configuration: released controllers have a base and a maximum."""
        if edition != RELEASED:
            return cls.of_norm()
        base = get_path(config, f"{_STRATEGY}.backoffBaseSeconds")
        maximum = get_path(config, f"{_STRATEGY}.backoffMaxSeconds")
        return cls(
            MINUTE if base is None else int(base) * SECOND,
            2.0,
            HOUR if maximum is None else int(maximum) * SECOND,
        )

    def span_us(self, n: int) -> tuple[Micros, Micros]:
        """The shortest and the longest n-th back-off."""
        span_us = self.base_us * self.factor ** (n - 1)
        if self.maximum_us is not None and n > 1:
            span_us = min(span_us, self.maximum_us)
        return round(span_us), round(span_us * (1 + self.jitter))
