"""Quota that goes back too early, too late or never, and jobs that wait that should not."""

from __future__ import annotations

from reference_controller.kueue.mutants.registry import MUTANTS
from reference_controller.kueue.names import Release
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.workload import Workload
from vocabulary.clock import SECOND, Micros


@MUTANTS.mutant(Rules.is_released, "It never waits for pods.", "KQ-201")
def strategy_is_ignored(self: Rules, strategy: str, is_active: bool, pods_left: int) -> bool:
    return not is_active


@MUTANTS.mutant(Rules.is_released, "It waits for pods whatever the strategy.", "KQ-202")
def pods_are_always_awaited(self: Rules, strategy: str, is_active: bool, pods_left: int) -> bool:
    return not is_active and pods_left == 0


@MUTANTS.mutant(Rules.is_released, "It does not ask the job.", "KQ-108", "KQ-204")
def job_is_not_asked(self: Rules, strategy: str, is_active: bool, pods_left: int) -> bool:
    return strategy != Release.ON_TERMINAL or pods_left == 0


@MUTANTS.mutant(
    Rules.has_finished,
    "It holds the quota of a job that has succeeded for its pods.",
    "KQ-203",
    "KQ-109",
)
def success_waits_for_pods(self: Rules, success: bool, holds: bool, pods_left: int) -> bool:
    return not holds or pods_left == 0


@MUTANTS.mutant(Rules.is_released, "It never releases what is to be terminal.", "KQ-206")
def terminal_is_never_seen(self: Rules, strategy: str, is_active: bool, pods_left: int) -> bool:
    return strategy != Release.ON_TERMINAL and not is_active


@MUTANTS.mutant(Rules.is_managed_by, "Parts of a job wait in a queue, too.", "KQ-060")
def parts_wait_themselves(self: Rules, has_queue: bool) -> bool:
    return False


@MUTANTS.mutant(
    Rules.may_go, "It gives the quota of a deleted Workload back while its pods run.", "QL-003"
)
def deletion_releases_at_once(self: Rules, is_orphaned: bool, holds: bool, pods_left: int) -> bool:
    return True


@MUTANTS.mutant(
    Rules.leaves_job, "It takes a job that is being deleted for one that is gone.", "QL-001"
)
def deleted_jobs_are_gone(self: Rules, is_job_deleted: bool) -> bool:
    return is_job_deleted


@MUTANTS.mutant(
    Rules.follows_evicted_pods,
    "It keeps the quota of an evicted Workload whose pods are ready, or done.",
    "QL-004",
)
def readiness_comes_before_release(self: Rules) -> bool:
    return True


@MUTANTS.mutant(Rules.is_released, "It never gives quota back.", "QL-004")
def quota_is_never_given_back(self: Rules, strategy: str, is_active: bool, pods_left: int) -> bool:
    return False


@MUTANTS.mutant(
    Rules.stops, "It leaves the job of an evicted Workload running.", "KQ-032", "QL-001"
)
def evicted_jobs_run_on(self: Rules, workload: Workload) -> bool:
    return False


@MUTANTS.mutant(Rules.may_go, "It keeps Workloads whose job has left them.", "QL-016")
def orphans_keep_their_quota(self: Rules, is_orphaned: bool, holds: bool, pods_left: int) -> bool:
    return not is_orphaned and Rules.may_go(self, is_orphaned, holds, pods_left)


@MUTANTS.mutant(
    Rules.may_go, "It keeps Workloads whose job is gone.", "KQ-119", "MLB-056", "QL-004"
)
def workloads_outlive_their_jobs(
    self: Rules, is_orphaned: bool, holds: bool, pods_left: int
) -> bool:
    return is_orphaned and Rules.may_go(self, is_orphaned, holds, pods_left)


@MUTANTS.mutant(
    Rules.looks_for_pods, "It waits for events of pods that its cache never showed.", "QL-004"
)
def unseen_pods_are_awaited(self: Rules, is_unseen: bool) -> bool:
    return False


@MUTANTS.mutant(
    Rules.is_in_back_off, "It forgets a Workload that has waited for half a minute.", "QL-007"
)
def long_waits_are_forgotten(self: Rules, workload: Workload, now_us: Micros) -> bool:
    is_old = now_us > workload.created_at_us + 30 * SECOND
    return is_old or Rules.is_in_back_off(self, workload, now_us)


@MUTANTS.wrong_rules(
    "Once it is started again, it waits until it has seen an evicted job run.", "QL-014", "QL-004"
)
class EvictionsAreForgotten(Rules):
    def __init__(self) -> None:
        super().__init__()
        self._has_seen = False

    def is_released(self, strategy: str, is_active: bool, pods_left: int) -> bool:
        self._has_seen = self._has_seen or is_active
        return self._has_seen and super().is_released(strategy, is_active, pods_left)
