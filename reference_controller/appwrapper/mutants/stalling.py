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
    Rules.deletion_starts_at,
    "A reset begins to delete only when a retry pause has passed since it was decided on.",
    "AW-010",
)
def reset_waits_before_it_deletes(self: Rules, aw: Object, parameters: Parameters) -> Micros:
    if phase_of(aw) != Phase.RESETTING:
        return Rules.deletion_starts_at(self, aw, parameters)
    return _last_turn_of(aw, Condition.PODS_READY) + parameters.retry_pause_us


@mutant(
    Rules.deletion_starts_at,
    "A suspended workload shows Suspending, and its resources are left as they are.",
    "AW-010",
    "AW-007",
    "AW-054",
)
def suspension_never_deletes(self: Rules, aw: Object, parameters: Parameters) -> Micros:
    never_us = 1 << 60
    right_us = Rules.deletion_starts_at(self, aw, parameters)
    return never_us if phase_of(aw) == Phase.SUSPENDING else right_us


@mutant(
    Rules.honours_deletion,
    "The deletion of an AppWrapper that has succeeded is ignored until its TTL has passed.",
    "AW-010",
    "AW-007",
)
def deleted_after_success_waits_for_the_ttl(self: Rules, aw: Object) -> bool:
    return phase_of(aw) != Phase.SUCCEEDED


@mutant(
    Rules.orderly_deletes,
    "The first round deletes the first component alone; the others follow five seconds later.",
    "AW-010",
)
def deletes_one_component_first(self: Rules, seen: Observation) -> tuple[Delete, ...]:
    right = Rules.orderly_deletes(self, seen)
    started_us = stamp_of(seen.aw, Stamp.DELETION_STARTED)
    if started_us is not None and seen.now_us >= started_us + 5 * SECOND:
        return right
    first = str(component_records(seen.aw)[0]["name"])
    return tuple(delete for delete in right if delete.name == first)


@mutant(
    Rules.orderly_deletes,
    "A component whose ordinary delete was refused is left until force is due.",
    "AW-010",
)
def refused_deletes_are_not_sent_again(self: Rules, seen: Observation) -> tuple[Delete, ...]:
    if stamp_of(seen.aw, Stamp.DELETION_STARTED) is not None:
        return ()
    return Rules.orderly_deletes(self, seen)


@mutant(
    Rules.forceful_from,
    "What remains is deleted by force five seconds after the grace period is over.",
    "AW-012",
)
def forces_a_while_late(self: Rules, aw: Object, parameters: Parameters) -> Micros | None:
    right_us = Rules.forceful_from(self, aw, parameters)
    return None if right_us is None else right_us + 5 * SECOND


@mutant(
    Rules.is_all_gone,
    "When all is gone, nothing is said of it before the forceful deletion grace period is over.",
    "AW-094",
    "AW-053",
    "AW-054",
)
def holds_on_until_force_would_be_due(self: Rules, seen: Observation) -> bool:
    started_us = stamp_of(seen.aw, Stamp.DELETION_STARTED)
    ends_us = (started_us or seen.now_us) + seen.parameters.forceful_deletion_grace_us
    return Rules.is_all_gone(self, seen) and (started_us is None or seen.now_us >= ends_us)


@mutant(
    Rules.finalizer_goes_at,
    "A deleted AppWrapper of which nothing is left keeps its finalizer for another retry pause.",
    "AW-095",
)
def finalizer_goes_after_a_pause(self: Rules, aw: Object, parameters: Parameters) -> Micros:
    return _last_turn_of(aw, Condition.RESOURCES_DEPLOYED) + parameters.retry_pause_us


@mutant(
    Rules.finalizer_patch,
    "With its own finalizer a deleted AppWrapper loses those of others.",
    "AW-095",
)
def takes_all_finalizers_along(self: Rules, aw: Object, finalizers: tuple[str, ...]) -> Object:
    lets_go = is_terminating(aw) and FINALIZER not in finalizers
    return Rules.finalizer_patch(self, aw, () if lets_go else finalizers)


def _last_turn_of(aw: Object, condition: str) -> Micros:
    """When a condition took its status; the beginning of time where it is not shown."""
    for entry in status_of(aw).get("conditions") or ():
        if entry["type"] == condition:
            return parse_rfc3339(entry["lastTransitionTime"])
    return 0
