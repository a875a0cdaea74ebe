"""Decision code: modules in which a bug breaks requirements.

That is everything between observation and request, the settings of the user and the
administrator, and admission. Excluded are outputs for readers that no claim covers
(`events`, `metrics`), names, installation (`manifests`), the mutants, and the runtime, which
decides nothing about AppWrappers.
"""

from __future__ import annotations

from typing import Final

from reference_controller.reference_program import DecisionCode
from reference_controller.shared import SHARED_DECISIONS

_ROOM: Final = "reference_controller.appwrapper"
_MODULES: Final = (
    "admission",
    "appwrapper_controller",
    "autopilot",
    "config",
    "decide",
    "echoes",
    "observation",
    "observe",
    "parameters",
    "pod_sets",
    "reconcile",
    "rules.admission",
    "rules.creation",
    "rules.deletion",
    "rules.health",
    "rules.injection",
    "rules.ownership",
    "rules.parameters",
    "rules.quota",
    "rules.retries",
    "rules.slack",
    "rules.timing",
    "running",
    "slack",
    "status",
    "steps",
    "templates",
    "transitions",
    "watched_kinds",
)
DECISION_CODE: Final = DecisionCode(
    modules=(*(f"{_ROOM}.{name}" for name in _MODULES), *SHARED_DECISIONS),
    told=frozenset(
        {"Note", "_denied", "_tell", "count", "count_delete", "count_entry", "event_for"}
    ),
)
