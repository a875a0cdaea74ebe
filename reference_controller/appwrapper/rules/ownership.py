"""Ownership rules. Only our own objects are ever adopted, changed, counted or deleted."""

from __future__ import annotations

from reference_controller.appwrapper.names import APPWRAPPER_LABEL, ATTEMPT_LABEL, OWNER_UID_LABEL
from reference_controller.appwrapper.observation import Component
from reference_controller.appwrapper.status import attempt_of, attempt_of_object
from vocabulary.errors import ApiError
from vocabulary.objects import Object, controller_of, labels_of, meta, name_of, uid_of


class OwnershipRules:
    """Decision A17, INV-4."""

    def is_ours(self, obj: Object, aw: Object) -> bool:
        """True if this AppWrapper, by uid and not only by name, controls the object."""
        owner = controller_of(obj)
        return owner is not None and owner.get("uid") == uid_of(aw)

    def was_created_by(self, component: Component, aw: Object) -> bool:
        """True if a component's object is ours, or was until another client orphaned it."""
        found = component.found
        if found is None:
            return False
        is_orphan = controller_of(found) is None and _was_made_for(found, component.record, aw)
        return is_orphan or self.is_ours(found, aw)

    def is_made_by(self, obj: Object, aw: Object) -> bool:
        """True if a pod or ReplicaSet with our label was created for this workload.

        Its own controller may be gone already, so this depends on the uid injected into the pod
        template, or for a bare pod on its owner.
        """
        return labels_of(obj).get(OWNER_UID_LABEL) == uid_of(aw) or self.is_ours(obj, aw)

    def is_of_current_attempt(self, pod: Object, aw: Object) -> bool:
        """True if the pod counts now; one of an older attempt does not."""
        attempt = labels_of(pod).get(ATTEMPT_LABEL)
        return attempt is None or attempt == str(attempt_of(aw))

    def may_adopt(self, standing: Object, aw: Object) -> bool:
        """True if the existing object of a component's name is the one we meant to create.

        True if our creation succeeded and its response was lost: same owner, same attempt.
        """
        if not self.is_ours(standing, aw):
            return False
        return attempt_of_object(standing) == attempt_of(aw) or self.survives_reset(standing)

    def survives_reset(self, obj: Object) -> bool:  # noqa: ARG002
        """True if a component is kept from one attempt to the next: none is."""
        return False

    def confirms_verdicts(self) -> bool:
        """True if the end of an attempt is confirmed by a live read: a stale cache lacks what
        was just created."""
        return True

    def confirms_absence(self) -> bool:
        """True if the end of a deletion is confirmed by a live read: a stale cache lacks what
        has just appeared."""
        return True

    def pods_when_list_failed(self, error: ApiError) -> tuple[Object, ...] | None:  # noqa: ARG002
        """The pods to assume if they could not be listed; None passes the error on."""
        return None


def _was_made_for(orphan: Object, record: Object, aw: Object) -> bool:
    """True if the record has its uid; or if the orphan says so itself where the record has none,
    since the AppWrapper changed, perhaps by the very deletion, before that could be noted."""
    if record.get("uid"):
        return bool(uid_of(orphan) == record["uid"])
    created: str = meta(orphan)["creationTimestamp"]
    return (
        labels_of(orphan).get(APPWRAPPER_LABEL) == name_of(aw)
        and attempt_of_object(orphan) == attempt_of(aw)
        and created >= meta(aw)["creationTimestamp"]
    )
