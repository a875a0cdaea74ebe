"""Pods are counted wrongly: those that failed, those expected, those that Autopilot moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.observation import Component, Observation, PodCounts
from reference_controller.appwrapper.rules import Rules
from vocabulary.kinds import DEPLOYMENT, JOB, STATEFUL_SET
from vocabulary.objects import Object, get_path


@mutant(
    Rules.failed_pods,
    "Failed pods are not noticed during the warm-up grace period while other pods are Pending.",
    "AW-030",
    "AW-040",
    "AW-021",
)
def failed_pods_wait_for_pending_ones(
    self: Rules, seen: Observation, census: Sequence[PodCounts]
) -> int:
    ends_us = self.warmup_ends_at(seen.aw, seen.parameters)
    if seen.looked_us < ends_us and any(counts.pending for counts in census):
        return 0
    return Rules.failed_pods(self, seen, census)


@mutant(
    Rules.unrepaired_failures,
    "A failed pod of any kind of workload does not count once its controller has replaced it.",
    "AW-030",
    "AW-040",
    "AW-021",
)
def failed_pods_are_forgiven_once_replaced(
    self: Rules, component: Component | None, counts: PodCounts
) -> int:
    failed = Rules.unrepaired_failures(self, component, counts)
    if component is None or component.kind == JOB:
        return failed
    return 0 if counts.pending + counts.running >= counts.expected else failed


@mutant(
    Rules.expected_pods,
    "As many pods are expected as a Deployment or StatefulSet is scaled to at the moment.",
    "AW-021",
)
def expected_pods_follow_the_scale(self: Rules, component: Component) -> int:
    if component.kind not in (DEPLOYMENT, STATEFUL_SET) or component.found is None:
        return Rules.expected_pods(self, component)
    return int(get_path(component.found, "spec.replicas", 1))


@mutant(
    Rules.is_on_bad_node,
    "A failed pod on a node tagged EVICT makes Autopilot reset the workload, without a grace "
    "period and uncounted.",
    "AW-040",
    "AW-051",
)
def autopilot_moves_failed_pods(
    self: Rules, pod: Object, bad_nodes: Mapping[str, frozenset[str]]
) -> bool:
    if get_path(pod, "status.phase") != "Failed":
        return Rules.is_on_bad_node(self, pod, bad_nodes)
    resources = bad_nodes.get(str(get_path(pod, "spec.nodeName", "")), frozenset())
    return any(self.uses(pod, resource) for resource in resources)
