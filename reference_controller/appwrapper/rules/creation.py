"""Creating components: the intent before it, names that are taken, failures that are final."""

from __future__ import annotations

from typing import Literal, TypeAlias

from reference_controller.appwrapper.rules.ownership import OwnershipRules
from reference_controller.appwrapper.status import attempt_of, creation_state
from vocabulary.errors import ApiError
from vocabulary.objects import Object, is_terminating, meta

TakenName: TypeAlias = Literal["adopt", "remove", "wait", "fail"]


class CreationRules(OwnershipRules):
    """INV-3, INV-4, INV-7; decisions A12, A13, A17."""

    def needs_intent(self, record: Object, aw: Object) -> bool:
        """True if an intent has to be recorded before the component is created.

        Each attempt needs a new one: an intent of an older attempt refers to a deleted object.
        """
        return not (creation_state(record) and record.get("attempt") == attempt_of(aw))

    def needs_finalizer(self) -> bool:
        """True if our finalizer has to be set before anything is created."""
        return True

    def restores_finalizer(self) -> bool:
        """True if our finalizer is added again if another client removes it while deployed."""
        return True

    def finalizer_patch(self, aw: Object, finalizers: tuple[str, ...]) -> Object:
        """The merge patch that sets the finalizers, under optimistic lock, and nothing else:
        `spec.suspend` is Kueue's."""
        version = meta(aw).get("resourceVersion")
        return {"metadata": {"resourceVersion": version, "finalizers": list(finalizers)}}

    def on_taken_name(self, standing: Object, aw: Object) -> TakenName:
        """Decide what to do if the name of a component is taken.

        `adopt` an object of our own creation whose response was lost; `remove` one of an older
        attempt; `wait` for a foreign one that is being deleted; `fail` for any other.
        """
        if self.may_adopt(standing, aw):
            return "adopt"
        if self.is_ours(standing, aw):
            return "remove"
        return "wait" if is_terminating(standing) else "fail"

    def is_fatal(self, error: ApiError) -> bool:
        """True if a creation with this error will never succeed: the object is
        invalid, or its kind is not served. Quotas, permissions and webhooks may change."""
        return error.is_invalid or error.is_not_found
