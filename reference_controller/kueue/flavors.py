"""The choice of a flavor for each resource that a Workload asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reference_controller.kueue.amounts import FlavorResource, quantity, requests_of
from reference_controller.kueue.quota import ClusterQueue, FlavorGroup, Quotas
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.workload import Workload
from vocabulary.objects import Object


@dataclass(slots=True)
class Assignment:
    """The flavors of a Workload in a ClusterQueue, or why it gets none."""

    queue: str
    pod_sets: list[Object] = field(default_factory=list)
    """As in `status.admission.podSetAssignments`."""
    usage: dict[FlavorResource, int] = field(default_factory=dict)
    why_not: str = ""


def assign(workload: Workload, queue: ClusterQueue, quotas: Quotas, rules: Rules) -> Assignment:
    """Choose the first flavor of each group in which all that is asked of the group fits."""
    assignment = Assignment(queue.name)
    for pod_set in workload.pod_sets:
        count = int(pod_set.get("count", 1))
        asked = {name: value * count for name, value in requests_of(pod_set["template"]).items()}
        chosen = _chosen(assignment, queue, quotas, asked, rules)
        if chosen is None:
            assignment.why_not = f"podSet {pod_set['name']}: {assignment.why_not}"
            return assignment
        assignment.pod_sets.append(
            {
                "name": pod_set["name"],
                "count": count,
                "flavors": chosen,
                "resourceUsage": {name: quantity(asked[name]) for name in chosen},
            }
        )
    return assignment


def _chosen(
    assignment: Assignment,
    queue: ClusterQueue,
    quotas: Quotas,
    asked: Mapping[str, int],
    rules: Rules,
) -> dict[str, str] | None:
    """The flavor of each resource; None if there is none for one of them."""
    chosen: dict[str, str] = {}
    for name in asked:
        if name in chosen:
            continue
        group = next((each for each in queue.groups if name in each.resources), None)
        if group is None:
            assignment.why_not = f"resource {name} unavailable in ClusterQueue"
            return None
        of_group = {each: asked[each] for each in asked if each in group.resources}
        flavor = _flavor(assignment, group, quotas, of_group, rules)
        if flavor is None:
            return None
        for each, value in of_group.items():
            what = FlavorResource(flavor, each)
            chosen[each] = flavor
            assignment.usage[what] = assignment.usage.get(what, 0) + value
    return chosen


def _flavor(
    assignment: Assignment,
    group: FlavorGroup,
    quotas: Quotas,
    asked: Mapping[str, int],
    rules: Rules,
) -> str | None:
    reasons: list[str] = []
    for flavor in group.flavors:
        lacking = ""
        for resource, value in asked.items():
            what = FlavorResource(flavor, resource)
            wanted = assignment.usage.get(what, 0) + value
            available = quotas.available(assignment.queue, what)
            if not rules.fits(wanted, available):
                lacking = (
                    f"insufficient unused quota for {resource} in flavor {flavor}, "
                    f"{quantity(wanted - available)} more needed"
                )
                break
        if not lacking:
            return flavor
        reasons.append(lacking)
    assignment.why_not = "; ".join(reasons)
    return None
