"""Mutants that skip checks on submission, or lose Kueue's additions."""

from __future__ import annotations

from collections.abc import Sequence

from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.rules import Rules
from vocabulary.objects import Object


@mutant(
    Rules.max_pod_sets,
    "An AppWrapper with one pod set more than Kueue takes is admitted.",
    "MLB-074",
)
def nine_pod_sets_are_admitted(self: Rules) -> int:
    return Rules.max_pod_sets(self) + 1


@mutant(Rules.max_pod_sets, "Only AppWrappers without pods are admitted.", "MLB-028")
def minimal_form_is_refused(self: Rules) -> int:
    return 0


@mutant(
    Rules.lasting_fields,
    "The template of a component can be changed while the workload runs.",
    "MLB-075",
)
def templates_can_be_changed(self: Rules) -> tuple[str, ...]:
    return tuple(field for field in Rules.lasting_fields(self) if field != "template")


@mutant(
    Rules.info_of,
    "What Kueue says of the nodes for which quota was reserved does not reach the pods.",
    "MLB-076",
)
def placement_of_the_quota_is_ignored(self: Rules, infos: Sequence[Object], pod_set: int) -> Object:
    return {}


@mutant(
    Rules.info_of,
    "What Kueue says of a component's first pod set is done to all of them.",
    "MLB-076",
)
def placement_of_the_first_pod_set_for_all(
    self: Rules, infos: Sequence[Object], pod_set: int
) -> Object:
    return Rules.info_of(self, infos, 0)
