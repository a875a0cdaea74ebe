"""The Streams controller as a program that others run, install and mutate."""

from __future__ import annotations

from typing import Final

from reference_controller.reference_program import DecisionCode, ReferenceProgram
from reference_controller.runtime.controller import Controller
from reference_controller.streams.config import StreamsConfig
from reference_controller.streams.job_controller import JobController
from reference_controller.streams.manifests import MANIFESTS
from reference_controller.streams.mutants import MUTANTS
from reference_controller.streams.names import KINDS
from reference_controller.streams.office import Office
from reference_controller.streams.pods import ElementController, PodController
from reference_controller.streams.rules import Rules


def _controllers(config: StreamsConfig, rules: Rules) -> tuple[Controller, ...]:
    office = Office(config, rules)
    return (JobController(office), ElementController(office), PodController(office))


_PACKAGE: Final = "reference_controller.streams"
PROGRAM: Final = ReferenceProgram(
    name="streams",
    config=StreamsConfig,
    section="streams",
    controllers=_controllers,
    concurrency={"job": 4, "processingelement": 5, "pod": 5},
    kinds=KINDS,
    manifests=MANIFESTS,
    rules=Rules,
    mutants=MUTANTS,
    decision_code=DecisionCode(
        modules=tuple(
            f"{_PACKAGE}.{each}"
            for each in ("job_controller", "recovery", "pods", "parts", "rules")
        )
    ),
)
