"""When quota is given back."""

from __future__ import annotations

from reference_controller.kueue.names import Release


class ReleaseRules:
    """Quota of Workloads that are evicted, finished or deleted."""

    def is_released(self, strategy: str, is_active: bool, pods_left: int) -> bool:
        """True if an evicted Workload gives its quota back. `is_active` is what its job says;
        `pods_left` are the pods that are not terminal."""
        if strategy == Release.ON_TERMINAL:
            return not is_active and pods_left == 0
        return not is_active

    def has_finished(self, success: bool, holds: bool, pods_left: int) -> bool:
        """True if a Workload whose job has ended gives its quota back."""
        return success or not holds or pods_left == 0

    def looks_for_pods(self, is_unseen: bool) -> bool:
        """True if pods that are left are looked for again after a while: the cache never showed
        them, and no event tells that they are gone."""
        return is_unseen

    def may_go(self, is_orphaned: bool, holds: bool, pods_left: int) -> bool:
        """True if a Workload that is deleted, or whose owner is gone, gives its quota back."""
        return is_orphaned or not holds or pods_left == 0

    def follows_evicted_pods(self) -> bool:
        """True if the readiness of the pods of an evicted Workload comes before its release."""
        return False

    def leaves_job(self, is_job_deleted: bool) -> bool:
        """True if a Workload is without its job, which is there: one that is being deleted may
        stay, and its pods, too."""
        del is_job_deleted
        return False

    def asks_for_all(self, may_restart: bool) -> bool:
        """True if a job that waits asks for the quota of its pods that are done, too, since it may
        run them again under the same admission."""
        return may_restart

    def reclaimable(self, count: int, done: int, pods_left: int, before: int) -> int:
        """How many pods of a pod set need no quota any more, of which so many are `done` by the
        word of its job, and `before` needed none."""
        del before
        return max(0, min(done, count - pods_left))
