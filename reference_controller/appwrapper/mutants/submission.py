"""Mutants that skip checks on submission, or lose Kueue's additions."""

from __future__ import annotations

from collections.abc import Sequence

from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.rules import Rules
from vocabulary.objects import Object


@mutant(
    "nine-pod-sets-are-admitted",
    "An AppWrapper with one pod set more than Kueue takes is admitted.",
    "MLB-074",
)
class NinePodSetsAreAdmitted(Rules):
    def max_pod_sets(self) -> int:
        return super().max_pod_sets() + 1


@mutant(
    "templates-can-be-changed",
    "The template of a component can be changed while the workload runs.",
    "MLB-075",
)
class TemplatesCanBeChanged(Rules):
    def lasting_fields(self) -> tuple[str, ...]:
        return tuple(field for field in super().lasting_fields() if field != "template")


@mutant(
    "placement-of-the-quota-is-ignored",
    "What Kueue says of the nodes for which quota was reserved does not reach the pods.",
    "MLB-076",
)
class PlacementOfTheQuotaIsIgnored(Rules):
    def info_of(self, infos: Sequence[Object], pod_set: int) -> Object:  # noqa: ARG002
        return {}


@mutant(
    "placement-of-the-first-pod-set-for-all",
    "What Kueue says of a component's first pod set is done to all of them.",
    "MLB-076",
)
class PlacementOfTheFirstPodSetForAll(Rules):
    def info_of(self, infos: Sequence[Object], pod_set: int) -> Object:  # noqa: ARG002
        return super().info_of(infos, 0)
