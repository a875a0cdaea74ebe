"""The operator's configuration. Unknown keys are refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reference_controller.runtime.options import ConfigError


@dataclass(frozen=True, slots=True)
class StreamsConfig:
    """The settings of recovery."""

    records_recovery: bool = True
    """`recoveryRecord`: the intent to replace an interrupted Job is stored in a JobRecovery. False:
    only the process knows it, as the norm's text has it, and a Job is lost if the process ends
    between the deletion and the creation."""

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> StreamsConfig:
        """Parse it; raises ConfigError."""
        unknown = sorted(set(data) - {"recoveryRecord"})
        if unknown:
            raise ConfigError(f"unknown key {unknown[0]}; there may be recoveryRecord")
        records = data.get("recoveryRecord", True)
        if not isinstance(records, bool):
            raise ConfigError(f"recoveryRecord: {records!r} must be true or false")
        return cls(records)
