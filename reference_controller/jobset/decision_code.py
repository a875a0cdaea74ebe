"""Decision code: modules in which a bug breaks requirements.

KEP-262 is about failures. What the API of JobSets has beside them is not listed, since no
requirement speaks of it: `spec_admission` for the rest of the spec.
"""

from __future__ import annotations

from typing import Final

from reference_controller.reference_program import DecisionCode
from reference_controller.shared import SHARED_DECISIONS

_ROOM: Final = "reference_controller.jobset"
_MODULES: Final = (
    "admission",
    "children",
    "expectations",
    "job_set",
    "job_set_controller",
    "numbering",
    "observation",
    "observe",
    "reconcile",
    "rules.admission",
    "rules.creation",
    "rules.policy",
    "rules.restarts",
    "rules.startup",
    "rules.success",
    "rules.suspension",
    "startup",
    "status",
    "templates",
    "verdict",
)
DECISION_CODE: Final = DecisionCode(
    modules=(*(f"{_ROOM}.{name}" for name in _MODULES), *SHARED_DECISIONS),
    told=frozenset({"Note", "_denied", "_tell", "count", "count_verdict", "event_for"}),
)
