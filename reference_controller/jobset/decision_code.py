"""Decision code: modules in which a bug breaks requirements.

KEP-262 is about failures. What the API of JobSets has beside them is not listed, since no
requirement speaks of it: the rest of the spec (`spec_admission`, `known_fields`), the order of
starts (`startup`), and what queues change in pod templates (`resumption`). Nor is `expectations`,
which saves requests, and `freshness`: every requirement excuses a controller that has not seen yet
what it did not heed.
"""

from __future__ import annotations

from typing import Final

from reference_controller.reference_program import DecisionCode
from reference_controller.shared import SHARED_DECISIONS

_ROOM: Final = "reference_controller.jobset"
_MODULES: Final = (
    "admission",
    "children",
    "job_set",
    "job_set_controller",
    "network",
    "numbering",
    "observation",
    "observe",
    "reconcile",
    "rules.admission",
    "rules.creation",
    "rules.policy",
    "rules.restarts",
    "rules.success",
    "rules.suspension",
    "status",
    "templates",
    "verdict",
)
DECISION_CODE: Final = DecisionCode(
    modules=(*(f"{_ROOM}.{name}" for name in _MODULES), *SHARED_DECISIONS),
    told=frozenset(
        {
            "Note",
            "_denied",
            "_if_new",
            "_count",
            "_tell",
            "_tell_refusal",
            "count",
            "count_verdict",
            "event_for",
            "startup_condition",
        }
    ),
)
