"""Metrics of the replica that acts, by names and labels that the released controller has, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from reference_controller.kueue.books import Books
from reference_controller.kueue.names import Condition
from reference_controller.kueue.workload import Workload
from reference_controller.runtime.controller import Key
from reference_controller.shared.counters import LabelledCounters, Sample

HELP: Final = {
    "kueue_quota_reserved_workloads_total": "Quota reservations, by ClusterQueue.",
    "kueue_admitted_workloads_total": "Admissions, by ClusterQueue.",
    "kueue_evicted_workloads_total": "Evictions, by ClusterQueue and reason.",
    "kueue_finished_workloads_total": "Workloads that finished, by ClusterQueue.",
    "kueue_pending_workloads": "Workloads that wait, by ClusterQueue and status: active, or "
    "inadmissible if they do not fit or are in their back-off.",
    "kueue_reserving_active_workloads": "Workloads that hold quota, by ClusterQueue.",
    "kueue_cluster_queue_resource_usage": "Quota in use, by ClusterQueue, flavor and resource.",
}
_COUNTED: Final = {
    Condition.QUOTA_RESERVED: "kueue_quota_reserved_workloads_total",
    Condition.ADMITTED: "kueue_admitted_workloads_total",
    Condition.EVICTED: "kueue_evicted_workloads_total",
    Condition.FINISHED: "kueue_finished_workloads_total",
}


class Metrics(LabelledCounters):
    """Counters of what was written, and gauges of what the books say."""

    help = HELP

    def __init__(self, books: Books) -> None:
        super().__init__()
        self._books = books
        self.lines: dict[str, Sequence[Key]] = {}
        """By ClusterQueue: its LocalQueues."""

    def count_write(self, before: Workload, after: Workload) -> None:
        """Count the conditions that a write made true."""
        queue = after.cluster_queue or before.cluster_queue
        for type_, name in _COUNTED.items():
            if after.is_(type_) and not before.is_(type_):
                why = {"reason": after.reason(type_)} if type_ == Condition.EVICTED else {}
                self.count(name, cluster_queue=queue, **why)

    def samples(self) -> Iterator[Sample]:
        yield from super().samples()
        for queue, lines in sorted(self.lines.items()):
            labels = {"cluster_queue": queue}
            active = waiting = 0
            for each in lines:
                first, *others = self._books.pending(each)
                active, waiting = active + first, waiting + sum(others)
            for status, count in (("active", active), ("inadmissible", waiting)):
                yield Sample("kueue_pending_workloads", {**labels, "status": status}, count)
            count = len(self._books.holders.get(queue, ()))
            yield Sample("kueue_reserving_active_workloads", labels, count)
            for what, amount in sorted(self._books.used.get(queue, {}).items()):
                its = {**labels, "flavor": what.flavor, "resource": what.resource}
                yield Sample("kueue_cluster_queue_resource_usage", its, amount / 1000)
