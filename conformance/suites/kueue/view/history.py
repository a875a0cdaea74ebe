"""The Workloads of a history."""

from __future__ import annotations

from functools import cached_property

from conformance.history import Track
from conformance.norm.view import ObjectView
from conformance.suites.kueue.api import WORKLOAD
from conformance.suites.kueue.view.queues import Queues
from conformance.suites.kueue.view.workload import WorkloadRun


class KueueHistory(ObjectView[WorkloadRun]):
    """The Workloads of the controller under test."""

    role = "kueue"
    kind = WORKLOAD

    def run_of(self, track: Track) -> WorkloadRun:
        return WorkloadRun(self, track)

    @cached_property
    def queues(self) -> Queues:
        return Queues(self.history, self.subjects)

    @property
    def manages_unqueued(self) -> bool:
        """True if the operator was configured to manage jobs that name no queue in each
        namespace, throughout."""
        configs = [config for _, config in self.operator.configurations]
        selector = "managedJobsNamespaceSelector"
        return all(
            config.get("manageJobsWithoutQueueName") and not config.get(selector)
            for config in configs
        )
