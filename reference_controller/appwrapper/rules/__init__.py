"""Every decision that could be made wrongly, one small pure method each.

The rest of the controller asks `Rules` and carries out what it says. A reader who wants to know
*what right looks like* reads this package and nothing else:

- `parameters`: annotations over the operator's configuration, and the cap.
- `ownership`: which objects and pods are ours.
- `health`: what makes a workload unhealthy, and what makes it a success.
- `timing`: where each timer starts and how long it runs.
- `retries`: reset or fail, and what counts.
- `quota`: which conditions hold on entering each phase.
- `deletion`: what is deleted how, and when it counts as gone.
- `creation`: intents, names that are taken, which failures are final.
- `injection`: what is written into pod templates.
- `admission`: what is refused, and what is filled in.
- `slack`: what the slack queue lends.
"""

from __future__ import annotations

from reference_controller import rules
from reference_controller.appwrapper.rules.admission import AdmissionRules
from reference_controller.appwrapper.rules.creation import CreationRules
from reference_controller.appwrapper.rules.deletion import DeletionRules
from reference_controller.appwrapper.rules.health import HealthRules
from reference_controller.appwrapper.rules.injection import InjectionRules
from reference_controller.appwrapper.rules.parameters import ParameterRules
from reference_controller.appwrapper.rules.quota import QuotaRules
from reference_controller.appwrapper.rules.retries import RetryRules
from reference_controller.appwrapper.rules.slack import SlackRules
from reference_controller.appwrapper.rules.timing import TimingRules

__all__ = ["Rules"]


class Rules(
    ParameterRules,
    HealthRules,
    TimingRules,
    RetryRules,
    QuotaRules,
    DeletionRules,
    CreationRules,
    InjectionRules,
    AdmissionRules,
    SlackRules,
    rules.Rules,
):
    """The right decisions."""


RIGHT = Rules()
