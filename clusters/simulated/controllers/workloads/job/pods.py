"""The pods of a Job: which of them count, how they rank, and how a new one is made."""

from __future__ import annotations

from typing import Any, Final

from clusters.simulated.controllers.workloads.job.failure_policy import match_policy
from clusters.simulated.controllers.workloads.job.indexes import (
    FAILURE_COUNT,
    IGNORED_FAILURE_COUNT,
    INDEX,
    failure_count,
    index_of,
)
from clusters.simulated.controllers.workloads.pods import (
    MAX_GENERATED_PREFIX,
    phase_of,
    pod_from_template,
    removal_rank,
)
from vocabulary.kinds import JOB
from vocabulary.objects import Object, finalizers_of, is_terminating, name_of

TRACKING: Final = "batch.kubernetes.io/job-tracking"
MANAGED_BY_BUILT_IN: Final = "kubernetes.io/job-controller"


def is_tracked(pod: Object) -> bool:
    return TRACKING in finalizers_of(pod)


def is_managed_elsewhere(job: Object) -> bool:
    return str(job["spec"].get("managedBy", MANAGED_BY_BUILT_IN)) != MANAGED_BY_BUILT_IN


def replaces_only_failed(spec: Object) -> bool:
    """True if a pod is replaced only once it has ended, not as soon as it is being deleted."""
    return spec.get("podReplacementPolicy") == "Failed" or "podFailurePolicy" in spec


def has_failed(pod: Object, spec: Object) -> bool:
    """True if a pod counts as failed: ended with failure, or deleted without success."""
    phase = phase_of(pod)
    if phase == "Failed":
        return True
    return not replaces_only_failed(spec) and is_terminating(pod) and phase != "Succeeded"


def for_removal(job: Object, active: list[Object], at_least: int) -> list[Object]:
    """The active pods that are too many, or whose completion index another pod serves better."""
    youngest_first = list(reversed(active))
    surplus: list[Object] = []
    left = youngest_first
    if job["spec"].get("completionMode") == "Indexed":
        by_index: dict[int, list[Object]] = {}
        for pod in youngest_first:
            index = index_of(pod)
            if index is None or index >= job["spec"]["completions"]:
                surplus.append(pod)
            else:
                by_index.setdefault(index, []).append(pod)
        left = []
        for index in sorted(by_index):
            ranked = by_index[index]
            if len(ranked) > 1:
                ranked = sorted(ranked, key=removal_rank)
                surplus.extend(ranked[:-1])
            left.append(ranked[-1])
    if len(surplus) < at_least:
        surplus.extend(sorted(left, key=removal_rank)[: at_least - len(surplus)])
    return surplus


def new_pod(job: Object, index: int | None, replaced: Object | None) -> dict[str, Any]:
    """A pod from the Job's template; `replaced` is the failed pod of the same index, if any."""
    spec = job["spec"]
    pod = pod_from_template(job, JOB, spec["template"])
    metadata = pod["metadata"]
    metadata["finalizers"] = [*metadata.get("finalizers", ()), TRACKING]
    if index is None:
        return pod
    metadata["generateName"] = _indexed_prefix(name_of(job), index)
    metadata["labels"][INDEX] = str(index)
    annotations = {**metadata.get("annotations", {}), INDEX: str(index)}
    if "backoffLimitPerIndex" in spec:
        annotations |= _failure_counts(spec, replaced)
    metadata["annotations"] = annotations
    pod_spec = {**pod["spec"], "hostname": f"{name_of(job)}-{index}"}
    for member in ("initContainers", "containers"):
        if member in pod_spec:
            pod_spec[member] = [_with_index_variable(entry) for entry in pod_spec[member]]
    pod["spec"] = pod_spec
    return pod


def _indexed_prefix(name: str, index: int) -> str:
    suffix = f"-{index}-"
    return name[: MAX_GENERATED_PREFIX - len(suffix)] + suffix


def _with_index_variable(container: Object) -> Object:
    variables = container.get("env") or ()
    if any(entry["name"] == "JOB_COMPLETION_INDEX" for entry in variables):
        return container
    source = {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}}
    variable = {"name": "JOB_COMPLETION_INDEX", "valueFrom": source}
    return {**container, "env": [*variables, variable]}


def _failure_counts(spec: Object, replaced: Object | None) -> dict[str, str]:
    """How often this index has failed, for the new pod to carry on."""
    if replaced is None:
        return {FAILURE_COUNT: "0"}
    counts = match_policy(spec.get("podFailurePolicy"), replaced).counts
    ignored = failure_count(replaced, IGNORED_FAILURE_COUNT) + (not counts)
    carried = {FAILURE_COUNT: str(failure_count(replaced) + counts)}
    if ignored:
        carried[IGNORED_FAILURE_COUNT] = str(ignored)
    return carried
