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
    "adopts-what-stands-there",
    "An object of somebody else under a component's name is taken for the component.",
    "MLB-048",
)
class AdoptsWhatStandsThere(Rules):
    def on_taken_name(self, standing: Object, aw: Object) -> TakenName:
        right = super().on_taken_name(standing, aw)
        return "adopt" if right == "fail" else right


@mutant(
    "replaces-what-stands-there",
    "An object of somebody else under a component's name is deleted to make room.",
    "INV-4",
)
class ReplacesWhatStandsThere(Rules):
    def on_taken_name(self, standing: Object, aw: Object) -> TakenName:
        right = super().on_taken_name(standing, aw)
        return "remove" if right == "fail" else right


@mutant(
    "owns-by-name",
    "Whatever stands under a component's name and has no other controller counts as ours.",
    "INV-4",
)
class OwnsByName(Rules):
    def is_ours(self, obj: Object, aw: Object) -> bool:
        return controller_of(obj) is None or super().is_ours(obj, aw)


@mutant(
    "owns-whatever-is-labelled",
    "A pod of somebody else that carries our label is counted, and deleted by force.",
    "INV-4",
)
class OwnsWhateverIsLabelled(Rules):
    def is_made_by(self, pod: Object, aw: Object) -> bool:  # noqa: ARG002
        return True


@mutant(
    "no-intent",
    "Components are created without an intent recorded before.",
    "INV-1",
    "AW-014",
)
class NoIntent(Rules):
    def needs_intent(self, record: Object, aw: Object) -> bool:  # noqa: ARG002
        return False


@mutant(
    "no-second-intent",
    "Only the first attempt records intents before it creates.",
    "INV-1",
    "AW-014",
)
class NoSecondIntent(Rules):
    def needs_intent(self, record: Object, aw: Object) -> bool:
        return attempt_of(aw) == 1 and super().needs_intent(record, aw)


@mutant(
    "no-finalizer",
    "Components are created before the finalizer stands.",
    "INV-7",
)
class NoFinalizer(Rules):
    def needs_finalizer(self) -> bool:
        return False


@mutant(
    "any-refusal-is-final",
    "A creation that was refused once fails the workload, though it could be tried again.",
    "INV-9",
)
class AnyRefusalIsFinal(Rules):
    def is_fatal(self, error: ApiError) -> bool:  # noqa: ARG002
        return True


@mutant(
    "overlooks-pods-of-stateful-sets-while-suspending",
    "While it is Suspending, pods that a StatefulSet made do not count as the workload's.",
    "AW-013",
    "AW-014",
    "AW-015",
    "INV-1",
    "INV-2",
)
class OverlooksPodsOfStatefulSetsWhileSuspending(Rules):
    def is_made_by(self, pod: Object, aw: Object) -> bool:
        owner = controller_of(pod)
        if phase_of(aw) == Phase.SUSPENDING and owner is not None:
            return owner.get("kind") != "StatefulSet"
        return super().is_made_by(pod, aw)


@mutant(
    "counts-pods-of-namesakes",
    "A pod of a former AppWrapper of the same name counts as the workload's.",
    "INV-4",
)
class CountsPodsOfNamesakes(Rules):
    def is_made_by(self, obj: Object, aw: Object) -> bool:
        return OWNER_UID_LABEL in labels_of(obj) or super().is_made_by(obj, aw)


@mutant(
    "looks-in-one-namespace",
    "Pods are looked for in the operator's own namespace alone.",
    "AW-021",
    "AW-013",
    "INV-1",
)
class LooksInOneNamespace(Rules):
    def is_made_by(self, obj: Object, aw: Object) -> bool:
        return namespace_of(obj) == "default" and super().is_made_by(obj, aw)


@mutant(
    "owns-by-the-owners-name",
    "What an AppWrapper of the same name owns counts as ours, though its uid is another.",
    "INV-4",
)
class OwnsByTheOwnersName(Rules):
    def is_ours(self, obj: Object, aw: Object) -> bool:
        owner = controller_of(obj) or {}
        return (owner.get("kind"), owner.get("name")) == (APPWRAPPER.kind, name_of(aw))


@mutant(
    "owns-what-any-appwrapper-owns",
    "What another AppWrapper owns counts as ours.",
    "INV-4",
)
class OwnsWhatAnyAppWrapperOwns(Rules):
    def is_ours(self, obj: Object, aw: Object) -> bool:  # noqa: ARG002
        return (controller_of(obj) or {}).get("kind") == APPWRAPPER.kind


@mutant(
    "stripped-finalizer-stays-away",
    "A finalizer that somebody strips while resources are deployed is not put back.",
    "AW-097",
)
class StrippedFinalizerStaysAway(Rules):
    def restores_finalizer(self) -> bool:
        return False
