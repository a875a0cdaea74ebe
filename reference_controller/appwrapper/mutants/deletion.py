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
    "forces-at-once",
    "The first delete of each component has a grace period of 0 already.",
    "AW-010",
    "AW-011",
    "INV-10",
)
class ForcesAtOnce(Rules):
    def orderly(self, kind: Kind, obj: Object) -> Delete:
        return replace(super().orderly(kind, obj), grace_period_seconds=0)


@mutant(
    "orderly-deletes-name-thirty-seconds",
    "The first delete of each component gives it 30 s to stop, whatever its own spec says.",
    "AW-010",
)
class OrderlyDeletesNameThirtySeconds(Rules):
    def orderly(self, kind: Kind, obj: Object) -> Delete:
        return replace(super().orderly(kind, obj), grace_period_seconds=30)


@mutant(
    "ended-pods-are-not-forced",
    "Pods that have ended are left to the garbage collector, even by the forceful deletes.",
    "AW-012",
    "AW-007",
)
class EndedPodsAreNotForced(Rules):
    def forceful_deletes(self, seen: Observation) -> tuple[Delete, ...]:
        ended = {
            uid_of(pod)
            for pod in seen.pods
            if get_path(pod, "status.phase") in ("Succeeded", "Failed")
        }
        right = super().forceful_deletes(seen)
        return tuple(delete for delete in right if delete.uid not in ended)


@mutant(
    "forced-pods-count-as-gone",
    "A pod that was deleted with a grace period of 0 counts as gone while a finalizer holds it.",
    "AW-013",
    "AW-014",
    "INV-1",
)
class ForcedPodsCountAsGone(Rules):
    def is_all_gone(self, seen: Observation) -> bool:
        pods = [pod for pod in seen.pods if not is_being_forced(pod)]
        return not self.remaining(seen) and not seen.replica_sets and not pods


@mutant(
    "deletes-pods-itself",
    "The first step deletes pods one by one, besides the components.",
    "AW-010",
)
class DeletesPodsItself(Rules):
    def orderly_deletes(self, seen: Observation) -> tuple[Delete, ...]:
        right = super().orderly_deletes(seen)
        uids = {delete.uid for delete in right}
        pods = (self.orderly(POD, pod) for pod in seen.pods)
        return (*right, *(delete for delete in pods if delete.uid not in uids))


@mutant(
    "orphans-the-pods",
    "Components are deleted with propagation policy Orphan.",
    "AW-010",
)
class OrphansThePods(Rules):
    def orderly(self, kind: Kind, obj: Object) -> Delete:
        return replace(super().orderly(kind, obj), propagation_policy="Orphan")


@mutant(
    "cuts-pods-short",
    "The first deletes leave pods five seconds to stop, however long they asked for.",
    "AW-010",
)
class CutsPodsShort(Rules):
    def orderly(self, kind: Kind, obj: Object) -> Delete:
        return replace(super().orderly(kind, obj), grace_period_seconds=5)


@mutant(
    "deletes-as-is-the-default",
    "Deletes name no propagation policy, and so orphan the pods of a Job.",
    "AW-010",
)
class DeletesAsIsTheDefault(Rules):
    def orderly(self, kind: Kind, obj: Object) -> Delete:
        return replace(super().orderly(kind, obj), propagation_policy=None)


@mutant(
    "overlooks-replica-sets",
    "A Deployment counts as gone with its pods, while its ReplicaSet makes new ones.",
    "AW-014",
    "INV-1",
)
class OverlooksReplicaSets(Rules):
    def is_all_gone(self, seen: Observation) -> bool:
        return super().is_all_gone(replace(seen, replica_sets=()))


@mutant(
    "deletes-by-name",
    "Deletes name no uid, and so hit whatever has taken a component's name meanwhile.",
    "INV-4",
)
class DeletesByName(Rules):
    def orderly(self, kind: Kind, obj: Object) -> Delete:
        return replace(super().orderly(kind, obj), uid=None)


@mutant(
    "forces-only-pods",
    "After the grace period pods are deleted by force, but components are not.",
    "AW-012",
)
class ForcesOnlyPods(Rules):
    def forceful_deletes(self, seen: Observation) -> tuple[Delete, ...]:
        return tuple(delete for delete in super().forceful_deletes(seen) if delete.kind == POD)


@mutant(
    "leaves-replica-sets-to-the-collector",
    "After the grace period Deployments and pods are deleted by force, but not what is between.",
    "AW-007",
    "AW-054",
)
class LeavesReplicaSetsToTheCollector(Rules):
    def forceful_deletes(self, seen: Observation) -> tuple[Delete, ...]:
        return super().forceful_deletes(replace(seen, replica_sets=()))


@mutant(
    "forces-only-components",
    "After the grace period components are deleted by force, but their pods are not.",
    "AW-012",
    "AW-007",
    "INV-8",
)
class ForcesOnlyComponents(Rules):
    def forceful_deletes(self, seen: Observation) -> tuple[Delete, ...]:
        return tuple(delete for delete in super().forceful_deletes(seen) if delete.kind != POD)


@mutant(
    "forces-one-second",
    "A forceful delete leaves one second of grace, which a dead kubelet never ends.",
    "AW-012",
    "AW-007",
)
class ForcesOneSecond(Rules):
    def forceful(self, kind: Kind, obj: Object) -> Delete:
        return replace(super().forceful(kind, obj), grace_period_seconds=1)


@mutant(
    "reset-keeps-what-has-no-pods",
    "A reset keeps ConfigMaps, Secrets and Services, and the next attempt uses them again.",
    "AW-005",
    "INV-3",
    "AW-048",
    "AW-013",
)
class ResetKeepsWhatHasNoPods(Rules):
    def survives_reset(self, obj: Object) -> bool:
        return kind_of(obj).group == "" and kind_of(obj) != POD


@mutant(
    "services-left-behind",
    "Services are not deleted, whatever the outcome.",
    "MLB-023",
    "AW-005",
    "AW-014",
    "INV-1",
)
class ServicesLeftBehind(Rules):
    def remaining(self, seen: Observation) -> tuple[Standing, ...]:
        return tuple((kind, found) for kind, found in super().remaining(seen) if kind != SERVICE)


@mutant(
    "believes-an-errored-list",
    "When the pods cannot be listed, there are none.",
    "AW-014",
    "AW-013",
    "INV-1",
)
class BelievesAnErroredList(Rules):
    def pods_when_list_failed(self, error: ApiError) -> tuple[Object, ...] | None:  # noqa: ARG002
        return ()


@mutant(
    "believes-a-stale-list",
    "That everything is gone is read from a cache that may lag.",
    "AW-014",
    "INV-1",
)
class BelievesAStaleList(Rules):
    def confirms_absence(self) -> bool:
        return False


@mutant(
    "lets-go-at-once",
    "A deleted AppWrapper loses its finalizer before its parts are gone.",
    "INV-7",
    "AW-013",
)
class LetsGoAtOnce(Rules):
    def waits_for_cleanup(self, aw: Object) -> bool:  # noqa: ARG002
        return False
