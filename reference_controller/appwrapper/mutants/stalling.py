"""A step of a deletion that is due comes late, or not at all."""

from __future__ import annotations

from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.names import FINALIZER, Condition, Phase, Stamp
from reference_controller.appwrapper.observation import Observation
from reference_controller.appwrapper.parameters import Parameters
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.status import (
    component_records,
    phase_of,
    stamp_of,
    status_of,
)
from vocabulary.clock import SECOND, Micros, parse_rfc3339
from vocabulary.objects import Object, is_terminating
from vocabulary.requests import Delete


@mutant(
    "reset-waits-before-it-deletes",
    "A reset begins to delete only when a retry pause has passed since it was decided on.",
    "AW-010",
)
class ResetWaitsBeforeItDeletes(Rules):
    def deletion_starts_at(self, aw: Object, parameters: Parameters) -> Micros:
        if phase_of(aw) != Phase.RESETTING:
            return super().deletion_starts_at(aw, parameters)
        return _last_turn_of(aw, Condition.PODS_READY) + parameters.retry_pause_us


@mutant(
    "suspension-never-deletes",
    "A suspended workload shows Suspending, and its resources are left as they are.",
    "AW-010",
    "AW-007",
    "AW-054",
)
class SuspensionNeverDeletes(Rules):
    def deletion_starts_at(self, aw: Object, parameters: Parameters) -> Micros:
        never_us = 1 << 60
        right_us = super().deletion_starts_at(aw, parameters)
        return never_us if phase_of(aw) == Phase.SUSPENDING else right_us


@mutant(
    "deleted-after-success-waits-for-the-ttl",
    "The deletion of an AppWrapper that has succeeded is ignored until its TTL has passed.",
    "AW-010",
    "AW-007",
)
class DeletedAfterSuccessWaitsForTheTtl(Rules):
    def honours_deletion(self, aw: Object) -> bool:
        return phase_of(aw) != Phase.SUCCEEDED


@mutant(
    "deletes-one-component-first",
    "The first round deletes the first component alone; the others follow five seconds later.",
    "AW-010",
)
class DeletesOneComponentFirst(Rules):
    def orderly_deletes(self, seen: Observation) -> tuple[Delete, ...]:
        right = super().orderly_deletes(seen)
        started_us = stamp_of(seen.aw, Stamp.DELETION_STARTED)
        if started_us is not None and seen.now_us >= started_us + 5 * SECOND:
            return right
        first = str(component_records(seen.aw)[0]["name"])
        return tuple(delete for delete in right if delete.name == first)


@mutant(
    "refused-deletes-are-not-sent-again",
    "A component whose ordinary delete was refused is left until force is due.",
    "AW-010",
)
class RefusedDeletesAreNotSentAgain(Rules):
    def orderly_deletes(self, seen: Observation) -> tuple[Delete, ...]:
        if stamp_of(seen.aw, Stamp.DELETION_STARTED) is not None:
            return ()
        return super().orderly_deletes(seen)


@mutant(
    "forces-a-while-late",
    "What remains is deleted by force five seconds after the grace period is over.",
    "AW-012",
)
class ForcesAWhileLate(Rules):
    def forceful_from(self, aw: Object, parameters: Parameters) -> Micros | None:
        right_us = super().forceful_from(aw, parameters)
        return None if right_us is None else right_us + 5 * SECOND


@mutant(
    "holds-on-until-force-would-be-due",
    "When all is gone, nothing is said of it before the forceful deletion grace period is over.",
    "AW-094",
    "AW-053",
    "AW-054",
)
class HoldsOnUntilForceWouldBeDue(Rules):
    def is_all_gone(self, seen: Observation) -> bool:
        started_us = stamp_of(seen.aw, Stamp.DELETION_STARTED)
        ends_us = (started_us or seen.now_us) + seen.parameters.forceful_deletion_grace_us
        return super().is_all_gone(seen) and (started_us is None or seen.now_us >= ends_us)


@mutant(
    "finalizer-goes-after-a-pause",
    "A deleted AppWrapper of which nothing is left keeps its finalizer for another retry pause.",
    "AW-095",
)
class FinalizerGoesAfterAPause(Rules):
    def finalizer_goes_at(self, aw: Object, parameters: Parameters) -> Micros:
        return _last_turn_of(aw, Condition.RESOURCES_DEPLOYED) + parameters.retry_pause_us


@mutant(
    "takes-all-finalizers-along",
    "With its own finalizer a deleted AppWrapper loses those of others.",
    "AW-095",
)
class TakesAllFinalizersAlong(Rules):
    def finalizer_patch(self, aw: Object, finalizers: tuple[str, ...]) -> Object:
        lets_go = is_terminating(aw) and FINALIZER not in finalizers
        return super().finalizer_patch(aw, () if lets_go else finalizers)


def _last_turn_of(aw: Object, condition: str) -> Micros:
    """When a condition took its status; the beginning of time where it is not shown."""
    for entry in status_of(aw).get("conditions") or ():
        if entry["type"] == condition:
            return parse_rfc3339(entry["lastTransitionTime"])
    return 0
