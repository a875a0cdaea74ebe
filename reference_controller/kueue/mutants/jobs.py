"""Jobs that do not wait, and pods whose quota is given to others, or is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reference_controller.kueue.mutants.registry import MUTANTS
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.workload import Workload
from vocabulary.objects import Object, with_path, without_path

_OF_QUOTA: Final = ("QuotaReserved", "Admitted")


@MUTANTS.mutant(Rules.at_once, "It asks for pods that a Job never runs.", "KQ-056")
def completions_do_not_count(self: Rules, parallelism: int, completions: int | None) -> int:
    return parallelism


@MUTANTS.mutant(Rules.companion, "No job controls its Workload.", "KQ-057")
def workloads_have_no_controller(self: Rules, workload: Object) -> Object:
    owners = [{**each, "controller": False} for each in workload["metadata"]["ownerReferences"]]
    return with_path(workload, "metadata.ownerReferences", owners)


@MUTANTS.mutant(Rules.reclaimable, "It gives the quota of pods away that run.", "KQ-065")
def running_pods_are_reclaimed(
    self: Rules, count: int, done: int, pods_left: int, before: int
) -> int:
    return max(0, done)


@MUTANTS.mutant(Rules.reclaimable, "It keeps the quota of pods that are done.", "KQ-066")
def no_pod_is_reclaimed(self: Rules, count: int, done: int, pods_left: int, before: int) -> int:
    return 0


@MUTANTS.mutant(
    Rules.reclaimable,
    "It never asks for the quota of a reclaimed pod again.",
    "QL-015",
    "QL-001",
    "KQ-065",
)
def reclaimed_pods_stay_so(self: Rules, count: int, done: int, pods_left: int, before: int) -> int:
    return max(before, Rules.reclaimable(self, count, done, pods_left, before))


@MUTANTS.mutant(
    Rules.asks_for_all, "It admits JobSets without their pods that are done, for good.", "QL-001"
)
def done_pods_never_run_again(self: Rules, may_restart: bool) -> bool:
    return False


@MUTANTS.mutant(Rules.waits_running, "Jobs that are created running run.", "QL-001")
def running_jobs_run(self: Rules, is_running: bool) -> bool:
    return not is_running


@MUTANTS.wrong_rules("A process takes back the quota that another one gave.", "KQ-051")
class TakesBackWhatItFinds(Rules):
    def __init__(self) -> None:
        super().__init__()
        self._known: set[str] = set()

    def keeps(self, workload: Workload) -> Mapping[str, Any]:
        status = super().keeps(workload)
        if not workload.is_admitted or workload.key.name in self._known:
            self._known.add(workload.key.name)
            return status
        kept = [each for each in status["conditions"] if each["type"] not in _OF_QUOTA]
        return {**without_path(status, "admission"), "conditions": kept}


@MUTANTS.mutant(Rules.is_managed_by, "Jobs that are part of a job of no queue run.", "QL-001")
def parts_of_others_run(self: Rules, has_queue: bool) -> bool:
    return True


@MUTANTS.mutant(Rules.waits_unqueued, "Jobs that name no queue run.", "KQ-067", "MLB-080")
def unqueued_jobs_run(self: Rules, is_managed: bool) -> bool:
    return False


@MUTANTS.mutant(Rules.selected_by, "Namespaces are selected by their names alone.", "KQ-067")
def names_alone_select(self: Rules, namespace_labels: Mapping[str, str]) -> Mapping[str, str]:
    name = "kubernetes.io/metadata.name"
    return {key: value for key, value in namespace_labels.items() if key == name}


@MUTANTS.mutant(
    Rules.reclaimable,
    "It gives the quota of an AppWrapper away while it is reset.",
    "KQ-107",
    "QL-013",
)
def missing_pods_are_reclaimed(
    self: Rules, count: int, done: int, pods_left: int, before: int
) -> int:
    return max(0, count - pods_left)
