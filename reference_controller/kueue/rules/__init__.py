"""Every decision that could be made wrongly, one small pure method each.

The rest of the controller asks `Rules` and carries out what it says:

- `order`: which Workload comes first, and which waits.
- `admission`: what fits, which queues admit, and which job runs.
- `flavors`: which flavor is taken.
- `preemption`: who has to give quota back for another.
- `requeuing`: evictions of what is not ready in time, back-offs, and the limit.
- `pods`: pods that wait themselves.
- `release`: when quota is given back.
"""

from __future__ import annotations

from reference_controller import rules
from reference_controller.kueue.rules.admission import AdmissionRules
from reference_controller.kueue.rules.flavors import FlavorRules
from reference_controller.kueue.rules.order import OrderRules
from reference_controller.kueue.rules.pods import PodRules
from reference_controller.kueue.rules.preemption import PreemptionRules
from reference_controller.kueue.rules.release import ReleaseRules
from reference_controller.kueue.rules.requeuing import RequeuingRules

__all__ = ["Rules"]


class Rules(
    OrderRules,
    AdmissionRules,
    FlavorRules,
    PreemptionRules,
    RequeuingRules,
    ReleaseRules,
    PodRules,
    rules.Rules,
):
    """The right decisions."""
