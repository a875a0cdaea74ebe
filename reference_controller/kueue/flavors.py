"""The choice of a flavor for each resource that a Workload asks for.

The flavors of a group are tried in their order. One in which all that is asked of the group fits is
better than one where quota has to be borrowed, and that better than one where others have to be
preempted; the queue's `flavorFungibility` says which of them end the trial.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from reference_controller.kueue.amounts import Additions, FlavorResource, quantity, requests_of
from reference_controller.kueue.quota import ClusterQueue, FlavorGroup, Quotas
from vocabulary.objects import Object, get_path
from vocabulary.selectors import holds

if TYPE_CHECKING:
    from reference_controller.kueue.rules import Rules
    from reference_controller.kueue.workload import Usage, Workload


class Mode(IntEnum):
    """How a flavor could serve; more is better."""

    NONE = 0
    PREEMPT = 1
    BORROW = 2
    FIT = 3


@dataclass(slots=True)
class Assignment:
    """The flavors of a Workload in a ClusterQueue, or why it gets none."""

    queue: str
    pod_sets: list[Object] = field(default_factory=list)
    """As in `status.admission.podSetAssignments`."""
    usage: dict[FlavorResource, int] = field(default_factory=dict)
    preempts: bool = False
    """True if it fits only once others are preempted."""
    why_not: str = ""


class Trial(NamedTuple):
    """A flavor that was tried."""

    flavor: str
    mode: Mode
    lacking: str
    """A message for users; empty if it fits."""


@dataclass(slots=True)
class Chooser:
    """Chooses the flavors of one Workload."""

    queue: ClusterQueue
    quotas: Quotas
    flavors: Mapping[str, Object]
    rules: Rules
    additions: Additions
    may_preempt: Callable[[Usage], bool]
    """True if others could be preempted so that this usage fits."""
    borrows_at_once: bool
    """True if a flavor in which it would borrow is taken before the next one is tried."""

    def assign(self, workload: Workload) -> Assignment:
        assignment = Assignment(self.queue.name)
        for pod_set in workload.pod_sets:
            count = workload.needed[pod_set["name"]]
            template = pod_set["template"]
            made = template
            if self.rules.counts_additions():
                made = self.additions.added_to(template, workload.key.namespace)
            of_one = requests_of(made, self.rules.is_sidecar)
            asked = {name: value * count for name, value in of_one.items()}
            chosen = self._chosen(assignment, asked, template.get("spec") or {})
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
        self, assignment: Assignment, asked: Mapping[str, int], pod: Object
    ) -> dict[str, str] | None:
        """The flavor of each resource; None if there is none for one of them."""
        chosen: dict[str, str] = {}
        for name in asked:
            if name in chosen:
                continue
            group = next((each for each in self.queue.groups if name in each.resources), None)
            if group is None:
                if self.rules.is_needed(asked[name]):
                    assignment.why_not = f"resource {name} unavailable in ClusterQueue"
                    return None
                continue
            of_group = {each: asked[each] for each in asked if each in group.resources}
            flavor = self._flavor(assignment, group, of_group, pod)
            if flavor is None:
                return None
            for each, value in of_group.items():
                what = FlavorResource(flavor, each)
                chosen[each] = flavor
                if self.rules.is_counted(value):
                    assignment.usage[what] = assignment.usage.get(what, 0) + value
        return chosen

    def _flavor(
        self,
        assignment: Assignment,
        group: FlavorGroup,
        asked: Mapping[str, int],
        pod: Object,
    ) -> str | None:
        """The best of the flavors that are tried; the first among equals."""
        keys = self._label_keys(group)
        best: Trial | None = None
        reasons: list[str] = []
        for flavor in self.rules.in_order(group.flavors):
            trial = self._tried(assignment, flavor, asked, pod, keys)
            if trial.lacking:
                reasons.append(trial.lacking)
            if self.rules.is_usable(trial.mode) and (best is None or trial.mode > best.mode):
                best = trial
            if self.rules.ends_trial(trial.mode, self.borrows_at_once, self.queue.preempts_at_once):
                break
        if best is None:
            assignment.why_not = "; ".join(reasons)
            return None
        assignment.preempts = assignment.preempts or best.mode == Mode.PREEMPT
        return best.flavor

    def _tried(
        self,
        assignment: Assignment,
        flavor: str,
        asked: Mapping[str, int],
        pod: Object,
        keys: frozenset[str],
    ) -> Trial:
        spec = self.flavors[flavor].get("spec") or {}
        if not self.rules.suits(is_tolerated(spec, pod), is_selected(spec, pod, keys)):
            return Trial(flavor, Mode.NONE, f"flavor {flavor} does not match the pods")
        wanted = {
            (what := FlavorResource(flavor, name)): assignment.usage.get(what, 0) + value
            for name, value in asked.items()
            if self.rules.is_counted(value)
        }
        lacking = [
            what
            for what, value in wanted.items()
            if not self.rules.fits(value, self.quotas.available(self.queue.name, what))
        ]
        if self.rules.suffices(len(lacking), len(wanted)):
            borrows = self.quotas.borrows(self.queue.name, wanted)
            return Trial(flavor, Mode.BORROW if borrows else Mode.FIT, "")
        exceeds = wanted[lacking[0]] > self.quotas.most(self.queue.name, lacking[0])
        why = self.rules.lacking(lacking[0].resource, flavor, exceeds)
        mode = Mode.PREEMPT if self.may_preempt({**assignment.usage, **wanted}) else Mode.NONE
        return Trial(flavor, mode, why)

    def _label_keys(self, group: FlavorGroup) -> frozenset[str]:
        """The node labels that tell the flavors of a group apart."""
        return frozenset(
            key
            for flavor in group.flavors
            for key in get_path(self.flavors[flavor], "spec.nodeLabels") or ()
        )


def is_tolerated(flavor: Object, pod: Object) -> bool:
    """True if pods tolerate the taints of a flavor's nodes, with what the flavor adds to them."""
    tolerations = (*(pod.get("tolerations") or ()), *(flavor.get("tolerations") or ()))
    return all(
        any(_tolerates(each, taint) for each in tolerations)
        for taint in flavor.get("nodeTaints") or ()
        if taint.get("effect") in ("NoSchedule", "NoExecute")
    )


def _tolerates(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    if toleration.get("key") not in (None, "", taint.get("key")):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return (toleration.get("value") or "") == (taint.get("value") or "")


def is_selected(flavor: Object, pod: Object, keys: frozenset[str]) -> bool:
    """True if the pods' node selector and required node affinity match the labels of a flavor's
    nodes, as far as flavors speak of them."""
    labels = flavor.get("nodeLabels") or {}
    selector = pod.get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in selector.items() if key in keys):
        return False
    required = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    terms = get_path(pod, f"{required}.nodeSelectorTerms") or ()
    return not terms or any(
        all(
            holds(each["key"], each["operator"], each.get("values") or (), labels)
            for each in term.get("matchExpressions") or ()
            if each["key"] in keys
        )
        for term in terms
    )
