"""An unhealthy workload is taken for healthy, or the other way round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.names import Condition, Phase, Stamp
from reference_controller.appwrapper.observation import Component, Observation, PodCounts
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.status import creation_state, phase_of, stamp_of
from vocabulary.clock import MINUTE
from vocabulary.kinds import JOB, PYTORCH_JOB
from vocabulary.objects import (
    Object,
    condition_status,
    containers,
    get_path,
    is_terminating,
    name_of,
)
from vocabulary.quantities import parse_quantity


@mutant(Rules.failed_pods, "Failed pods are not noticed.", "AW-030", "AW-021", "AW-040")
def ignores_failed_pods(self: Rules, seen: Observation, census: Sequence[PodCounts]) -> int:
    return 0


@mutant(
    Rules.census,
    "Once all pods ran, nobody looks at them any more.",
    "AW-003",
    "AW-021",
    "AW-030",
    "MLB-002",
)
def watches_only_the_start(self: Rules, seen: Observation) -> tuple[PodCounts, ...]:
    right = Rules.census(self, seen)
    if condition_status(seen.aw, Condition.PODS_READY) != "True":
        return right
    return tuple(PodCounts(counts.expected, running=counts.expected) for counts in right)


@mutant(
    Rules.failed_pods,
    "One failed pod among several that run is not enough to be unhealthy.",
    "AW-030",
    "AW-021",
)
def waits_until_all_pods_failed(self: Rules, seen: Observation, census: Sequence[PodCounts]) -> int:
    failed = Rules.failed_pods(self, seen, census)
    return 0 if any(counts.running for counts in census) else failed


@mutant(
    Rules.missing_pods,
    "Pods that were never created are not missed before warm-up ends.",
    "AW-031",
    "AW-041",
)
def ignores_missing_pods(self: Rules, seen: Observation, census: Sequence[PodCounts]) -> int:
    return 0


@mutant(Rules.idle_pods, "Pods that never run are not noticed.", "AW-032", "AW-042")
def ignores_idle_pods(self: Rules, seen: Observation, census: Sequence[PodCounts]) -> int:
    return self.missing_pods(seen, census)


@mutant(
    Rules.idle_pods,
    "Pods that do not run are noticed at the end of warm-up, and never later.",
    "AW-021",
)
def idle_pods_ignored_after_warm_up(
    self: Rules, seen: Observation, census: Sequence[PodCounts]
) -> int:
    ended_us = self.warmup_ends_at(seen.aw, seen.parameters)
    began_us = stamp_of(seen.aw, Stamp.UNHEALTHY_SINCE) or seen.now_us
    if began_us > ended_us + MINUTE:
        return self.missing_pods(seen, census)
    return Rules.idle_pods(self, seen, census)


@mutant(
    Rules.pods_to_migrate,
    "Of a workload's pods only the first is looked for on nodes tagged NoExecute.",
    "AW-033",
    "AW-002",
    "AW-043",
)
def migrates_only_the_first_pod(self: Rules, seen: Observation) -> tuple[str, ...]:
    first = min((name_of(pod) for pod in seen.pods), default="")
    return tuple(name for name in Rules.pods_to_migrate(self, seen) if name == first)


@mutant(
    Rules.pods_to_migrate,
    "While failed pods are borne, unhealthy nodes are not looked at.",
    "AW-043",
    "AW-033",
)
def does_not_migrate_what_is_unhealthy(self: Rules, seen: Observation) -> tuple[str, ...]:
    if self.failed_pods(seen, self.census(seen)):
        return ()
    return Rules.pods_to_migrate(self, seen)


@mutant(
    Rules.pods_to_migrate,
    "Running pods on nodes tagged NoExecute are left there.",
    "AW-033",
    "AW-002",
    "AW-043",
)
def ignores_unhealthy_nodes(self: Rules, seen: Observation) -> tuple[str, ...]:
    return ()


@mutant(
    Rules.says_failed, "A Job that says it failed is not believed.", "AW-034", "AW-022", "AW-044"
)
def ignores_job_status(self: Rules, component: Component) -> bool:
    return component.kind != JOB and Rules.says_failed(self, component)


@mutant(Rules.says_failed, "A PyTorchJob that says it failed is not believed.", "AW-044")
def ignores_pytorchjob_status(self: Rules, component: Component) -> bool:
    return component.kind != PYTORCH_JOB and Rules.says_failed(self, component)


@mutant(
    Rules.is_missing,
    "A component that somebody deleted is not missed.",
    "AW-035",
    "AW-045",
    "AW-057",
)
def ignores_external_deletion(self: Rules, component: Component) -> bool:
    return False


@mutant(
    Rules.is_missing,
    "A ConfigMap, Secret or Service that somebody deleted is not missed.",
    "AW-035",
    "AW-057",
)
def misses_only_what_has_pods(self: Rules, component: Component) -> bool:
    return bool(component.record.get("podSets")) and Rules.is_missing(self, component)


@mutant(
    Rules.missing,
    "A component that somebody deletes before all of them are created is not missed.",
    "AW-035",
    "AW-057",
)
def not_missed_while_resuming(self: Rules, seen: Observation) -> tuple[Component, ...]:
    return () if phase_of(seen.aw) == Phase.RESUMING else Rules.missing(self, seen)


@mutant(
    Rules.is_missing,
    "Whatever stands under a component's name counts as the component.",
    "AW-035",
    "AW-057",
    "AW-045",
)
def namesake_is_not_missed(self: Rules, component: Component) -> bool:
    found = component.found
    return Rules.is_missing(self, component) and (found is None or is_terminating(found))


@mutant(
    Rules.is_missing,
    "A component that somebody is deleting is missed only when it is gone.",
    "AW-057",
    "AW-035",
    "AW-045",
)
def terminating_is_not_missing(self: Rules, component: Component) -> bool:
    return creation_state(component.record) == "True" and component.found is None


@mutant(
    Rules.confirms_verdicts, "What a lagging cache lacks counts as deleted by somebody.", "INV-9"
)
def believes_a_stale_cache(self: Rules) -> bool:
    return False


@mutant(
    Rules.unrepaired_failures,
    "Failed pods that a Job has replaced still make the workload unhealthy.",
    "AW-046",
)
def job_retries_count_as_failures(
    self: Rules, component: Component | None, counts: PodCounts
) -> int:
    return counts.failed


@mutant(
    Rules.expected_pods,
    "Each component is expected to have one pod, whatever its replicas.",
    "AW-021",
)
def expects_one_pod(self: Rules, component: Component) -> int:
    return min(1, Rules.expected_pods(self, component))


@mutant(
    Rules.expected_pods,
    "A pod set of 0 replicas is taken for one that does not say how many, and so for one pod.",
    "INV-9",
)
def no_replicas_are_one(self: Rules, component: Component) -> int:
    return sum(
        int(pod_set.get("replicas") or 1) for pod_set in component.record.get("podSets") or ()
    )


@mutant(
    Rules.has_succeeded,
    "One succeeded pod makes the workload succeed, though others still run.",
    "MLB-041",
)
def one_success_is_enough(self: Rules, seen: Observation, census: Sequence[PodCounts]) -> bool:
    return Rules.has_succeeded(self, seen, census) or any(counts.succeeded for counts in census)


@mutant(Rules.has_succeeded, "A workload that expects no pods succeeds at once.", "MLB-041")
def nothing_to_do_is_success(self: Rules, seen: Observation, census: Sequence[PodCounts]) -> bool:
    expects_none = not any(counts.expected for counts in census)
    return expects_none or Rules.has_succeeded(self, seen, census)


@mutant(Rules.migrating_effects, "Marks with NoSchedule move running pods, too.", "AW-090")
def migrates_on_noschedule(self: Rules) -> tuple[str, ...]:
    return ("NoSchedule", "NoExecute")


@mutant(Rules.uses, "Pods that do not use the tagged resource are moved, too.", "AW-091")
def migrates_pods_without_the_resource(self: Rules, pod: Object, resource: str) -> bool:
    return True


@mutant(
    Rules.is_on_bad_node,
    "Pods that are pending, stopping or finished on an unhealthy node cause a migration.",
    "AW-092",
)
def migrates_pods_that_do_not_run(
    self: Rules, pod: Object, bad_nodes: Mapping[str, frozenset[str]]
) -> bool:
    resources = bad_nodes.get(str(get_path(pod, "spec.nodeName", "")), frozenset())
    return any(self.uses(pod, resource) for resource in resources)


@mutant(Rules.census, "Pods that are being deleted count as if they ran on.", "AW-021")
def counts_stopping_pods_as_running(self: Rules, seen: Observation) -> tuple[PodCounts, ...]:
    stopping = sum(
        1 for pod in seen.pods if is_terminating(pod) and get_path(pod, "status.phase") == "Running"
    )
    *known, strays = Rules.census(self, seen)
    return (*known, PodCounts(strays.expected, running=strays.running + stopping))


@mutant(
    Rules.expected_pods,
    "A Job is expected to have as many pods as it has completions, whatever its parallelism.",
    "INV-9",
)
def completions_are_pods(self: Rules, component: Component) -> int:
    completions = get_path(component.found or {}, "spec.completions")
    return Rules.expected_pods(self, component) if completions is None else int(completions)


@mutant(
    Rules.expected_pods,
    "No pods are expected of a Job that its owner has suspended.",
    "AW-021",
    "AW-031",
)
def suspended_jobs_need_no_pods(self: Rules, component: Component) -> int:
    if component.kind == JOB and get_path(component.found or {}, "spec.suspend"):
        return 0
    return Rules.expected_pods(self, component)


@mutant(
    Rules.is_failed_pod,
    "A pod that its kubelet evicted does not count as failed.",
    "AW-030",
    "AW-021",
)
def evicted_pods_have_not_failed(self: Rules, pod: Object) -> bool:
    return Rules.is_failed_pod(self, pod) and get_path(pod, "status.reason") != "Evicted"


@mutant(Rules.census, "Only the first 32 pods of a workload are looked at.", "INV-9")
def looks_at_a_page_of_pods(self: Rules, seen: Observation) -> tuple[PodCounts, ...]:
    page = sorted(seen.pods, key=name_of)[:32]
    return Rules.census(self, msgspec.structs.replace(seen, pods=tuple(page)))


@mutant(Rules.shortfall, "Of many pods, a tenth may be missing.", "AW-021")
def a_few_pods_may_be_missing(
    self: Rules,
    seen: Observation,
    census: Sequence[PodCounts],
    standing: Sequence[int],
    left: Sequence[int],
) -> int:
    short = Rules.shortfall(self, seen, census, standing, left)
    return short if short > sum(counts.expected for counts in census) // 10 else 0


@mutant(
    Rules.shortfall,
    "The pods that a Job or PyTorchJob leaves behind when it is complete need not run.",
    "AW-032",
    "AW-042",
)
def pods_of_a_complete_job_are_ignored(
    self: Rules,
    seen: Observation,
    census: Sequence[PodCounts],
    standing: Sequence[int],
    left: Sequence[int],
) -> int:
    return Rules.shortfall(self, seen, census, standing, [0 for _ in left])


@mutant(
    Rules.missing,
    "A component that its own TTL deletes while others run is not missed.",
    "AW-035",
    "AW-057",
)
def ttl_of_a_job_is_no_deletion(self: Rules, seen: Observation) -> tuple[Component, ...]:
    return tuple(
        component
        for component in Rules.missing(self, seen)
        if get_path(
            seen.aw["spec"]["components"][component.index],
            "template.spec.ttlSecondsAfterFinished",
        )
        is None
    )


@mutant(
    Rules.has_succeeded,
    "A Job counts as done when as many pods as it runs at a time have succeeded.",
    "MLB-041",
)
def pods_decide_for_their_job(self: Rules, seen: Observation, census: Sequence[PodCounts]) -> bool:
    if any(counts.pending or counts.running or counts.failed for counts in census):
        return False
    return Rules.has_succeeded(self, seen, census) or (
        any(counts.expected for counts in census)
        and all(counts.succeeded >= counts.expected for counts in census)
    )


@mutant(
    Rules.unrepaired_failures,
    "Of a Job's failed pods one may be replaced; with completed pods beside it none.",
    "INV-9",
    "AW-046",
)
def only_the_first_failure_is_repaired(
    self: Rules, component: Component | None, counts: PodCounts
) -> int:
    if counts.succeeded and component is not None and not self.says_succeeded(component):
        return counts.failed
    return Rules.unrepaired_failures(self, component, counts)


@mutant(
    Rules.uses,
    "A running pod is left on an unhealthy node if only its sidecar uses the resource.",
    "AW-033",
    "AW-002",
)
def sidecars_use_nothing(self: Rules, pod: Object, resource: str) -> bool:
    spec = {**pod["spec"], "initContainers": ()}
    return Rules.uses(self, {**pod, "spec": spec}, resource)


@mutant(
    Rules.uses,
    "A running pod is left on an unhealthy node if it uses less than a whole one.",
    "AW-033",
    "AW-002",
)
def whole_amounts_alone_are_used(self: Rules, pod: Object, resource: str) -> bool:
    return Rules.uses(self, pod, resource) and any(
        parse_quantity(get_path(container, "resources.requests", {}).get(resource, 0)) >= 1
        for container in containers(pod["spec"])
    )
