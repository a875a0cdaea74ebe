"""The Workloads of a history."""

from __future__ import annotations

from functools import cached_property

from conformance.history import Track
from conformance.norm.view import ObjectView
from conformance.suites.kueue.api import PRIORITY_CLASS, WORKLOAD
from conformance.suites.kueue.view.queues import Queues
from conformance.suites.kueue.view.workload import Snapshot, WorkloadRun
from vocabulary.kinds import NAMESPACE
from vocabulary.kinds import PRIORITY_CLASS as POD_PRIORITY_CLASS
from vocabulary.objects import get_path, labels_of
from vocabulary.selectors import matches


class KueueHistory(ObjectView[WorkloadRun]):
    """The Workloads of the controller under test."""

    role = "kueue"
    kind = WORKLOAD

    def run_of(self, track: Track) -> WorkloadRun:
        return WorkloadRun(self, track)

    @cached_property
    def queues(self) -> Queues:
        return Queues(self.history, self.subjects)

    def first_admission(self, job: Track) -> Snapshot | None:
        """The first state in which a Workload of a job is admitted."""
        return min(
            (
                state
                for run in self.subjects
                if run.job is not None and any(root.uid == job.uid for root in run.job.roots)
                for state in run.snapshots
                if state.is_admitted
            ),
            key=lambda state: state.n,
            default=None,
        )

    def integrates(self, framework: str) -> bool:
        """True if the operator was configured, throughout, to manage jobs of a kind; all are unless
        the configuration names some."""
        named = (
            get_path(config, "integrations.frameworks")
            for _, config in self.operator.configurations
        )
        return all(each is None or framework in each for each in named)

    def priority_classes(self, n: int) -> set[str]:
        """The names of those, of Workloads and of pods, that exist at a position."""
        kinds = (str(PRIORITY_CLASS), str(POD_PRIORITY_CLASS))
        tracks = (each for kind in kinds for each in self.history.by_kind.get(kind, ()))
        return {each.name for each in tracks if each.exists_at(n)}

    def manages_unqueued(self, namespace: str, n: int) -> bool:
        """True if the operator was configured, throughout, to manage jobs that name no queue, as
        the labels of their namespace were at a position."""
        namespaces = self.history.by_kind.get(str(NAMESPACE), ())
        labels = next(
            (
                labels_of(each.at(n))
                for each in namespaces
                if each.name == namespace and each.exists_at(n)
            ),
            None,
        )
        configs = [config for _, config in self.operator.configurations]
        return all(
            config.get("manageJobsWithoutQueueName")
            and (not selector or (labels is not None and matches(selector, labels)))
            for config in configs
            for selector in [config.get("managedJobsNamespaceSelector")]
        )
