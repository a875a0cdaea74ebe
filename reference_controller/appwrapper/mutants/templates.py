"""Mutants that lose the user's template fields on injection."""

from __future__ import annotations

from reference_controller.appwrapper.config import Autopilot
from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.rules import Rules
from vocabulary.objects import Object, get_path


@mutant(
    Rules.pod_spec_avoiding_bad_nodes,
    "The stanza takes the place of whatever affinity the user wrote.",
    "AW-100",
)
def affinity_replaced(
    self: Rules, spec: Object, autopilot: Autopilot | None, pod_set: int
) -> Object:
    bare = {key: value for key, value in spec.items() if key != "affinity"}
    injected = Rules.pod_spec_avoiding_bad_nodes(self, bare, autopilot, pod_set)
    return injected if "affinity" in injected else spec


@mutant(
    Rules.pod_spec_avoiding_bad_nodes,
    "The alternatives of the user's node affinity are put into one term, which needs all of them.",
    "AW-100",
)
def alternatives_become_one(
    self: Rules, spec: Object, autopilot: Autopilot | None, pod_set: int
) -> Object:
    right = Rules.pod_spec_avoiding_bad_nodes(self, spec, autopilot, pod_set)
    field = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = get_path(right, f"affinity.nodeAffinity.{field}.nodeSelectorTerms") or ()
    joined = [each for term in terms for each in term.get("matchExpressions") or ()]
    if len(terms) < 2:
        return right
    affinity = dict(right["affinity"])
    required = {field: {"nodeSelectorTerms": [{"matchExpressions": joined}]}}
    affinity["nodeAffinity"] = {**affinity["nodeAffinity"], **required}
    return {**right, "affinity": affinity}


@mutant(
    Rules.pod_spec_avoiding_bad_nodes,
    "The tolerations that the user wrote are lost where the stanza is injected.",
    "AW-100",
)
def tolerations_dropped(
    self: Rules, spec: Object, autopilot: Autopilot | None, pod_set: int
) -> Object:
    right = Rules.pod_spec_avoiding_bad_nodes(self, spec, autopilot, pod_set)
    return {key: value for key, value in right.items() if key != "tolerations"}
