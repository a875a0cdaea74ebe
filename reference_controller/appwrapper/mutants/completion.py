"""Success comes too early or not at all; PodsReady is not true of the pods."""

from __future__ import annotations

from collections.abc import Sequence

from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.names import Condition, Phase, Reason
from reference_controller.appwrapper.observation import Observation, PodCounts
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.rules.quota import Conditions
from vocabulary.objects import Object, get_path


def _without(conditions: Conditions, type_: str) -> Conditions:
    return {name: value for name, value in conditions.items() if name != type_}


@mutant(
    Rules.has_succeeded,
    "A workload whose pods have not been created yet counts as one whose pods have ended.",
    "AW-096",
)
def succeeds_before_its_pods_exist(
    self: Rules, seen: Observation, census: Sequence[PodCounts]
) -> bool:
    stands = any(counts.at_least_pending or counts.failed for counts in census)
    expects = any(counts.expected for counts in census)
    return (expects and not stands) or Rules.has_succeeded(self, seen, census)


@mutant(
    Rules.has_completed,
    "A pod that was deleted and exited with 0 has completed, though its owner replaces it.",
    "AW-096",
)
def deleted_pods_have_completed(self: Rules, pod: Object) -> bool:
    return bool(get_path(pod, "status.phase") == "Succeeded")


@mutant(
    Rules.has_succeeded,
    "A pod that its Job replaced keeps the workload from succeeding, though the Job completed.",
    "AW-096",
)
def replaced_pods_forbid_success(
    self: Rules, seen: Observation, census: Sequence[PodCounts]
) -> bool:
    return not any(counts.failed for counts in census) and Rules.has_succeeded(self, seen, census)


@mutant(
    Rules.has_succeeded,
    "A workload succeeds when as many pods have succeeded as were expected, no more and no fewer.",
    "AW-096",
)
def completions_are_as_many_as_pods(
    self: Rules, seen: Observation, census: Sequence[PodCounts]
) -> bool:
    exact = all(counts.succeeded == counts.expected for counts in census)
    return exact and Rules.has_succeeded(self, seen, census)


@mutant(
    Rules.has_succeeded,
    "A Job that is complete has not succeeded before as many Succeeded pods as expected are there.",
    "AW-096",
)
def complete_job_needs_its_pods(
    self: Rules, seen: Observation, census: Sequence[PodCounts]
) -> bool:
    enough = all(counts.succeeded >= counts.expected for counts in census)
    return enough and Rules.has_succeeded(self, seen, census)


@mutant(
    Rules.on_deleted,
    "PodsReady stays True when the pods of a workload that succeeded are deleted.",
    "AW-101",
)
def pods_ready_outlives_success(self: Rules, phase: str) -> Conditions:
    return _without(Rules.on_deleted(self, phase), Condition.PODS_READY)


@mutant(
    Rules.on_entering,
    "PodsReady turns True when everything is created, before the pods run.",
    "AW-101",
)
def pods_ready_once_created(self: Rules, phase: str, old_phase: str) -> Conditions:
    right = dict(Rules.on_entering(self, phase, old_phase))
    if phase == Phase.RUNNING:
        right[Condition.PODS_READY] = ("True", Reason.SUFFICIENT_PODS_READY, "")
    return right
