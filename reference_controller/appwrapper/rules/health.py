"""Conditions of unhealthy and of successful workloads.

The norm's six conditions: failed pods; too few pods at least Pending after the admission grace
period; too few Running after the warm-up grace period; running pods on nodes that Autopilot tagged
NoExecute; a Job or PyTorchJob that reports failure; a component deleted by others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reference_controller.appwrapper.autopilot import runs_with_resource
from reference_controller.appwrapper.names import COMPONENT_LABEL
from reference_controller.appwrapper.observation import Component, Observation, PodCounts
from reference_controller.appwrapper.pods import counted_pods, has_completed
from reference_controller.appwrapper.rules.ownership import OwnershipRules
from reference_controller.appwrapper.status import creation_state
from vocabulary.kinds import JOB, PYTORCH_JOB
from vocabulary.objects import (
    Object,
    condition_status,
    get_path,
    is_terminating,
    labels_of,
    name_of,
    uid_of,
)


class HealthRules(OwnershipRules):
    """AW-003, 021, 022, 030…035; decisions A6, A11, A13, A14."""

    def census(self, seen: Observation) -> tuple[PodCounts, ...]:
        """The pods of each component; the last entry holds those of no known component."""
        names = [str(component.index) for component in seen.components]
        pending, running, succeeded, failed, leaving = ([0] * (len(names) + 1) for _ in range(5))
        position = {name: index for index, name in enumerate(names)}
        for pod, count in counted_pods(seen.pods):
            if not self.is_of_current_attempt(pod, seen.aw):
                continue
            index = position.get(labels_of(pod).get(COMPONENT_LABEL, ""), len(names))
            phase = get_path(pod, "status.phase", "Pending")
            if phase == "Succeeded" and self.has_completed(pod):
                succeeded[index] += count
            elif self.is_failed_pod(pod):
                failed[index] += count
            elif is_terminating(pod):
                leaving[index] += count
            elif phase == "Running":
                running[index] += count
            elif phase == "Pending":
                pending[index] += count
        expected = [self.expected_pods(component) for component in seen.components] + [0]
        return tuple(
            PodCounts(*counts)
            for counts in zip(expected, pending, running, succeeded, failed, leaving, strict=True)
        )

    def expected_pods(self, component: Component) -> int:
        """The sum of its podSets' replicas."""
        return sum(
            int(pod_set.get("replicas", 1)) for pod_set in component.record.get("podSets") or ()
        )

    def has_completed(self, pod: Object) -> bool:
        """Asked of pods that succeeded. A directly wrapped one has no owner that replaces it;
        deleted, it is missing anyway."""
        return has_completed(pod)

    def is_failed_pod(self, pod: Object) -> bool:
        return bool(get_path(pod, "status.phase") == "Failed")

    def unrepaired_failures(self, component: Component | None, counts: PodCounts) -> int:
        """The number of the component's failed pods that count.

        A Job replaces its failed pods and keeps them; they count only as long as it has no
        replacement for them. This applies to Jobs only.
        """
        if component is None or component.kind != JOB or component.found is None:
            return counts.failed
        if self.says_succeeded(component):
            return 0
        spec = component.found.get("spec") or {}
        parallelism = int(spec.get("parallelism", 1))
        # Its status knows also of pods that have succeeded and are gone since.
        succeeded = max(counts.succeeded, int(get_path(component.found, "status.succeeded", 0)))
        wanted = min(parallelism, int(spec.get("completions") or parallelism) - succeeded)
        return 0 if counts.pending + counts.running >= wanted else counts.failed

    def failed_pods(self, seen: Observation, census: Sequence[PodCounts]) -> int:
        components: tuple[Component | None, ...] = (*seen.components, None)
        return sum(
            self.unrepaired_failures(component, counts)
            for component, counts in zip(components, census, strict=True)
        )

    def missing_pods(self, seen: Observation, census: Sequence[PodCounts]) -> int:
        """How many pods are not at least Pending."""
        left = [counts.leaving for counts in census]
        return self.shortfall(seen, census, [counts.at_least_pending for counts in census], left)

    def idle_pods(self, seen: Observation, census: Sequence[PodCounts]) -> int:
        """How many pods are not at least Running (pod phase, decision A6)."""
        left = [counts.pending + counts.leaving for counts in census]
        return self.shortfall(seen, census, [counts.at_least_running for counts in census], left)

    def shortfall(
        self,
        seen: Observation,
        census: Sequence[PodCounts],
        standing: Sequence[int],
        left: Sequence[int],
    ) -> int:
        """How many pods are missing, or idle; a component that is complete makes no more pods, so
        of its pods only those count that are `left` and have not ended."""
        short = sum(
            idle if self.says_succeeded(component) else max(0, counts.expected - present)
            for component, counts, present, idle in zip(
                seen.components, census, standing, left, strict=False
            )
        )
        return max(0, short - standing[-1])

    def missing(self, seen: Observation) -> tuple[Component, ...]:
        """The components deleted by other clients: these count while Resuming, too."""
        return tuple(component for component in seen.components if self.is_missing(component))

    def is_missing(self, component: Component) -> bool:
        """True if a created component has been deleted, or is being deleted, by another client.

        An object of its name with another uid is a foreign object.
        """
        if creation_state(component.record) != "True":
            return False
        found = component.found
        if found is None or is_terminating(found):
            return True
        return uid_of(found) != component.record.get("uid")

    def says_failed(self, component: Component) -> bool:
        """True if a Job or PyTorchJob reports that it has failed."""
        return (
            component.found is not None
            and component.kind in (JOB, PYTORCH_JOB)
            and condition_status(component.found, "Failed") == "True"
        )

    def says_succeeded(self, component: Component) -> bool:
        """True if a Job or PyTorchJob reports that it is complete."""
        if component.found is None or component.kind not in (JOB, PYTORCH_JOB):
            return False
        type_ = "Complete" if component.kind == JOB else "Succeeded"
        return condition_status(component.found, type_) == "True"

    def has_succeeded(self, seen: Observation, census: Sequence[PodCounts]) -> bool:
        """True if all expected pods have succeeded and none is left that could fail.

        Expecting no pods is not success, and a Job has not succeeded before its status is complete:
        it may have more completions than pods.
        """
        if not any(counts.expected for counts in census):
            return False
        if any(counts.pending or counts.running for counts in census):
            return False
        if any(self.is_active(pod) for pod, _ in counted_pods(seen.pods)):
            return False
        if self.failed_pods(seen, census):
            return False
        strays = census[-1].succeeded
        return all(
            self.says_succeeded(component)
            or (component.kind != JOB and counts.succeeded + strays >= counts.expected)
            for component, counts in zip(seen.components, census, strict=False)
        )

    def is_active(self, pod: Object) -> bool:
        """True if the pod still runs or may run, including one that is being deleted."""
        return get_path(pod, "status.phase", "Pending") not in ("Succeeded", "Failed")

    def is_on_bad_node(self, pod: Object, bad_nodes: Mapping[str, frozenset[str]]) -> bool:
        """True if a Running pod uses a resource for which its node is tagged NoExecute."""
        if get_path(pod, "status.phase") != "Running" or is_terminating(pod):
            return False
        resources = bad_nodes.get(str(get_path(pod, "spec.nodeName", "")), frozenset())
        return any(self.uses(pod, resource) for resource in resources)

    def uses(self, pod: Object, resource: str) -> bool:
        return runs_with_resource(pod["spec"], resource)

    def migrating_effects(self) -> tuple[str, ...]:
        """The effects of marks that move running pods; NoSchedule only keeps new ones away."""
        return ("NoExecute",)

    def pods_to_migrate(self, seen: Observation) -> tuple[str, ...]:
        """The names of the pods that Autopilot wants off their nodes."""
        if not seen.bad_nodes:
            return ()
        bad_nodes = seen.bad_nodes
        return tuple(name_of(pod) for pod in seen.pods if self.is_on_bad_node(pod, bad_nodes))
