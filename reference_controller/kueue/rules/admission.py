"""Admission: quota that is given, and jobs that run under it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reference_controller.kueue.books import Rank
from reference_controller.kueue.names import Condition, StopPolicy
from reference_controller.kueue.workload import Usage, Workload
from vocabulary.objects import Object


class AdmissionRules:
    """Quota that is given."""

    def fits(self, asked: int, available: int) -> bool:
        """True if a queue that has so much left may give what is asked for."""
        return asked <= available

    def suffices(self, lacking: int, asked: int) -> bool:
        """True if a flavor serves that lacks so many of the resources which are asked for."""
        del asked
        return not lacking

    def counts_additions(self) -> bool:
        """True if what the API server adds to the resources of pods is asked for, too."""
        return True

    def is_in_doubt(self, may_be_stored: bool) -> bool:
        """True if nothing is admitted before the object was read again to which a write failed that
        may be stored nevertheless, or not."""
        return may_be_stored

    def looks_again(self) -> bool:
        """True if those that were set aside are looked at again since a queue, a flavor or a
        namespace has changed."""
        return True

    def held(self, workload: Workload) -> Usage:
        """The quota that a Workload holds."""
        return workload.usage

    def keeps(self, workload: Workload) -> Mapping[str, Any]:
        """The status of a Workload, before anything new is said in it."""
        found: Mapping[str, Any] = workload.object.get("status") or {}
        return found

    def node_selector(self, node_labels: Mapping[str, str]) -> Mapping[str, str]:
        """The node selector of pods that have quota of a flavor with these nodeLabels."""
        return node_labels

    def takes_back(self, is_placed: bool) -> bool:
        """True if what an admission added to a job is taken back."""
        return is_placed

    def stands_for(self, owner_uid: str, uid: str) -> bool:
        """True if a Workload, whose owner has that uid, stands for the job with this one."""
        return owner_uid == uid

    def looks_live(self, is_missing: bool) -> bool:
        """True if a job or an owner that the cache does not show is looked for at the API server:
        what refers to it may be known before it is."""
        return is_missing

    def may_reserve(self, has_job: bool) -> bool:
        """True if a Workload may reserve quota whose job is there, or is not."""
        return has_job

    def waits_running(self, is_running: bool) -> bool:
        """True if a job of a queue waits that was created running, or not."""
        del is_running
        return True

    def waits_unqueued(self, is_managed: bool) -> bool:
        """True if a job waits that names no queue, in a namespace where all are managed, or not."""
        return is_managed

    def selected_by(self, namespace_labels: Mapping[str, str]) -> Mapping[str, str]:
        """The labels of a namespace by which it is selected."""
        return namespace_labels

    def is_managed_by(self, has_queue: bool) -> bool:
        """True if a job of a queue, or of none, answers for its parts."""
        return has_queue

    def runs(self, workload: Workload) -> bool:
        """True if the job of a Workload may be started."""
        is_wanted = workload.is_active and not workload.is_finished
        return is_wanted and workload.is_admitted and not workload.is_evicted

    def stops(self, workload: Workload) -> bool:
        """True if the job of a Workload has to be suspended: it has no quota, or is evicted."""
        return not workload.is_admitted or workload.is_evicted

    def shown(self, total: int, nominal: int) -> int:
        """The amount of a resource that the status of a queue shows as held."""
        del nominal
        return total

    def companion(self, workload: Object) -> Object:
        """The Workload of a job as it is created."""
        return workload

    def turn(self, borrows: bool, rank: Rank) -> tuple[bool, Rank]:
        """The turn of a head among the heads of all queues: one that need not borrow comes
        first."""
        return borrows, rank

    def admits(self, stop_policy: str) -> bool:
        """True if a queue with that stopPolicy admits."""
        return stop_policy == StopPolicy.NONE

    def drains(self, stop_policy: str) -> bool:
        """True if a queue with that stopPolicy evicts those that it has admitted."""
        return stop_policy == StopPolicy.HOLD_AND_DRAIN

    def fed_by(self, named: str, queues: Sequence[str]) -> str:
        """The ClusterQueue that a LocalQueue feeds which names one."""
        del queues
        return named

    def pending(self, active: int, aside: int, asleep: int) -> int:
        """How many wait, as a queue's status shows it."""
        return active + aside + asleep

    def in_use(self, workload: Workload) -> Usage:
        """The quota of one that holds some, as its LocalQueue shows it."""
        return workload.usage

    def tells(self, type_: str) -> bool:
        """True if an Event is sent for a condition of that type that became True."""
        return type_ in {Condition.ADMITTED, Condition.PREEMPTED, Condition.EVICTED}

    def serves(self, is_matched: bool) -> bool:
        """True if a queue admits from a namespace that its namespaceSelector matches, or not."""
        return is_matched

    def is_blocked(self, blocks_admission: bool, not_ready: int) -> bool:
        """True if nothing is admitted since some are admitted and not ready."""
        return blocks_admission and not_ready > 0

    def stays(self, is_terminating: bool, is_used: bool) -> bool:
        """True if a ClusterQueue or flavor has to stay: it is not deleted, or it is in use."""
        return not is_terminating or is_used
