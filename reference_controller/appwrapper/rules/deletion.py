"""How objects are deleted, and when they count as gone.

"First it does a normal delete of the top-level resources": one ordinary delete
each, and the primary controllers cascade. Pods and resources that are left when the forceful
deletion grace period is over are deleted with a grace period of 0.
"""

from __future__ import annotations

from typing import TypeAlias

from reference_controller.appwrapper.names import Phase, Stamp
from reference_controller.appwrapper.observation import Observation
from reference_controller.appwrapper.pods import counted_pods
from reference_controller.appwrapper.rules.ownership import OwnershipRules
from reference_controller.appwrapper.status import (
    attempt_of,
    attempt_of_object,
    phase_of,
    stamp_of,
)
from vocabulary.kinds import POD, REPLICA_SET, Kind
from vocabulary.objects import Object, is_terminating, meta, name_of, namespace_of, uid_of
from vocabulary.requests import Delete

Standing: TypeAlias = tuple[Kind, Object]
"""An object, and what kind it is of."""


class DeletionRules(OwnershipRules):
    """AW-005, 007, 010…014; INV-1, INV-4, INV-10."""

    def remaining(self, seen: Observation) -> tuple[Standing, ...]:
        """The components of ours that still exist."""
        return tuple(
            (component.kind, found)
            for component in seen.components
            if (found := component.found) is not None
            and self.was_created_by(component, seen.aw)
            and not (phase_of(seen.aw) == Phase.RESETTING and self.survives_reset(found))
        )

    def is_outdated(self, seen: Observation) -> bool:
        """True if an object of ours is of a later attempt than the AppWrapper's status.

        Then another replica has begun that attempt since the AppWrapper was read.
        """
        components = (found for _, found in self.remaining(seen))
        pods = (pod for pod, _ in counted_pods(seen.pods))
        made = (*components, *seen.replica_sets, *pods)
        return any(attempt_of_object(obj) > attempt_of(seen.aw) for obj in made)

    def is_all_gone(self, seen: Observation) -> bool:
        """True if nothing is left: no component, no pod, and nothing that creates pods."""
        return not self.remaining(seen) and not seen.replica_sets and not seen.pods

    def honours_deletion(self, aw: Object) -> bool:  # noqa: ARG002
        """True if a deleted AppWrapper is cleaned up now, in whatever phase it is."""
        return True

    def waits_for_cleanup(self, aw: Object) -> bool:  # noqa: ARG002
        """True if a deleted AppWrapper stays until all of its parts are gone."""
        return True

    def orderly_deletes(self, seen: Observation) -> tuple[Delete, ...]:
        """The ordinary deletes that are due: of all components at first, later of those that
        the first round did not reach.

        Objects that another client is already deleting get one of ours, too: theirs may have
        requested to orphan the pods.
        """
        is_first_round = stamp_of(seen.aw, Stamp.DELETION_STARTED) is None
        return tuple(
            self.orderly(kind, found)
            for kind, found in self.remaining(seen)
            if is_first_round or not is_terminating(found)
        )

    def forceful_deletes(self, seen: Observation) -> tuple[Delete, ...]:
        """The forceful deletes of all that remains, each object once.

        What makes pods goes before the pods, or it makes new ones for those that went.
        """
        pods = [pod for pod in seen.pods if not is_being_forced(pod)]
        handled = {uid_of(pod) for pod in seen.pods}
        return (
            *(
                self.forceful(kind, found)
                for kind, found in self.remaining(seen)
                if uid_of(found) not in handled
            ),
            *(self.forceful(REPLICA_SET, replica_set) for replica_set in seen.replica_sets),
            *(self.forceful(POD, pod) for pod in pods),
        )

    def orderly(self, kind: Kind, obj: Object) -> Delete:
        """Delete with the object's own grace period, with its uid as a precondition.

        Background is set explicitly: the default of some kinds would orphan their pods.
        """
        return Delete(
            kind,
            namespace_of(obj),
            name_of(obj),
            propagation_policy="Background",
            uid=uid_of(obj),
        )

    def forceful(self, kind: Kind, obj: Object) -> Delete:
        """The same with no grace at all."""
        return Delete(
            kind,
            namespace_of(obj),
            name_of(obj),
            grace_period_seconds=0,
            propagation_policy="Background",
            uid=uid_of(obj),
        )


def is_being_forced(pod: Object) -> bool:
    """True if the pod was deleted with grace period 0 already, and only a finalizer holds it.

    Without one it would be gone, unless an API server crashed between accepting the deletion and
    executing it: such a pod stays until it is deleted again.
    """
    known = meta(pod)
    is_forced = known.get("deletionGracePeriodSeconds") == 0
    return is_terminating(pod) and is_forced and bool(known.get("finalizers"))
