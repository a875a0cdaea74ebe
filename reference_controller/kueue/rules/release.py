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

    def may_go(self, is_orphaned: bool, holds: bool, pods_left: int) -> bool:
        """True if a Workload that is deleted, or whose owner is gone, gives its quota back."""
        return is_orphaned or not holds or pods_left == 0

    def reclaimable(self, count: int, done: int, pods_left: int) -> int:
        """How many pods of a pod set need no quota any more, of which so many are `done` by the
        word of its job."""
        return max(0, min(done, count - pods_left))
