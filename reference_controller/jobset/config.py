"""The operator's configuration: it has no settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reference_controller.runtime.options import ConfigError


@dataclass(frozen=True, slots=True)
class JobSetConfig:
    """All that an administrator decides."""

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> JobSetConfig:
        """Parse the `jobset` section of the config file; raises ConfigError."""
        if data:
            raise ConfigError(
                f"unknown key {min(data)}; the controller has no settings: omit --config"
            )
        return cls()
