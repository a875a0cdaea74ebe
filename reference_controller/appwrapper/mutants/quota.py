"""Quota is given back too early, or not at all; ResourcesDeployed says what is not so."""

from __future__ import annotations

from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.names import Condition, Phase
from reference_controller.appwrapper.observation import Observation
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.rules.deletion import Standing
from reference_controller.appwrapper.rules.quota import Conditions
from reference_controller.appwrapper.status import resets_of
from vocabulary.objects import Object, is_terminating

_QUOTA_RELEASED = {Condition.QUOTA_RESERVED: ("False", "TooEarly", "")}
_DEPLOYED_CLEARED = {Condition.RESOURCES_DEPLOYED: ("False", "TooEarly", "")}


def _without(conditions: Conditions, type_: str) -> Conditions:
    return {name: value for name, value in conditions.items() if name != type_}


@mutant(
    Rules.on_entering,
    "After a reset Unhealthy stays True until all components are created again.",
    "MLB-049",
)
def old_failure_is_shown_while_resuming(self: Rules, phase: str, old_phase: str) -> Conditions:
    right = Rules.on_entering(self, phase, old_phase)
    return _without(right, Condition.UNHEALTHY) if phase == Phase.RESUMING else right


@mutant(
    Rules.on_entering,
    "QuotaReserved is True from the beginning, before the workload is admitted.",
    "MLB-047",
)
def quota_claimed_while_suspended(self: Rules, phase: str, old_phase: str) -> Conditions:
    right = Rules.on_entering(self, phase, old_phase)
    if phase != Phase.SUSPENDED or old_phase:
        return right
    return {**right, Condition.QUOTA_RESERVED: ("True", "TooEarly", "")}


@mutant(
    Rules.on_entering,
    "The quota is released when Failed is entered, not when everything is gone.",
    "AW-015",
    "AW-061",
    "MLB-053",
    "INV-2",
)
def quota_released_on_failed(self: Rules, phase: str, old_phase: str) -> Conditions:
    right = Rules.on_entering(self, phase, old_phase)
    return {**right, **_QUOTA_RELEASED} if phase == Phase.FAILED else right


@mutant(
    Rules.on_entering,
    "The quota is released when a suspension is noticed, while pods still stop.",
    "AW-015",
    "INV-2",
)
def quota_released_on_suspending(self: Rules, phase: str, old_phase: str) -> Conditions:
    right = Rules.on_entering(self, phase, old_phase)
    return {**right, **_QUOTA_RELEASED} if phase == Phase.SUSPENDING else right


@mutant(
    Rules.on_entering,
    "The quota is released when the AppWrapper is deleted, while pods still stop.",
    "AW-015",
    "INV-2",
)
def quota_released_on_terminating(self: Rules, phase: str, old_phase: str) -> Conditions:
    right = Rules.on_entering(self, phase, old_phase)
    return {**right, **_QUOTA_RELEASED} if phase == Phase.TERMINATING else right


@mutant(
    Rules.on_entering,
    "The quota is released when a reset begins.",
    "AW-050",
    "MLB-046",
    "AW-015",
    "INV-2",
)
def quota_released_on_resetting(self: Rules, phase: str, old_phase: str) -> Conditions:
    right = Rules.on_entering(self, phase, old_phase)
    return {**right, **_QUOTA_RELEASED} if phase == Phase.RESETTING else right


@mutant(
    Rules.on_deleted,
    "The quota is released when a reset's deletion is complete, for the retry pause.",
    "AW-050",
    "MLB-046",
)
def quota_released_during_pause(self: Rules, phase: str) -> Conditions:
    return {**Rules.on_deleted(self, phase), **_QUOTA_RELEASED}


@mutant(Rules.on_deleted, "A Failed AppWrapper never gives its quota back.", "AW-053", "MLB-024")
def failed_keeps_quota(self: Rules, phase: str) -> Conditions:
    right = Rules.on_deleted(self, phase)
    return _without(right, Condition.QUOTA_RESERVED) if phase == Phase.FAILED else right


@mutant(Rules.on_deleted, "A suspended AppWrapper never gives its quota back.", "AW-054")
def suspended_keeps_quota(self: Rules, phase: str) -> Conditions:
    right = Rules.on_deleted(self, phase)
    if phase == Phase.SUSPENDED:
        return {**right, Condition.QUOTA_RESERVED: ("True", "Suspended", "")}
    return right


@mutant(
    Rules.on_entering,
    "A Succeeded AppWrapper keeps its quota until its resources are deleted.",
    "MLB-051",
    "MLB-054",
)
def succeeded_keeps_quota(self: Rules, phase: str, old_phase: str) -> Conditions:
    right = Rules.on_entering(self, phase, old_phase)
    return _without(right, Condition.QUOTA_RESERVED) if phase == Phase.SUCCEEDED else right


@mutant(
    Rules.on_entering,
    "ResourcesDeployed is cleared when Succeeded is entered, though the pods are kept.",
    "MLB-054",
    "MLB-052",
    "INV-1",
    "AW-014",
)
def succeeded_clears_deployed(self: Rules, phase: str, old_phase: str) -> Conditions:
    right = Rules.on_entering(self, phase, old_phase)
    return {**right, **_DEPLOYED_CLEARED} if phase == Phase.SUCCEEDED else right


@mutant(
    Rules.on_entering,
    "ResourcesDeployed becomes True when all components exist, not before the first one.",
    "INV-1",
    "AW-014",
)
def deployed_set_after_creation(self: Rules, phase: str, old_phase: str) -> Conditions:
    right = Rules.on_entering(self, phase, old_phase)
    if phase == Phase.RESUMING:
        return _without(right, Condition.RESOURCES_DEPLOYED)
    if phase == Phase.RUNNING:
        return {**right, Condition.RESOURCES_DEPLOYED: ("True", "Running", "")}
    return right


@mutant(Rules.on_entering, "QuotaReserved is never set to True.", "MLB-050")
def runs_without_quota(self: Rules, phase: str, old_phase: str) -> Conditions:
    right = Rules.on_entering(self, phase, old_phase)
    return _without(right, Condition.QUOTA_RESERVED) if phase == Phase.RESUMING else right


@mutant(
    Rules.on_entering,
    "ResourcesDeployed is cleared when a reset begins, not when everything is gone.",
    "AW-013",
    "AW-014",
    "INV-1",
    "MLB-001",
)
def deployed_cleared_on_resetting(self: Rules, phase: str, old_phase: str) -> Conditions:
    right = Rules.on_entering(self, phase, old_phase)
    return {**right, **_DEPLOYED_CLEARED} if phase == Phase.RESETTING else right


@mutant(
    Rules.on_entering,
    "ResourcesDeployed is cleared when a suspension is noticed.",
    "AW-013",
    "AW-014",
    "INV-1",
)
def deployed_cleared_on_suspending(self: Rules, phase: str, old_phase: str) -> Conditions:
    right = Rules.on_entering(self, phase, old_phase)
    return {**right, **_DEPLOYED_CLEARED} if phase == Phase.SUSPENDING else right


@mutant(
    Rules.is_all_gone,
    "Everything counts as gone as soon as the components are, though pods still stop.",
    "AW-013",
    "AW-014",
    "AW-015",
    "INV-1",
)
def gone_with_its_components(self: Rules, seen: Observation) -> bool:
    return not self.remaining(seen)


@mutant(
    Rules.is_all_gone,
    "Everything counts as gone when there are no pods, though components remain.",
    "AW-013",
    "AW-014",
    "INV-1",
)
def gone_with_its_pods(self: Rules, seen: Observation) -> bool:
    return not seen.pods


@mutant(
    Rules.remaining,
    "A component that is being deleted counts as gone, though a finalizer holds it.",
    "AW-014",
    "AW-013",
    "INV-1",
)
def terminating_counts_as_gone(self: Rules, seen: Observation) -> tuple[Standing, ...]:
    return tuple(
        (kind, found) for kind, found in Rules.remaining(self, seen) if not is_terminating(found)
    )


@mutant(
    Rules.unhealthy_when_given_up,
    "When an attempt is given up, Unhealthy turns False though the failure has been detected.",
    "MLB-049",
)
def unhealthy_is_not_shown(self: Rules, reason: str, message: str) -> tuple[str, str, str]:
    return ("False", reason, message)


@mutant(
    Rules.unhealthy_when_well,
    "Unhealthy stays True after a reset, though the current execution is healthy.",
    "MLB-049",
)
def unhealthy_for_ever(self: Rules, aw: Object) -> tuple[str, str, str]:
    if resets_of(aw):
        return ("True", "FoundFailedPods", "There were failed pods once")
    return Rules.unhealthy_when_well(self, aw)
