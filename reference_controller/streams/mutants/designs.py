"""The designs that the norm rejects, each with the claim that shows why."""

from __future__ import annotations

from typing import Final

from reference_controller.mutants import granting
from reference_controller.streams.mutants.registry import MUTANTS
from reference_controller.streams.names import JOB, PARTS
from reference_controller.streams.rules import Design, Rules
from vocabulary.objects import Object

APPROACH_1: Final = Design(way="pods", labels_pods=True, marks_elements=True, guards_pods=False)
BACKGROUND: Final = Design(policy="Background", is_sure=False)
_LABELS_PODS: Final = granting("", ["pods"], "patch")
_PATCHES: Final = granting("", ["pods", "configmaps"], "patch")
_COMPILES_ANEW: Final = APPROACH_1._replace(recompiles=True, updates="content-first")


def _replaces_parts(role: Object) -> Object:
    for group in ("", JOB.group):
        plurals = [kind.plural for kind in PARTS if kind.group == group]
        role = granting(group, plurals, "update")(role)
    return role


@MUTANTS.mutant(
    Rules.design,
    "It creates only what is missing.",
    "ST-017",
    *("ST-014", "ST-015", "ST-016", "ST-026"),
)
def only_what_is_missing(self: Rules) -> Design:
    return Design(way="complete")


@MUTANTS.mutant(Rules.design, "It creates what is missing, compiled anew.", "ST-018")
def what_is_missing_of_another_fusion(self: Rules) -> Design:
    return Design(way="complete", recompiles=True)


@MUTANTS.mutant(Rules.design, "It deletes the pods, which restarts them, and goes on.", "ST-021")
def pods_deleted_without_label(self: Rules) -> Design:
    return APPROACH_1._replace(labels_pods=False)


@MUTANTS.mutant(
    Rules.design, "It makes pods of what was true before the crash.", "ST-025", role=_LABELS_PODS
)
def pods_deleted_without_mark(self: Rules) -> Design:
    return APPROACH_1._replace(marks_elements=False)


@MUTANTS.mutant(
    Rules.design, "It deletes pods, and creates the rest.", "ST-037", "ST-017", role=_LABELS_PODS
)
def approach1(self: Rules) -> Design:
    return APPROACH_1._replace(guards_pods=True)


@MUTANTS.mutant(
    Rules.design,
    "It compiles anew, and deletes pods, which restarts them as they were.",
    "ST-022",
    role=_PATCHES,
)
def restarted_pods_are_stale(self: Rules) -> Design:
    return _COMPILES_ANEW._replace(labels_pods=False, marks_elements=False)


@MUTANTS.mutant(
    Rules.design, "It compiles anew, and updates ConfigMaps last.", "ST-022", role=_PATCHES
)
def content_is_updated_last(self: Rules) -> Design:
    return _COMPILES_ANEW._replace(updates="elements-first", awaits_content=False)


@MUTANTS.mutant(Rules.design, "It deletes in the background; a taken name ends it.", "ST-035")
def background_and_abort(self: Rules) -> Design:
    return BACKGROUND._replace(on_taken="abort")


@MUTANTS.mutant(Rules.design, "It deletes in the background, and adopts what is left.", "ST-035")
def background_and_adopt(self: Rules) -> Design:
    return BACKGROUND._replace(on_taken="adopt")


@MUTANTS.mutant(
    Rules.design,
    "It deletes in the background, and replaces what is left.",
    "ST-035",
    role=_replaces_parts,
)
def background_and_replace(self: Rules) -> Design:
    return BACKGROUND._replace(on_taken="replace")


@MUTANTS.mutant(
    Rules.design, "It deletes in the background, and tries again.", "ST-035", "ST-032", "ST-041"
)
def background_and_retry(self: Rules) -> Design:
    return BACKGROUND


@MUTANTS.mutant(
    Rules.design, "It replaces what has the name of a part.", "ST-051", role=_replaces_parts
)
def taken_names_are_replaced(self: Rules) -> Design:
    return Design(on_taken="replace")


@MUTANTS.mutant(Rules.design, "It orphans what the interrupted Job owns.", "ST-030", "ST-028")
def orphans(self: Rules) -> Design:
    return Design(policy="Orphan", is_sure=False, on_taken="adopt")


@MUTANTS.mutant(Rules.design, "It recreates the Job once its deletion has begun.", "ST-035")
def recreates_early(self: Rules) -> Design:
    return Design(is_sure=False, replaces_early=True)


@MUTANTS.mutant(Rules.design, "It trusts that nothing outlives the Job.", "ST-034")
def trusts_the_deletion(self: Rules) -> Design:
    return Design(is_sure=False)
