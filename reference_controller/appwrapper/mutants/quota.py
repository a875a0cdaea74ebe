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
    "old-failure-is-shown-while-resuming",
    "After a reset Unhealthy stays True until all components are created again.",
    "MLB-049",
)
class OldFailureIsShownWhileResuming(Rules):
    def on_entering(self, phase: str, old_phase: str) -> Conditions:
        right = super().on_entering(phase, old_phase)
        return _without(right, Condition.UNHEALTHY) if phase == Phase.RESUMING else right


@mutant(
    "quota-claimed-while-suspended",
    "QuotaReserved is True from the beginning, before the workload is admitted.",
    "MLB-047",
)
class QuotaClaimedWhileSuspended(Rules):
    def on_entering(self, phase: str, old_phase: str) -> Conditions:
        right = super().on_entering(phase, old_phase)
        if phase != Phase.SUSPENDED or old_phase:
            return right
        return {**right, Condition.QUOTA_RESERVED: ("True", "TooEarly", "")}


@mutant(
    "quota-released-on-failed",
    "The quota is released when Failed is entered, not when everything is gone.",
    "AW-015",
    "AW-061",
    "MLB-053",
    "INV-2",
)
class QuotaReleasedOnFailed(Rules):
    def on_entering(self, phase: str, old_phase: str) -> Conditions:
        right = super().on_entering(phase, old_phase)
        return {**right, **_QUOTA_RELEASED} if phase == Phase.FAILED else right


@mutant(
    "quota-released-on-suspending",
    "The quota is released when a suspension is noticed, while pods still stop.",
    "AW-015",
    "INV-2",
)
class QuotaReleasedOnSuspending(Rules):
    def on_entering(self, phase: str, old_phase: str) -> Conditions:
        right = super().on_entering(phase, old_phase)
        return {**right, **_QUOTA_RELEASED} if phase == Phase.SUSPENDING else right


@mutant(
    "quota-released-on-terminating",
    "The quota is released when the AppWrapper is deleted, while pods still stop.",
    "AW-015",
    "INV-2",
)
class QuotaReleasedOnTerminating(Rules):
    def on_entering(self, phase: str, old_phase: str) -> Conditions:
        right = super().on_entering(phase, old_phase)
        return {**right, **_QUOTA_RELEASED} if phase == Phase.TERMINATING else right


@mutant(
    "quota-released-on-resetting",
    "The quota is released when a reset begins.",
    "AW-050",
    "MLB-046",
    "AW-015",
    "INV-2",
)
class QuotaReleasedOnResetting(Rules):
    def on_entering(self, phase: str, old_phase: str) -> Conditions:
        right = super().on_entering(phase, old_phase)
        return {**right, **_QUOTA_RELEASED} if phase == Phase.RESETTING else right


@mutant(
    "quota-released-during-pause",
    "The quota is released when a reset's deletion is complete, for the retry pause.",
    "AW-050",
    "MLB-046",
)
class QuotaReleasedDuringPause(Rules):
    def on_deleted(self, phase: str) -> Conditions:
        return {**super().on_deleted(phase), **_QUOTA_RELEASED}


@mutant(
    "failed-keeps-quota",
    "A Failed AppWrapper never gives its quota back.",
    "AW-053",
    "MLB-024",
)
class FailedKeepsQuota(Rules):
    def on_deleted(self, phase: str) -> Conditions:
        right = super().on_deleted(phase)
        return _without(right, Condition.QUOTA_RESERVED) if phase == Phase.FAILED else right


@mutant(
    "suspended-keeps-quota",
    "A suspended AppWrapper never gives its quota back.",
    "AW-054",
)
class SuspendedKeepsQuota(Rules):
    def on_deleted(self, phase: str) -> Conditions:
        right = super().on_deleted(phase)
        if phase == Phase.SUSPENDED:
            return {**right, Condition.QUOTA_RESERVED: ("True", "Suspended", "")}
        return right


@mutant(
    "succeeded-keeps-quota",
    "A Succeeded AppWrapper keeps its quota until its resources are deleted.",
    "MLB-051",
    "MLB-054",
)
class SucceededKeepsQuota(Rules):
    def on_entering(self, phase: str, old_phase: str) -> Conditions:
        right = super().on_entering(phase, old_phase)
        return _without(right, Condition.QUOTA_RESERVED) if phase == Phase.SUCCEEDED else right


@mutant(
    "succeeded-clears-deployed",
    "ResourcesDeployed is cleared when Succeeded is entered, though the pods are kept.",
    "MLB-054",
    "MLB-052",
    "INV-1",
    "AW-014",
)
class SucceededClearsDeployed(Rules):
    def on_entering(self, phase: str, old_phase: str) -> Conditions:
        right = super().on_entering(phase, old_phase)
        return {**right, **_DEPLOYED_CLEARED} if phase == Phase.SUCCEEDED else right


@mutant(
    "deployed-set-after-creation",
    "ResourcesDeployed becomes True when all components exist, not before the first one.",
    "INV-1",
    "AW-014",
)
class DeployedSetAfterCreation(Rules):
    def on_entering(self, phase: str, old_phase: str) -> Conditions:
        right = super().on_entering(phase, old_phase)
        if phase == Phase.RESUMING:
            return _without(right, Condition.RESOURCES_DEPLOYED)
        if phase == Phase.RUNNING:
            return {**right, Condition.RESOURCES_DEPLOYED: ("True", "Running", "")}
        return right


@mutant(
    "runs-without-quota",
    "QuotaReserved is never set to True.",
    "MLB-050",
)
class RunsWithoutQuota(Rules):
    def on_entering(self, phase: str, old_phase: str) -> Conditions:
        right = super().on_entering(phase, old_phase)
        return _without(right, Condition.QUOTA_RESERVED) if phase == Phase.RESUMING else right


@mutant(
    "deployed-cleared-on-resetting",
    "ResourcesDeployed is cleared when a reset begins, not when everything is gone.",
    "AW-013",
    "AW-014",
    "INV-1",
)
class DeployedClearedOnResetting(Rules):
    def on_entering(self, phase: str, old_phase: str) -> Conditions:
        right = super().on_entering(phase, old_phase)
        return {**right, **_DEPLOYED_CLEARED} if phase == Phase.RESETTING else right


@mutant(
    "deployed-cleared-on-suspending",
    "ResourcesDeployed is cleared when a suspension is noticed.",
    "AW-013",
    "AW-014",
    "INV-1",
)
class DeployedClearedOnSuspending(Rules):
    def on_entering(self, phase: str, old_phase: str) -> Conditions:
        right = super().on_entering(phase, old_phase)
        return {**right, **_DEPLOYED_CLEARED} if phase == Phase.SUSPENDING else right


@mutant(
    "gone-with-its-components",
    "Everything counts as gone as soon as the components are, though pods still stop.",
    "AW-013",
    "AW-014",
    "AW-015",
    "INV-1",
)
class GoneWithItsComponents(Rules):
    def is_all_gone(self, seen: Observation) -> bool:
        return not self.remaining(seen)


@mutant(
    "gone-with-its-pods",
    "Everything counts as gone when there are no pods, though components remain.",
    "AW-013",
    "AW-014",
    "INV-1",
)
class GoneWithItsPods(Rules):
    def is_all_gone(self, seen: Observation) -> bool:
        return not seen.pods


@mutant(
    "terminating-counts-as-gone",
    "A component that is being deleted counts as gone, though a finalizer holds it.",
    "AW-014",
    "AW-013",
    "INV-1",
)
class TerminatingCountsAsGone(Rules):
    def remaining(self, seen: Observation) -> tuple[Standing, ...]:
        return tuple(
            (kind, found) for kind, found in super().remaining(seen) if not is_terminating(found)
        )


@mutant(
    "unhealthy-is-not-shown",
    "When an attempt is given up, Unhealthy turns False though the failure has been detected.",
    "MLB-049",
)
class UnhealthyIsNotShown(Rules):
    def unhealthy_when_given_up(self, reason: str, message: str) -> tuple[str, str, str]:
        return ("False", reason, message)


@mutant(
    "unhealthy-for-ever",
    "Unhealthy stays True after a reset, though the current execution is healthy.",
    "MLB-049",
)
class UnhealthyForEver(Rules):
    def unhealthy_when_well(self, aw: Object) -> tuple[str, str, str]:
        if resets_of(aw):
            return ("True", "FoundFailedPods", "There were failed pods once")
        return super().unhealthy_when_well(aw)
