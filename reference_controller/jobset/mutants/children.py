"""Jobs that are created otherwise than their JobSet says."""

from __future__ import annotations

from collections.abc import Mapping

from reference_controller.jobset.mutants.registry import MUTANTS
from reference_controller.jobset.rules import Rules
from vocabulary.objects import Object


@MUTANTS.wrong_rules("no-annotations", "It labels Jobs, and does not annotate them.", "JS-103")
class NoAnnotations(Rules):
    def as_annotations(self, marks: Mapping[str, str]) -> Mapping[str, str]:
        del marks
        return {}


@MUTANTS.wrong_rules(
    "pod-failures-are-retried", "It drops the podFailurePolicy of a template.", "JS-104"
)
class PodFailuresAreRetried(Rules):
    def spec_of(self, template: Object) -> Object:
        spec = super().spec_of(template)
        return {key: value for key, value in spec.items() if key != "podFailurePolicy"}


@MUTANTS.wrong_rules("service-has-an-address", "Its Service is not headless.", "JS-106")
class ServiceHasAnAddress(Rules):
    def service_spec(self, selector: Mapping[str, str], publishes: bool) -> Object:
        spec = super().service_spec(selector, publishes)
        return {
            **{key: each for key, each in spec.items() if key != "clusterIP"},
            "ports": [{"port": 80}],
        }
