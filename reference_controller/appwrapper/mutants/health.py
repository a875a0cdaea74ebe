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


@mutant("ignores-failed-pods", "Failed pods are not noticed.", "AW-030", "AW-021", "AW-040")
class IgnoresFailedPods(Rules):
    def failed_pods(self, seen: Observation, census: Sequence[PodCounts]) -> int:  # noqa: ARG002
        return 0


@mutant(
    "watches-only-the-start",
    "Once all pods ran, nobody looks at them any more.",
    "AW-003",
    "AW-021",
    "AW-030",
)
class WatchesOnlyTheStart(Rules):
    def census(self, seen: Observation) -> tuple[PodCounts, ...]:
        right = super().census(seen)
        if condition_status(seen.aw, Condition.PODS_READY) != "True":
            return right
        return tuple(PodCounts(counts.expected, running=counts.expected) for counts in right)


@mutant(
    "waits-until-all-pods-failed",
    "One failed pod among several that run is not enough to be unhealthy.",
    "AW-030",
    "AW-021",
)
class WaitsUntilAllPodsFailed(Rules):
    def failed_pods(self, seen: Observation, census: Sequence[PodCounts]) -> int:
        failed = super().failed_pods(seen, census)
        return 0 if any(counts.running for counts in census) else failed


@mutant(
    "ignores-missing-pods",
    "Pods that were never created are not missed before warm-up ends.",
    "AW-031",
    "AW-041",
)
class IgnoresMissingPods(Rules):
    def missing_pods(self, seen: Observation, census: Sequence[PodCounts]) -> int:  # noqa: ARG002
        return 0


@mutant(
    "ignores-idle-pods",
    "Pods that never run are not noticed.",
    "AW-032",
    "AW-042",
)
class IgnoresIdlePods(Rules):
    def idle_pods(self, seen: Observation, census: Sequence[PodCounts]) -> int:
        return self.missing_pods(seen, census)


@mutant(
    "idle-pods-ignored-after-warm-up",
    "Pods that do not run are noticed at the end of warm-up, and never later.",
    "AW-021",
)
class IdlePodsIgnoredAfterWarmUp(Rules):
    def idle_pods(self, seen: Observation, census: Sequence[PodCounts]) -> int:
        ended_us = self.warmup_ends_at(seen.aw, seen.parameters)
        began_us = stamp_of(seen.aw, Stamp.UNHEALTHY_SINCE) or seen.now_us
        if began_us > ended_us + MINUTE:
            return self.missing_pods(seen, census)
        return super().idle_pods(seen, census)


@mutant(
    "migrates-only-the-first-pod",
    "Of a workload's pods only the first is looked for on nodes tagged NoExecute.",
    "AW-033",
    "AW-002",
    "AW-043",
)
class MigratesOnlyTheFirstPod(Rules):
    def pods_to_migrate(self, seen: Observation) -> tuple[str, ...]:
        first = min((name_of(pod) for pod in seen.pods), default="")
        return tuple(name for name in super().pods_to_migrate(seen) if name == first)


@mutant(
    "does-not-migrate-what-is-unhealthy",
    "While failed pods are borne, unhealthy nodes are not looked at.",
    "AW-043",
    "AW-033",
)
class DoesNotMigrateWhatIsUnhealthy(Rules):
    def pods_to_migrate(self, seen: Observation) -> tuple[str, ...]:
        if self.failed_pods(seen, self.census(seen)):
            return ()
        return super().pods_to_migrate(seen)


@mutant(
    "ignores-unhealthy-nodes",
    "Running pods on nodes tagged NoExecute are left there.",
    "AW-033",
    "AW-002",
    "AW-043",
)
class IgnoresUnhealthyNodes(Rules):
    def pods_to_migrate(self, seen: Observation) -> tuple[str, ...]:  # noqa: ARG002
        return ()


@mutant(
    "ignores-job-status",
    "A Job that says it failed is not believed.",
    "AW-034",
    "AW-022",
    "AW-044",
)
class IgnoresJobStatus(Rules):
    def says_failed(self, component: Component) -> bool:
        return component.kind != JOB and super().says_failed(component)


@mutant(
    "ignores-pytorchjob-status",
    "A PyTorchJob that says it failed is not believed.",
    "AW-044",
)
class IgnoresPyTorchJobStatus(Rules):
    def says_failed(self, component: Component) -> bool:
        return component.kind != PYTORCH_JOB and super().says_failed(component)


@mutant(
    "ignores-external-deletion",
    "A component that somebody deleted is not missed.",
    "AW-035",
    "AW-045",
    "AW-057",
)
class IgnoresExternalDeletion(Rules):
    def is_missing(self, component: Component) -> bool:  # noqa: ARG002
        return False


@mutant(
    "misses-only-what-has-pods",
    "A ConfigMap, Secret or Service that somebody deleted is not missed.",
    "AW-035",
    "AW-057",
)
class MissesOnlyWhatHasPods(Rules):
    def is_missing(self, component: Component) -> bool:
        return bool(component.record.get("podSets")) and super().is_missing(component)


@mutant(
    "not-missed-while-resuming",
    "A component that somebody deletes before all of them are created is not missed.",
    "AW-035",
    "AW-057",
)
class NotMissedWhileResuming(Rules):
    def missing(self, seen: Observation) -> tuple[Component, ...]:
        return () if phase_of(seen.aw) == Phase.RESUMING else super().missing(seen)


@mutant(
    "namesake-is-not-missed",
    "Whatever stands under a component's name counts as the component.",
    "AW-035",
    "AW-057",
    "AW-045",
)
class NamesakeIsNotMissed(Rules):
    def is_missing(self, component: Component) -> bool:
        found = component.found
        return super().is_missing(component) and (found is None or is_terminating(found))


@mutant(
    "terminating-is-not-missing",
    "A component that somebody is deleting is missed only when it is gone.",
    "AW-057",
    "AW-035",
    "AW-045",
)
class TerminatingIsNotMissing(Rules):
    def is_missing(self, component: Component) -> bool:
        return creation_state(component.record) == "True" and component.found is None


@mutant(
    "believes-a-stale-cache",
    "What a lagging cache lacks counts as deleted by somebody.",
    "INV-9",
)
class BelievesAStaleCache(Rules):
    def confirms_verdicts(self) -> bool:
        return False


@mutant(
    "job-retries-count-as-failures",
    "Failed pods that a Job has replaced still make the workload unhealthy.",
    "AW-046",
)
class JobRetriesCountAsFailures(Rules):
    def unrepaired_failures(self, component: Component | None, counts: PodCounts) -> int:  # noqa: ARG002
        return counts.failed


@mutant(
    "expects-one-pod",
    "Each component is expected to have one pod, whatever its replicas.",
    "AW-021",
)
class ExpectsOnePod(Rules):
    def expected_pods(self, component: Component) -> int:
        return min(1, super().expected_pods(component))


@mutant(
    "no-replicas-are-one",
    "A pod set of 0 replicas is taken for one that does not say how many, and so for one pod.",
    "INV-9",
)
class NoReplicasAreOne(Rules):
    def expected_pods(self, component: Component) -> int:
        return sum(
            int(pod_set.get("replicas") or 1) for pod_set in component.record.get("podSets") or ()
        )


@mutant(
    "one-success-is-enough",
    "One succeeded pod makes the workload succeed, though others still run.",
    "MLB-041",
)
class OneSuccessIsEnough(Rules):
    def has_succeeded(self, seen: Observation, census: Sequence[PodCounts]) -> bool:
        return super().has_succeeded(seen, census) or any(counts.succeeded for counts in census)


@mutant(
    "nothing-to-do-is-success",
    "A workload that expects no pods succeeds at once.",
    "MLB-041",
)
class NothingToDoIsSuccess(Rules):
    def has_succeeded(self, seen: Observation, census: Sequence[PodCounts]) -> bool:
        expects_none = not any(counts.expected for counts in census)
        return expects_none or super().has_succeeded(seen, census)


@mutant(
    "migrates-on-noschedule",
    "Marks with NoSchedule move running pods, too.",
    "AW-090",
)
class MigratesOnNoSchedule(Rules):
    def migrating_effects(self) -> tuple[str, ...]:
        return ("NoSchedule", "NoExecute")


@mutant(
    "migrates-pods-without-the-resource",
    "Pods that do not use the tagged resource are moved, too.",
    "AW-091",
)
class MigratesPodsWithoutTheResource(Rules):
    def uses(self, pod: Object, resource: str) -> bool:  # noqa: ARG002
        return True


@mutant(
    "migrates-pods-that-do-not-run",
    "Pods that are pending, stopping or finished on an unhealthy node cause a migration.",
    "AW-092",
)
class MigratesPodsThatDoNotRun(Rules):
    def is_on_bad_node(self, pod: Object, bad_nodes: Mapping[str, frozenset[str]]) -> bool:
        resources = bad_nodes.get(str(get_path(pod, "spec.nodeName", "")), frozenset())
        return any(self.uses(pod, resource) for resource in resources)


@mutant(
    "counts-stopping-pods-as-running",
    "Pods that are being deleted count as if they ran on.",
    "AW-021",
)
class CountsStoppingPodsAsRunning(Rules):
    def census(self, seen: Observation) -> tuple[PodCounts, ...]:
        stopping = sum(
            1
            for pod in seen.pods
            if is_terminating(pod) and get_path(pod, "status.phase") == "Running"
        )
        *known, strays = super().census(seen)
        return (*known, PodCounts(strays.expected, running=strays.running + stopping))


@mutant(
    "completions-are-pods",
    "A Job is expected to have as many pods as it has completions, whatever its parallelism.",
    "INV-9",
)
class CompletionsArePods(Rules):
    def expected_pods(self, component: Component) -> int:
        completions = get_path(component.found or {}, "spec.completions")
        return super().expected_pods(component) if completions is None else int(completions)


@mutant(
    "suspended-jobs-need-no-pods",
    "No pods are expected of a Job that its owner has suspended.",
    "AW-021",
    "AW-031",
)
class SuspendedJobsNeedNoPods(Rules):
    def expected_pods(self, component: Component) -> int:
        if component.kind == JOB and get_path(component.found or {}, "spec.suspend"):
            return 0
        return super().expected_pods(component)


@mutant(
    "evicted-pods-have-not-failed",
    "A pod that its kubelet evicted does not count as failed.",
    "AW-030",
    "AW-021",
)
class EvictedPodsHaveNotFailed(Rules):
    def is_failed_pod(self, pod: Object) -> bool:
        return super().is_failed_pod(pod) and get_path(pod, "status.reason") != "Evicted"


@mutant(
    "looks-at-a-page-of-pods",
    "Only the first 32 pods of a workload are looked at.",
    "INV-9",
)
class LooksAtAPageOfPods(Rules):
    def census(self, seen: Observation) -> tuple[PodCounts, ...]:
        page = sorted(seen.pods, key=name_of)[:32]
        return super().census(msgspec.structs.replace(seen, pods=tuple(page)))


@mutant(
    "a-few-pods-may-be-missing",
    "Of many pods, a tenth may be missing.",
    "AW-021",
)
class AFewPodsMayBeMissing(Rules):
    def shortfall(
        self,
        seen: Observation,
        census: Sequence[PodCounts],
        standing: Sequence[int],
        left: Sequence[int],
    ) -> int:
        short = super().shortfall(seen, census, standing, left)
        return short if short > sum(counts.expected for counts in census) // 10 else 0


@mutant(
    "pods-of-a-complete-job-are-ignored",
    "The pods that a Job or PyTorchJob leaves behind when it is complete need not run.",
    "AW-032",
    "AW-042",
)
class PodsOfACompleteJobAreIgnored(Rules):
    def shortfall(
        self,
        seen: Observation,
        census: Sequence[PodCounts],
        standing: Sequence[int],
        left: Sequence[int],
    ) -> int:
        return super().shortfall(seen, census, standing, [0 for _ in left])


@mutant(
    "ttl-of-a-job-is-no-deletion",
    "A component that its own TTL deletes while others run is not missed.",
    "AW-035",
    "AW-057",
)
class TtlOfAJobIsNoDeletion(Rules):
    def missing(self, seen: Observation) -> tuple[Component, ...]:
        return tuple(
            component
            for component in super().missing(seen)
            if get_path(
                seen.aw["spec"]["components"][component.index],
                "template.spec.ttlSecondsAfterFinished",
            )
            is None
        )


@mutant(
    "pods-decide-for-their-job",
    "A Job counts as done when as many pods as it runs at a time have succeeded.",
    "MLB-041",
)
class PodsDecideForTheirJob(Rules):
    def has_succeeded(self, seen: Observation, census: Sequence[PodCounts]) -> bool:
        if any(counts.pending or counts.running or counts.failed for counts in census):
            return False
        return super().has_succeeded(seen, census) or (
            any(counts.expected for counts in census)
            and all(counts.succeeded >= counts.expected for counts in census)
        )


@mutant(
    "only-the-first-failure-is-repaired",
    "Of a Job's failed pods one may be replaced; with completed pods beside it none.",
    "INV-9",
    "AW-046",
)
class OnlyTheFirstFailureIsRepaired(Rules):
    def unrepaired_failures(self, component: Component | None, counts: PodCounts) -> int:
        if counts.succeeded and component is not None and not self.says_succeeded(component):
            return counts.failed
        return super().unrepaired_failures(component, counts)


@mutant(
    "sidecars-use-nothing",
    "A running pod is left on an unhealthy node if only its sidecar uses the resource.",
    "AW-033",
    "AW-002",
)
class SidecarsUseNothing(Rules):
    def uses(self, pod: Object, resource: str) -> bool:
        spec = {**pod["spec"], "initContainers": ()}
        return super().uses({**pod, "spec": spec}, resource)


@mutant(
    "whole-amounts-alone-are-used",
    "A running pod is left on an unhealthy node if it uses less than a whole one.",
    "AW-033",
    "AW-002",
)
class WholeAmountsAloneAreUsed(Rules):
    def uses(self, pod: Object, resource: str) -> bool:
        return super().uses(pod, resource) and any(
            parse_quantity(get_path(container, "resources.requests", {}).get(resource, 0)) >= 1
            for container in containers(pod["spec"])
        )
