"""Every decision that could be made wrongly, one small pure method each.

The rest of the controller asks `Rules` and carries out what it says:

- `policy`: which rule a failure matches, and what its action leads to.
- `restarts`: what counts, which Jobs are stale, when they come back.
- `startup`: what waits for what.
- `success`: when a JobSet has completed, and how long it is kept.
- `suspension`: which Jobs rest.
- `creation`: whose a Job is, names that are taken, what is deleted how.
- `admission`: what is refused, and what is filled in.
"""

from __future__ import annotations

from typing import Final

from reference_controller import rules
from reference_controller.jobset.rules.admission import AdmissionRules
from reference_controller.jobset.rules.creation import CreationRules
from reference_controller.jobset.rules.policy import PolicyRules
from reference_controller.jobset.rules.restarts import RestartRules
from reference_controller.jobset.rules.startup import StartupRules
from reference_controller.jobset.rules.success import SuccessRules
from reference_controller.jobset.rules.suspension import SuspensionRules

__all__ = ["RIGHT", "Rules"]


class Rules(
    PolicyRules,
    RestartRules,
    StartupRules,
    SuccessRules,
    SuspensionRules,
    CreationRules,
    AdmissionRules,
    rules.Rules,
):
    """The right decisions."""


RIGHT: Final = Rules()
