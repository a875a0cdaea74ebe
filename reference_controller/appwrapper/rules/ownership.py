"""Which objects are ours. Nothing else is ever adopted, changed, counted or deleted."""

from __future__ import annotations

from reference_controller.appwrapper.names import ATTEMPT_LABEL, OWNER_UID_LABEL
from reference_controller.appwrapper.observation import Component
from reference_controller.appwrapper.status import attempt_of, attempt_of_object
from vocabulary.errors import ApiError
from vocabulary.objects import Object, controller_of, labels_of, uid_of


class OwnershipRules:
    """Decision A17, INV-4."""

    def is_ours(self, obj: Object, aw: Object) -> bool:
        """Whether this AppWrapper, this very uid and not a namesake, controls the object."""
        owner = controller_of(obj)
        return owner is not None and owner.get("uid") == uid_of(aw)

    def was_created_by(self, component: Component, aw: Object) -> bool:
        """Whether what stands for a component is ours, or was until somebody orphaned it."""
        found = component.found
        if found is None:
            return False
        is_orphan = controller_of(found) is None and uid_of(found) == component.record.get("uid")
        return is_orphan or self.is_ours(found, aw)

    def is_made_by(self, obj: Object, aw: Object) -> bool:
        """Whether a pod or ReplicaSet with our label was made by this workload.

        Its own controller may be gone already, so the uid that was injected into the pod
        template tells, and for a bare pod the owner itself.
        """
        return labels_of(obj).get(OWNER_UID_LABEL) == uid_of(aw) or self.is_ours(obj, aw)

    def is_of_current_attempt(self, pod: Object, aw: Object) -> bool:
        """Whether the pod counts now; one that an older attempt left behind does not."""
        attempt = labels_of(pod).get(ATTEMPT_LABEL)
        return attempt is None or attempt == str(attempt_of(aw))

    def may_adopt(self, standing: Object, aw: Object) -> bool:
        """Whether what stands under a component's name is what we meant to create.

        It is if our creation succeeded and only its answer got lost: same owner, same attempt.
        """
        if not self.is_ours(standing, aw):
            return False
        return attempt_of_object(standing) == attempt_of(aw) or self.survives_reset(standing)

    def survives_reset(self, obj: Object) -> bool:  # noqa: ARG002
        """Whether a component is kept from one attempt to the next: none is."""
        return False

    def confirms_verdicts(self) -> bool:
        """Whether what ends an attempt is confirmed by the API server itself: a cache that
        lags lacks what was just created."""
        return True

    def confirms_absence(self) -> bool:
        """Whether the end of a deletion is confirmed by the API server itself: a cache that
        lags lacks what has just appeared."""
        return True

    def pods_when_list_failed(self, error: ApiError) -> tuple[Object, ...] | None:  # noqa: ARG002
        """What to believe when the pods could not be listed: nothing. None passes the error on."""
        return None
