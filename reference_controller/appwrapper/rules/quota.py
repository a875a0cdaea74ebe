"""Conditions set on entering each phase: deployed resources and reserved quota.

One law above all: while anything of an attempt may exist, ResourcesDeployed stays True, and
for every outcome but success the quota is not released before it is False.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from reference_controller.appwrapper.names import Condition, Phase, Reason
from vocabulary.objects import Object

Conditions: TypeAlias = Mapping[str, tuple[str, str, str]]
"""Condition type → status, reason, message."""


class QuotaRules:
    """AW-013…015, 050, 053, 061; MLB-050, 051, 053, 054."""

    def on_entering(self, phase: str, old_phase: str) -> Conditions:
        """The conditions that change when a phase is entered."""
        return _entering(phase, old_phase)

    def unhealthy_when_well(self, aw: Object) -> tuple[str, str, str]:  # noqa: ARG002
        """The `Unhealthy` condition of a healthy running workload: it refers to the current
        execution, not to earlier ones."""
        return ("False", Reason.FOUND_NO_FAILED_PODS, "")

    def unhealthy_when_given_up(self, reason: str, message: str) -> tuple[str, str, str]:
        """The `Unhealthy` condition once an attempt is given up, until the next one begins."""
        return ("True", reason, message)

    def on_deleted(self, phase: str) -> Conditions:
        """The conditions that change when nothing is left, in the phase that deletes.

        During a reset the quota stays reserved: it is needed again after the pause.
        """
        gone: dict[str, tuple[str, str, str]] = {
            Condition.RESOURCES_DEPLOYED: ("False", phase, "All resources are gone"),
            Condition.DELETING_RESOURCES: ("False", Reason.DELETION_COMPLETE, ""),
            Condition.PODS_READY: ("False", phase, "All resources are gone"),
        }
        if phase != Phase.RESETTING:
            gone[Condition.QUOTA_RESERVED] = ("False", phase, "No resources deployed")
        return gone


def _entering(phase: str, old_phase: str) -> Conditions:
    match phase:
        case Phase.SUSPENDED:
            reason = Phase.SUSPENDED
            return {
                Condition.QUOTA_RESERVED: ("False", reason, "Suspend is true"),
                Condition.RESOURCES_DEPLOYED: ("False", reason, "Suspend is true"),
                Condition.PODS_READY: ("False", reason, "Suspend is true"),
                Condition.UNHEALTHY: ("False", reason, "Suspend is true"),
            }
        case Phase.RESUMING:
            after_reset = old_phase == Phase.RESETTING
            message = "Reset complete; resuming" if after_reset else "Suspend is false"
            return {
                Condition.QUOTA_RESERVED: ("True", Phase.RESUMING, "Suspend is false"),
                Condition.RESOURCES_DEPLOYED: ("True", Phase.RESUMING, message),
                Condition.PODS_READY: ("False", Phase.RESUMING, message),
                Condition.UNHEALTHY: ("False", Phase.RESUMING, message),
            }
        case Phase.RUNNING:
            return {
                Condition.UNHEALTHY: ("False", Reason.FOUND_NO_FAILED_PODS, ""),
                Condition.PODS_READY: ("False", Reason.INSUFFICIENT_PODS_READY, ""),
            }
        case Phase.RESETTING | Phase.SUSPENDING | Phase.TERMINATING | Phase.FAILED:
            return {Condition.PODS_READY: ("False", phase, "")}
        case Phase.SUCCEEDED:
            return {
                Condition.QUOTA_RESERVED: ("False", Phase.SUCCEEDED, "Workload succeeded"),
                Condition.RESOURCES_DEPLOYED: ("True", Phase.SUCCEEDED, "Kept for a while"),
                Condition.UNHEALTHY: ("False", Phase.SUCCEEDED, ""),
            }
    return {}
