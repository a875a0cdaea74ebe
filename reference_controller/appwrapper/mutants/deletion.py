"""Something is deleted that must not be, in the wrong way, or left behind."""

from __future__ import annotations

from msgspec.structs import replace

from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.observation import Observation
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.rules.deletion import Standing, is_being_forced
from vocabulary.errors import ApiError
from vocabulary.kinds import POD, SERVICE, Kind, kind_of
from vocabulary.objects import Object, get_path, uid_of
from vocabulary.requests import Delete


@mutant(
    Rules.orderly,
    "The first delete of each component has a grace period of 0 already.",
    "AW-010",
    "AW-011",
    "INV-10",
)
def forces_at_once(self: Rules, kind: Kind, obj: Object) -> Delete:
    return replace(Rules.orderly(self, kind, obj), grace_period_seconds=0)


@mutant(
    Rules.orderly,
    "The first delete of each component gives it 30 s to stop, whatever its own spec says.",
    "AW-010",
)
def orderly_deletes_name_thirty_seconds(self: Rules, kind: Kind, obj: Object) -> Delete:
    return replace(Rules.orderly(self, kind, obj), grace_period_seconds=30)


@mutant(
    Rules.forceful_deletes,
    "Pods that have ended are left to the garbage collector, even by the forceful deletes.",
    "AW-012",
    "AW-007",
)
def ended_pods_are_not_forced(self: Rules, seen: Observation) -> tuple[Delete, ...]:
    ended = {
        uid_of(pod) for pod in seen.pods if get_path(pod, "status.phase") in ("Succeeded", "Failed")
    }
    right = Rules.forceful_deletes(self, seen)
    return tuple(delete for delete in right if delete.uid not in ended)


@mutant(
    Rules.is_all_gone,
    "A pod that was deleted with a grace period of 0 counts as gone while a finalizer holds it.",
    "AW-013",
    "AW-014",
    "INV-1",
)
def forced_pods_count_as_gone(self: Rules, seen: Observation) -> bool:
    pods = [pod for pod in seen.pods if not is_being_forced(pod)]
    return not self.remaining(seen) and not seen.replica_sets and not pods


@mutant(
    Rules.orderly_deletes,
    "The first step deletes pods one by one, besides the components.",
    "AW-010",
)
def deletes_pods_itself(self: Rules, seen: Observation) -> tuple[Delete, ...]:
    right = Rules.orderly_deletes(self, seen)
    uids = {delete.uid for delete in right}
    pods = (self.orderly(POD, pod) for pod in seen.pods)
    return (*right, *(delete for delete in pods if delete.uid not in uids))


@mutant(Rules.orderly, "Components are deleted with propagation policy Orphan.", "AW-010")
def orphans_the_pods(self: Rules, kind: Kind, obj: Object) -> Delete:
    return replace(Rules.orderly(self, kind, obj), propagation_policy="Orphan")


@mutant(
    Rules.orderly,
    "The first deletes leave pods five seconds to stop, however long they asked for.",
    "AW-010",
)
def cuts_pods_short(self: Rules, kind: Kind, obj: Object) -> Delete:
    return replace(Rules.orderly(self, kind, obj), grace_period_seconds=5)


@mutant(
    Rules.orderly, "Deletes name no propagation policy, and so orphan the pods of a Job.", "AW-010"
)
def deletes_as_is_the_default(self: Rules, kind: Kind, obj: Object) -> Delete:
    return replace(Rules.orderly(self, kind, obj), propagation_policy=None)


@mutant(
    Rules.is_all_gone,
    "A Deployment counts as gone with its pods, while its ReplicaSet makes new ones.",
    "AW-014",
    "INV-1",
)
def overlooks_replica_sets(self: Rules, seen: Observation) -> bool:
    return Rules.is_all_gone(self, replace(seen, replica_sets=()))


@mutant(
    Rules.orderly,
    "Deletes name no uid, and so hit whatever has taken a component's name meanwhile.",
    "INV-4",
)
def deletes_by_name(self: Rules, kind: Kind, obj: Object) -> Delete:
    return replace(Rules.orderly(self, kind, obj), uid=None)


@mutant(
    Rules.forceful_deletes,
    "After the grace period pods are deleted by force, but components are not.",
    "AW-012",
)
def forces_only_pods(self: Rules, seen: Observation) -> tuple[Delete, ...]:
    return tuple(delete for delete in Rules.forceful_deletes(self, seen) if delete.kind == POD)


@mutant(
    Rules.forceful_deletes,
    "After the grace period Deployments and pods are deleted by force, but not what is between.",
    "AW-007",
    "AW-054",
)
def leaves_replica_sets_to_the_collector(self: Rules, seen: Observation) -> tuple[Delete, ...]:
    return Rules.forceful_deletes(self, replace(seen, replica_sets=()))


@mutant(
    Rules.forceful_deletes,
    "After the grace period components are deleted by force, but their pods are not.",
    "AW-012",
    "AW-007",
    "INV-8",
)
def forces_only_components(self: Rules, seen: Observation) -> tuple[Delete, ...]:
    return tuple(delete for delete in Rules.forceful_deletes(self, seen) if delete.kind != POD)


@mutant(
    Rules.forceful,
    "A forceful delete leaves one second of grace, which a dead kubelet never ends.",
    "AW-012",
    "AW-007",
)
def forces_one_second(self: Rules, kind: Kind, obj: Object) -> Delete:
    return replace(Rules.forceful(self, kind, obj), grace_period_seconds=1)


@mutant(
    Rules.survives_reset,
    "A reset keeps ConfigMaps, Secrets and Services, and the next attempt uses them again.",
    "AW-005",
    "INV-3",
    "AW-048",
    "AW-013",
)
def reset_keeps_what_has_no_pods(self: Rules, obj: Object) -> bool:
    return kind_of(obj).group == "" and kind_of(obj) != POD


@mutant(
    Rules.remaining,
    "Services are not deleted, whatever the outcome.",
    "MLB-023",
    "AW-005",
    "AW-014",
    "INV-1",
)
def services_left_behind(self: Rules, seen: Observation) -> tuple[Standing, ...]:
    return tuple((kind, found) for kind, found in Rules.remaining(self, seen) if kind != SERVICE)


@mutant(
    Rules.pods_when_list_failed,
    "When the pods cannot be listed, there are none.",
    "AW-014",
    "AW-013",
    "INV-1",
)
def believes_an_errored_list(self: Rules, error: ApiError) -> tuple[Object, ...] | None:
    return ()


@mutant(Rules.pods_when_list_failed, "It fails if pods cannot be listed.", "AW-112")
def fails_on_an_errored_list(self: Rules, error: ApiError) -> tuple[Object, ...] | None:
    raise ValueError("no list") from error


@mutant(
    Rules.confirms_absence,
    "That everything is gone is read from a cache that may lag.",
    "AW-014",
    "INV-1",
)
def believes_a_stale_list(self: Rules) -> bool:
    return False


@mutant(
    Rules.waits_for_cleanup,
    "A deleted AppWrapper loses its finalizer before its parts are gone.",
    "INV-7",
    "AW-013",
)
def lets_go_at_once(self: Rules, aw: Object) -> bool:
    return False
