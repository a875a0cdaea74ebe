"""Mutants that lose the user's template fields on injection."""

from __future__ import annotations

from reference_controller.appwrapper.config import Autopilot
from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.rules import Rules
from vocabulary.objects import Object, get_path


@mutant(
    "affinity-replaced",
    "The stanza takes the place of whatever affinity the user wrote.",
    "AW-100",
)
class AffinityReplaced(Rules):
    def pod_spec_avoiding_bad_nodes(
        self, spec: Object, autopilot: Autopilot | None, pod_set: int
    ) -> Object:
        bare = {key: value for key, value in spec.items() if key != "affinity"}
        injected = super().pod_spec_avoiding_bad_nodes(bare, autopilot, pod_set)
        return injected if "affinity" in injected else spec


@mutant(
    "alternatives-become-one",
    "The alternatives of the user's node affinity are put into one term, which needs all of them.",
    "AW-100",
)
class AlternativesBecomeOne(Rules):
    def pod_spec_avoiding_bad_nodes(
        self, spec: Object, autopilot: Autopilot | None, pod_set: int
    ) -> Object:
        right = super().pod_spec_avoiding_bad_nodes(spec, autopilot, pod_set)
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
    "tolerations-dropped",
    "The tolerations that the user wrote are lost where the stanza is injected.",
    "AW-100",
)
class TolerationsDropped(Rules):
    def pod_spec_avoiding_bad_nodes(
        self, spec: Object, autopilot: Autopilot | None, pod_set: int
    ) -> Object:
        right = super().pod_spec_avoiding_bad_nodes(spec, autopilot, pod_set)
        return {key: value for key, value in right.items() if key != "tolerations"}
