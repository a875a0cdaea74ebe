"""Intents are left out, or what is not ours is touched."""

from __future__ import annotations

from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.names import APPWRAPPER, OWNER_UID_LABEL, Phase
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.rules.creation import TakenName
from reference_controller.appwrapper.status import attempt_of, phase_of
from vocabulary.errors import ApiError
from vocabulary.objects import Object, controller_of, labels_of, name_of, namespace_of


@mutant(
    Rules.on_taken_name,
    "An object of somebody else under a component's name is taken for the component.",
    "MLB-048",
)
def adopts_what_stands_there(self: Rules, standing: Object, aw: Object) -> TakenName:
    right = Rules.on_taken_name(self, standing, aw)
    return "adopt" if right == "fail" else right


@mutant(
    Rules.on_taken_name,
    "An object of somebody else under a component's name is deleted to make room.",
    "INV-4",
)
def replaces_what_stands_there(self: Rules, standing: Object, aw: Object) -> TakenName:
    right = Rules.on_taken_name(self, standing, aw)
    return "remove" if right == "fail" else right


@mutant(
    Rules.is_ours,
    "Whatever stands under a component's name and has no other controller counts as ours.",
    "INV-4",
)
def owns_by_name(self: Rules, obj: Object, aw: Object) -> bool:
    return controller_of(obj) is None or Rules.is_ours(self, obj, aw)


@mutant(
    Rules.is_made_by,
    "A pod of somebody else that carries our label is counted, and deleted by force.",
    "INV-4",
)
def owns_whatever_is_labelled(self: Rules, obj: Object, aw: Object) -> bool:
    return True


@mutant(
    Rules.needs_intent,
    "Components are created without an intent recorded before.",
    "INV-1",
    "AW-014",
)
def no_intent(self: Rules, record: Object, aw: Object) -> bool:
    return False


@mutant(
    Rules.needs_intent,
    "Only the first attempt records intents before it creates.",
    "INV-1",
    "AW-014",
)
def no_second_intent(self: Rules, record: Object, aw: Object) -> bool:
    return attempt_of(aw) == 1 and Rules.needs_intent(self, record, aw)


@mutant(Rules.needs_finalizer, "Components are created before the finalizer stands.", "INV-7")
def no_finalizer(self: Rules) -> bool:
    return False


@mutant(
    Rules.is_fatal,
    "A creation that was refused once fails the workload, though it could be tried again.",
    "INV-9",
)
def any_refusal_is_final(self: Rules, error: ApiError) -> bool:
    return True


@mutant(
    Rules.is_made_by,
    "While it is Suspending, pods that a StatefulSet made do not count as the workload's.",
    "AW-013",
    "AW-014",
    "AW-015",
    "INV-1",
    "INV-2",
)
def overlooks_pods_of_stateful_sets_while_suspending(self: Rules, obj: Object, aw: Object) -> bool:
    owner = controller_of(obj)
    if phase_of(aw) == Phase.SUSPENDING and owner is not None:
        return owner.get("kind") != "StatefulSet"
    return Rules.is_made_by(self, obj, aw)


@mutant(
    Rules.is_made_by,
    "A pod of a former AppWrapper of the same name counts as the workload's.",
    "INV-4",
)
def counts_pods_of_namesakes(self: Rules, obj: Object, aw: Object) -> bool:
    return OWNER_UID_LABEL in labels_of(obj) or Rules.is_made_by(self, obj, aw)


@mutant(
    Rules.is_made_by,
    "Pods are looked for in the operator's own namespace alone.",
    "AW-021",
    "AW-013",
    "INV-1",
)
def looks_in_one_namespace(self: Rules, obj: Object, aw: Object) -> bool:
    return namespace_of(obj) == "default" and Rules.is_made_by(self, obj, aw)


@mutant(
    Rules.is_ours,
    "What an AppWrapper of the same name owns counts as ours, though its uid is another.",
    "INV-4",
)
def owns_by_the_owners_name(self: Rules, obj: Object, aw: Object) -> bool:
    owner = controller_of(obj) or {}
    return (owner.get("kind"), owner.get("name")) == (APPWRAPPER.kind, name_of(aw))


@mutant(Rules.is_ours, "What another AppWrapper owns counts as ours.", "INV-4")
def owns_what_any_appwrapper_owns(self: Rules, obj: Object, aw: Object) -> bool:
    return (controller_of(obj) or {}).get("kind") == APPWRAPPER.kind


@mutant(
    Rules.restores_finalizer,
    "A finalizer that somebody strips while resources are deployed is not put back.",
    "AW-097",
)
def stripped_finalizer_stays_away(self: Rules) -> bool:
    return False
