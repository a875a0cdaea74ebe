"""How long a JobSet's run may take. The operator has no settings."""

from __future__ import annotations

from typing import Final

from conformance.suite import PlainDurations, Settings
from vocabulary.clock import HOUR, MINUTE

SETTINGS: Final = Settings(
    durations=lambda _config: PlainDurations(
        patience_us=HOUR, maximum_us=15 * MINUTE, attempt_bound_us=2 * MINUTE
    )
)
