"""Success comes too early or not at all; PodsReady is not true of the pods."""

from __future__ import annotations

from collections.abc import Sequence

from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.names import Condition, Phase, Reason
from reference_controller.appwrapper.observation import Observation, PodCounts
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.rules.quota import Conditions


def _without(conditions: Conditions, type_: str) -> Conditions:
    return {name: value for name, value in conditions.items() if name != type_}


@mutant(
    "succeeds-before-its-pods-exist",
    "A workload whose pods have not been created yet counts as one whose pods have ended.",
    "AW-096",
)
class SucceedsBeforeItsPodsExist(Rules):
    def has_succeeded(self, seen: Observation, census: Sequence[PodCounts]) -> bool:
        stands = any(counts.at_least_pending or counts.failed for counts in census)
        expects = any(counts.expected for counts in census)
        return (expects and not stands) or super().has_succeeded(seen, census)


@mutant(
    "replaced-pods-forbid-success",
    "A pod that its Job replaced keeps the workload from succeeding, though the Job completed.",
    "AW-096",
)
class ReplacedPodsForbidSuccess(Rules):
    def has_succeeded(self, seen: Observation, census: Sequence[PodCounts]) -> bool:
        return not any(counts.failed for counts in census) and super().has_succeeded(seen, census)


@mutant(
    "completions-are-as-many-as-pods",
    "A workload succeeds when as many pods have succeeded as were expected, no more and no fewer.",
    "AW-096",
)
class CompletionsAreAsManyAsPods(Rules):
    def has_succeeded(self, seen: Observation, census: Sequence[PodCounts]) -> bool:
        exact = all(counts.succeeded == counts.expected for counts in census)
        return exact and super().has_succeeded(seen, census)


@mutant(
    "complete-job-needs-its-pods",
    "A Job that is complete has not succeeded before as many Succeeded pods as expected are there.",
    "AW-096",
)
class CompleteJobNeedsItsPods(Rules):
    def has_succeeded(self, seen: Observation, census: Sequence[PodCounts]) -> bool:
        enough = all(counts.succeeded >= counts.expected for counts in census)
        return enough and super().has_succeeded(seen, census)


@mutant(
    "pods-ready-outlives-success",
    "PodsReady stays True when the pods of a workload that succeeded are deleted.",
    "AW-101",
)
class PodsReadyOutlivesSuccess(Rules):
    def on_deleted(self, phase: str) -> Conditions:
        return _without(super().on_deleted(phase), Condition.PODS_READY)


@mutant(
    "pods-ready-once-created",
    "PodsReady turns True when everything is created, before the pods run.",
    "AW-101",
)
class PodsReadyOnceCreated(Rules):
    def on_entering(self, phase: str, old_phase: str) -> Conditions:
        right = dict(super().on_entering(phase, old_phase))
        if phase == Phase.RUNNING:
            right[Condition.PODS_READY] = ("True", Reason.SUFFICIENT_PODS_READY, "")
        return right
